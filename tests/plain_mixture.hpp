#pragma once

#include <lrvb/kind/mixture/model.hpp>

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

/// An independent coordinate ascent for normal mixtures, as plain as it can be: no kernels, no samples, no Newton
/// steps, and none of the library's families. And the kinds of data that starts are judged by.
///
///     q = Dirichlet(a) Π_k Normal(m_k, V_k) Wishart(ν_k, W_k),
///
/// one column being a Wishart with ν = 2 shape and W⁻¹ = 2 rate.
namespace lrvb::test {

/// ψ(x) by its recurrence and its asymptotic series.
inline double plain_digamma(double x) {
    double sum = 0.0;
    for (; x < 12.0; x += 1.0) sum -= 1.0 / x;
    const double s = 1.0 / (x * x);
    return sum + std::log(x) - 0.5 / x -
           s * (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s * (1.0 / 240 - s * (1.0 / 132 - s * 691.0 / 32760)))));
}

class PlainMixture {
  public:
    struct State {
        Vector weights;              // a
        std::vector<Vector> mean;    // m_k
        std::vector<Matrix> spread;  // V_k
        Vector dof;                  // ν_k
        std::vector<Matrix> scale;   // W_k
    };

    PlainMixture(Matrix rows, Index components, const MixturePrior& prior)
        : x_(std::move(rows)),
          components_(components),
          columns_(x_.cols()),
          alpha_(prior.alpha),
          mean_(prior.mean),
          precision_(prior.variance.inverse()),
          dof_(columns_ == 1 ? 2.0 * prior.shape : prior.dof),
          inverse_scale_(columns_ == 1 ? Matrix(2.0 * prior.rate) : prior.inverse_scale) {}

    /// From responsibilities that are uniform on the simplex, until a sweep gains less than this.
    State ascend(Random& random, double smallest_gain, int most_sweeps) const {
        Matrix r(x_.rows(), components_);
        for (double& value : r.reshaped()) value = -std::log(random.uniform());
        r.array().colwise() /= r.rowwise().sum().array();
        const Eigen::RowVectorXd centre = x_.colwise().mean();
        const Matrix off = x_.rowwise() - centre;
        const Matrix start = (off.transpose() * off / static_cast<double>(x_.rows())).inverse();
        State state{Vector(components_), {}, {}, Vector::Ones(components_), {}};
        state.mean.assign(static_cast<std::size_t>(components_), centre.transpose());
        state.spread.assign(static_cast<std::size_t>(components_), Matrix::Zero(columns_, columns_));
        state.scale.assign(static_cast<std::size_t>(components_), start);
        update(r, state);
        double before = responsibilities(state, r);
        for (int i = 0; i < most_sweeps; ++i) {
            update(r, state);
            const double after = responsibilities(state, r);
            const bool settled = after - before < smallest_gain;
            before = after;
            if (settled) break;
        }
        return state;
    }

    double bound(const State& state) const {
        Matrix r(x_.rows(), components_);
        return responsibilities(state, r);
    }

    /// The best bound of so many starts.
    double best_of(int starts, std::uint64_t seed) const {
        double best = -std::numeric_limits<double>::infinity();
        for (int s = 0; s < starts; ++s) {
            Random random(seed, static_cast<std::uint64_t>(s));
            best = std::max(best, bound(ascend(random, 1e-6, 3000)));
        }
        return best;
    }

