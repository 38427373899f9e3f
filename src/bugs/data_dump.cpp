#include "base/messages.hpp"
#include "data/csv_record.hpp"

#include <lrvb/bugs/data.hpp>
#include <lrvb/bugs/diagnostics.hpp>

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

namespace lrvb::bugs {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A value of R, as far as data need them: numbers or texts, with what structure() says of them.
struct RValue {
    std::vector<double> numbers;
    std::vector<std::string> texts;
    bool is_text = false;
    bool is_scalar = true;
    std::optional<std::vector<double>> dim;
    std::vector<std::string> levels;
    /// Given as .Data, as WinBUGS has it: the last index is the fastest.
    bool is_row_major = false;
};

/// R's dump format, read from left to right.
class DumpReader {
  public:
    DumpReader(std::string_view text, const std::string& file, std::size_t longest, Data& data)
        : text_(text), file_(file), longest_(longest), data_(data) {}

    void read() {
        for (skip(); at_ < text_.size(); skip()) {
            if (text_[at_] == ';') {
                ++at_;
                continue;
            }
            if (is_word("list")) {
                at_ += 4;
                read_list();
                continue;
            }
            const std::size_t begin = at_;
            const std::string name = read_name("a name");
            skip();
            if (!take("<-") && !take("=")) {
                refuse(at_, fmt::format("{} is not followed by <-: data are written 'name <- value'",
                                        lrvb::detail::shown(name)));
            }
            add(name, read_value(0), begin);
        }
    }

  private:
    static constexpr int kDeepest = 20;

    [[noreturn]] void refuse(std::size_t at, const std::string& sentence) const {
        const Source source(file_, std::string(text_));
        throw std::runtime_error(fmt::format("{}: {}", source.position({at, at}), sentence));
    }

    void skip() {
        while (at_ < text_.size()) {
            if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
                ++at_;
            } else if (text_[at_] == '#') {
                at_ = std::min(text_.find('\n', at_), text_.size());
            } else {
                return;
            }
        }
    }

    static bool is_word_byte(char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' ||
               (static_cast<unsigned char>(c) & 0x80U) != 0;
    }

    std::string_view word() const {
        std::size_t end = at_;
        while (end < text_.size() && is_word_byte(text_[end])) ++end;
        return text_.substr(at_, end - at_);
    }

    bool is_word(std::string_view which) const { return word() == which; }

    bool take(std::string_view sign) {
        if (!text_.substr(at_).starts_with(sign)) return false;
        at_ += sign.size();
        return true;
    }

    void expect(char c, std::string_view why) {
        skip();
        if (at_ < text_.size() && text_[at_] == c) {
            ++at_;
            return;
        }
        refuse(at_, fmt::format("'{}' is expected here{}, not {}", c, why, thing()));
    }

    std::string thing() const {
        if (at_ >= text_.size()) return "the end of the file";
        const std::string_view here = word();
        return lrvb::detail::shown(here.empty() ? text_.substr(at_, 1) : here);
    }

    std::string read_quoted() {
        const char quote = text_[at_];
        const std::size_t begin = at_++;
        std::string result;
        while (at_ < text_.size() && text_[at_] != quote) {
            if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
            result += text_[at_++];
        }
        if (at_ >= text_.size()) refuse(begin, "the quote is not closed");
        ++at_;
        return result;
    }

