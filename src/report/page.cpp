#include "report/page.hpp"

#include "report/embedded.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace lrvb::report {

namespace {

using Replacements = std::map<std::string_view, std::string_view>;

std::string replaced(std::string_view text, const Replacements& replacements) {
    std::string firsts;
    for (const auto& [from, to] : replacements) firsts += from.front();
    std::string result;
    result.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t next = std::min(text.find_first_of(firsts, at), text.size());
        result += text.substr(at, next - at);
        at = next;
        if (at == text.size()) break;
        const auto found = std::find_if(replacements.begin(), replacements.end(),
                                        [&](const auto& entry) { return text.substr(at).starts_with(entry.first); });
        if (found == replacements.end()) {
            result += text[at++];
        } else {
            result += found->second;
            at += found->first.size();
        }
    }
    return result;
}

// As text of a page.
std::string html_text(const std::string& text) {
    return replaced(valid_text(text), {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

// As JSON inside of a script element. All of these characters stand in texts, where they can be written so; the last
// two are U+2028 and U+2029, which end lines.
std::string script_json(const Document& document) {
    return replaced(document.json(), {{"&", "\\u0026"},
                                      {"<", "\\u003c"},
                                      {">", "\\u003e"},
                                      {"\xE2\x80\xA8", "\\u2028"},
                                      {"\xE2\x80\xA9", "\\u2029"}});
}

}  // namespace

std::string page(const std::string& title, const Document& contents) {
    const std::string escaped_title = html_text(title);
    const std::string escaped_contents = script_json(contents);
    // All at once: what is poured in is not looked at again.
    return replaced(kPage, {{"{{title}}", escaped_title},
                            {"{{style}}", kStyle},
                            {"{{contents}}", escaped_contents},
                            {"{{script}}", kScript}});
}

}  // namespace lrvb::report
