#include "kind/model/derive.hpp"

#include "kind/model/node_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace lrvb::detail::text {

namespace {

constexpr Index kMostDerived = 2000;       // elements of an array that nobody asked for
constexpr Index kMostMonitored = 100000;   // and that somebody did
constexpr std::size_t kLongest = 1 << 16;  // characters of a function

/// A node that is no function of the posterior's statistics.
struct NotDerived {};

const std::set<std::string>& known_functions() {
    static const std::set<std::string> names{"exp", "log",    "sqrt",    "abs",      "logit", "ilogit",
                                             "phi", "probit", "cloglog", "icloglog", "step",  "^"};
    return names;
}

class Writer {
  public:
    Writer(const Terms& terms, const Layout& layout, const StatisticPlace& place)
        : terms_(terms), layout_(layout), place_(place) {}

    std::string choice(const Choice& choice, Index row) const {
        if (choice.selectors.empty()) return sum(choice.only(), row);
        // Σ over combinations of the products of indicators.
        std::string text = "0";
        for (std::size_t c = 0; c < choice.alternatives.size(); ++c) {
            std::string term = sum(choice.alternatives[c], row);
            std::size_t rest = c;
            for (const Selector& selector : choice.selectors) {
                const auto label = static_cast<Index>(rest % static_cast<std::size_t>(selector.labels));
                rest /= static_cast<std::size_t>(selector.labels);
                const Handle& handle = terms_.at(selector.array, selector.element(row));
                if (handle.form == Form::indicator) {
                    const std::string own = statistic('x', handle.variable, 0);
                    term += label == 1 ? fmt::format(" {} *", own) : fmt::format(" 1 {} - *", own);
                } else if (handle.form == Form::label) {
                    term += fmt::format(" {} *", statistic('x', handle.variable, label));
                } else {
                    throw NotDerived{};
                }
            }
            text += fmt::format(" {} +", term);
        }
        return text;
    }

    std::string sum(const Sum& sum, Index row) const {
        std::string text;
        const Sum own = at_row(sum, row);
        for (const Product& term : own.terms) {
            text += (text.empty() ? "" : " ") + product(term);
            if (&term != &own.terms.front()) text += " +";
            if (text.size() > kLongest) throw NotDerived{};
        }
        return text.empty() ? "0" : text;
    }

  private:
    std::string product(const Product& term) const {
        const bool is_linear = term.factors.size() == 1 && term.factors.front().power == 1.0;
        std::string text;
        const double number = term.coefficient[0];
        if (number != 1.0 || term.factors.empty()) text = fmt::format("{}", number);
        for (const Factor& one : term.factors) {
            const std::string own = factor(one, is_linear);
            text = text.empty() ? own : fmt::format("{} {} *", text, own);
        }
        return text;
    }

    std::string factor(const Factor& factor, bool is_linear) const {
        const auto raised = [](const std::string& base, double power) {
            return power == 1.0 ? base : fmt::format("{} {} ^", base, power);
        };
        if (factor.kind == Factor::Kind::function) {
            const std::string name = factor.function;
            if (!name.starts_with("inverse:") && !known_functions().contains(name)) throw NotDerived{};
            std::string text;
            for (const Sum& argument : factor.arguments) text += sum(argument, 0) + " ";
            return raised(text + name, factor.power);
        }
        const Handle& handle = terms_.at(factor.array, factor.element(0));
        const bool is_complement = factor.kind == Factor::Kind::complement;
        switch (handle.form) {
            case Form::number:
            case Form::bounded:
            case Form::indicator:
                return raised(statistic('x', handle.variable, handle.statistic), factor.power);
            case Form::positive:
                if (is_linear) return statistic('p', handle.variable, 0);
                return raised(statistic('e', handle.variable, 1), factor.power);
            case Form::precision_of_sd:
                return raised(statistic('e', handle.variable, 1), -0.5 * factor.power);
            case Form::precision_of_variance:
                return raised(statistic('e', handle.variable, 1), -factor.power);
            case Form::probability:
                return raised(statistic('u', handle.variable, is_complement ? 1 : 0), factor.power);
            case Form::part: {
                const std::string own = statistic('u', handle.variable, Atom::not_a_statistic - handle.statistic);
                return raised(is_complement ? "1 " + own + " -" : own, factor.power);
            }
            case Form::matrix:
                return raised(statistic('x', handle.variable, handle.statistic), factor.power);
            case Form::zero:
                return is_complement ? "1" : "0";
            case Form::label:
            case Form::summed_out:
            case Form::left_out:
            case Form::none:
                break;
        }
        throw NotDerived{};
    }

