#pragma once

#include <lrvb/export.hpp>
#include <lrvb/family/family.hpp>

namespace lrvb::family {

/// Categorical over K labels: T = the K indicators, η = log p up to a common constant, any real. Standard: (p_1, …,
/// p_K).
///
/// The indicators add up to one, so V = diag(p) − ppᵀ is singular and L is K × (K − 1): with q_k = Σ_{j>k} p_j,
/// L_kk² = p_k q_k/q_{k−1} and L_ik = −p_i √(p_k/(q_k q_{k−1})) below it. The q_k are summed from the end, so certainty
/// about one label, or a label of probability zero, is an ordinary input. `natural_from_mean` and
/// `natural_from_standard` give the η with Σ exp η = 1.
class LRVB_EXPORT Categorical {
  public:
    static constexpr std::string_view name = "Categorical";

    explicit Categorical(Index labels);

    Index size() const { return labels_; }
    Index rank() const { return labels_ - 1; }
    std::vector<std::string> statistic_names(const std::string& variable) const;
    std::vector<std::string> standard_names() const;
    std::string domain_error(const VectorView& natural) const;

    Vector mean(const VectorView& natural) const;
    Vector natural_from_mean(const VectorView& mean) const;
    Vector natural_from_standard(const VectorView& standard) const;
    Vector standard(const VectorView& natural) const;

    double log_partition(const VectorView& natural) const;
    double entropy(const VectorView& natural) const;
    Matrix covariance(const VectorView& natural) const;
    Matrix covariance_factor(const VectorView& natural) const;

    Vector sample(const VectorView& natural, Random& random) const;
    Vector statistic(const VectorView& value) const;
    StatisticProduct product(Index i, Index j) const;
    Vector reference_natural() const;

    bool operator==(const Categorical&) const = default;

  private:
    Index labels_;
};

static_assert(Family<Categorical>);

}  // namespace lrvb::family
