#include "cli/manual.hpp"

#include "cli/command.hpp"

#include <fmt/format.h>

#include <string_view>

namespace lrvb::cli {

namespace {

/// The code point that begins at `at`, which moves behind it; `?` for what is no UTF-8.
unsigned next_code_point(std::string_view text, std::size_t& at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[i])); };
    const unsigned first = byte(at++);
    if (first < 0x80U) return first;
    const std::size_t more = first >= 0xF0U ? 3 : first >= 0xE0U ? 2 : first >= 0xC0U ? 1 : 0;
    if (more == 0 || at + more > text.size()) return '?';
    unsigned code = first & (0x3FU >> more);
    for (std::size_t i = 0; i < more; ++i) code = code << 6U | (byte(at++) & 0x3FU);
    return code;
}

/// Text that roff prints as it is: hyphens that can be copied to a shell, straight quotes, and no line that is taken
/// for a request.
std::string escaped(std::string_view text) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const unsigned code = next_code_point(text, at);
        switch (code) {
            case '\\':
                result += "\\e";
                break;
            case '-':
                result += "\\-";
                break;
            case '\'':
                result += "\\(aq";
                break;
            case '"':
                result += "\\(dq";
                break;
            case '`':
                result += "\\(ga";
                break;
            case '^':
                result += "\\(ha";
                break;
            case '~':
                result += "\\(ti";
                break;
            default:
                if (code < 0x20U) {
                    result += ' ';
                } else if (code < 0x80U) {
                    result += static_cast<char>(code);
                } else {
                    result += fmt::format("\\[u{:04X}]", code);
                }
        }
    }
    return result.starts_with('.') ? "\\&" + result : result;
}

std::string sentence(std::string text) {
    if (!text.empty() && text.back() != '.') text += '.';
    return escaped(text) + "\n";
}

std::string options_text(const std::vector<ManualOption>& options) {
    std::string text;
    std::string group;
    for (const ManualOption& option : options) {
        if (option.group != group) {
            group = option.group;
            text += fmt::format(".PP\n{}:\n", escaped(group));
        }
        text += fmt::format(".TP\n\\fB{}\\fR", escaped(option.name));
        if (!option.value.empty()) text += fmt::format(" \\fI{}\\fR", escaped(option.value));
        text += "\n" + sentence(option.help);
    }
    return text;
}

}  // namespace

std::string manual_page(const std::string& version, const std::vector<ManualCommand>& commands) {
    std::string synopsis;
    std::string text;
    std::string program_options;
    std::string program_help;
    for (const ManualCommand& command : commands) {
        if (command.path.empty()) {
            program_help = command.help;
            program_options = options_text(command.options);
            continue;
        }
        const std::string line = fmt::format("\\fBlrvb {}\\fR {}\n", escaped(command.path), escaped(command.usage));
        synopsis += (synopsis.empty() ? "" : ".br\n") + line;
        text += fmt::format(".SS \"lrvb {}\"\n", escaped(command.path)) + sentence(command.help) + ".PP\n" + line +
                options_text(command.options);
    }
    return fmt::format(R"(.\" Written by 'lrvb man' from what --help says.
.TH LRVB 1 "" "lrvb {}" "User Commands"
.SH NAME
lrvb \- linear response variational Bayes
.SH SYNOPSIS
{}.SH DESCRIPTION
{}.PP
Mean\-field variational Bayes is fast, but its standard deviations are too small.
Linear response reads the covariance of the posterior off the derivative of its fixed point.
.SH OPTIONS
{}.SH COMMANDS
{}.SH EXIT STATUS
.TP
\fB{}\fR
The command did what it was asked for.
.TP
\fB{}\fR
Something is wrong with the data, a file or the machine; nothing is half\-written.
.TP
\fB{}\fR
The command line cannot be understood.
.TP
\fB{}\fR
The fit did not converge; it is written, and says so.
.SH SEE ALSO
The guide, method and file formats are in
.IR PREFIX/share/doc/lrvb .
)",
                       escaped(version), synopsis, sentence(program_help), program_options, text, kSuccess, kBadInput,
                       kWrongUsage, kNotConverged);
}

}  // namespace lrvb::cli
