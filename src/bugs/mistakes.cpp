#include "bugs/mistakes.hpp"

#include "base/messages.hpp"

#include <fmt/format.h>

#include <cctype>
#include <optional>

namespace lrvb::bugs {

namespace {

constexpr const char* kSpaces = " \t\r\n\v\f";

bool starts(const std::string& text, std::size_t at, std::string_view what) {
    return std::string_view(text).substr(std::min(at, text.size())).starts_with(what);
}

char char_at(const std::string& text, std::size_t at) {
    return at < text.size() ? text[at] : '\0';
}

std::size_t skip_spaces(const std::string& text, std::size_t at) {
    return std::min(text.find_first_not_of(kSpaces, at), text.size());
}

/// Just behind the last thing before a place: where something is missing.
Place behind_last(const std::string& text, std::size_t at) {
    const std::size_t last = at == 0 ? std::string::npos : text.find_last_not_of(kSpaces, at - 1);
    const std::size_t end = last == std::string::npos ? 0 : last + 1;
    return {end, end};
}

bool is_on_later_line(const std::string& text, std::size_t from, std::size_t at) {
    return text.find('\n', from) < at;
}

/// The innermost bracket that is open at a place.
std::optional<std::size_t> innermost_open(const std::string& text, std::size_t begin, std::size_t at) {
    std::vector<std::size_t> open;
    for (std::size_t i = begin; i < std::min(at, text.size()); ++i) {
        if (text[i] == '(' || text[i] == '[') open.push_back(i);
        if ((text[i] == ')' || text[i] == ']') && !open.empty()) open.pop_back();
    }
    if (open.empty()) return std::nullopt;
    return open.back();
}

/// Whether the text at a place begins another relation: a name, perhaps with indices, and <- or ~.
bool begins_relation(const std::string& text, std::size_t at) {
    if (std::isalpha(static_cast<unsigned char>(char_at(text, at))) == 0) return false;
    std::size_t i = at;
    while (i < text.size() && is_name_byte(text[i])) ++i;
    int depth = 0;
    for (; i < text.size() && text[i] != '\n' && text[i] != ';'; ++i) {
        if (text[i] == '(' || text[i] == '[') ++depth;
        if (text[i] == ')' || text[i] == ']') --depth;
        if (depth < 0) return false;
        if (depth > 0) continue;
        if (text[i] == '~' || starts(text, i, "<-")) return true;
        if (text[i] == '=')
            return !starts(text, i, "==") && std::string_view("<>!").find(text[i - 1]) == std::string_view::npos;
        if (text[i] == '{') return starts(text, at, "for");
    }
    return false;
}

SyntaxProblem at_thing(const std::string& text, std::size_t at, std::string sentence) {
    return {place_of_thing(text, at), std::move(sentence)};
}

/// What may stand anywhere and is never right.
std::optional<SyntaxProblem> never_right(const std::string& text, std::size_t at) {
    const char c = char_at(text, at);
    if (c == '"' || c == '\'' || c == '`') {
        return at_thing(text, at, "text in quotes is not understood: a model holds names and numbers only");
    }
    if (c == '*' && at > 0 && text[at - 1] == '*') {
        return SyntaxProblem{{at - 1, at + 1}, "** is not an operator of BUGS: write ^ for a power, as in x^2"};
    }
    if (starts(text, at, "//")) {
        return SyntaxProblem{{at, at + 2}, "// is no comment in BUGS: a comment begins with #"};
    }
    if (starts(text, at, "<-")) {
        return SyntaxProblem{{at, at + 2},
                             "<- stands within an expression: for 'less than minus', put a space between < and -"};
    }
    if (c == '&' || c == '|') {
        return at_thing(text, at, fmt::format("a single {} is not understood: write {}{}", c, c, c));
    }
    if (c == '=') {
        return at_thing(text, at, "= is not understood in an expression: write == to compare");
    }
    if (c == '$' || c == '@' || c == '?' || c == '\\') {
        return at_thing(text, at, fmt::format("{} has no meaning in BUGS: remove it", thing_at(text, at)));
    }
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80U || (byte < 0x20U && at < text.size() && std::isspace(byte) == 0) || c == '_') {
        return at_thing(text, at,
                        fmt::format("{} is not understood here: names begin with a letter from a to z and go on with "
                                    "letters, digits, dots and underscores",
                                    thing_at(text, at)));
    }
    return std::nullopt;
}

/// Words of other languages.
std::optional<std::string> foreign_word(std::string_view word) {
    if (word == "if" || word == "else") {
        return "BUGS has no 'if': write ifelse(condition, a, b), or choose by an index, as in mu[group[i]]";
    }
    if (word == "while" || word == "repeat") return "BUGS has no loops but for (i in 1:N) { }";
    if (word == "function" || word == "return") return "functions cannot be written in BUGS";
    if (word == "library" || word == "require") return "this is a command of R: the file must hold a model { } alone";
    if (word == "list") return "data stand in a file of their own: give it after the model's";
    const bool is_stan = word == "int" || word == "real" || word == "vector" || word == "matrix" || word == "simplex";
    if (is_stan || word == "parameters" || word == "transformed" || word == "generated") {
        return "this looks like Stan: only BUGS is read, as JAGS has it";
    }
    return std::nullopt;
}

std::string_view word_at(const std::string& text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && is_name_byte(text[end])) ++end;
    return std::string_view(text).substr(std::min(at, text.size()), end - at);
}

