#include "kind/model/columns.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

namespace lrvb::detail::text {

namespace {

// Makes classes of rows finer by one column after the other.
class Classes {
  public:
    explicit Classes(Index rows) : of_(static_cast<std::size_t>(rows), 0) {}

    template <class At>
    void refine(At key_at) {
        std::unordered_map<std::uint64_t, std::unordered_map<std::uint64_t, std::uint32_t>> known;
        std::uint32_t next = 0;
        for (std::size_t n = 0; n < of_.size(); ++n) {
            const auto [found, is_new] = known[of_[n]].try_emplace(key_at(n), next);
            if (is_new) ++next;
            of_[n] = found->second;
        }
    }
    void refine(const Sum& sum) {
        for (const Product& term : sum.terms) {
            if (term.coefficient.size() > 1) {
                refine([&](std::size_t n) {
                    return std::bit_cast<std::uint64_t>(term.coefficient[static_cast<Index>(n)]);
                });
            }
            for (const Factor& factor : term.factors) {
                if (factor.elements.size() > 1) {
                    refine([&](std::size_t n) { return static_cast<std::uint64_t>(factor.elements[n]); });
                }
                for (const Sum& argument : factor.arguments) refine(argument);
            }
        }
    }

    std::vector<std::vector<Index>> groups() const {
        std::vector<std::vector<Index>> result;
        std::unordered_map<std::uint32_t, std::size_t> place;
        for (std::size_t n = 0; n < of_.size(); ++n) {
            const auto [found, is_new] = place.try_emplace(of_[n], result.size());
            if (is_new) result.emplace_back();
            result[found->second].push_back(static_cast<Index>(n));
        }
        return result;
    }

