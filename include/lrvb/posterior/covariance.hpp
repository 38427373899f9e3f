#pragma once

#include <lrvb/export.hpp>
#include <lrvb/types.hpp>

#include <memory>

/// Covariances of many statistics that answer for those that are asked about, however they are kept: as a matrix where
/// they are few, as a sparse matrix, or as a factorisation that is solved with.
namespace lrvb {

class LRVB_EXPORT Covariance {
  public:
    virtual ~Covariance() = default;

    /// Number of statistics.
    virtual Index size() const = 0;
    /// LᵀCR, for linear combinations of the statistics, one a column of each.
    virtual Matrix between(const SparseMatrix& left, const SparseMatrix& right) const = 0;
    /// The diagonal of LᵀCL.
    virtual Vector variances(const SparseMatrix& combinations) const = 0;
    /// All of it, where it is kept so; null otherwise.
    virtual const Matrix* matrix() const { return nullptr; }
};

class LRVB_EXPORT DenseCovariance final : public Covariance {
  public:
    explicit DenseCovariance(Matrix matrix) : matrix_(std::move(matrix)) {}

    Index size() const override { return matrix_.rows(); }
    Matrix between(const SparseMatrix& left, const SparseMatrix& right) const override;
    Vector variances(const SparseMatrix& combinations) const override;
    const Matrix* matrix() const override { return &matrix_; }

  private:
    Matrix matrix_;
};

/// D C D with a diagonal D: the correlations of another covariance, with sds of their own.
class LRVB_EXPORT ScaledCovariance final : public Covariance {
  public:
    ScaledCovariance(std::shared_ptr<const Covariance> base, Vector scale)
        : base_(std::move(base)), scale_(std::move(scale)) {}

    Index size() const override { return base_->size(); }
    Matrix between(const SparseMatrix& left, const SparseMatrix& right) const override;
    Vector variances(const SparseMatrix& combinations) const override;

  private:
    std::shared_ptr<const Covariance> base_;
    Vector scale_;
};

/// Symmetric, both triangles.
class LRVB_EXPORT SparseCovariance final : public Covariance {
  public:
    explicit SparseCovariance(const SparseMatrix& matrix) : matrix_(matrix) {}

    Index size() const override { return matrix_.rows(); }
    Matrix between(const SparseMatrix& left, const SparseMatrix& right) const override;
    Vector variances(const SparseMatrix& combinations) const override;

  private:
    SparseMatrix matrix_;
};

}  // namespace lrvb