SyntaxProblem missing_value(const std::string& text, std::size_t begin, std::size_t at) {
    const std::size_t next = skip_spaces(text, at);
    if (auto problem = never_right(text, next)) return *problem;
    const Place before = behind_last(text, next);
    const char last = before.begin > begin ? text[before.begin - 1] : '\0';
    const bool is_number = std::isdigit(static_cast<unsigned char>(char_at(text, next))) != 0;
    if (is_number) {
        const std::string thing = thing_at(text, next);
        const bool is_integer_of_r = word_at(text, next).ends_with("L");
        return at_thing(text, next,
                        fmt::format("{} is neither a number nor a name: {}", thing,
                                    is_integer_of_r ? "write whole numbers without L"
                                                    : "an operator such as * may be missing within it"));
    }
    const char c = char_at(text, next);
    const bool is_end = next >= text.size() || c == '}' || c == ';' || is_on_later_line(text, before.begin, next);
    if (last == ',' || c == ',' || (last == '(' && c == ')')) {
        return {before, "an argument is missing here: write it, or remove the comma"};
    }
    if (is_end) return {before, fmt::format("a value is missing behind '{}'", last)};
    if (c == ')' || c == ']') return {{next, next + 1}, fmt::format("a value is missing before '{}'", c)};
    return at_thing(text, next, fmt::format("a value is missing before {}", thing_at(text, next)));
}

SyntaxProblem not_closed(const std::string& text, std::size_t begin, std::size_t at) {
    const std::size_t next = skip_spaces(text, at);
    const std::optional<std::size_t> open = innermost_open(text, begin, next);
    if (!open) return at_thing(text, next, fmt::format("{} is not understood here", thing_at(text, next)));
    const char opening = text[*open];
    const char closing = opening == '(' ? ')' : ']';
    const char c = char_at(text, next);
    const Place before = behind_last(text, next);
    const std::string what = opening == '(' ? "parenthesis" : "bracket";
    if (c == ')' || c == ']') {
        return {{next, next + 1}, fmt::format("the {} {} is closed by {}: write {} here", what, opening, c, closing)};
    }
    const bool is_end = next >= text.size() || c == '}' || c == ';' || c == '{' || c == '~' ||
                        starts(text, next, "<-") || is_on_later_line(text, before.begin, next) ||
                        begins_relation(text, next);
    if (is_end) {
        std::size_t name = *open;
        while (name > begin && is_name_byte(text[name - 1])) --name;
        const std::string of =
            name < *open
                ? fmt::format(" of '{}'", lrvb::detail::printable(std::string_view(text).substr(name, *open - name)))
                : "";
        return {before, fmt::format("the {} {}{} is not closed: write {} here", what, opening, of, closing)};
    }
    if (auto problem = never_right(text, next)) return *problem;
    if (c == ',' && *open == begin) {
        return {{next, next + 1}, "the range of a loop is written with a colon, as in 'for (i in 1:N) {'"};
    }
    if (c == '[' || c == '(') {
        if (before.begin > 0 && text[before.begin - 1] == ']' && c == '[') {
            return {{next, next + 1}, "indices stand in one pair of brackets: write x[i, j], not x[i][j]"};
        }
        return {{next, next + 1}, fmt::format("an operator or a comma is missing before '{}'", c)};
    }
    if (c == ':' || c == '>' || c == '<' || c == '!' || starts(text, next, "==")) {
        return at_thing(text, next,
                        fmt::format("a second {} in a row is not understood: put parentheses around the first",
                                    thing_at(text, next)));
    }
    return at_thing(text, next, fmt::format("an operator or a comma is missing before {}", thing_at(text, next)));
}

