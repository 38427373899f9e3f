#pragma once

#include <lrvb/types.hpp>

namespace lrvb::detail {

/// A = LLᵀ of a small dense matrix, of which the lower triangle is read. A decomposition is among the heaviest
/// templates to compile: this is the one place that does.
class PositiveDefinite {
  public:
    explicit PositiveDefinite(const Matrix& matrix);

    /// Ask before anything else: false where a pivot was not positive.
    bool succeeded() const { return succeeded_; }
    /// L, with zeros above its diagonal.
    const Matrix& factor() const { return factor_; }
    double log_determinant() const;
    Vector solve(const Vector& right) const;
    Matrix solve(const Matrix& right) const;
    Matrix inverse() const;

  private:
    Matrix factor_;
    bool succeeded_ = false;
};

}  // namespace lrvb::detail
