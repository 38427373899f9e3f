// The sparse factorisation and the selected inverse, against dense algebra.

#include "linalg/dense_cholesky.hpp"
#include "linalg/selected_inverse.hpp"
#include "linalg/sparse_ldl.hpp"
#include "support.hpp"

#include <Eigen/Cholesky>

#include <utility>

namespace lrvb {
namespace {

using detail::SelectedInverse;
using detail::SparseLdl;
using detail::SymbolicLdl;

// A random sparse symmetric positive definite matrix; its lower triangle.
SparseMatrix random_sparse(Index size, double density, Random& random) {
    Matrix dense = Matrix::Zero(size, size);
    for (Index i = 0; i < size; ++i) {
        for (Index j = 0; j < i; ++j) {
            if (random.uniform() < density) dense(i, j) = random.normal();
        }
    }
    const Vector row_sums = (dense + dense.transpose()).cwiseAbs().rowwise().sum();
    dense.diagonal() = row_sums.array() + 0.1;
    return dense.sparseView();
}

TEST(SparseLdl, SolvesWhatDenseCholeskySolves) {
    for (const auto& [size, density] :
         {std::pair{Index{1}, 0.1}, std::pair{Index{7}, 0.1}, std::pair{Index{40}, 0.1}, std::pair{Index{120}, 0.1},
          std::pair{Index{150}, 0.9}, std::pair{Index{200}, 0.005}}) {
        Random random(3, static_cast<std::uint64_t>(size));
        const SparseMatrix lower = random_sparse(size, density, random);
        SparseLdl ldl(std::make_shared<const SymbolicLdl>(lower));
        ASSERT_FALSE(ldl.factorise(lower.valuePtr()).has_value());
        const Matrix dense = Matrix(SparseMatrix(lower.selfadjointView<Eigen::Lower>()));
        const Vector right = test::random_matrix(size, 1, random);
        EXPECT_LT(test::relative_error(ldl.solve(right), dense.llt().solve(right)), 1e-12) << size;
    }
}

TEST(SparseLdl, SharesItsSymbolicPhaseBetweenMatricesOfOnePattern) {
    Random random(4);
    const SparseMatrix lower = random_sparse(50, 0.1, random);
    const auto symbolic = std::make_shared<const SymbolicLdl>(lower);
    const SparseMatrix doubled = 2.0 * lower;
    SparseLdl first(symbolic);
    SparseLdl second(symbolic);
    ASSERT_FALSE(first.factorise(lower.valuePtr()).has_value());
    ASSERT_FALSE(second.factorise(doubled.valuePtr()).has_value());
    const Vector right = Vector::Ones(50);
    EXPECT_LT(test::relative_error(first.solve(right), 2.0 * second.solve(right)), 1e-13);
}

TEST(DenseCholesky, EqualsEigensAtEverySizeAroundItsTilesAndPanels) {
    for (const Index size : {1, 3, 4, 7, 8, 9, 31, 127, 128, 129, 135, 136, 137, 300}) {
        Random random(8, static_cast<std::uint64_t>(size));
        const Matrix root = test::random_matrix(size, size, random);
        const Matrix a = root * root.transpose() + Matrix::Identity(size, size);
        Matrix factor = a;
        ASSERT_FALSE(detail::cholesky_in_place(factor).has_value()) << size;
        const Matrix expected = a.llt().matrixL();
        const Matrix lower = factor.triangularView<Eigen::Lower>();
        EXPECT_LT((lower - expected).cwiseAbs().maxCoeff(), 1e-12 * expected.cwiseAbs().maxCoeff()) << size;
        Matrix bad = a;
        bad(size - 1, size - 1) = -1.0;
        EXPECT_EQ(detail::cholesky_in_place(bad), std::optional<Index>(size - 1)) << size;
    }
}

TEST(SparseLdl, NamesThePivotThatIsNotPositive) {
    // Every leading part is positive definite in any order, but for the one coordinate that stands alone.
    SparseMatrix lower(4, 4);
    lower.insert(0, 0) = 2.0;
    lower.insert(1, 0) = 1.0;
    lower.insert(1, 1) = 2.0;
    lower.insert(2, 2) = -1e-3;
    lower.insert(3, 3) = 1.0;
    lower.makeCompressed();
    SparseLdl ldl(std::make_shared<const SymbolicLdl>(lower));
    EXPECT_EQ(ldl.factorise(lower.valuePtr()), std::optional<Index>(2));
    lower.coeffRef(2, 2) = std::nan("");
    EXPECT_EQ(ldl.factorise(lower.valuePtr()), std::optional<Index>(2));
    lower.coeffRef(2, 2) = 1.0;
    EXPECT_FALSE(ldl.factorise(lower.valuePtr()).has_value());
}

TEST(SparseLdl, NamesThePivotOfADenseMatrixToo) {
    Random random(6);
    SparseMatrix lower = random_sparse(100, 1.0, random);
    SparseLdl ldl(std::make_shared<const SymbolicLdl>(lower));
    ASSERT_TRUE(ldl.symbolic().is_dense());
    EXPECT_FALSE(ldl.factorise(lower.valuePtr()).has_value());
    lower.coeffRef(70, 70) = -1.0;
    EXPECT_EQ(ldl.factorise(lower.valuePtr()), std::optional<Index>(70));
}

// Two dense matrices on the even and the odd positions: neither order nor entries tell them apart but the pattern.
TEST(SparseLdl, FactorsPartsThatStandApartOnTheirOwn) {
    Random random(7);
    const Matrix even = random_sparse(90, 1.0, random);
    const Matrix odd = random_sparse(90, 1.0, random);
    Matrix both = Matrix::Zero(180, 180);
    for (Index i = 0; i < 90; ++i) {
        for (Index j = 0; j <= i; ++j) {
            both(2 * i, 2 * j) = even(i, j);
            both(2 * i + 1, 2 * j + 1) = odd(i, j);
        }
    }
    SparseMatrix lower = both.sparseView();
    SparseLdl ldl(std::make_shared<const SymbolicLdl>(lower));
    ASSERT_TRUE(ldl.symbolic().is_dense());
    ASSERT_FALSE(ldl.factorise(lower.valuePtr()).has_value());
    EXPECT_EQ(ldl.dense().size(), 2U);
    const Matrix full = both.selfadjointView<Eigen::Lower>();
    const Vector right = test::random_matrix(180, 1, random);
    EXPECT_LT(test::relative_error(ldl.solve(right), full.llt().solve(right)), 1e-12);
    const SelectedInverse selected(ldl);
    const Matrix inverse = full.llt().solve(Matrix::Identity(180, 180));
    for (Index i = 0; i < 180; ++i) {
        for (Index j = 0; j < 180; ++j) EXPECT_NEAR(selected(i, j), inverse(i, j), 1e-12);
    }
    lower.coeffRef(101, 101) = -1.0;
    EXPECT_EQ(ldl.factorise(lower.valuePtr()), std::optional<Index>(101));
}

TEST(SelectedInverse, EqualsTheDenseInverseOnThePattern) {
    for (const auto& [size, density] :
         {std::pair{Index{1}, 0.1}, std::pair{Index{3}, 0.1}, std::pair{Index{20}, 0.1}, std::pair{Index{80}, 0.08},
          std::pair{Index{90}, 0.9}, std::pair{Index{200}, 0.005}}) {
        Random random(5, static_cast<std::uint64_t>(size));
        const SparseMatrix lower = random_sparse(size, density, random);
        SparseLdl ldl(std::make_shared<const SymbolicLdl>(lower));
        ASSERT_FALSE(ldl.factorise(lower.valuePtr()).has_value());
        const SelectedInverse selected(ldl);
        const Matrix inverse =
            Matrix(SparseMatrix(lower.selfadjointView<Eigen::Lower>())).llt().solve(Matrix::Identity(size, size));
        for (Index column = 0; column < size; ++column) {
            for (SparseMatrix::InnerIterator entry(lower, column); entry; ++entry) {
                const double expected = inverse(entry.row(), column);
                EXPECT_NEAR(selected(entry.row(), column), expected, 1e-12 * inverse.cwiseAbs().maxCoeff());
                EXPECT_EQ(selected(entry.row(), column), selected(column, entry.row()));
            }
        }
    }
}

}  // namespace
}  // namespace lrvb
