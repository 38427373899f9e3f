// The one unit that knows the JSON library: documents from text, and back.

#include "base/messages.hpp"

#include <lrvb/base/document.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace lrvb {

namespace {

using Json = nlohmann::json;

void write_escape(char32_t code, std::string& out) {
    if (code < 0x10000U) {
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<std::uint32_t>(code));
        return;
    }
    write_escape(0xD800U + ((code - 0x10000U) >> 10U), out);
    write_escape(0xDC00U + ((code - 0x10000U) & 0x3FFU), out);
}

// What would be obeyed or overlooked is escaped, though JSON does not ask for more than the first controls: someone may
// look at it in a terminal, and it is read back as the same.
std::string quoted(const std::string& text) {
    std::string json = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
    if (std::all_of(json.begin(), json.end(), [](char c) { return c >= 0x20 && c < 0x7F; })) return json;
    std::string result;
    for (std::size_t at = 0; at < json.size();) {
        const detail::Character character = detail::character_at(json, at);
        if (detail::is_deceptive(character.code)) {
            write_escape(character.code, result);
        } else {
            result.append(json, at, character.length);
        }
        at += character.length;
    }
    return result;
}

void write_number(double value, std::string& out) {
    if (!std::isfinite(value)) {
        out += "null";
        return;
    }
    const std::size_t start = out.size();
    fmt::format_to(std::back_inserter(out), "{}", value);
    // A number that is not whole by type stays so when it is read.
    if (out.find_first_not_of("-0123456789", start) == std::string::npos) out += ".0";
}

class Writer {
  public:
    Writer(std::string& out, int indent) : out_(out), indent_(indent) {}

    void write(const Document& document) {
        if (const Document::Object* object = document.object_entries()) {
            write_entries('{', '}', *object, [&](const auto& entry) {
                out_ += quoted(entry.first);
                out_ += indent_ >= 0 ? ": " : ":";
                write(entry.second);
            });
        } else if (const Document::List* list = document.entries()) {
            write_entries('[', ']', *list, [&](const Document& entry) { write(entry); });
        } else if (const Document::Numbers* numbers = document.numbers()) {
            write_entries('[', ']', *numbers, [&](double number) { write_number(number, out_); });
        } else if (const std::string* text = document.text()) {
            out_ += quoted(*text);
        } else if (const std::optional<bool> flag = document.flag()) {
            out_ += *flag ? "true" : "false";
        } else if (document.is_null()) {
            out_ += "null";
        } else {
            write_scalar(document);
        }
    }

  private:
    void write_scalar(const Document& document) {
        // Whole numbers have no point, whatever their sign.
        if (const std::optional<std::uint64_t> whole = document.whole()) {
            fmt::format_to(std::back_inserter(out_), "{}", *whole);
        } else if (const std::optional<std::int64_t> negative = document.negative()) {
            fmt::format_to(std::back_inserter(out_), "{}", *negative);
        } else {
            write_number(*document.number(), out_);
        }
    }

    template <class Entries, class Write>
    void write_entries(char open, char close, const Entries& entries, Write write_one) {
        out_ += open;
        ++depth_;
        bool is_first = true;
        for (const auto& entry : entries) {
            if (!is_first) out_ += ',';
            is_first = false;
            new_line();
            write_one(entry);
        }
        --depth_;
        if (!is_first) new_line();
        out_ += close;
    }

    void new_line() {
        if (indent_ < 0) return;
        out_ += '\n';
        out_.append(static_cast<std::size_t>(indent_) * static_cast<std::size_t>(depth_), ' ');
    }

    std::string& out_;
    int indent_;
    int depth_ = 0;
};

// Builds a document while the text is read; deeper nesting than any file of ours has ends it.
class Builder final : public nlohmann::json_sax<Json> {
  public:
    bool null() override { return add(Document()); }
    bool boolean(bool value) override { return add(Document(value)); }
    bool number_integer(number_integer_t value) override { return add_number(value); }
    bool number_unsigned(number_unsigned_t value) override { return add_number(value); }
    bool number_float(number_float_t value, const string_t&) override { return add_number(value); }
    bool string(string_t& value) override { return add(Document(std::move(value))); }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(true); }
    bool key(string_t& name) override {
        open_.back().key = std::move(name);
        return true;
    }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(false); }
    bool end_array() override { return close(); }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
        wrong_ = position > 0 ? position - 1 : 0;
        return false;
    }

    Document take() { return std::move(root_); }
    bool is_too_deep() const { return is_too_deep_; }
    std::size_t wrong() const { return wrong_; }

  private:
    static constexpr std::size_t kDeepest = 100;

    struct Open {
        bool is_object = false;
        std::string key;
        Document::Object object;
        Document::Numbers numbers;
        Document::List list;
    };

    bool open(bool is_object) {
        is_too_deep_ = open_.size() >= kDeepest;
        if (is_too_deep_) return false;
        open_.emplace_back().is_object = is_object;
        return true;
    }

    bool close() {
        Open done = std::move(open_.back());
        open_.pop_back();
        // There may be very many of these, and each grew with room to spare.
        if (done.is_object) {
            done.object.shrink_to_fit();
            return add(Document::object(std::move(done.object)));
        }
        if (!done.list.empty()) {
            done.list.shrink_to_fit();
            return add(Document::list(std::move(done.list)));
        }
        done.numbers.shrink_to_fit();
        return add(Document(std::move(done.numbers)));
    }

    template <class Number>
    bool add_number(Number value) {
        if (!open_.empty() && !open_.back().is_object && open_.back().list.empty()) {
            open_.back().numbers.push_back(static_cast<double>(value));
            return true;
        }
        return add(Document(value));
    }

    bool add(Document value) {
        if (open_.empty()) {
            root_ = std::move(value);
        } else if (open_.back().is_object) {
            open_.back().object.emplace_back(std::move(open_.back().key), std::move(value));
        } else {
            Open& list = open_.back();
            for (const double number : list.numbers) list.list.emplace_back(number);
            list.numbers.clear();
            list.list.push_back(std::move(value));
        }
        return true;
    }

    std::vector<Open> open_;
    Document root_;
    bool is_too_deep_ = false;
    std::size_t wrong_ = 0;
};

}  // namespace

std::string Document::json(int indent) const {
    std::string text;
    Writer(text, indent).write(*this);
    return text;
}

Document Document::parse(std::string_view json, std::size_t* wrong) {
    Builder builder;
    if (!Json::sax_parse(json.begin(), json.end(), &builder)) {
        if (wrong != nullptr) *wrong = builder.wrong();
        throw std::runtime_error(builder.is_too_deep() ? "it is nested deeper than any file of ours"
                                                       : "it is not JSON");
    }
    return builder.take();
}

std::string valid_text(const std::string& text) {
    return Json::parse(quoted(text)).get<std::string>();
}

}  // namespace lrvb
