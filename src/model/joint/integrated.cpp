#include "base/parallel.hpp"
#include "base/validate.hpp"
#include "linalg/lapack.hpp"
#include "model/joint/core.hpp"

#include <cmath>
#include <limits>
#include <numbers>

/// x integrated out, at values of the others.
namespace lrvb {

namespace {

constexpr double kWorkOfAThread = 20000.0;  // numbers looked at in the time that it takes to wake one
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// N(m, P⁻¹), the conditional of x.
struct Conditional {
    Vector phi;
    Matrix factor;  // of P, lower
    Vector mean;
    bool is_normal = false;
};

Conditional conditional_at(const detail::JointCore& core, const Vector& t) {
    Conditional result;
    if (!t.allFinite()) return result;
    result.phi = core.form.phi(t);
    core.form.precision(result.phi, result.factor);
    if (detail::cholesky_in_place(result.factor)) return result;
    result.mean = core.form.force(result.phi);
    result.factor.triangularView<Eigen::Lower>().solveInPlace(result.mean);
    result.factor.triangularView<Eigen::Lower>().transpose().solveInPlace(result.mean);
    result.is_normal = result.mean.allFinite();
    return result;
}

}  // namespace

std::vector<Index> JointModel::integrable() const {
    const detail::JointCore& core = *core_;
    if (core.predictors || core.coefficients() > kMostIntegrated) return {};
    std::vector<Index> result;
    for (auto j = static_cast<Index>(core.base_variables.size()); j < layout().variable_count(); ++j) {
        result.push_back(j);
    }
    return result;
}

JointGradients JointModel::integrated_joint(const Matrix& statistics, bool gradients, int threads) const {
    const detail::JointCore& core = *core_;
    detail::require_size("integrated_joint", "a column of statistics", statistics.rows(), layout().size());
    const double constant = 0.5 * static_cast<double>(core.coefficients()) * std::log(2.0 * std::numbers::pi);
    JointGradients result{Vector::Constant(statistics.cols(), -kInfinity), Matrix()};
    if (gradients) result.gradients = Matrix::Zero(statistics.rows(), statistics.cols());
    if (work() * static_cast<double>(statistics.cols()) < kWorkOfAThread) threads = 1;
    detail::in_parallel(threads, statistics.cols(), [&](Index c) {
        const Vector t = statistics.col(c).head(core.others());
        Conditional x = conditional_at(core, t);
        if (!x.is_normal) return;
        Vector u = core.form.values(x.mean);
        const double value = detail::sum_of_products(x.phi, u) + constant - x.factor.diagonal().array().log().sum();
        if (std::isfinite(value)) result.values[c] = value;
        if (!gradients) return;
        detail::invert_from_cholesky_in_place(x.factor);
        core.form.add_second(x.factor, u);
        result.gradients.col(c).head(core.others()) = core.form.pull(t, u);
    });
    return result;
}

void JointModel::draw_integrable(Eigen::Ref<Vector> statistics, Random& random) const {
    const detail::JointCore& core = *core_;
    detail::require_size("draw_integrable", "statistics", statistics.size(), layout().size());
    const Conditional x = conditional_at(core, statistics.head(core.others()));
    Vector z = standard_normals(core.coefficients(), random);
    if (!x.is_normal) {
        statistics.tail(core.coefficients()).setConstant(std::numeric_limits<double>::quiet_NaN());
        return;
    }
    x.factor.triangularView<Eigen::Lower>().transpose().solveInPlace(z);
    statistics.tail(core.coefficients()) = x.mean + z;
}

}  // namespace lrvb
