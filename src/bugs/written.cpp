#include <lrvb/bugs/syntax.hpp>

#include <fmt/format.h>

#include <array>

namespace lrvb::bugs {

namespace {

// How tightly an operator binds, from 1; what is no operator binds tightest.
constexpr int kTightest = 11;

struct Rank {
    std::string_view sign;
    int rank;
};

constexpr std::array<Rank, 17> kRanks{{{"||", 1},
                                       {"&&", 2},
                                       {"!", 3},
                                       {">", 4},
                                       {">=", 4},
                                       {"<", 4},
                                       {"<=", 4},
                                       {"==", 4},
                                       {"!=", 4},
                                       {"+", 5},
                                       {"-", 5},
                                       {"*", 6},
                                       {"/", 6},
                                       {"%*%", 7},
                                       {"%%", 7},
                                       {"%/%", 7},
                                       {"^", 10}}};
constexpr int kRangeRank = 8;
constexpr int kSignRank = 9;

int rank_of(const Expression& expression) {
    if (expression.kind == Expression::Kind::range) return kRangeRank;
    if (expression.kind != Expression::Kind::call) return kTightest;
    if (expression.name == "-" && expression.parts.size() == 1) return kSignRank;
    for (const Rank& rank : kRanks) {
        if (rank.sign == expression.name) return rank.rank;
    }
    return expression.name.starts_with('%') ? 7 : kTightest;
}

class Writer {
  public:
    std::string take() { return std::move(out_); }

    void write(const Expression& expression, int least = 0) {
        const int rank = rank_of(expression);
        const bool needs_parentheses = rank < least;
        if (needs_parentheses) out_ += '(';
        if (expression.kind == Expression::Kind::number) {
            out_ += fmt::format("{}", expression.number);
        } else if (expression.kind == Expression::Kind::variable) {
            out_ += expression.name;
            if (expression.has_brackets) write_list('[', expression.parts, ']');
        } else if (rank == kTightest && expression.kind == Expression::Kind::call) {
            out_ += expression.name;
            write_list('(', expression.parts, ')');
        } else if (expression.kind != Expression::Kind::empty) {
            write_operator(expression, rank);
        }
        if (needs_parentheses) out_ += ')';
    }

  private:
    void write_operator(const Expression& expression, int rank) {
        if (expression.parts.size() == 1) {
            out_ += expression.name;
            write(expression.parts[0], rank);
            return;
        }
        const bool from_right = rank == 10;
        const bool is_comparison = rank == 4 || rank == kRangeRank;
        write(expression.parts[0], from_right || is_comparison ? rank + 1 : rank);
        const bool is_tight = from_right || rank == kRangeRank;
        out_ += is_tight ? (from_right ? "^" : ":") : fmt::format(" {} ", expression.name);
        // A sign may stand behind ^.
        write(expression.parts[1], from_right ? kSignRank : rank + 1);
    }

    void write_list(char open, const std::vector<Expression>& parts, char close) {
        out_ += open;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (i > 0) out_ += ',';
            write(parts[i]);
        }
        out_ += close;
    }

    std::string out_;
};

}  // namespace

std::string written(const Expression& expression) {
    Writer writer;
    writer.write(expression);
    return writer.take();
}

std::string written(const Relation& relation) {
    std::string text = written(relation.left);
    if (!relation.link.empty()) text = fmt::format("{}({})", relation.link, text);
    text += fmt::format(" {} {}", relation.is_stochastic ? "~" : "<-", written(relation.right));
    if (relation.truncation) {
        text += fmt::format(" {}({},{})", relation.truncation->letter,
                            relation.truncation->lower ? written(*relation.truncation->lower) : "",
                            relation.truncation->upper ? written(*relation.truncation->upper) : "");
    }
    return text;
}

}  // namespace lrvb::bugs
