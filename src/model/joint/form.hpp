#pragma once

#include "model/multilinear_form.hpp"

#include <lrvb/types.hpp>

#include <cstdint>
#include <span>
#include <vector>

/// A multilinear form that is quadratic in coefficients x, sorted by the products of other statistics t:
///
///     L(t, x) = Σ_k φ_k(t) u_k(x),     φ_k = Π_{s∈R_k} t_s,     u_k(x) = c_k + Σ_i b_ki x_i + Σ_e g_ke x_i x_j,
///
/// with e = (i, j), i ≥ j, a pair of coefficients. So P(t) = −∂²L/∂x∂xᵀ = Σ_k φ_k A_k, A_k the sparse matrix with
/// −g_ke in its entries (i, j) and (j, i), −2 g_ke on its diagonal; and for symmetric X, tr(A_k X) = −2 Σ_e g_ke X_e.
///
/// It reads a form over the statistics (t, x, pairs): pairs are statistics of their own, so that it is linear in
/// second moments.
namespace lrvb::detail {

struct CoefficientPair {
    std::uint32_t row = 0;  // ≥ column
    std::uint32_t column = 0;
};

/// Where statistics of the form stand: others first, then coefficients, then pairs.
struct JointShape {
    Index others = 0;
    Index coefficients = 0;
    std::vector<CoefficientPair> pairs;

    Index statistics() const { return others + coefficients; }
    Index extended() const { return statistics() + static_cast<Index>(pairs.size()); }
};

/// Σ_k φ_k u_k, with what rounding would drop.
double sum_of_products(const Vector& phi, const Vector& u);

class JointForm {
  public:
    /// `dense`: the Hessian in the coefficients has all entries, whatever P's pattern.
    JointForm(const MultilinearForm& form, const JointShape& shape, bool dense);

    Index products() const { return static_cast<Index>(constants_.size()); }
    /// Numbers of the products that multiply something quadratic.
    const std::vector<std::uint32_t>& quadratic() const { return quadratic_; }
    /// Statistics in these products, ascending: all of them respond to each other.
    const std::vector<std::uint32_t>& scales() const { return scales_; }
    /// Numbers that are looked at.
    double work() const { return static_cast<double>(factors_.size() + linear_.size() + pairs_.size() + 1); }

    Vector phi(const Vector& t) const;
    /// u_k(x), each; and Σ|terms|.
    Vector values(const Vector& x, Vector* magnitudes = nullptr) const;
    /// u_k += Σ_e g_ke X_e.
    void add_second(const Matrix& symmetric, Vector& u) const;
    /// P, its lower triangle; the rest is left as it is.
    void precision(const Vector& phi, Matrix& lower) const;
    /// h(t), and |h| as a sum of the sizes of its terms.
    Vector force(const Vector& phi, Vector* magnitudes = nullptr) const;
    /// ∂L/∂x = h − P x, term by term.
    Vector slope(const Vector& phi, const Vector& x) const;
    /// Σ|terms| of it.
    Vector slope_sizes(const Vector& phi, const Vector& x) const;
    /// Σ_k φ_k,a v_k for every statistic a of the others.
    Vector pull(const Vector& t, const Vector& v, bool sizes = false) const;
    /// Σ_a φ_k,a d_a.
    Vector push(const Vector& t, const VectorView& direction) const;

    /// (X A_k X)_e for all pairs e.
    Vector sandwich(std::uint32_t k, const Matrix& symmetric) const;
    /// Y = X A_k on the columns that A_k has, which are listed.
    Matrix half_sandwich(std::uint32_t k, const Matrix& symmetric, std::vector<std::uint32_t>& support) const;
    /// Σ_e g_ke v_e.
    double along_pairs(std::uint32_t k, const Vector& v) const;

    /// Σ_e g_ke w_i w_j.
    double along_products(std::uint32_t k, const Eigen::Ref<const Vector>& w) const;
    /// φ_k,a of the products that are quadratic, by the scales.
    SparseMatrix scale_slopes(const Vector& t) const;

    /// The lower triangle of ∇²(Σ_k φ_k u_k) over (t, x), where u_k(x) is given and has second moments in it, plus
    /// `between`, symmetric over the scales, and `mixed`, coefficients × scales, and `bent`, over the coefficients,
    /// which may both be empty; and `diagonal`, of the coefficients.
    SparseMatrix hessian(const Vector& t, const Vector& phi, const Vector& x, const Vector& u, const Matrix& between,
                         const Matrix& mixed, const Matrix& bent, const Vector& diagonal) const;

  private:
    struct Linear {
        std::uint32_t coefficient;
        double value;
    };
    struct Quadratic {
        std::uint32_t pair;
        double value;
    };
    std::span<const std::uint32_t> factors(std::size_t k) const {
        return {factors_.data() + factor_starts_[k], factors_.data() + factor_starts_[k + 1]};
    }
    std::span<const Linear> linear(std::size_t k) const {
        return {linear_.data() + linear_starts_[k], linear_.data() + linear_starts_[k + 1]};
    }
    std::span<const Quadratic> pairs(std::size_t k) const {
        return {pairs_.data() + pair_starts_[k], pairs_.data() + pair_starts_[k + 1]};
    }
    double product_without(std::size_t k, std::size_t skip_a, std::size_t skip_b, const Vector& t) const;
    void build_pattern();
    std::uint32_t slot(Index row, Index column) const;

    JointShape shape_;
    bool dense_;
    std::vector<double> constants_;
    std::vector<std::uint32_t> factor_starts_, factors_;
    std::vector<std::uint32_t> linear_starts_;
    std::vector<Linear> linear_;
    std::vector<std::uint32_t> pair_starts_;
    std::vector<Quadratic> pairs_;
    std::vector<std::uint32_t> quadratic_;
    std::vector<std::uint32_t> scales_;

    SparseMatrix pattern_;
    // Where entries stand in it, in the order in which `hessian` meets them.
    std::vector<std::uint32_t> other_slots_, scale_slots_, mixed_slots_, own_slots_;
};

}  // namespace lrvb::detail
