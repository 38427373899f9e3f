#include "kind/notes.hpp"

#include "base/messages.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace lrvb::detail {

namespace {

std::string in_shell(const std::string& value) {
    const bool is_plain = !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
               std::string_view("_.,/:+-=").find(c) != std::string_view::npos;
    });
    return is_plain ? value : shown(value);
}

}  // namespace

std::string listed_name(const std::string& name) {
    if (name.find(',') == std::string::npos && !name.starts_with('"')) return name;
    std::string text = "\"";
    for (const char c : name) {
        text += c;
        if (c == '"') text += c;
    }
    return text += '"';
}

std::string typed(const std::string& option, const std::string& value) {
    return fmt::format("{}{}{}", option, value.starts_with('-') ? "=" : " ", in_shell(value));
}

std::vector<std::string> index_notes(bool leaves_out_row_names, const std::vector<std::string>& counting,
                                     const std::vector<std::string>& chosen) {
    std::vector<std::string> notes;
    if (leaves_out_row_names) {
        notes.emplace_back(
            "the first column has no name, as row names have none, and is left out; to use it, give it a name in the "
            "file");
    }
    for (const std::string& name : counting) {
        // Without a name it is there because it was asked for.
        if (name.empty() || std::find(chosen.begin(), chosen.end(), name) != chosen.end()) continue;
        notes.push_back(
            fmt::format("{}: numbers the rows, as an index does, and is used all the same; -c {} leaves it out",
                        printable(name), in_shell("-" + listed_name(name))));
    }
    return notes;
}

}  // namespace lrvb::detail
