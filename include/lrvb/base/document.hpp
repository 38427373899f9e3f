#pragma once

#include <lrvb/export.hpp>
#include <lrvb/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

/// A tree of values, as JSON has them: what fit files, results for programs and the contents of a report are made of.
/// Objects keep the order in which their keys were first set, and lists of numbers are kept as numbers.
namespace lrvb {

class LRVB_EXPORT Document {
  public:
    using Numbers = std::vector<double>;
    using List = std::vector<Document>;
    using Object = std::vector<std::pair<std::string, Document>>;

    /// Nothing: null.
    Document() = default;
    template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
    Document(Number value) {
        if constexpr (std::is_same_v<Number, bool>) {
            value_ = value;
        } else if constexpr (std::is_floating_point_v<Number>) {
            value_ = static_cast<double>(value);
        } else if constexpr (std::is_signed_v<Number>) {
            value_ = static_cast<std::int64_t>(value);
        } else {
            value_ = static_cast<std::uint64_t>(value);
        }
    }
    Document(const char* text) : value_(std::string(text)) {}
    Document(std::string text) : value_(std::move(text)) {}
    Document(std::string_view text) : value_(std::string(text)) {}
    Document(Numbers numbers) : value_(std::move(numbers)) {}
    Document(const Vector& numbers) : value_(Numbers(numbers.begin(), numbers.end())) {}
    /// Row by row.
    Document(const Matrix& matrix);
    Document(const std::vector<std::string>& texts) : value_(List(texts.begin(), texts.end())) {}
    Document(const std::vector<Index>& indices) : value_(List(indices.begin(), indices.end())) {}
    template <class Value>
    Document(const std::optional<Value>& value) {
        if (value) *this = Document(*value);
    }
    Document(std::initializer_list<std::pair<std::string, Document>> entries) : value_(Object(entries)) {}

    static Document list() { return Document(List{}, 0); }
    static Document list(List entries) { return Document(std::move(entries), 0); }
    static Document object() { return Document(Object{}, 0); }
    static Document object(Object entries) { return Document(std::move(entries), 0); }
    /// A symmetric matrix as the rows of its lower triangle.
    static Document lower_triangle(const Matrix& matrix);

    bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
    bool is_object() const { return std::holds_alternative<Object>(value_); }
    bool is_list() const { return std::holds_alternative<List>(value_) || numbers() != nullptr; }
    bool is_text() const { return text() != nullptr; }
    bool is_number() const { return number().has_value(); }
    /// Whole by its type, as 2 is and 2.0 is not.
    bool is_integer() const {
        return std::holds_alternative<std::int64_t>(value_) || std::holds_alternative<std::uint64_t>(value_);
    }

    /// What it holds; nothing where it is of another type.
    std::optional<bool> flag() const;
    /// A whole number that is not negative.
    std::optional<std::uint64_t> whole() const;
    /// A whole number that is.
    std::optional<std::int64_t> negative() const;
    std::optional<double> number() const;
    const std::string* text() const { return std::get_if<std::string>(&value_); }
    /// Of a list that holds nothing but numbers.
    const Numbers* numbers() const { return std::get_if<Numbers>(&value_); }
    /// Of any other list.
    const List* entries() const { return std::get_if<List>(&value_); }
    const Object* object_entries() const { return std::get_if<Object>(&value_); }

    /// Of a list, an object or nothing.
    std::size_t size() const;

    /// The value of a key of an object, the last of several; null where it is not there, and of what is no object.
    const Document* find(std::string_view key) const;
    /// The value of a key, which is made where it is not there. What is null becomes an object; throws std::logic_error
    /// for what is neither.
    Document& operator[](std::string_view key);
    /// Appends to a list; what is null becomes one.
    void push_back(Document value);
    /// Appends a key without looking whether it is there.
    void append(std::string key, Document value);

    /// As JSON: on one line, or indented by so many spaces a level. Numbers are as short as they can be to be read back
    /// as the same, what is no number is null, and text that is no UTF-8 is replaced. Controls, marks of the writing
    /// direction and characters that cannot be seen are escaped.
    std::string json(int indent = -1) const;

    /// Throws std::runtime_error, with a reason to follow a file's name, for what is no JSON, or is nested deeper than
    /// 100 levels. Where it is no JSON, `wrong` becomes the byte at which that was seen.
    static Document parse(std::string_view json, std::size_t* wrong = nullptr);

  private:
    template <class Value>
    Document(Value value, int) : value_(std::move(value)) {}

    std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Numbers, List, Object> value_;
};

/// A text as it would be read back from JSON: what is no UTF-8 is replaced.
LRVB_EXPORT std::string valid_text(const std::string& text);

}  // namespace lrvb
