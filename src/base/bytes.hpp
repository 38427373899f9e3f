#pragma once

#include <lrvb/types.hpp>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// Values as bytes, for messages between processes of one version of this library on machines of one kind: nothing that
/// is kept in a file.
namespace lrvb::detail {

class ByteWriter {
  public:
    template <class Number>
    ByteWriter& number(Number value) {
        static_assert(std::is_arithmetic_v<Number>);
        append(&value, sizeof value);
        return *this;
    }
    ByteWriter& text(std::string_view value) {
        number(static_cast<std::uint64_t>(value.size()));
        append(value.data(), value.size());
        return *this;
    }
    ByteWriter& texts(const std::vector<std::string>& values) {
        number(static_cast<std::uint64_t>(values.size()));
        for (const std::string& value : values) text(value);
        return *this;
    }
    template <class Number>
    ByteWriter& numbers(const std::vector<Number>& values) {
        static_assert(std::is_arithmetic_v<Number>);
        number(static_cast<std::uint64_t>(values.size()));
        append(values.data(), values.size() * sizeof(Number));
        return *this;
    }
    ByteWriter& matrix(const Matrix& value) {
        number(value.rows()).number(value.cols());
        append(value.data(), static_cast<std::size_t>(value.size()) * sizeof(double));
        return *this;
    }
    ByteWriter& vector(const Vector& value) { return matrix(value); }

    std::string take() { return std::move(bytes_); }

  private:
    void append(const void* from, std::size_t size) {
        if (size > 0) bytes_.append(static_cast<const char*>(from), size);
    }

    std::string bytes_;
};

/// Throws std::runtime_error where there are fewer bytes than are read.
class ByteReader {
  public:
    explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

    template <class Number>
    Number number() {
        static_assert(std::is_arithmetic_v<Number>);
        Number value{};
        copy(&value, sizeof value);
        return value;
    }
    Index index() { return number<Index>(); }
    std::string text() { return std::string(piece(count(1))); }
    std::vector<std::string> texts() {
        std::vector<std::string> values(count(1));
        for (std::string& value : values) value = text();
        return values;
    }
    template <class Number>
    std::vector<Number> numbers() {
        std::vector<Number> values(count(sizeof(Number)));
        copy(values.data(), values.size() * sizeof(Number));
        return values;
    }
    Matrix matrix() {
        const Index rows = index();
        const Index columns = index();
        if (rows < 0 || columns < 0 ||
            (columns > 0 && rows > static_cast<Index>(bytes_.size() / sizeof(double)) / columns)) {
            refuse();
        }
        Matrix value(rows, columns);
        copy(value.data(), static_cast<std::size_t>(value.size()) * sizeof(double));
        return value;
    }
    Vector vector() { return matrix(); }
    std::string_view rest() const { return bytes_; }
    bool at_end() const { return bytes_.empty(); }

  private:
    [[noreturn]] static void refuse() { throw std::runtime_error("a message between processes is damaged"); }

    std::size_t count(std::size_t size) {
        const auto value = number<std::uint64_t>();
        if (value > bytes_.size() / size) refuse();
        return static_cast<std::size_t>(value);
    }
    std::string_view piece(std::size_t size) {
        if (size > bytes_.size()) refuse();
        const std::string_view result = bytes_.substr(0, size);
        bytes_.remove_prefix(size);
        return result;
    }
    void copy(void* to, std::size_t size) {
        const std::string_view from = piece(size);
        if (size > 0) std::memcpy(to, from.data(), size);
    }

    std::string_view bytes_;
};

}  // namespace lrvb::detail
