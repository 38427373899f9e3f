#include "base/messages.hpp"
#include "formula/term/latent_term.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

/// rw2(t), the second-order random walk of Lindgren & Rue (2008) on the distinct values t_1 < … < t_T of a column. With
/// d_i = t_{i+1} − t_i, its slope changes at the inner nodes by independent innovations,
///
///     s_k = (f_{k+1} − f_k)/d_k − (f_k − f_{k−1})/d_{k−1} ~ Normal(0, sd² c² (d_{k−1} + d_k)/2),     k = 2 … T − 1,
///
/// whose precision of f is K = Σ_k s_k s_kᵀ 2/(d_{k−1} + d_k), Lindgren & Rue's band matrix, of rank T − 2. So f is
/// piecewise linear: f(t) = Σ_k s_k (t − t_k)₊ less the line through the nodes, which makes f orthogonal to the
/// constant and the line there, and its covariance at the nodes sd² c² K⁻, with the generalised inverse. c is such that
/// the geometric mean of its diagonal is sd². Between nodes f is the line between them; beyond the last node it goes on
/// as that node's line, and the next innovation adds the variance sd² c² h² (d_{T−1} + h)/2 at the distance h, as a
/// node there would have it.
///
/// The unit and the origin of t cancel: t is counted as (t − t_1)/(t_T − t_1).
namespace lrvb::detail {

namespace {

/// Each row has a number for each node, and a fit multiplies T × T matrices at each step.
constexpr Index kMostNodes = 400;

class RandomWalk2 final : public LatentTerm {
  public:
    explicit RandomWalk2(Vector nodes) : nodes_(std::move(nodes)) {
        const Index count = nodes_.size();
        places_ = scaled(nodes_);
        roots_.resize(size());
        for (Index k = 0; k < size(); ++k) roots_[k] = std::sqrt(0.5 * (places_[k + 2] - places_[k]));
        centre_ = places_.mean();
        const Eigen::ArrayXd away = places_.array() - centre_;
        const Matrix walks = hinges(places_);
        levels_ = walks.colwise().mean();
        slopes_ = (away.matrix().transpose() * walks) / away.square().sum();
        double logs = 0.0;
        const Vector variances = rows_at(places_).rowwise().squaredNorm();
        for (Index i = 0; i < count; ++i) logs += std::log(variances[i]);
        factor_ = std::exp(-0.5 * logs / static_cast<double>(count));
    }

    Index size() const override { return nodes_.size() - 2; }
    Matrix rows(const Vector& x) const override { return rows_at(scaled(x)); }
    Vector beyond(const Vector& x) const override {
        const Index last = places_.size() - 1;
        const Vector u = scaled(x);
        Vector result = Vector::Zero(x.size());
        for (Index n = 0; n < x.size(); ++n) {
            const double far = std::max(u[n] - 1.0, -u[n]);
            if (!(far > 0.0)) continue;
            const double gap = u[n] > 1.0 ? places_[last] - places_[last - 1] : places_[1] - places_[0];
            result[n] = factor_ * factor_ * far * far * 0.5 * (gap + far);
        }
        return result;
    }
    const Vector& nodes() const override { return nodes_; }
    Vector numbers() const override { return nodes_; }

  private:
    Vector scaled(const Vector& x) const {
        const double first = nodes_[0];
        const double range = nodes_[nodes_.size() - 1] - first;
        return (x.array() - first) / range;
    }
    Matrix hinges(const Vector& u) const {
        Matrix result(u.size(), size());
        for (Index k = 0; k < size(); ++k) {
            result.col(k) = roots_[k] * (u.array() - places_[k + 1]).max(0.0);
        }
        return result;
    }
    Matrix rows_at(const Vector& u) const {
        Matrix result = hinges(u);
        result.rowwise() -= levels_;
        result.noalias() -= (u.array() - centre_).matrix() * slopes_;
        return factor_ * result;
    }

    Vector nodes_;
    Vector places_;  // the nodes from 0 to 1
    Vector roots_;   // of each innovation, its sd where c = 1
    double centre_ = 0.0;
    Eigen::RowVectorXd levels_;
    Eigen::RowVectorXd slopes_;
    double factor_ = 1.0;  // c
};

class RandomWalk2Kind final : public LatentTermKind {
  public:
    std::string_view word() const override { return "rw2"; }
    bool has_line() const override { return true; }

    std::shared_ptr<const LatentTerm> learn(const Vector& values, const std::string& name,
                                            const std::string& column) const override {
        const Index count = values.size();
        if (count < 3) {
            throw std::runtime_error(fmt::format(
                "{} needs at least three different values of {}, which has {}: {}", printable(name), shown(column),
                count, count == 2 ? "write the column alone, which is a line" : "leave the term out"));
        }
        if (count > kMostNodes) {
            throw std::runtime_error(
                fmt::format("{} takes at most {} different values of {}, which has {}: round them, as to days or weeks",
                            printable(name), kMostNodes, shown(column), count));
        }
        auto term = std::make_shared<const RandomWalk2>(values);
        if (!term->rows(values).allFinite()) {
            throw std::runtime_error(
                fmt::format("{}: the values of {} lie too close together or too far apart: round them", printable(name),
                            shown(column)));
        }
        return term;
    }

    std::shared_ptr<const LatentTerm> read(const Vector& numbers) const override {
        const bool is_ascending =
            std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) == numbers.end();
        if (numbers.size() < 3 || numbers.size() > kMostNodes || !numbers.allFinite() || !is_ascending) return nullptr;
        auto term = std::make_shared<const RandomWalk2>(numbers);
        return term->rows(numbers).allFinite() ? term : nullptr;
    }
};

}  // namespace

const LatentTermKind& random_walk_2() {
    static const RandomWalk2Kind kind;
    return kind;
}

}  // namespace lrvb::detail
