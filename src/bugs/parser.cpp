#include "base/files.hpp"
#include "base/messages.hpp"
#include "base/own_stack.hpp"
#include "bugs/grammar.hpp"
#include "bugs/mistakes.hpp"
#include "bugs/word_check.hpp"

#include <lrvb/bugs/syntax.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace lrvb::bugs {

namespace {

constexpr std::size_t kMostProblems = 100;
constexpr std::size_t kDeepestLoops = 50;
constexpr std::size_t kShallowBrackets = 5;  // which any stack has room for
constexpr std::size_t kLongestModel = std::size_t{16} << 20;

/// The text with its comments made spaces, so that places stay.
std::string without_comments(const std::string& text, Diagnostics& problems) {
    std::string result = text;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool is_block = text.compare(i, 2, "/*") == 0;
        if (text[i] != '#' && !is_block) continue;
        std::size_t end = is_block ? text.find("*/", i + 2) : text.find('\n', i);
        if (is_block && end == std::string::npos) {
            problems.add({i, i + 2}, "the comment /* is not closed: write */ where it ends");
        }
        end = end == std::string::npos ? text.size() : is_block ? end + 2 : end;
        for (; i < end; ++i) {
            if (text[i] != '\n') result[i] = ' ';
        }
        --i;
    }
    return result;
}

/// Statement by statement: what is wrong with one is said, and the next begins where a relation can.
class Parser {
  public:
    Parser(Source source)
        : problems_(source), text_(without_comments(source.text(), problems_)), source_(std::move(source)) {}

    Syntax parse() {
        Syntax result;
        result.source = source_;
        if (!problems_.empty() || !is_shallow()) is_hopeless_ = true;
        if (!is_hopeless_) {
            if (deepest_ > kShallowBrackets) {
                lrvb::detail::on_own_stack([&] { read_file(result); });
            } else {
                read_file(result);
            }
        }
        if (!is_hopeless_) check_words(result, problems_);
        problems_.require_none();
        return result;
    }

  private:
    /// A loop whose head was wrong, or braces without one, have no loop.
    struct Open {
        static constexpr std::size_t kNoLoop = static_cast<std::size_t>(-1);
        std::size_t loop = kNoLoop;
        std::size_t brace = 0;
        std::size_t head = 0;
    };

    /// Brackets within each other cost stack; those of one relation are counted.
    bool is_shallow() {
        std::size_t depth = 0;
        for (std::size_t i = 0; i < text_.size(); ++i) {
            const char c = text_[i];
            if (c == '(' || c == '[') deepest_ = std::max(deepest_, ++depth);
            if ((c == ')' || c == ']') && depth > 0) --depth;
            if (c == '{' || c == '}' || c == ';' || c == '~' || text_.compare(i, 2, "<-") == 0) depth = 0;
            if (depth <= kDeepestBrackets) continue;
            problems_.add({i, i + 1}, fmt::format("brackets stand within each other more than {} times: give parts of "
                                                  "the expression names by <-",
                                                  kDeepestBrackets));
            return false;
        }
        return true;
    }

