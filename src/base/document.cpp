#include <lrvb/base/document.hpp>

#include <stdexcept>

namespace lrvb {

Document::Document(const Matrix& matrix) {
    List rows;
    rows.reserve(static_cast<std::size_t>(matrix.rows()));
    for (Index i = 0; i < matrix.rows(); ++i) rows.emplace_back(Vector(matrix.row(i)));
    value_ = std::move(rows);
}

Document Document::lower_triangle(const Matrix& matrix) {
    List rows;
    rows.reserve(static_cast<std::size_t>(matrix.rows()));
    for (Index i = 0; i < matrix.rows(); ++i) rows.emplace_back(Vector(matrix.row(i).head(i + 1)));
    return list(std::move(rows));
}

std::optional<bool> Document::flag() const {
    const bool* value = std::get_if<bool>(&value_);
    return value != nullptr ? std::optional(*value) : std::nullopt;
}

std::optional<std::uint64_t> Document::whole() const {
    if (const auto* value = std::get_if<std::uint64_t>(&value_)) return *value;
    if (const auto* value = std::get_if<std::int64_t>(&value_); value != nullptr && *value >= 0) {
        return static_cast<std::uint64_t>(*value);
    }
    return std::nullopt;
}

std::optional<std::int64_t> Document::negative() const {
    const auto* value = std::get_if<std::int64_t>(&value_);
    return value != nullptr && *value < 0 ? std::optional(*value) : std::nullopt;
}

std::optional<double> Document::number() const {
    if (const auto* value = std::get_if<double>(&value_)) return *value;
    if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
    if (const auto* value = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*value);
    return std::nullopt;
}

std::size_t Document::size() const {
    if (const Numbers* list = numbers()) return list->size();
    if (const List* list = entries()) return list->size();
    if (const Object* object = object_entries()) return object->size();
    return 0;
}

const Document* Document::find(std::string_view key) const {
    const Object* object = object_entries();
    if (object == nullptr) return nullptr;
    for (auto entry = object->rbegin(); entry != object->rend(); ++entry) {
        if (entry->first == key) return &entry->second;
    }
    return nullptr;
}

Document& Document::operator[](std::string_view key) {
    if (is_null()) value_ = Object{};
    auto* object = std::get_if<Object>(&value_);
    if (object == nullptr) throw std::logic_error("a document that is no object has no keys");
    for (auto& [name, value] : *object) {
        if (name == key) return value;
    }
    return object->emplace_back(key, Document()).second;
}

void Document::push_back(Document value) {
    if (is_null()) value_ = List{};
    if (const Numbers* own = numbers()) value_ = List(own->begin(), own->end());
    auto* list = std::get_if<List>(&value_);
    if (list == nullptr) throw std::logic_error("nothing can be appended to a document that is no list");
    list->push_back(std::move(value));
}

void Document::append(std::string key, Document value) {
    if (is_null()) value_ = Object{};
    auto* object = std::get_if<Object>(&value_);
    if (object == nullptr) throw std::logic_error("a document that is no object has no keys");
    object->emplace_back(std::move(key), std::move(value));
}

}  // namespace lrvb
