#include "kind/model/derive.hpp"

#include "kind/model/node_function.hpp"

#include <lrvb/base/interruption.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <stdexcept>

namespace lrvb::detail::text {

namespace {

constexpr Index kFewElements = 100;        // of an array that is missed where none of them is reported
constexpr Index kMostDerived = 2000;       // elements of an array that nobody asked for
constexpr Index kMostMonitored = 100000;   // and that somebody did
constexpr std::size_t kLongest = 1 << 16;  // characters of a function
constexpr std::size_t kLongestArray = std::size_t{4} << 20;       // of all functions of an array that nobody asked for
constexpr std::size_t kLongestMonitored = std::size_t{64} << 20;  // and that somebody did

/// A node that is no function of the posterior's statistics.
struct NotDerived {};

const std::set<std::string>& known_functions() {
    static const std::set<std::string> names{"exp", "log",    "sqrt",    "abs",      "logit", "ilogit",
                                             "phi", "probit", "cloglog", "icloglog", "step",  "^"};
    return names;
}

class Writer {
  public:
    Writer(const Declarations& own, const Layout& layout, const StatisticPlace& place)
        : terms_(own.terms), centring_(own.centring()), layout_(layout), place_(place) {}

    std::string choice(const Choice& choice, Index row) const {
        if (choice.selectors.empty()) return sum(choice.only(), row);
        const Selector& first = choice.selectors.front();
        if (terms_.at(first.array, first.element(row)).form == Form::clustered) return clustered(choice, row);
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
                    const std::string own = statistic('i', handle.variable, 0);
                    term += label == 1 ? fmt::format(" {} *", own) : fmt::format(" 1 {} - *", own);
                } else if (handle.form == Form::label) {
                    term += fmt::format(" {} *", statistic('i', handle.variable, label));
                } else {
                    throw NotDerived{};
                }
            }
            text += fmt::format(" {} +", term);
        }
        return text;
    }

    // The probability of a label of one that shares a Categorical with others.
    std::string probability(std::size_t array, Index element, Index label) const {
        const auto& [number, member] = terms_.memberships.at({array, element});
        const Terms::Cluster& cluster = terms_.clusters[number];
        std::string text = "0";
        for (std::size_t s = 0; s < cluster.states.size(); ++s) {
            if (cluster.states[s][member] != label) continue;
            if (cluster.is_certain) return "1";
            text += fmt::format(" {} +", statistic('i', cluster.variable, static_cast<Index>(s)));
        }
        return text + " unit";
    }

    std::string sum(const Sum& sum, Index row) const {
        std::string text;
        const Sum own = centring_.written(at_row(sum, row));
        for (const Product& term : own.terms) {
            text += (text.empty() ? "" : " ") + product(term);
            if (&term != &own.terms.front()) text += " +";
            if (text.size() > kLongest) throw NotDerived{};
        }
        return text.empty() ? "0" : text;
    }

  private:
    // Σ over the states of what each chooses.
    std::string clustered(const Choice& choice, Index row) const {
        const Selector& first = choice.selectors.front();
        const Terms::Cluster& cluster = terms_.clusters[terms_.memberships.at({first.array, first.element(row)}).first];
        std::string text = "0";
        bool is_probability = true;
        for (std::size_t s = 0; s < cluster.states.size(); ++s) {
            std::size_t combination = 0;
            std::size_t stride = 1;
            for (const Selector& selector : choice.selectors) {
                const std::size_t member = terms_.member(selector.array, selector.element(row));
                combination += stride * static_cast<std::size_t>(cluster.states[s][member]);
                stride *= static_cast<std::size_t>(selector.labels);
            }
            const Sum& own = choice.alternatives[combination];
            if (cluster.is_certain) return sum(own, row);
            const double number = own.is_constant() ? own.constant_at(row) : -1.0;
            is_probability = is_probability && (number == 0.0 || number == 1.0);
            if (number == 0.0) continue;
            const std::string share = statistic('i', cluster.variable, static_cast<Index>(s));
            text += number == 1.0 ? fmt::format(" {} +", share) : fmt::format(" {} {} * +", sum(own, row), share);
        }
        return is_probability ? text + " unit" : text;
    }

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
            std::string name = factor.function;
            if (name == "max" || name == "min") name += ":2";
            const bool takes_many = name.find(':') != std::string::npos;  // sd:5, inverse:2:0:1
            if (!takes_many && !known_functions().contains(name)) throw NotDerived{};
            std::string text;
            for (const Sum& argument : factor.arguments) text += sum(argument, 0) + " ";
            return raised(text + name, factor.power);
        }
        const Handle& handle = terms_.at(factor.array, factor.element(0));
        const bool is_complement = factor.kind == Factor::Kind::complement;
        switch (handle.form) {
            case Form::number:
                return raised(statistic('x', handle.variable, handle.statistic), factor.power);
            case Form::bounded: {
                const auto& normal = std::get<family::TruncatedNormal>(layout_[handle.variable].family);
                const bool is_unit = normal.lower() >= 0.0 && normal.upper() <= 1.0;
                const char letter = is_unit ? 'i' : normal.lower() >= 0.0 ? 'g' : 'x';
                return raised(statistic(letter, handle.variable, handle.statistic), factor.power);
            }
            case Form::indicator:
                return raised(statistic('i', handle.variable, handle.statistic), factor.power);
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
            case Form::matrix: {
                const Index size = std::get<family::Wishart>(layout_[handle.variable].family).dimension();
                bool is_diagonal = false;
                for (Index i = 0; i < size; ++i)
                    is_diagonal = is_diagonal || half_index(i, i, size) == handle.statistic;
                return raised(statistic(is_diagonal ? 'g' : 'x', handle.variable, handle.statistic), factor.power);
            }
            case Form::zero:
                return is_complement ? "1" : "0";
            case Form::one:
                return is_complement ? "0" : "1";
            case Form::label:
            case Form::clustered:
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
    const Centring& centring_;
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
        : own_(own), writer_(own, layout, place), monitor_(monitor) {}

    std::vector<DerivedNode> all() {
        for (std::size_t a = 0; a < own_.graph().arrays().size(); ++a) {
            const bugs::Array& array = own_.graph().arrays()[a];
            const bool stands_for_another = array.count(bugs::State::unobserved) > 0;
            if (array.count(bugs::State::deterministic) == 0 && !stands_for_another) continue;
            const Index most = is_monitored(array) ? kMostMonitored : kMostDerived;
            if (array.size() > most) continue;
            Index missed = 0;
            const std::size_t before = nodes_.size();
            most_text_ = is_monitored(array) ? kLongestMonitored : kLongestArray;
            for (Index element = 0; element < array.size() && most_text_ > 0; ++element) {
                interruption_point();
                missed += add(a, array, element) ? 0 : 1;
            }
            if (most_text_ == 0) {
                nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(before), nodes_.end());
                const std::string sentence =
                    is_monitored(array)
                        ? fmt::format("{} cannot be reported: its elements are sums of too many nodes", array.name)
                        : fmt::format(
                              "{} is not reported: its elements are sums of many nodes; --monitor {} reports it",
                              array.name, array.name);
                own_.notes.push_back(sentence);
                continue;
            }
            const bool is_small_and_lost = array.size() <= kFewElements && missed == array.size();
            if (missed > 0 && (is_monitored(array) || is_small_and_lost)) {
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

    // Of labels from 1, as those of a plain dcat node are reported.
    void add_probabilities(std::size_t number, const bugs::Array& array, Index element, const Choice& value) {
        const Selector& selector = value.selectors.front();
        if (selector.first != 1.0) return;
        for (Index label = 0; label < selector.labels; ++label) {
            std::vector<std::string> indices = indices_of(array, element);
            indices.push_back(fmt::format("{}", label + 1));
            nodes_.push_back({array.name, std::move(indices), writer_.probability(number, element, label)});
        }
    }

    // Whether it could be added, or need not be.
    bool add(std::size_t number, const bugs::Array& array, Index element) {
        const bugs::State state = array.states[static_cast<std::size_t>(element)];
        try {
            if (state == bugs::State::unobserved) {
                const Handle& handle = own_.terms.at(number, element);
                if (handle.form == Form::label || handle.form == Form::clustered) {  // the label as a number
                    const Choice value = own_.evaluator().node(number, {element}, 1, array.place);
                    if (handle.form == Form::clustered) add_probabilities(number, array, element, value);
                    nodes_.push_back({array.name, indices_of(array, element), writer_.choice(value, 0)});
                } else if (handle.form == Form::zero || handle.form == Form::one) {
                    nodes_.push_back({array.name, indices_of(array, element), handle.form == Form::one ? "1" : "0"});
                } else if ((handle.form == Form::part && own_.terms.reduced.contains(handle.variable)) ||
                           handle.form == Form::precision_of_sd || handle.form == Form::precision_of_variance ||
                           own_.centring().scale_of(number, element) != nullptr) {
                    nodes_.push_back(
                        {array.name, indices_of(array, element), writer_.sum(node_sum(number, {element}), 0)});
                }
                return true;
            }
            if (state != bugs::State::deterministic) return true;
            const Choice choice = own_.evaluator().node(number, {element}, 1, array.place);
            std::string text = writer_.choice(choice, 0);
            most_text_ -= std::min(most_text_, text.size());
            if (most_text_ == 0) return false;
            static_cast<void>(NodeFunction(text));
            nodes_.push_back({array.name, indices_of(array, element), std::move(text)});
            return true;
        } catch (const NotDerived&) {
        } catch (const SplitRows&) {
        } catch (const Refused&) {
        } catch (const bugs::ModelError&) {  // it is computed from what is no number
        } catch (const std::invalid_argument&) {
        } catch (const std::length_error&) {  // too many combinations of labels
        }
        return false;
    }

    Declarations& own_;
    Writer writer_;
    const std::vector<std::string>& monitor_;
    std::vector<DerivedNode> nodes_;
    std::size_t most_text_ = 0;  // characters that the functions of this array may still have
};

}  // namespace

std::vector<DerivedNode> derived_nodes(Declarations& declarations, const Layout& layout, const StatisticPlace& place,
                                       const std::vector<std::string>& monitor) {
    return Deriving(declarations, layout, place, monitor).all();
}

}  // namespace lrvb::detail::text