  private:
    // The bound, with the responsibilities at their optimum, which it writes.
    double responsibilities(const State& state, Matrix& r) const {
        const double total = plain_digamma(state.weights.sum());
        double sum = 0.0;
        for (Index k = 0; k < components_; ++k) {
            const auto at = static_cast<std::size_t>(k);
            const Matrix precision = state.dof[k] * state.scale[at];
            const Eigen::LLT<Matrix> factor(precision);
            const Matrix whitened = (x_.rowwise() - state.mean[at].transpose()) * Matrix(factor.matrixL());
            const double constant = plain_digamma(state.weights[k]) - total + 0.5 * log_det(state, k) -
                                    0.5 * static_cast<double>(columns_) * std::log(2.0 * std::numbers::pi) -
                                    0.5 * (precision * state.spread[at]).trace();
            r.col(k) = constant - 0.5 * whitened.rowwise().squaredNorm().array();
            sum -= divergence_of_mean(state, k) + divergence_of_precision(state, k);
        }
        const Vector largest = r.rowwise().maxCoeff();
        r = (r.colwise() - largest).array().exp().matrix();
        const Vector sums = r.rowwise().sum();
        r.array().colwise() /= sums.array();
        return sum - divergence_of_weights(state) + largest.sum() + sums.array().log().sum();
    }

    void update(const Matrix& r, State& state) const {
        for (Index k = 0; k < components_; ++k) {
            const auto at = static_cast<std::size_t>(k);
            const double size = r.col(k).sum();
            state.weights[k] = alpha_ + size;
            const Matrix precision = state.dof[k] * state.scale[at];
            state.spread[at] = (precision_ + size * precision).inverse();
            state.mean[at] = state.spread[at] * (precision_ * mean_ + precision * (x_.transpose() * r.col(k)));
            const Matrix off = x_.rowwise() - state.mean[at].transpose();
            const Matrix squares = off.transpose() * (off.array().colwise() * r.col(k).array()).matrix();
            state.dof[k] = dof_ + size;
            state.scale[at] = (inverse_scale_ + squares + size * state.spread[at]).inverse();
        }
    }

    // E log det Λ.
    double log_det(const State& state, Index k) const {
        double sum = static_cast<double>(columns_) * std::numbers::ln2 +
                     std::log(state.scale[static_cast<std::size_t>(k)].determinant());
        for (Index p = 0; p < columns_; ++p) sum += plain_digamma(0.5 * (state.dof[k] - static_cast<double>(p)));
        return sum;
    }

    double divergence_of_weights(const State& state) const {
        const double total = state.weights.sum();
        const auto count = static_cast<double>(components_);
        double sum = std::lgamma(total) - std::lgamma(count * alpha_) + count * std::lgamma(alpha_);
        for (const double a : state.weights) {
            sum += (a - alpha_) * (plain_digamma(a) - plain_digamma(total)) - std::lgamma(a);
        }
        return sum;
    }

    double divergence_of_mean(const State& state, Index k) const {
        const auto at = static_cast<std::size_t>(k);
        const Vector off = state.mean[at] - mean_;
        return 0.5 *
               ((precision_ * state.spread[at]).trace() + off.dot(precision_ * off) - static_cast<double>(columns_) -
                std::log(precision_.determinant()) - std::log(state.spread[at].determinant()));
    }

    double divergence_of_precision(const State& state, Index k) const {
        const auto at = static_cast<std::size_t>(k);
        const auto columns = static_cast<double>(columns_);
        const double dof = state.dof[k];
        double sum =
            0.5 * (dof - dof_) * log_det(state, k) - 0.5 * dof * columns +
            0.5 * dof * (inverse_scale_ * state.scale[at]).trace() - 0.5 * (dof - dof_) * columns * std::numbers::ln2 -
            0.5 * dof * std::log(state.scale[at].determinant()) - 0.5 * dof_ * std::log(inverse_scale_.determinant());
        for (Index p = 0; p < columns_; ++p) {
            const auto less = static_cast<double>(p);
            sum += std::lgamma(0.5 * (dof_ - less)) - std::lgamma(0.5 * (dof - less));
        }
        return sum;
    }

    Matrix x_;
    Index components_;
    Index columns_;
    double alpha_;
    Vector mean_;
    Matrix precision_;
    double dof_;
    Matrix inverse_scale_;
};

/// Rows, and how many components are asked of them.
struct StartProblem {
    Matrix rows;
    Index components = 2;
};