SyntaxProblem no_relation_sign(const std::string& text, std::size_t begin, std::size_t at) {
    const std::size_t next = skip_spaces(text, at);
    const std::string name = lrvb::detail::printable(word_at(text, begin));
    if (const auto foreign = foreign_word(word_at(text, begin))) return at_thing(text, begin, *foreign);
    if (starts(text, next, "==")) {
        return at_thing(text, next,
                        fmt::format("== compares, and defines nothing: write '{} <- …' for a value, or '{} ~ …' for a "
                                    "distribution",
                                    name, name));
    }
    if (char_at(text, next) == '<') {
        return {{next, next + 1}, "write <- without a space between < and -"};
    }
    if (starts(text, next, ":=") || starts(text, next, "->")) {
        return {{next, next + 2}, "write <- for a value, with the name on the left"};
    }
    const std::size_t opening = skip_spaces(text, begin + word_at(text, begin).size());
    const char c = char_at(text, next);
    if (c == '(' && opening == next) {
        return at_thing(
            text, begin,
            fmt::format("'{}(…)' is not followed by <- or ~: indices stand in brackets, as in {}[i]; on the "
                        "left there may be one of the functions log, logit, probit and cloglog",
                        name, name));
    }
    if (c == '[') return {{next, next + 1}, "indices stand in one pair of brackets: write x[i, j], not x[i][j]"};
    if (auto problem = never_right(text, next)) return *problem;
    return {behind_last(text, next),
            fmt::format("'{}' is followed by neither ~ nor <-: write '{} ~ distribution(…)' or '{} <- value'", name,
                        name, name)};
}

/// An operator at the end of a line swallows the name that begins the next relation: whether that is so at its <- or ~.
std::optional<SyntaxProblem> swallowed_name(const std::string& text, std::size_t begin, std::size_t at) {
    if (char_at(text, at) != '~' && !starts(text, at, "<-")) return std::nullopt;
    const std::size_t line_end = text.rfind('\n', at);
    if (line_end == std::string::npos || line_end <= begin) return std::nullopt;
    const std::size_t name = skip_spaces(text, line_end);
    if (!begins_relation(text, name)) return std::nullopt;
    const Place before = behind_last(text, name);
    const char last = before.begin > 0 ? text[before.begin - 1] : '\0';
    if (std::string_view("+-*/^:<>=&|!%,").find(last) == std::string_view::npos) return std::nullopt;
    return SyntaxProblem{before,
                         fmt::format("a value is missing behind '{}': the next line begins another relation", last)};
}

}  // namespace

bool is_name_byte(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x80U && (std::isalnum(byte) != 0 || c == '_' || c == '.');
}

Place place_of_thing(const std::string& text, std::size_t at) {
    if (at >= text.size()) return behind_last(text, text.size());
    std::size_t end = at;
    while (end < text.size() && is_name_byte(text[end])) ++end;
    if (end > at) return {at, end};
    for (const std::string_view sign : {"<-", "<=", ">=", "==", "!=", "&&", "||", "%*%", "**"}) {
        if (starts(text, at, sign)) return {at, at + sign.size()};
    }
    return {at, at + lrvb::detail::character_at(text, at).length};
}