    void skip_spaces() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    }

    bool is_word(std::string_view word) const {
        return text_.compare(at_, word.size(), word) == 0 &&
               (at_ + word.size() >= text_.size() || !is_name_byte(text_[at_ + word.size()]));
    }

    Place place_of(std::size_t begin, std::size_t length) const { return {begin, begin + length}; }

    bool has_many_problems() const { return problem_count_ >= kMostProblems; }

    void add(const Place& place, std::string sentence) {
        ++problem_count_;
        problems_.add(place, std::move(sentence));
    }

    void add(const SyntaxProblem& problem) { add(problem.place, problem.sentence); }

    void read_file(Syntax& result) {
        bool has_model = false;
        for (skip_spaces(); at_ < text_.size() && !has_many_problems(); skip_spaces()) {
            if (text_[at_] == ';') {
                ++at_;
            } else if (is_word("var") && !has_model) {
                at_ += 3;
                read_declarations(result);
            } else if (is_word("data") && !result.data && !has_model) {
                result.data.emplace();
                at_ += 4;
                if (!open_block("data")) return;
                read_block(*result.data);
            } else if (is_word("model") && !has_model) {
                has_model = true;
                at_ += 5;
                if (!open_block("model")) return;
                read_block(result.model);
            } else {
                add(misplaced(has_model, result.data.has_value()));
                is_hopeless_ = true;
                return;
            }
        }
        if (has_model || has_many_problems()) return;
        add({text_.size(), text_.size()}, "there is no model: write model { … }");
        is_hopeless_ = true;
    }

    SyntaxProblem misplaced(bool has_model, bool has_data) const {
        const Place place = place_of_thing(text_, at_);
        const std::string thing = thing_at(text_, at_);
        if (text_[at_] == '}') {
            return {place, "the brace } was not opened: remove it, or look for a { that is missing before"};
        }
        if (has_model) {
            const bool is_list = is_word("list");
            const bool is_block = is_word("model") || is_word("data") || is_word("var");
            return {place,
                    is_list ? "data do not stand in the model's file: put list(…) into a file of its own"
                    : is_block
                        ? fmt::format("{} stands behind the model: a file has var, data {{ }} and one model {{ }}, "
                                      "in this order",
                                      thing)
                        : fmt::format("{} stands behind the end of the model: remove it, or look for a brace }} "
                                      "that is too many",
                                      thing)};
        }
        if (has_data && is_word("data")) return {place, "there is a second data { }: put all into one"};
        return {place, fmt::format("{} stands outside of the model: write model {{ … }} around all relations", thing)};
    }

    bool open_block(std::string_view what) {
        const Place word = place_of(at_ - what.size(), what.size());
        skip_spaces();
        if (at_ < text_.size() && text_[at_] == '{') {
            open_ = {{Open::kNoLoop, at_, word.begin}};
            ++at_;
            return true;
        }
        add({word.end, word.end}, fmt::format("'{}' is followed by a brace: write {} {{ … }}", what, what));
        is_hopeless_ = true;
        return false;
    }

    void read_declarations(Syntax& result) {
        const std::size_t begin = at_;
        try {
            skip_spaces();
            std::vector<Declaration> found = parse_declarations(text_, at_);
            std::move(found.begin(), found.end(), std::back_inserter(result.declarations));
        } catch (const SyntaxProblem& problem) {
            add(problem);
            at_ = std::min(text_.find_first_of(";{", begin), text_.size());
            while (at_ > begin && text_[at_ - 1] != '\n' && at_ < text_.size() && text_[at_] == '{') --at_;
        }
    }

    void read_block(Block& block) {
        while (!open_.empty() && !has_many_problems()) {
            skip_spaces();
            if (at_ >= text_.size()) {
                const Open& open = open_.back();
                const std::string what(open.head < open.brace && text_[open.head] == 'f' ? "the loop"
                                       : text_[open.head] == 'd'                         ? "data"
                                       : text_[open.head] == 'm'                         ? "model"
                                                                                         : "this place");
                add(place_of(open.brace, 1),
                    fmt::format("the brace {{ of {} is not closed: write }} where it ends", what));
                return;
            }
            const char c = text_[at_];
            if (c == ';') {
                ++at_;
            } else if (c == '}') {
                ++at_;
                open_.pop_back();
            } else if (c == '{') {
                add(place_of(at_, 1),
                    "a brace { stands here without a loop: remove it and its }, or write for (i in "
                    "1:N) before it");
                open_.push_back({Open::kNoLoop, at_, at_});
                ++at_;
            } else if (is_word("for")) {
                read_loop(block);
            } else {
                read_relation(block);
            }
        }
    }

    void read_loop(Block& block) {
        const std::size_t head = at_;
        at_ += 3;
        skip_spaces();
        std::size_t loop = Open::kNoLoop;
        try {
            block.loops.push_back(parse_loop(text_, at_));
            loop = block.loops.size() - 1;
            skip_spaces();
            if (at_ >= text_.size() || text_[at_] != '{') {
                const std::size_t last = text_.find_last_not_of(" \t\r\n\v\f", at_ - 1) + 1;
                const bool has_more = at_ < text_.size() && text_[at_] == ')';
                add({last, last}, has_more ? "the loop's head has a parenthesis ) too many: remove it"
                                           : "the body of a loop stands in braces: write { here and } behind its last "
                                             "relation");
                if (has_more) open_brace(loop, head);
                return;
            }
            open_.push_back({loop, at_, head});
            ++at_;
        } catch (const SyntaxProblem& problem) {
            add(problem);
            at_ = std::max(at_, problem.place.begin);
            open_brace(loop, head);
        }
        if (open_.size() > kDeepestLoops && !is_too_deep_) {
            is_too_deep_ = true;
            add(place_of(head, 3), fmt::format("loops stand within each other more than {} times", kDeepestLoops));
        }
    }

    /// Goes behind the brace of a loop whose head is wrong, so that braces stay in pairs.
    void open_brace(std::size_t loop, std::size_t head) {
        const std::size_t brace = text_.find('{', at_);
        const std::size_t line_end = std::min(text_.find('\n', at_), text_.size());
        const std::size_t next = text_.find_first_not_of(" \t\r\n\v\f", line_end);
        const bool is_here = brace < line_end || brace == next;
        if (brace == std::string::npos || !is_here) {
            recover(head);
            return;
        }
        open_.push_back({loop, brace, head});
        at_ = brace + 1;
    }

    void read_relation(Block& block) {
        const std::size_t begin = at_;
        try {
            Relation relation = parse_relation(text_, at_);
            for (const Open& open : open_) {
                if (open.loop != Open::kNoLoop) relation.loops.push_back(open.loop);
            }
            block.relations.push_back(std::move(relation));
            const std::size_t end = at_;
            skip_spaces();
            if (at_ >= text_.size() || text_[at_] == ';' || text_[at_] == '}' || text_[at_] == '{') return;
            const bool begins_name = std::isalpha(static_cast<unsigned char>(text_[at_])) != 0;
            if (begins_name && is_name_start_of_relation(end)) return;
            add(problem_behind_relation(text_, begin, at_));
            recover(begin);
        } catch (const SyntaxProblem& problem) {
            add(problem);
            at_ = std::max(begin, problem.place.begin);
            recover(begin);
        }
    }

    /// Relations need nothing between them; but what follows on the same line should be one.
    bool is_name_start_of_relation(std::size_t end) const {
        return text_.find('\n', end) < at_ || looks_like_statement(at_);
    }

    /// Whether a statement may begin here: a brace, a loop, or a name with a ~ or <- on the same line.
    bool looks_like_statement(std::size_t begin) const {
        if (begin >= text_.size()) return true;
        if (text_[begin] == '}') return true;
        const auto byte = static_cast<unsigned char>(text_[begin]);
        if (byte < 0x80U && std::isalpha(byte) == 0) return false;
        const std::string_view line(text_.data() + begin, std::min(text_.find('\n', begin), text_.size()) - begin);
        const bool is_loop = line.starts_with("for") && (line.size() == 3 || !is_name_byte(line[3]));
        return is_loop || line.find('~') != std::string_view::npos || line.find("<-") != std::string_view::npos ||
               line.find('=') != std::string_view::npos;
    }

    /// From where something was wrong to the next place where a statement can begin, behind `begin`.
    void recover(std::size_t begin) {
        at_ = std::max(at_, begin);
        const std::size_t line_start = text_.rfind('\n', at_ > 0 ? at_ - 1 : 0);
        const bool is_new_line = line_start != std::string::npos && line_start > begin &&
                                 text_.find_first_not_of(" \t\r\n\v\f", line_start) >= at_;
        if (is_new_line && looks_like_statement(at_)) return;
        for (; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (c == ';' || c == '}') return;
            if (c == '{') {
                open_.push_back({Open::kNoLoop, at_, at_});
                ++at_;
                return;
            }
            if (c != '\n') continue;
            const std::size_t next = text_.find_first_not_of(" \t\r\n\v\f", at_);
            if (next == std::string::npos || looks_like_statement(next)) return;
        }
    }

    Diagnostics problems_;
    std::string text_;
    Source source_;
    std::size_t at_ = 0;
    std::vector<Open> open_;
    std::size_t problem_count_ = 0;
    std::size_t deepest_ = 0;   // of brackets within each other
    bool is_hopeless_ = false;  // hardly anything was read
    bool is_too_deep_ = false;
};

}  // namespace

Syntax parse_model(std::string text, std::string name) {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    if (text.starts_with(mark)) text.erase(0, mark.size());
    if (text.size() > kLongestModel) {
        throw std::runtime_error(fmt::format("{}: this is no model: it is longer than {} MiB",
                                             lrvb::detail::on_one_line(name), kLongestModel >> 20));
    }
    return Parser(Source(std::move(name), std::move(text))).parse();
}

Syntax read_model(const std::string& path) {
    lrvb::detail::ByteStream stream(path);
    std::string text;
    std::vector<char> block(std::size_t{1} << 16);
    while (const std::size_t size = stream.read(block.data(), block.size())) {
        text.append(block.data(), size);
        if (text.size() > kLongestModel) break;
    }
    return parse_model(std::move(text), stream.name());
}

}  // namespace lrvb::bugs
