#include <lrvb/bugs/syntax.hpp>

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <utility>
#include <vector>

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

/// A text, or an expression that is not yet written: in parentheses where it binds less tightly than `least`.
struct Unwritten {
    std::string text;
    const Expression* expression = nullptr;
    int least = 0;
};

using Pieces = std::vector<Unwritten>;

void add_list(Pieces& pieces, const char* open, const std::vector<Expression>& parts, const char* close) {
    pieces.push_back({open});
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) pieces.push_back({","});
        pieces.push_back({"", &parts[i]});
    }
    pieces.push_back({close});
}

void add_operator(Pieces& pieces, const Expression& expression, int rank) {
    if (expression.parts.size() == 1) {
        pieces.push_back({expression.name});
        pieces.push_back({"", &expression.parts[0], rank});
        return;
    }
    const bool from_right = rank == 10;
    const bool is_comparison = rank == 4 || rank == kRangeRank;
    pieces.push_back({"", &expression.parts[0], from_right || is_comparison ? rank + 1 : rank});
    const bool is_tight = from_right || rank == kRangeRank;
    pieces.push_back({is_tight ? (from_right ? "^" : ":") : fmt::format(" {} ", expression.name)});
    // A sign may stand behind ^.
    pieces.push_back({"", &expression.parts[1], from_right ? kSignRank : rank + 1});
}

Pieces pieces_of(const Expression& expression, int least) {
    Pieces pieces;
    const int rank = rank_of(expression);
    const bool needs_parentheses = rank < least;
    if (needs_parentheses) pieces.push_back({"("});
    if (expression.kind == Expression::Kind::number) {
        pieces.push_back({fmt::format("{}", expression.number)});
    } else if (expression.kind == Expression::Kind::variable) {
        pieces.push_back({expression.name});
        if (expression.has_brackets) add_list(pieces, "[", expression.parts, "]");
    } else if (rank == kTightest && expression.kind == Expression::Kind::call) {
        pieces.push_back({expression.name});
        add_list(pieces, "(", expression.parts, ")");
    } else if (expression.kind != Expression::Kind::empty) {
        add_operator(pieces, expression, rank);
    }
    if (needs_parentheses) pieces.push_back({")"});
    return pieces;
}

}  // namespace

std::string written(const Expression& expression) {
    std::string text;
    Pieces waiting{{"", &expression}};
    while (!waiting.empty()) {
        const Unwritten next = std::move(waiting.back());
        waiting.pop_back();
        text += next.text;
        if (next.expression == nullptr) continue;
        Pieces pieces = pieces_of(*next.expression, next.least);
        std::move(pieces.rbegin(), pieces.rend(), std::back_inserter(waiting));
    }
    return text;
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
