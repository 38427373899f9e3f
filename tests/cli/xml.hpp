#pragma once

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// A strict reader of the XML that the program writes: throws for what is not well formed, for characters that XML 1.0
/// forbids and for text that is no UTF-8. No namespaces, comments, CDATA or document types: pictures have none.
namespace lrvb::testing {

struct XmlElement {
    std::string name;
    std::map<std::string, std::string> attributes;
    std::string text;  // its own, without that of its children
    std::vector<XmlElement> children;

    std::string attribute(const std::string& key) const {
        const auto found = attributes.find(key);
        return found == attributes.end() ? "" : found->second;
    }
    double number(const std::string& key) const { return std::stod(attributes.at(key)); }
    bool has_class(const std::string& one) const {
        return (" " + attribute("class") + " ").find(" " + one + " ") != std::string::npos;
    }
    std::string tip() const {
        for (const XmlElement& child : children) {
            if (child.name == "title") return child.text;
        }
        return "";
    }
    /// All below it, in order, of this class.
    std::vector<const XmlElement*> of_class(const std::string& one) const {
        std::vector<const XmlElement*> found;
        for (const XmlElement& child : children) {
            if (child.has_class(one)) found.push_back(&child);
            for (const XmlElement* below : child.of_class(one)) found.push_back(below);
        }
        return found;
    }
    std::vector<const XmlElement*> named(const std::string& one) const {
        std::vector<const XmlElement*> found;
        for (const XmlElement& child : children) {
            if (child.name == one) found.push_back(&child);
            for (const XmlElement* below : child.named(one)) found.push_back(below);
        }
        return found;
    }
};

class XmlReader {
  public:
    static XmlElement read(std::string_view text) {
        XmlReader reader(text);
        reader.require_characters();
        reader.skip("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
        reader.skip_space();
        XmlElement root = reader.element();
        reader.skip_space();
        if (reader.at_ != text.size()) reader.fail("something follows the root");
        return root;
    }

  private:
    explicit XmlReader(std::string_view text) : text_(text) {}

    [[noreturn]] void fail(const std::string& why) const {
        throw std::runtime_error(why + " at byte " + std::to_string(at_) + ": " +
                                 std::string(text_.substr(at_ > 30 ? at_ - 30 : 0, 80)));
    }
    bool starts(std::string_view what) const { return text_.substr(at_).substr(0, what.size()) == what; }
    void skip(std::string_view what) {
        if (!starts(what)) fail("expected " + std::string(what));
        at_ += what.size();
    }
    void skip_space() {
        while (at_ < text_.size() && std::string_view(" \n\t\r").find(text_[at_]) != std::string_view::npos) ++at_;
    }

    void require_characters() {
        for (std::size_t i = 0; i < text_.size();) {
            const auto byte = [&](std::size_t k) {
                return static_cast<unsigned>(static_cast<unsigned char>(text_[k]));
            };
            const unsigned first = byte(i);
            const std::size_t length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
            at_ = i;
            if (length == 0 || first > 0xF4 || i + length > text_.size()) fail("no UTF-8");
            unsigned code = length == 1 ? first : first & (0x7FU >> length);
            for (std::size_t k = 1; k < length; ++k) {
                if ((byte(i + k) & 0xC0U) != 0x80U) fail("no UTF-8");
                code = (code << 6U) | (byte(i + k) & 0x3FU);
            }
            const bool is_allowed = code == 0x9 || code == 0xA || code == 0xD || (code >= 0x20 && code < 0xD800) ||
                                    (code >= 0xE000 && code < 0xFFFE) || (code >= 0x10000 && code <= 0x10FFFF);
            if (!is_allowed) fail("a character that XML forbids");
            i += length;
        }
        at_ = 0;
    }

    std::string name() {
        const std::size_t from = at_;
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '-'))
            ++at_;
        if (from == at_) fail("expected a name");
        return std::string(text_.substr(from, at_ - from));
    }

    // Up to a character that ends it, with references resolved.
    std::string content(char end) {
        static const std::map<std::string, std::string> known{
            {"amp", "&"}, {"lt", "<"}, {"gt", ">"}, {"quot", "\""}, {"#39", "'"}};
        std::string result;
        while (at_ < text_.size() && text_[at_] != end) {
            if (text_[at_] == '<' || text_[at_] == '>') fail("markup within text");
            if (text_[at_] != '&') {
                result += text_[at_++];
                continue;
            }
            const std::size_t semicolon = text_.find(';', at_);
            const auto found = known.find(std::string(text_.substr(at_ + 1, semicolon - at_ - 1)));
            if (semicolon == std::string_view::npos || found == known.end()) fail("an unknown reference");
            result += found->second;
            at_ = semicolon + 1;
        }
        return result;
    }

    XmlElement element() {
        XmlElement result;
        skip("<");
        result.name = name();
        skip_space();
        while (!starts(">") && !starts("/>")) {
            const std::string key = name();
            skip("=\"");
            if (!result.attributes.emplace(key, content('"')).second) fail("twice the same attribute");
            skip("\"");
            if (!starts(">") && !starts("/>")) skip(" ");
        }
        if (starts("/>")) {
            skip("/>");
            return result;
        }
        skip(">");
        while (true) {
            result.text += content('<');
            if (starts("</")) break;
            result.children.push_back(element());
        }
        skip("</" + result.name + ">");
        return result;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

/// What a pixel means, by an axis that says what its ends are.
struct XmlAxis {
    explicit XmlAxis(const XmlElement& axis)
        : low(axis.number("data-low")),
          high(axis.number("data-high")),
          from(axis.number("data-from")),
          to(axis.number("data-to")) {}

    double value(double pixel) const { return low + (pixel - from) / (to - from) * (high - low); }
    /// A millionth of what it shows.
    double tolerance() const { return 1e-6 * (high - low); }

    double low;
    double high;
    double from;
    double to;
};

}  // namespace lrvb::testing
