#include "model/label_starts.hpp"

#include <lrvb/model/multilinear_model.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace lrvb::detail {

namespace {

constexpr Index kFewDiscrete = 8;          // beyond it, one of them decides little
constexpr double kMostLabelsTried = 32.0;  // in one start
constexpr double kStartWork = 3e8;         // multiplications, which they may take
constexpr int kHeldSweeps = 12;
constexpr int kFreeSweeps = 2;
constexpr double kCertain = 10.0;    // on the scale of log odds
constexpr double kLuckInNats = 2.0;  // so far from the best a start may go on elsewhere

// Variables that are discrete, each with every label that it may have; none where they are many.
std::vector<std::pair<Index, Index>> discrete_labels(const Layout& layout) {
    std::vector<std::pair<Index, Index>> labels;
    Index discrete = 0;
    for (Index j = 0; j < layout.variable_count(); ++j) {
        const VariableInfo& variable = layout[j];
        const bool is_indicator = std::holds_alternative<family::Bernoulli>(variable.family);
        if (!is_indicator && !std::holds_alternative<family::Categorical>(variable.family)) continue;
        if (++discrete > kFewDiscrete) return {};
        const Index count = is_indicator ? 2 : variable.size;  // the second of an indicator is that it is not
        for (Index label = 0; label < count; ++label) labels.emplace_back(j, label);
    }
    return labels;
}

}  // namespace

std::optional<State> best_label_start(const Layout& layout, const LabelTrial& trial, Random& random) {
    std::vector<std::pair<Index, Index>> labels = discrete_labels(layout);
    for (std::size_t i = 0; i + 1 < labels.size(); ++i) {
        const auto left = static_cast<double>(labels.size() - i);
        std::swap(labels[i], labels[i + static_cast<std::size_t>(random.uniform() * left)]);
    }
    const double affordable = kStartWork / (static_cast<double>(kHeldSweeps + kFreeSweeps) * trial.work_of_a_sweep);
    const auto most = static_cast<std::size_t>(std::min(kMostLabelsTried, affordable));
    if (labels.size() > most) labels.resize(most > 1 ? most : 0);
    std::optional<State> best;
    double best_score = -std::numeric_limits<double>::infinity();
    for (const auto& [j, label] : labels) {
        State state = trial.begin();
        const double luck = -std::log(-std::log(random.uniform()));  // Gumbel's
        const VariableInfo& variable = layout[j];
        Vector natural = Vector::Constant(variable.size, -kCertain);
        if (label < variable.size) natural[label] = kCertain;
        state.natural.segment(variable.offset, variable.size) = natural;
        state.mean.segment(variable.offset, variable.size) =
            std::visit([&](const auto& family) { return family.mean(natural); }, variable.family);
        try {
            state.clamped[static_cast<std::size_t>(j)] = true;
            for (int i = 0; i < kHeldSweeps; ++i) trial.sweep(state);
            state.clamped[static_cast<std::size_t>(j)] = false;
            for (int i = 0; i < kFreeSweeps; ++i) trial.sweep(state);
        } catch (const ImproperConditional&) {
            continue;
        }
        const double score = trial.bound(state) + kLuckInNats * luck;
        if (best && !(score > best_score)) continue;
        best_score = score;
        best = std::move(state);
    }
    return best;
}

double entropies(const Layout& layout, const State& state) {
    double sum = 0.0;
    for (Index j = 0; j < layout.variable_count(); ++j) {
        sum += std::visit([&](const auto& family) { return family.entropy(layout.segment(state.natural, j)); },
                          layout[j].family);
    }
    return sum;
}

}  // namespace lrvb::detail