std::string thing_at(const std::string& text, std::size_t at) {
    if (at >= text.size()) return "the end";
    const Place place = place_of_thing(text, at);
    return lrvb::detail::shown(std::string_view(text).substr(place.begin, place.end - place.begin));
}

SyntaxProblem problem_in_words(std::string_view expected, const std::string& text, std::size_t begin, std::size_t at) {
    const std::size_t next = skip_spaces(text, at);
    const std::string thing = thing_at(text, next);
    if (expected == kValueMissing) return missing_value(text, begin, at);
    if (expected == kNotClosed) return not_closed(text, begin, at);
    if (expected == kNoRelationSign) return no_relation_sign(text, begin, at);
    if (expected == kBoundsComma) {
        return {behind_last(text, next),
                "bounds are two, with a comma between them: T(lower, upper), T(lower, ) or T(, upper)"};
    }
    if (expected == kNoDistribution) {
        if (auto problem = never_right(text, next)) return *problem;
        return at_thing(text, next,
                        fmt::format("a distribution follows ~, as in 'y ~ dnorm(mu, tau)', but here is {}; "
                                    "for a value write <-",
                                    thing));
    }
    if (expected == kNoArguments) {
        const Place before = behind_last(text, next);
        return {before,
                "a distribution and its parameters follow ~, as in 'y ~ dnorm(mu, tau)': ( is missing here; "
                "for a value write <-"};
    }
    if (expected == kLoopOpening) {
        return {behind_last(text, next), "a loop begins with a parenthesis, as in 'for (i in 1:N) {'"};
    }
    if (expected == kLoopIndex) {
        return at_thing(text, next,
                        fmt::format("{} is no name for the index of a loop: write 'for (i in 1:N) {{'", thing));
    }
    if (expected == kLoopIn) {
        return at_thing(text, next, fmt::format("'in' is expected here, not {}: write 'for (i in 1:N) {{'", thing));
    }
    if (expected == kDeclaredName) {
        return at_thing(text, next,
                        fmt::format("{} is no name: 'var' is followed by names with their extents, as in "
                                    "'var y[10,3], mu;'",
                                    thing));
    }
    if (auto problem = never_right(text, next)) return *problem;
    const char c = char_at(text, next);
    if (c == ')' || c == ']') return {{next, next + 1}, fmt::format("'{}' was not opened: remove it", c)};
    return at_thing(text, next,
                    fmt::format("{} is not understood here: a relation begins with the name that it "
                                "defines, as in 'y[i] ~ …' or 'mu <- …'",
                                thing));
}

SyntaxProblem problem_behind_relation(const std::string& text, std::size_t begin, std::size_t at) {
    const std::size_t next = skip_spaces(text, at);
    const char c = char_at(text, next);
    if (c == ')' || c == ']') return {{next, next + 1}, fmt::format("'{}' was not opened: remove it", c)};
    if (auto problem = swallowed_name(text, begin, next)) return *problem;
    if (c == '[' && next > 0 && text[next - 1] == ']') {
        return {{next, next + 1}, "indices stand in one pair of brackets: write x[i, j], not x[i][j]"};
    }
    if (auto problem = never_right(text, next)) return *problem;
    if (c == ',') return {{next, next + 1}, "a comma is not understood here: relations are on lines of their own"};
    if (c == '~') return {{next, next + 1}, "a second ~ is not understood: a relation has one"};
    if (c == ':' || c == '>' || c == '<' || c == '!') {
        return at_thing(text, next,
                        fmt::format("a second {} in a row is not understood: put parentheses around the first",
                                    thing_at(text, next)));
    }
    if (c == '(') {
        return {{next, next + 1}, "'(' is not understood here: an operator such as * may be missing before it"};
    }
    return at_thing(
        text, next,
        fmt::format("{} is not understood here: an operator may be missing before it", thing_at(text, next)));
}

}  // namespace lrvb::bugs