    bool at_quote() const {
        return at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'' || text_[at_] == '`');
    }

    std::string read_name(std::string_view what) {
        skip();
        if (at_quote()) return read_quoted();
        const std::string_view name = word();
        const bool begins_well = !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0;
        if (!begins_well) refuse(at_, fmt::format("{} is expected here, not {}", what, thing()));
        at_ += name.size();
        return std::string(name);
    }

    /// list(name = value, …)
    void read_list() {
        expect('(', " behind list");
        for (skip(); at_ < text_.size() && text_[at_] != ')'; skip()) {
            const std::size_t begin = at_;
            const std::string name = read_name("a name");
            skip();
            if (!take("=") && !take("<-")) {
                refuse(at_, fmt::format("{} is not followed by =: a list is written list(name = value, …)",
                                        lrvb::detail::shown(name)));
            }
            add(name, read_value(0), begin);
            skip();
            if (!take(",")) break;
        }
        expect(')', " to close the list");
    }

    RValue read_value(int depth) {
        RValue result = read_item(depth);
        skip();
        if (at_ >= text_.size() || text_[at_] != ':') return result;
        const std::size_t begin = at_++;
        const RValue last = read_item(depth);
        if (result.numbers.size() != 1 || last.numbers.size() != 1) refuse(begin, "a range is between two numbers");
        const double from = result.numbers.front();
        const double to = last.numbers.front();
        if (!(std::abs(to - from) < static_cast<double>(longest_)) || !(std::abs(from) < 1e15)) {
            refuse(begin, "the range is too long, or is none");
        }
        RValue range;
        range.is_scalar = false;
        const double step = to < from ? -1.0 : 1.0;
        const auto count = static_cast<std::size_t>(std::abs(to - from)) + 1;
        if (count + from_ranges_ > 5 * longest_) refuse(begin, "ranges are too long");
        from_ranges_ += count;
        for (std::size_t i = 0; i < count; ++i) range.numbers.push_back(from + step * static_cast<double>(i));
        return range;
    }

    RValue read_item(int depth) {
        skip();
        if (depth > kDeepest) refuse(at_, "values stand within each other too deeply");
        RValue result;
        if (at_quote()) {
            result.is_text = true;
            result.texts.push_back(read_quoted());
            return result;
        }
        if (take("-") || take("+")) {
            const bool is_negative = text_[at_ - 1] == '-';
            result = read_item(depth + 1);
            if (is_negative) {
                for (double& number : result.numbers) number = -number;
            }
            return result;
        }
        if (take("(")) {
            result = read_value(depth + 1);
            expect(')', "");
            return result;
        }
        const std::string_view name = word();
        const bool is_number =
            !name.empty() && (std::isdigit(static_cast<unsigned char>(name.front())) != 0 || name.front() == '.');
        if (is_number &&
            !(name.front() == '.' && name.size() > 1 && std::isalpha(static_cast<unsigned char>(name[1])))) {
            result.numbers.push_back(read_number());
            return result;
        }
        return read_word(name, depth);
    }

    RValue read_word(std::string_view name, int depth) {
        RValue result;
        const std::size_t begin = at_;
        at_ += name.size();
        if (name == "NA" || name == "NaN" || name == "NA_integer_" || name == "NA_real_") {
            result.numbers.push_back(kNan);
        } else if (name == "TRUE" || name == "T") {
            result.numbers.push_back(1.0);
        } else if (name == "FALSE" || name == "F") {
            result.numbers.push_back(0.0);
        } else if (name == "Inf") {
            result.numbers.push_back(std::numeric_limits<double>::infinity());
        } else if (name == "c") {
            return read_combined(depth);
        } else if (name == "structure") {
            return read_structure(depth);
        } else if (name == "as.integer" || name == "as.numeric" || name == "as.double") {
            expect('(', fmt::format(" behind {}", name));
            result = read_value(depth + 1);
            expect(')', "");
        } else if (name == "list") {
            refuse(begin, "a list within the data is not understood: give each of its parts a name of its own");
        } else {
            at_ = begin;
            refuse(begin, fmt::format("{} is not understood: values are numbers, NA, c(…), a:b and structure(…, .Dim = "
                                      "c(…))",
                                      thing()));
        }
        return result;
    }

    double read_number() {
        const std::size_t begin = at_;
        std::size_t end = at_;
        while (end < text_.size()) {
            const char c = text_[end];
            const bool is_sign =
                (c == '+' || c == '-') && end > begin && (text_[end - 1] == 'e' || text_[end - 1] == 'E');
            if (!is_sign && !is_word_byte(c)) break;
            ++end;
        }
        std::string_view written = text_.substr(begin, end - begin);
        at_ = end;
        if (written.ends_with('L')) written.remove_suffix(1);
        double number = 0.0;
        if (lrvb::detail::parse_number(written, number) != lrvb::detail::NumberKind::number) {
            refuse(begin, fmt::format("{} is no number", lrvb::detail::shown(written)));
        }
        return number;
    }

    /// Whether a name and = follow, as in c(a = 1): which name.
    std::optional<std::string> read_argument_name() {
        skip();
        const std::size_t begin = at_;
        std::string name;
        if (at_quote()) {
            name = read_quoted();
        } else {
            name = word();
            at_ += name.size();
        }
        skip();
        const bool is_name = !name.empty() && at_ < text_.size() && text_[at_] == '=';
        if (!is_name) {
            at_ = begin;
            return std::nullopt;
        }
        ++at_;
        return name;
    }

    RValue read_combined(int depth) {
        RValue result;
        result.is_scalar = false;
        expect('(', " behind c");
        for (skip(); at_ < text_.size() && text_[at_] != ')'; skip()) {
            if (!at_number()) read_argument_name();
            const RValue part = read_value(depth + 1);
            result.is_text = result.is_text || part.is_text;
            result.numbers.insert(result.numbers.end(), part.numbers.begin(), part.numbers.end());
            result.texts.insert(result.texts.end(), part.texts.begin(), part.texts.end());
            skip();
            if (!take(",")) break;
        }
        expect(')', ", or a comma");
        return result;
    }

    bool at_number() const {
        return at_ < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '-');
    }

    RValue read_structure(int depth) {
        RValue result;
        bool has_values = false;
        expect('(', " behind structure");
        for (skip(); at_ < text_.size() && text_[at_] != ')'; skip()) {
            const std::size_t begin = at_;
            const std::optional<std::string> name = read_argument_name();
            const bool is_list = name && (*name == ".Dimnames" || *name == "dimnames" || *name == "row.names");
            if (is_list) {
                skip_value();
            } else {
                RValue part = read_value(depth + 1);
                if (!name || *name == ".Data") {
                    if (has_values) refuse(begin, "structure(…) has its values twice");
                    has_values = true;
                    part.levels = std::move(result.levels);
                    part.dim = std::move(result.dim);
                    result = std::move(part);
                    result.is_row_major = name.has_value();
                } else if (*name == ".Dim" || *name == "dim") {
                    result.dim = std::move(part.numbers);
                } else if (*name == ".Label" || *name == "levels") {
                    result.levels = std::move(part.texts);
                }
            }
            skip();
            if (!take(",")) break;
        }
        expect(')', " to close structure");
        result.is_scalar = result.is_scalar && !result.dim;
        return result;
    }

    /// To the comma or the parenthesis behind it.
    void skip_value() {
        int open = 0;
        for (; at_ < text_.size(); ++at_) {
            if (at_quote()) {
                read_quoted();
                --at_;
                continue;
            }
            const char c = text_[at_];
            if (c == '(') ++open;
            if (open == 0 && (c == ',' || c == ')')) return;
            if (c == ')') --open;
        }
    }

    void add(const std::string& name, RValue value, std::size_t begin) {
        if (value.is_text) {
            refuse(begin, fmt::format("{} holds text, but data are numbers: number its values from 1",
                                      lrvb::detail::shown(name)));
        }
        const auto levels = static_cast<double>(value.levels.size());
        for (const double code : value.numbers) {
            const bool is_level = std::isnan(code) || (code >= 1.0 && code <= levels && code == std::floor(code));
            if (value.levels.empty() || is_level) continue;
            refuse(begin, fmt::format("{} is a factor with {} levels, but has the code {:g}: codes go from 1 to their "
                                      "number",
                                      lrvb::detail::shown(name), value.levels.size(), code));
        }
        DataArray array;
        array.name = name;
        array.file = file_;
        array.levels = std::move(value.levels);
        if (value.dim) {
            array.dims = extents(*value.dim, value.numbers.size(), name, begin);
        } else if (!value.is_scalar) {
            array.dims = {static_cast<Index>(value.numbers.size())};
        }
        array.values = value.is_row_major ? turned(value.numbers, array.dims) : std::move(value.numbers);
        data_.add(std::move(array));
    }

    std::vector<Index> extents(const std::vector<double>& dim, std::size_t size, const std::string& name,
                               std::size_t begin) const {
        std::vector<Index> result;
        double product = 1.0;
        double most = 1.0;
        for (const double extent : dim) {
            most *= std::max(extent, 1.0);
            if (!(extent >= 0.0) || extent != std::floor(extent) || !(most < 1e15)) {
                refuse(begin,
                       fmt::format("{} has {} among its .Dim, which is no extent", lrvb::detail::shown(name), extent));
            }
            product *= extent;
            result.push_back(static_cast<Index>(extent));
        }
        if (product != static_cast<double>(size) || result.empty()) {
            refuse(begin,
                   fmt::format("{} has {} values, but its .Dim asks for {}", lrvb::detail::shown(name), size, product));
        }
        return result;
    }

    /// From the last index fastest to the first.
    static std::vector<double> turned(const std::vector<double>& numbers, const std::vector<Index>& dims) {
        std::vector<double> result(numbers.size());
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            std::size_t rest = i;
            std::size_t place = 0;
            std::size_t stride = numbers.size();
            for (std::size_t d = dims.size(); d-- > 0;) {
                const auto extent = static_cast<std::size_t>(dims[d]);
                stride /= extent;
                place += rest % extent * stride;
                rest /= extent;
            }
            result[place] = numbers[i];
        }
        return result;
    }

    std::string_view text_;
    const std::string& file_;
    std::size_t longest_;
    Data& data_;
    std::size_t at_ = 0;
    std::size_t from_ranges_ = 0;
};

}  // namespace

void Data::add_dump(std::string_view text, const std::string& file) {
    DumpReader(text, file, longest_range_, *this).read();
}

}  // namespace lrvb::bugs
