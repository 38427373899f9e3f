#include "data/npy_header.hpp"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>
#include <system_error>

namespace lrvb::detail {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view magic = "\x93NUMPY"sv;
constexpr std::string_view save_again = "write it again with numpy.save";

[[noreturn]] void refuse(const std::string& file, std::string_view reason, std::string_view remedy = save_again) {
    throw std::runtime_error(fmt::format("{}: {}: {}", file, reason, remedy));
}

/// The dictionary of the header: a Python literal with the keys descr, fortran_order and shape, in any order.
class Dictionary {
  public:
    Dictionary(const std::string& file, std::string_view text) : file_(file), text_(text) {}

    void parse(NpyHeader& header) {
        bool has_type = false;
        bool has_order = false;
        bool has_shape = false;
        expect('{');
        while (!accept('}')) {
            const std::string_view key = string();
            expect(':');
            if (key == "descr") {
                header.type = type();
                has_type = true;
            } else if (key == "fortran_order") {
                header.fortran_order = boolean();
                has_order = true;
            } else if (key == "shape") {
                header.shape = shape();
                has_shape = true;
            } else {
                damaged();
            }
            if (!accept(',') && peek() != '}') damaged();
        }
        if (!has_type || !has_order || !has_shape || peek() != '\0') damaged();
    }

  private:
    [[noreturn]] void damaged() const { refuse(file_, "the header of the NumPy file is damaged"); }

    char peek() {
        while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n')) text_.remove_prefix(1);
        return text_.empty() ? '\0' : text_[0];
    }

    bool accept(char c) {
        if (peek() != c || text_.empty()) return false;
        text_.remove_prefix(1);
        return true;
    }

    void expect(char c) {
        if (!accept(c)) damaged();
    }

    bool accept_word(std::string_view word) {
        peek();
        if (text_.substr(0, word.size()) != word) return false;
        text_.remove_prefix(word.size());
        return true;
    }

    std::string_view string() {
        const char quote = peek();
        if (quote != '\'' && quote != '"') damaged();
        const std::size_t end = text_.find(quote, 1);
        if (end == std::string_view::npos) damaged();
        const std::string_view content = text_.substr(1, end - 1);
        text_.remove_prefix(end + 1);
        return content;
    }

    std::string type() {
        if (peek() == '[' || peek() == '(') {
            refuse(file_, "it holds records of several types, but must hold an array of numbers",
                   "save its columns as one array of type '<f8'");
        }
        return std::string(string());
    }

    bool boolean() {
        if (accept_word("True")) return true;
        if (!accept_word("False")) damaged();
        return false;
    }

    std::vector<Index> shape() {
        std::vector<Index> sizes;
        expect('(');
        while (!accept(')')) {
            peek();
            Index size = 0;
            const std::from_chars_result result = std::from_chars(text_.data(), text_.data() + text_.size(), size);
            if (result.ec != std::errc() || size < 0) damaged();
            text_.remove_prefix(static_cast<std::size_t>(result.ptr - text_.data()));
            accept('L');  // as Python 2 wrote large numbers
            sizes.push_back(size);
            if (!accept(',') && peek() != ')') damaged();
        }
        return sizes;
    }

    const std::string& file_;
    std::string_view text_;
};

}  // namespace

NpyHeader parse_npy_header(const std::string& file, std::string_view bytes) {
    if (bytes.empty()) refuse(file, "is empty, but must be a NumPy file");
    if (bytes.substr(0, magic.size()) != magic.substr(0, bytes.size())) {
        refuse(file, "is not a NumPy file", "write it with numpy.save, or give a CSV file a name that ends in .csv");
    }
    const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])); };
    constexpr std::string_view truncated = "is truncated within its header";
    if (bytes.size() < 10) refuse(file, truncated);
    const std::size_t version = byte(6);
    if (version < 1 || version > 3) {
        refuse(file, fmt::format("is of NumPy format {}.{}, but must be of 1.0, 2.0 or 3.0", version, byte(7)));
    }
    const std::size_t start = version == 1 ? 10 : 12;
    if (bytes.size() < start) refuse(file, truncated);
    std::size_t length = byte(8) | byte(9) << 8;
    if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
    if (length > bytes.size() - start) refuse(file, truncated);
    NpyHeader header;
    header.data_offset = start + length;
    Dictionary(file, bytes.substr(start, length)).parse(header);
    return header;
}

std::string make_npy_header(Index rows, Index columns) {
    std::string dictionary =
        fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns);
    constexpr std::size_t start = 10;
    constexpr std::size_t alignment = 64;
    const std::size_t end = (start + dictionary.size() + 1 + alignment - 1) / alignment * alignment;
    dictionary.append(end - start - dictionary.size() - 1, ' ');
    dictionary += '\n';
    std::string header(magic);
    header += "\x01\x00"sv;
    header += static_cast<char>(dictionary.size() & 0xFF);
    header += static_cast<char>(dictionary.size() >> 8);
    return header + dictionary;
}

}  // namespace lrvb::detail