  private:
    std::vector<std::uint32_t> of_;
};

}  // namespace

std::vector<Index> all_rows(Index count) {
    std::vector<Index> rows(static_cast<std::size_t>(count));
    for (Index n = 0; n < count; ++n) rows[static_cast<std::size_t>(n)] = n;
    return rows;
}

std::vector<std::vector<Index>> groups_of(const Piece& piece, const std::vector<std::size_t>& arguments) {
    Classes classes(piece.size());
    for (std::size_t a = 0; a < piece.arguments.size(); ++a) {
        if (!arguments.empty() && std::ranges::find(arguments, a) == arguments.end()) continue;
        for (const Choice& choice : piece.arguments[a].elements) {
            for (const Sum& sum : choice.alternatives) classes.refine(sum);
        }
    }
    return classes.groups();
}

std::vector<std::vector<Index>> groups_of(const Sum& sum, Index rows) {
    Classes classes(rows);
    classes.refine(sum);
    return classes.groups();
}

bool is_linear(const Sum& sum, const Terms& terms) {
    return std::ranges::all_of(sum.terms, [&](const Product& term) {
        if (term.factors.empty()) return true;
        if (term.factors.size() > 1) return false;
        const Factor& factor = term.factors.front();
        if (factor.kind != Factor::Kind::node || factor.power != 1.0) return false;
        return std::ranges::all_of(factor.elements, [&](Index element) {
            const Form form = terms.at(factor.array, element).form;
            return form == Form::number || form == Form::bounded;
        });
    });
}

LinearColumns linear_columns(const Sum& sum, const std::vector<Index>& rows, const Terms& terms) {
    LinearColumns result;
    std::unordered_map<std::uint64_t, int> columns;  // by variable and statistic
    std::vector<Eigen::Triplet<double, int>> entries;
    const auto column = [&](std::uint64_t key, const Expression& coefficient) {
        const auto [found, is_new] = columns.try_emplace(key, static_cast<int>(columns.size()));
        if (is_new) result.coefficients.push_back(coefficient);
        return found->second;
    };
    for (const Product& term : sum.terms) {
        for (std::size_t n = 0; n < rows.size(); ++n) {
            const double number = term.number(rows[n]);
            if (number == 0.0) continue;
            int at = 0;
            if (term.factors.empty()) {
                at = column(~std::uint64_t{0}, Expression(1.0));
            } else {
                const Factor& factor = term.factors.front();
                const Handle& handle = terms.at(factor.array, factor.element(rows[n]));
                const std::uint64_t key =
                    (static_cast<std::uint64_t>(handle.variable) << 32U) | static_cast<std::uint32_t>(handle.statistic);
                const auto known = columns.find(key);
                at = known != columns.end() ? known->second : column(key, terms.atom(handle));
            }
            entries.emplace_back(static_cast<int>(n), at, number);
        }
    }
    result.design.resize(static_cast<Index>(rows.size()), static_cast<Index>(columns.size()));
    result.design.setFromTriplets(entries.begin(), entries.end());
    return result;
}

std::optional<LinkedSum> linked_sum(const Sum& sum, const std::vector<std::string>& functions) {
    if (sum.terms.size() != 1) return std::nullopt;
    const Product& term = sum.terms.front();
    if (term.factors.size() != 1 || term.factors.front().kind != Factor::Kind::function) return std::nullopt;
    const Factor& factor = term.factors.front();
    if (factor.power != 1.0 || std::ranges::find(functions, factor.function) == functions.end()) return std::nullopt;
    return LinkedSum{factor.function, factor.arguments.front(), term.coefficient};
}

std::optional<std::vector<LinkedSum>> shares(const std::vector<Choice>& probabilities) {
    std::vector<LinkedSum> result;
    Sum total;
    std::optional<Sum> divisor;
    for (const Choice& choice : probabilities) {
        const Sum& sum = choice.only();
        if (!choice.selectors.empty() || sum.terms.size() != 1) return std::nullopt;
        Product numerator{sum.terms.front().coefficient, {}};
        LinkedSum share{"exp", {}, numerator.coefficient};
        bool is_divided = false;
        for (const Factor& factor : sum.terms.front().factors) {
            if (factor.kind != Factor::Kind::function || factor.power != 1.0) return std::nullopt;
            if (factor.function == "exp" && numerator.factors.empty()) {
                share.inside = factor.arguments.front();
                numerator.factors.push_back(factor);
                continue;
            }
            const bool divides = factor.function == "^" && !is_divided && factor.arguments[1].is_constant() &&
                                 (factor.arguments[1].constant().array() == -1.0).all();
            if (!divides || (divisor && !same(*divisor, factor.arguments[0]))) return std::nullopt;
            divisor = factor.arguments[0];
            is_divided = true;
        }
        if (!is_divided) return std::nullopt;
        total = added(total, Sum{{std::move(numerator)}});
        result.push_back(std::move(share));
    }
    return divisor && same(*divisor, total) ? std::optional(std::move(result)) : std::nullopt;
}

double probability_at(const Sum& sum, double seed, const Terms& terms) {
    double total = 0.0;
    for (const Product& term : sum.terms) {
        double product = term.number(0);
        for (const Factor& factor : term.factors) {
            const Handle& handle = terms.at(factor.array, factor.element(0));
            const double place = seed * static_cast<double>(handle.variable + 1);
            double p = 0.1 + 0.8 * (place - std::floor(place));
            if (handle.form == Form::zero) p = 0.0;
            if (handle.form == Form::one) p = 1.0;
            if (handle.form == Form::part) {
                // p, p(1 − p), p(1 − p)², …, and what is left.
                const int k = Atom::not_a_statistic - handle.statistic;
                const bool is_last = k + 1 == static_cast<int>(terms.simplex_sizes.at(handle.variable));
                p = std::pow(1.0 - p, k) * (is_last ? 1.0 : p);
            }
            product *= std::pow(factor.kind == Factor::Kind::complement ? 1.0 - p : p, factor.power);
        }
        total += product;
    }
    return total;
}

}  // namespace lrvb::detail::text
