#include "bugs/word_check.hpp"

#include "base/messages.hpp"
#include "bugs/nearest.hpp"
#include "bugs/tree.hpp"

#include <lrvb/bugs/words.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace lrvb::bugs {

namespace {

using lrvb::detail::shown;

std::vector<std::string_view> names_of_distributions() {
    std::vector<std::string_view> names;
    for (const DistributionWord& word : distribution_words()) {
        names.push_back(word.name);
        names.insert(names.end(), word.aliases.begin(), word.aliases.end());
    }
    return names;
}

std::vector<std::string_view> names_of_functions() {
    std::vector<std::string_view> names;
    for (const FunctionWord& word : function_words()) {
        names.push_back(word.name);
        names.insert(names.end(), word.aliases.begin(), word.aliases.end());
    }
    return names;
}

std::string_view plural(std::size_t count) {
    return count == 1 ? "" : "s";
}

std::string usage(const DistributionWord& word) {
    std::string text = fmt::format("{}(", word.name);
    for (std::size_t i = 0; i < word.arguments.size(); ++i) {
        text += fmt::format("{}{}", i > 0 ? ", " : "", word.arguments[i]);
    }
    return text + ")";
}

/// What other languages call them.
std::string_view foreign_function(std::string_view name) {
    if (name == "ln") return "log";
    if (name == "log10") return "log(x) / log(10)";
    if (name == "power" || name == "square") return "x^2";
    if (name == "gamma") return "exp(loggam(x))";
    if (name == "lfactorial" || name == "lfact") return "logfact";
    if (name == "factorial") return "exp(logfact(x))";
    if (name == "logistic" || name == "inv_logit" || name == "invlogit" || name == "antilogit") return "ilogit";
    if (name == "pnorm" || name == "Phi") return "phi((x - mean) * sqrt(precision))";
    if (name == "floor") return "trunc";
    if (name == "solve") return "inverse";
    if (name == "crossprod") return "t(a) %*% b";
    if (name == "nrow" || name == "ncol") return "dim(x)[1], by a name: d <- dim(x), then d[1]";
    if (name == "ranked") return "sort(x)[k], by a name: s <- sort(x), then s[k]";
    return "";
}

class WordCheck {
  public:
    explicit WordCheck(Diagnostics& problems) : problems_(problems) {}

    void check(Block& block, bool is_data) {
        for (Loop& loop : block.loops) check(loop.range, false);
        for (Relation& relation : block.relations) {
            check_left(relation, block);
            if (relation.is_stochastic) {
                check_distribution(relation, is_data);
            } else {
                check(relation.right, false);
            }
        }
        check_nested_indices(block);
    }

    void check(Declaration& declaration) {
        check_name(declaration.name, declaration.place);
        for (Expression& extent : declaration.dimensions) {
            if (extent.kind == Expression::Kind::empty) {
                problems_.add(extent.place, fmt::format("an extent of {} is missing: write a number, or a name in the "
                                                        "data",
                                                        shown(declaration.name)));
            }
            check(extent, false);
        }
    }

  private:
    void check_left(Relation& relation, const Block& block) {
        Expression& left = relation.left;
        for (Expression& index : left.parts) check(index, true);
        if (!check_link(relation)) return;
        check_name(left.name, left.name_place);
        for (const std::size_t loop : relation.loops) {
            if (block.loops[loop].index != left.name) continue;
            problems_.add(
                left.name_place,
                fmt::format("{} is the index of a loop around this place, so nothing else can be called so: take "
                            "another name",
                            shown(left.name)));
            break;
        }
    }

    bool check_link(const Relation& relation) {
        if (relation.link.empty()) return true;
        const std::string& link = relation.link;
        if (is_link(link) && !relation.is_stochastic) return true;
        const std::string left = written(relation.left);
        problems_.add(
            relation.link_place,
            is_link(link)
                ? fmt::format("a function on the left goes with <-: write '{} ~ …', or '{}({}) <- …'", left, link, left)
            : find_function(link) != nullptr
                ? fmt::format("{} cannot stand on the left: log, logit, probit and cloglog can; write the inverse "
                              "on the right",
                              shown(link))
                : fmt::format("'{}(…)' cannot stand on the left: indices stand in brackets, as in {}[i]; of "
                              "functions, log, logit, probit and cloglog can stand here",
                              lrvb::detail::printable(link), lrvb::detail::printable(link)));
        return false;
    }

    void check_name(const std::string& name, const Place& place) {
        const bool is_keyword = name == "for" || name == "in" || name == "model" || name == "data" || name == "var";
        if (is_keyword) {
            problems_.add(place, fmt::format("{} is a word of the language, so nothing else can be called so: take "
                                             "another name",
                                             shown(name)));
        }
    }

    void check_distribution(Relation& relation, bool is_data) {
        Expression& call = relation.right;
        for (Expression& argument : call.parts) check(argument, false);
        if (relation.truncation) {
            if (relation.truncation->lower) check(*relation.truncation->lower, false);
            if (relation.truncation->upper) check(*relation.truncation->upper, false);
        }
        if (is_data) {
            problems_.add(relation.place,
                          "the data block cannot draw random numbers: it holds relations by <- alone; "
                          "draw them elsewhere and give them as data");
            return;
        }
        const DistributionWord* word = find_distribution(call.name);
        if (word == nullptr) {
            unknown_distribution(call);
            return;
        }
        if (call.parts.size() != word->arguments.size()) wrong_count(call, *word);
        call.name = word->name;
    }

