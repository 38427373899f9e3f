#include <lrvb/base/fields.hpp>

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace lrvb {

Fields::Fields(const Document& object, std::string file, std::string path)
    : object_(&object), file_(std::move(file)), path_(std::move(path)) {
    if (!object_->is_object()) refuse(path_.empty() ? "it" : path_, "is no object");
}

void Fields::refuse(const std::string& what, const std::string& reason) const {
    throw std::runtime_error(fmt::format(
        "{} is no fit file of lrvb, or it is damaged: {} {}; make it again with 'lrvb fit'", file_, what, reason));
}

bool Fields::has(const std::string& key) const {
    const Document* value = object_->find(key);
    return value != nullptr && !value->is_null();
}

const Document& Fields::at(const std::string& key) const {
    const Document* value = object_->find(key);
    if (value == nullptr) refuse(place(key), "is missing");
    return *value;
}

std::string Fields::text(const std::string& key) const {
    const std::string* value = at(key).text();
    if (value == nullptr) refuse(place(key), "is no text");
    return *value;
}

bool Fields::flag(const std::string& key) const {
    const std::optional<bool> value = at(key).flag();
    if (!value) refuse(place(key), "is neither true nor false");
    return *value;
}

double Fields::number(const std::string& key) const {
    return number_of(at(key), place(key));
}

double Fields::number_or_infinity(const std::string& key) const {
    return at(key).is_null() ? std::numeric_limits<double>::infinity() : number(key);
}

std::uint64_t Fields::whole(const std::string& key, std::uint64_t most) const {
    const std::optional<std::uint64_t> value = at(key).whole();
    if (!value || *value > most) refuse(place(key), fmt::format("is no whole number from 0 to {}", most));
    return *value;
}

Index Fields::count(const std::string& key) const {
    return static_cast<Index>(whole(key, std::uint64_t{1} << 53));
}

int Fields::small(const std::string& key) const {
    return static_cast<int>(whole(key, std::numeric_limits<int>::max()));
}

std::vector<std::string> Fields::texts(const std::string& key) const {
    std::vector<std::string> result;
    const Document& list = at(key);
    if (!list.is_list()) refuse(place(key), "is no list");
    if (list.numbers() != nullptr && list.size() > 0) refuse(place(key), "holds something that is no text");
    if (list.entries() == nullptr) return result;
    for (const Document& entry : *list.entries()) {
        if (!entry.is_text()) refuse(place(key), "holds something that is no text");
        result.push_back(*entry.text());
    }
    return result;
}

Vector Fields::vector(const std::string& key) const {
    if (!at(key).is_list()) refuse(place(key), "is no list");
    return vector_of(at(key), place(key));
}

Vector Fields::vector(const std::string& key, Index size) const {
    Vector result = vector(key);
    if (result.size() != size) refuse(place(key), fmt::format("has {} entries, not {}", result.size(), size));
    return result;
}

Matrix Fields::matrix(const std::string& key, Index rows, Index columns) const {
    return filled(key, rows, columns, [&](Index) { return columns; });
}

Matrix Fields::symmetric(const std::string& key, Index size) const {
    const Matrix lower = filled(key, size, size, [](Index row) { return row + 1; });
    return Matrix(lower.selfadjointView<Eigen::Lower>());
}

std::size_t Fields::length(const std::string& key) const {
    if (!at(key).is_list()) refuse(place(key), "is no list");
    return at(key).size();
}

void Fields::each(const std::string& key, const std::function<void(const Fields&)>& read) const {
    const std::size_t count = length(key);
    const Document::List* entries = at(key).entries();
    if (entries == nullptr && count > 0) refuse(place(key), "holds something that is no object");
    for (std::size_t i = 0; i < count; ++i) {
        read(Fields((*entries)[i], file_, fmt::format("{}[{}]", place(key), i + 1)));
    }
}

std::string Fields::place(const std::string& key) const {
    return path_.empty() ? key : fmt::format("{}.{}", path_, key);
}

double Fields::number_of(const Document& value, const std::string& where) const {
    const std::optional<double> number = value.number();
    if (!number) refuse(where, "holds something that is no number");
    if (!std::isfinite(*number)) refuse(where, "holds a number that is too large");
    return *number;
}

Vector Fields::vector_of(const Document& values, const std::string& where) const {
    if (!values.is_list()) refuse(where, "is no list of numbers");
    if (values.entries() != nullptr && values.size() > 0) refuse(where, "holds something that is no number");
    if (values.numbers() == nullptr) return {};
    const Document::Numbers& numbers = *values.numbers();
    Vector result = Eigen::Map<const Vector>(numbers.data(), static_cast<Index>(numbers.size()));
    if (!result.allFinite()) refuse(where, "holds a number that is too large");
    return result;
}

Matrix Fields::filled(const std::string& key, Index rows, Index columns,
                      const std::function<Index(Index)>& length_of) const {
    if (static_cast<Index>(length(key)) != rows) {
        refuse(place(key), fmt::format("has {} rows, not {}", length(key), rows));
    }
    const Document::List none;
    const Document::List* entries = rows == 0 ? nullptr : at(key).entries();
    const Document::List& content = entries == nullptr ? none : *entries;
    if (static_cast<Index>(content.size()) != rows) refuse(place(key), "is no list of lists of numbers");
    Index row = 0;
    for (const Document& entry : content) {
        if (!entry.is_list()) refuse(place(key), "is no list of lists of numbers");
        const auto count = static_cast<Index>(entry.size());
        if (count != length_of(row)) {
            refuse(place(key), fmt::format("has {} numbers in row {}, not {}", count, row + 1, length_of(row)));
        }
        ++row;
    }
    Matrix result = Matrix::Zero(rows, columns);
    row = 0;
    for (const Document& entry : content) {
        const Vector values = vector_of(entry, place(key));
        result.row(row++).head(values.size()) = values.transpose();
    }
    return result;
}

}  // namespace lrvb