enum class ProblemFamily { nested_scales, too_few_components, separated, several_columns };

inline std::string name_of(ProblemFamily family) {
    switch (family) {
        case ProblemFamily::nested_scales:
            return "nested scales";
        case ProblemFamily::too_few_components:
            return "three normals, K = 2";
        case ProblemFamily::separated:
            return "one column, right K";
        case ProblemFamily::several_columns:
            break;
    }
    return "two or three columns";
}

/// Normals with these means and sds (one row a component), all of equal weight unless weights are given.
inline Matrix normal_rows(Index rows, const Vector& weights, const Matrix& means, const Matrix& sds, Random& random) {
    Matrix x(rows, means.cols());
    for (Index n = 0; n < rows; ++n) {
        double left = random.uniform() * weights.sum();
        Index k = 0;
        while (k < weights.size() - 1 && left >= weights[k]) left -= weights[k++];
        for (Index p = 0; p < means.cols(); ++p) x(n, p) = means(k, p) + sds(k, p) * random.normal();
    }
    return x;
}

inline StartProblem start_problem(ProblemFamily family, std::uint64_t seed) {
    Random random(seed, 77 + static_cast<std::uint64_t>(family));
    const auto between = [&](double low, double high) { return low + (high - low) * random.uniform(); };
    const auto whole = [&](Index low, Index high) {
        return std::min(high, low + static_cast<Index>(random.uniform() * static_cast<double>(high - low + 1)));
    };
    switch (family) {
        case ProblemFamily::nested_scales: {
            const Index count = random.uniform() < 0.8 ? 2 : 3;
            Vector weights(count);
            Matrix sds(count, 1);
            for (Index k = 0; k < count; ++k) {
                weights[k] = k == 0 ? between(0.5, 0.9) : between(0.1, 0.5);
                sds(k, 0) = k == 0 ? 1.0 : sds(k - 1, 0) * between(3.0, 12.0);
            }
            return {normal_rows(whole(300, 800), weights, Matrix::Zero(count, 1), sds, random), count};
        }
        case ProblemFamily::too_few_components: {
            const double apart = between(2.0, 3.0);
            const Matrix means{{0.0}, {apart}, {2.0 * apart}};
            const Matrix sds{{between(0.6, 1.4)}, {between(0.6, 1.4)}, {between(0.6, 1.4)}};
            return {normal_rows(whole(500, 2000), Vector::Ones(3), means, sds, random), 2};
        }
        case ProblemFamily::separated: {
            const Index count = whole(3, 6);
            Matrix means(count, 1);
            Matrix sds(count, 1);
            Vector weights(count);
            for (Index k = 0; k < count; ++k) {
                means(k, 0) = k == 0 ? 0.0 : means(k - 1, 0) + between(2.0, 5.0);
                sds(k, 0) = between(0.5, 1.2);
                weights[k] = between(0.5, 2.0);
            }
            return {normal_rows(whole(400, 900), weights, means, sds, random), count};
        }
        case ProblemFamily::several_columns:
            break;
    }
    const Index columns = whole(2, 3);
    const Index count = whole(2, 4);
    Matrix means(count, columns);
    Matrix sds(count, columns);
    for (double& value : means.reshaped()) value = between(-2.0, 2.0);
    for (double& value : sds.reshaped()) value = between(0.6, 1.4);
    const Matrix rows = normal_rows(whole(300, 600), Vector::Ones(count), means, sds, random);
    return {rows, std::min<Index>(4, count + (random.uniform() < 0.4 ? 1 : 0))};
}

/// Row by row, as a table has them.
inline std::vector<double> row_major(const Matrix& rows) {
    std::vector<double> values;
    for (Index n = 0; n < rows.rows(); ++n) {
        for (Index p = 0; p < rows.cols(); ++p) values.push_back(rows(n, p));
    }
    return values;
}

}  // namespace lrvb::test