    void unknown_distribution(const Expression& call) {
        if (find_function(call.name) != nullptr) {
            problems_.add(call.name_place,
                          fmt::format("{} is a function, not a distribution: write <- instead of ~", shown(call.name)));
            return;
        }
        static const std::vector<std::string_view> names = names_of_distributions();
        std::string near = nearest_name(call.name, names);
        if (near.empty()) near = nearest_name("d" + call.name, names);
        if (call.name == "normal" || call.name == "N" || call.name == "gaussian") near = "dnorm";
        if (call.name == "dlkjcorr" || call.name == "lkj") near = "dwish";
        problems_.add(call.name_place,
                      near.empty()
                          ? fmt::format("there is no distribution {}: docs/bugs.md has a list", shown(call.name))
                          : fmt::format("there is no distribution {}: did you mean '{}'? It is written {}",
                                        shown(call.name), near, usage(*find_distribution(near))));
    }

    void wrong_count(const Expression& call, const DistributionWord& word) {
        const std::size_t wanted = word.arguments.size();
        std::string sentence = fmt::format("{} has {} parameter{}, not {}: write {}", shown(call.name), wanted,
                                           plural(wanted), call.parts.size(), usage(word));
        if (word.name == "dt") sentence += " (a standard t has mean 0 and precision 1)";
        if (word.name == "dnorm" || word.name == "dmnorm") sentence += " (the precision is one over the variance)";
        problems_.add(call.name_place, std::move(sentence));
    }

    /// `can_be_empty`: an index.
    void check(Expression& root, bool can_be_empty) {
        int index_depth = 0;
        const auto enter = [&](Expression& node) {
            if (node.kind == Expression::Kind::variable) ++index_depth;
            if (index_depth <= kDeepestIndices) return true;
            problems_.add(node.place, fmt::format("indices stand within each other more than {} times: give one of "
                                                  "them a name by <-",
                                                  kDeepestIndices));
            return false;
        };
        walk(root, enter, [&](Expression& node, const Expression* parent) {
            const bool is_index = parent == nullptr ? can_be_empty : parent->kind == Expression::Kind::variable;
            if (node.kind == Expression::Kind::empty && !is_index) problems_.add(node.place, "a value is missing here");
            if (node.kind == Expression::Kind::call) check_call(node);
            if (node.kind != Expression::Kind::variable) return;
            --index_depth;
            if (node.name == "NA") {
                problems_.add(node.place, "NA is not understood in a model: missing values stand in the data");
            }
        });
    }

    void check_call(Expression& call) {
        const FunctionWord* word = find_function(call.name);
        if (word == nullptr) {
            unknown_function(call);
            return;
        }
        const std::size_t count = call.parts.size();
        if (count < word->least || count > word->most) {
            const std::string wanted = word->least == word->most ? fmt::format("{}", word->least)
                                       : word->most == FunctionWord::many
                                           ? fmt::format("{} or more", word->least)
                                           : fmt::format("{} or {}", word->least, word->most);
            problems_.add(call.name_place, fmt::format("{} takes {} argument{}, not {}", shown(call.name), wanted,
                                                       plural(word->least), count));
        }
        const bool wants_variable = word->name == "length" || word->name == "dim";
        if (wants_variable && count == 1 && call.parts[0].kind != Expression::Kind::variable) {
            problems_.add(call.parts[0].place, fmt::format("{} is asked of a name, as in {}(x), not of an expression",
                                                           word->name, word->name));
        }
        call.name = word->name;
    }

    void unknown_function(const Expression& call) {
        if (find_distribution(call.name) != nullptr) {
            problems_.add(call.name_place,
                          fmt::format("{} is a distribution, not a function: write ~ instead of <-, and "
                                      "nothing around it",
                                      shown(call.name)));
            return;
        }
        const std::string_view foreign = foreign_function(call.name);
        static const std::vector<std::string_view> names = names_of_functions();
        const std::string near = nearest_name(call.name, names);
        problems_.add(call.name_place,
                      !foreign.empty() ? fmt::format("there is no function {}: write {}", shown(call.name), foreign)
                      : !near.empty()
                          ? fmt::format("there is no function {}: did you mean '{}'?", shown(call.name), near)
                          : fmt::format("there is no function {}: indices stand in brackets, as in {}[i]",
                                        shown(call.name), lrvb::detail::printable(call.name)));
    }

    /// The same index in a loop within a loop.
    void check_nested_indices(const Block& block) {
        for (const Relation& relation : block.relations) {
            for (std::size_t inner = 1; inner < relation.loops.size(); ++inner) {
                const Loop& loop = block.loops[relation.loops[inner]];
                const bool is_taken =
                    std::any_of(relation.loops.begin(), relation.loops.begin() + static_cast<std::ptrdiff_t>(inner),
                                [&](std::size_t outer) { return block.loops[outer].index == loop.index; });
                if (!is_taken) continue;
                problems_.add(loop.index_place, fmt::format("{} is already the index of a loop around this one: take "
                                                            "another name",
                                                            shown(loop.index)));
            }
        }
    }

    static constexpr int kDeepestIndices = 8;  // what they mean is asked again for each

    Diagnostics& problems_;
};

}  // namespace

void check_words(Syntax& syntax, Diagnostics& problems) {
    WordCheck check(problems);
    for (Declaration& declaration : syntax.declarations) check.check(declaration);
    if (syntax.data) check.check(*syntax.data, true);
    check.check(syntax.model, false);
    if (problems.empty() && syntax.model.relations.empty()) {
        problems.add({0, 0}, "the model is empty: write relations between its braces");
    }
}

}  // namespace lrvb::bugs
