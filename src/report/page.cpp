#include "report/page.hpp"

#include "base/messages.hpp"
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

// With all that a reader would not see written out in every text: the page shows names that came from files.
Document visible(const Document& document) {
    if (const std::string* text = document.text()) return {detail::on_one_line(*text)};
    if (const Document::List* list = document.entries()) {
        Document::List entries;
        entries.reserve(list->size());
        for (const Document& entry : *list) entries.push_back(visible(entry));
        return Document::list(std::move(entries));
    }
    if (const Document::Object* object = document.object_entries()) {
        Document::Object entries;
        entries.reserve(object->size());
        for (const auto& [key, value] : *object) entries.emplace_back(key, visible(value));
        return Document::object(std::move(entries));
    }
    return document;
}

// As text of a page.
std::string html_text(const std::string& text) {
    return replaced(detail::on_one_line(text),
                    {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

// As JSON inside of a script element. All of these characters stand in texts, where they can be written so.
std::string script_json(const Document& document) {
    return replaced(visible(document).json(), {{"&", "\\u0026"}, {"<", "\\u003c"}, {">", "\\u003e"}});
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
