#include "model/joint/core.hpp"
#include "model/row_terms.hpp"

#include <algorithm>
#include <numeric>

namespace lrvb::detail {

namespace {

constexpr Index kMostDegree = 2;

bool is_normal(const AnyFamily& family) {
    return std::holds_alternative<family::Normal>(family) || std::holds_alternative<family::MvNormal>(family);
}

Index degree_of(const VariableInfo& variable, Index statistic) {
    const Index place = statistic - variable.offset;
    if (const auto* normal = std::get_if<family::MvNormal>(&variable.family)) {
        return place < normal->dimension() ? 1 : 2;
    }
    return place == 0 ? 1 : 2;
}

/// Products in which candidates have too high a degree, and who is in them.
class Conflicts {
  public:
    explicit Conflicts(Index variables) : conflicts_of_(static_cast<std::size_t>(variables)) {}

    void add(std::vector<std::pair<Index, Index>> members) {
        for (const auto& [variable, degree] : members) {
            conflicts_of_[static_cast<std::size_t>(variable)].push_back(products_.size());
        }
        products_.push_back(std::move(members));
    }

    /// Leaves out variables, one after the other, that are in most products of too high a degree.
    void resolve(std::vector<bool>& candidates, const std::vector<bool>& wanted) {
        std::vector<Index> counts(conflicts_of_.size(), 0);
        for (std::size_t v = 0; v < counts.size(); ++v) counts[v] = static_cast<Index>(conflicts_of_[v].size());
        std::vector<bool> settled(products_.size(), false);
        for (std::size_t left = products_.size(); left > 0;) {
            std::size_t worst = 0;
            const auto key = [&](std::size_t v) { return std::pair(!wanted[v], counts[v]); };
            for (std::size_t v = 0; v < counts.size(); ++v) {
                if (counts[v] > 0 && (counts[worst] == 0 || key(v) > key(worst))) worst = v;
            }
            candidates[worst] = false;
            for (const std::size_t product : conflicts_of_[worst]) {
                if (settled[product] || degree(product, candidates) > kMostDegree) continue;
                settled[product] = true;
                --left;
                for (const auto& [variable, degree] : products_[product]) --counts[static_cast<std::size_t>(variable)];
            }
            counts[worst] = 0;
        }
    }

  private:
    Index degree(std::size_t product, const std::vector<bool>& candidates) const {
        Index sum = 0;
        for (const auto& [variable, degree] : products_[product]) {
            if (candidates[static_cast<std::size_t>(variable)]) sum += degree;
        }
        return sum;
    }

    std::vector<std::vector<std::pair<Index, Index>>> products_;
    std::vector<std::vector<std::size_t>> conflicts_of_;
};

}  // namespace

std::vector<Index> JointCore::joinable(const MultilinearModel& base, const std::vector<PredictorRows>& rows) {
    if (base.labelled_) return {};
    const Layout& layout = base.layout();
    const auto count = static_cast<std::size_t>(layout.variable_count());
    std::vector<bool> candidates(count, false);
    std::vector<Index> variable_of(static_cast<std::size_t>(layout.size()));
    for (Index j = 0; j < layout.variable_count(); ++j) {
        candidates[static_cast<std::size_t>(j)] = is_normal(layout[j].family);
        std::fill_n(variable_of.begin() + layout[j].offset, layout[j].size, j);
    }
    if (base.rows_) {
        for (const auto& [row, variable] : base.rows_->own) candidates[static_cast<std::size_t>(variable)] = false;
    }
    std::vector<bool> wanted(count, false);
    for (const PredictorRows& set : rows) {
        for (const Expression& predictor : set.predictors) {
            for (const Expression::Term& term : predictor.terms()) {
                for (const Atom& atom : term.atoms) {
                    if (atom.variable < static_cast<std::int32_t>(count)) {
                        wanted[static_cast<std::size_t>(atom.variable)] = true;
                    }
                }
            }
        }
    }

    const auto members_of = [&](std::span<const std::uint32_t> statistics) {
        std::vector<std::pair<Index, Index>> members;
        for (const std::uint32_t s : statistics) {
            const Index variable = variable_of[s];
            if (!candidates[static_cast<std::size_t>(variable)]) continue;
            members.emplace_back(variable, degree_of(layout[variable], static_cast<Index>(s)));
        }
        return members;
    };
    Conflicts conflicts(layout.variable_count());
    base.form_->visit_terms([&](double, std::span<const std::uint32_t> statistics) {
        std::vector<std::pair<Index, Index>> members = members_of(statistics);
        Index degree = 0;
        for (const auto& [variable, own] : members) degree += own;
        if (degree > kMostDegree) conflicts.add(std::move(members));
    });
    conflicts.resolve(candidates, wanted);

    const auto coefficients = [&] {
        Index sum = 0;
        for (std::size_t j = 0; j < count; ++j) {
            if (!candidates[j]) continue;
            const auto* normal = std::get_if<family::MvNormal>(&layout[static_cast<Index>(j)].family);
            sum += normal != nullptr ? normal->dimension() : 1;
        }
        return sum;
    };
    if (coefficients() > kMostJoined) {
        // Those that meet no other joined variable have a factor of their own that loses nothing.
        std::vector<bool> meets = wanted;
        base.form_->visit_terms([&](double, std::span<const std::uint32_t> statistics) {
            const std::vector<std::pair<Index, Index>> members = members_of(statistics);
            if (members.size() < 2) return;
            for (const auto& [variable, own] : members) meets[static_cast<std::size_t>(variable)] = true;
        });
        for (std::size_t j = 0; j < count; ++j) candidates[j] = candidates[j] && meets[j];
    }
    std::vector<bool> is_scale(static_cast<std::size_t>(layout.size()), false);
    base.form_->visit_terms([&](double, std::span<const std::uint32_t> statistics) {
        Index degree = 0;
        for (const auto& [variable, own] : members_of(statistics)) degree += own;
        if (degree < kMostDegree) return;
        for (const std::uint32_t s : statistics) {
            if (!candidates[static_cast<std::size_t>(variable_of[s])]) is_scale[s] = true;
        }
    });
    if (coefficients() > kMostJoined || std::ranges::count(is_scale, true) > kMostScales) return {};
    std::vector<Index> result;
    for (std::size_t j = 0; j < count; ++j) {
        if (candidates[j]) result.push_back(static_cast<Index>(j));
    }
    return result;
}

}  // namespace lrvb::detail