    std::string statistic(char letter, std::int32_t variable, Index number) const {
        const Index at = place_(layout_[variable].offset + number);
        if (at < 0) throw NotDerived{};
        return fmt::format("{}{}", letter, at);
    }

    const Terms& terms_;
    const Layout& layout_;
    const StatisticPlace& place_;
};

std::vector<std::string> indices_of(const bugs::Array& array, Index element) {
    std::vector<std::string> result;
    if (array.dims.empty()) return result;
    for (const Index index : array.indices(element)) result.push_back(fmt::format("{}", index));
    return result;
}

class Deriving {
  public:
    Deriving(Declarations& own, const Layout& layout, const StatisticPlace& place,
             const std::vector<std::string>& monitor)
        : own_(own), writer_(own.terms, layout, place), monitor_(monitor) {}

    std::vector<DerivedNode> all() {
        for (std::size_t a = 0; a < own_.graph().arrays().size(); ++a) {
            const bugs::Array& array = own_.graph().arrays()[a];
            const bool stands_for_another = array.count(bugs::State::unobserved) > 0;
            if (array.count(bugs::State::deterministic) == 0 && !stands_for_another) continue;
            const Index most = is_monitored(array) ? kMostMonitored : kMostDerived;
            if (array.size() > most) continue;
            Index missed = 0;
            for (Index element = 0; element < array.size(); ++element) missed += add(a, array, element) ? 0 : 1;
            if (missed > 0 && is_monitored(array)) {
                own_.notes.push_back(
                    fmt::format("{} cannot be reported: it is no function of nodes that the fit has", array.name));
            }
        }
        return std::move(nodes_);
    }

  private:
    bool is_monitored(const bugs::Array& array) const {
        return std::ranges::any_of(
            monitor_, [&](const std::string& name) { return name.substr(0, name.find('[')) == array.name; });
    }

    // Whether it could be added, or need not be.
    bool add(std::size_t number, const bugs::Array& array, Index element) {
        const bugs::State state = array.states[static_cast<std::size_t>(element)];
        try {
            if (state == bugs::State::unobserved) {
                const Handle& handle = own_.terms.at(number, element);
                if (handle.form == Form::label) {  // the label as a number
                    const Choice value = own_.evaluator().node(number, {element}, 1, array.place);
                    nodes_.push_back({array.name, indices_of(array, element), writer_.choice(value, 0)});
                } else if (handle.form == Form::part && own_.terms.reduced.contains(handle.variable)) {
                    nodes_.push_back(
                        {array.name, indices_of(array, element), writer_.sum(node_sum(number, {element}), 0)});
                } else if (handle.form == Form::zero) {
                    nodes_.push_back({array.name, indices_of(array, element), "0"});
                } else if (handle.form == Form::precision_of_sd || handle.form == Form::precision_of_variance) {
                    nodes_.push_back(
                        {array.name, indices_of(array, element), writer_.sum(node_sum(number, {element}), 0)});
                }
                return true;
            }
            if (state != bugs::State::deterministic) return true;
            const Choice choice = own_.evaluator().node(number, {element}, 1, array.place);
            std::string text = writer_.choice(choice, 0);
            static_cast<void>(NodeFunction(text));
            nodes_.push_back({array.name, indices_of(array, element), std::move(text)});
            return true;
        } catch (const NotDerived&) {
        } catch (const SplitRows&) {
        } catch (const Refused&) {
        } catch (const std::invalid_argument&) {
        }
        return false;
    }

    Declarations& own_;
    Writer writer_;
    const std::vector<std::string>& monitor_;
    std::vector<DerivedNode> nodes_;
};

}  // namespace

std::vector<DerivedNode> derived_nodes(Declarations& declarations, const Layout& layout, const StatisticPlace& place,
                                       const std::vector<std::string>& monitor) {
    return Deriving(declarations, layout, place, monitor).all();
}

}  // namespace lrvb::detail::text
