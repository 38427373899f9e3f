// The factorisations behind the interface, and what is read off them, against dense algebra.

#include "base/parallel.hpp"
#include "linalg/dense_cholesky.hpp"
#include "linalg/lanczos.hpp"
#include "linalg/lapack.hpp"
#include "linalg/sparse_cholesky.hpp"
#include "support.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include <algorithm>
#include <utility>
#include <vector>

extern "C" {
int openblas_get_num_threads();
void openblas_set_num_threads(int count);
}

namespace lrvb {
namespace {

using detail::Cholesky;
using detail::CholeskyPlan;
using detail::plan_cholesky;
using detail::SelectedInverse;

struct Shape {
    Index size;
    double density;
};
const std::vector<Shape> kShapes{{1, 0.1}, {7, 0.1}, {40, 0.1}, {120, 0.1}, {150, 0.9}, {200, 0.005}};

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

SparseMatrix random_sparse(const Shape& shape, std::uint64_t seed) {
    Random random(seed, static_cast<std::uint64_t>(shape.size));
    return random_sparse(shape.size, shape.density, random);
}

Matrix full(const SparseMatrix& lower) {
    return Matrix(lower).selfadjointView<Eigen::Lower>();
}

std::vector<double> values(const SparseMatrix& lower) {
    return {lower.valuePtr(), lower.valuePtr() + lower.nonZeros()};
}

std::unique_ptr<Cholesky> factored(const SparseMatrix& lower) {
    std::unique_ptr<Cholesky> factor = plan_cholesky(lower)();
    EXPECT_FALSE(factor->factorise(values(lower)).has_value());
    return factor;
}

bool is_dense(const Cholesky& factor) {
    return dynamic_cast<const detail::DenseCholesky*>(&factor) != nullptr;
}

TEST(Cholesky, SolvesWhatEigenSolves) {
    for (const Shape& shape : kShapes) {
        const SparseMatrix lower = random_sparse(shape, 3);
        Random random(9);
        const Matrix right = test::random_matrix(shape.size, 3, random);
        EXPECT_LT(test::relative_error(factored(lower)->solve(right), full(lower).llt().solve(right)), 1e-12)
            << shape.size;
    }
}

TEST(Cholesky, IsDenseWhereThatIsWorthItAndSparseElsewhere) {
    EXPECT_TRUE(is_dense(*factored(random_sparse({150, 0.9}, 3))));
    EXPECT_TRUE(is_dense(*factored(random_sparse({120, 0.2}, 3))));  // it fills up
    EXPECT_FALSE(is_dense(*factored(random_sparse({200, 0.005}, 3))));
}

TEST(Cholesky, HasARootOfTheMatrixAndItsInverse) {
    for (const Shape& shape : kShapes) {
        const SparseMatrix lower = random_sparse(shape, 11);
        const std::unique_ptr<Cholesky> factor = factored(lower);
        const Matrix identity = Matrix::Identity(shape.size, shape.size);
        const Matrix root = factor->root_times(identity);
        EXPECT_LT(test::relative_error(root.transpose() * root, full(lower)), 1e-13) << shape.size;
        EXPECT_LT((factor->root_solve(root) - identity).cwiseAbs().maxCoeff(), 1e-12) << shape.size;
        EXPECT_LT((factor->root_transposed_solve(root.transpose()) - identity).cwiseAbs().maxCoeff(), 1e-12)
            << shape.size;
    }
}

TEST(Cholesky, HasTheSmallestPivotOfTheRoot) {
    for (const Shape& shape : kShapes) {
        const std::unique_ptr<Cholesky> factor = factored(random_sparse(shape, 12));
        // |det R|² is the product of the pivots, and R is triangular in some order: each is a squared diagonal entry.
        const Matrix root = factor->root_times(Matrix::Identity(shape.size, shape.size));
        EXPECT_NEAR(root.diagonal().cwiseAbs2().minCoeff(), factor->smallest_pivot(), 1e-13 * factor->smallest_pivot());
    }
}

TEST(Cholesky, SharesAPlanBetweenMatricesOfOnePattern) {
    const SparseMatrix lower = random_sparse({50, 0.1}, 4);
    const SparseMatrix doubled = 2.0 * lower;
    const CholeskyPlan plan = plan_cholesky(lower);
    const std::unique_ptr<Cholesky> first = plan();
    const std::unique_ptr<Cholesky> second = plan();
    ASSERT_FALSE(first->factorise(values(lower)).has_value());
    ASSERT_FALSE(second->factorise(values(doubled)).has_value());
    const Vector right = Vector::Ones(50);
    EXPECT_LT(test::relative_error(first->solve(right), 2.0 * second->solve(right)), 1e-13);
}

TEST(Cholesky, NamesThePivotThatIsNotPositive) {
    // Every leading part is positive definite in any order, but for the one coordinate that stands alone.
    SparseMatrix lower(4, 4);
    lower.insert(0, 0) = 2.0;
    lower.insert(1, 0) = 1.0;
    lower.insert(1, 1) = 2.0;
    lower.insert(2, 2) = -1e-3;
    lower.insert(3, 3) = 1.0;
    lower.makeCompressed();
    const std::unique_ptr<Cholesky> factor = plan_cholesky(lower)();
    EXPECT_EQ(factor->factorise(values(lower)), std::optional<Index>(2));
    lower.coeffRef(2, 2) = std::nan("");
    EXPECT_EQ(factor->factorise(values(lower)), std::optional<Index>(2));
    lower.coeffRef(2, 2) = 1.0;
    EXPECT_FALSE(factor->factorise(values(lower)).has_value());
}

TEST(Cholesky, NamesThePivotOfADenseMatrixToo) {
    SparseMatrix lower = random_sparse({100, 1.0}, 6);
    const std::unique_ptr<Cholesky> factor = plan_cholesky(lower)();
    ASSERT_TRUE(is_dense(*factor));
    EXPECT_FALSE(factor->factorise(values(lower)).has_value());
    const double before = std::exchange(lower.coeffRef(70, 70), -1.0);
    EXPECT_EQ(factor->factorise(values(lower)), std::optional<Index>(70));
    lower.coeffRef(70, 70) = std::nan("");
    EXPECT_EQ(factor->factorise(values(lower)), std::optional<Index>(70));
    lower.coeffRef(70, 70) = before;
    EXPECT_FALSE(factor->factorise(values(lower)).has_value());
}

// Two dense matrices on the even and the odd positions: neither order nor entries tell them apart but the pattern.
TEST(Cholesky, FactorsPartsThatStandApartOnTheirOwn) {
    const Matrix even = random_sparse({90, 1.0}, 7);
    const Matrix odd = random_sparse({90, 1.0}, 8);
    Matrix both = Matrix::Zero(180, 180);
    for (Index i = 0; i < 90; ++i) {
        for (Index j = 0; j <= i; ++j) {
            both(2 * i, 2 * j) = even(i, j);
            both(2 * i + 1, 2 * j + 1) = odd(i, j);
        }
    }
    SparseMatrix lower = both.sparseView();
    const std::unique_ptr<Cholesky> factor = factored(lower);
    ASSERT_TRUE(is_dense(*factor));
    EXPECT_EQ(dynamic_cast<const detail::DenseCholesky&>(*factor).factors().size(), 2U);
    Random random(7);
    const Vector right = test::random_matrix(180, 1, random);
    EXPECT_LT(test::relative_error(factor->solve(right), full(lower).llt().solve(right)), 1e-12);
    const std::unique_ptr<SelectedInverse> selected = factor->selected_inverse();
    const Matrix inverse = full(lower).llt().solve(Matrix::Identity(180, 180));
    for (Index i = 0; i < 180; ++i) {
        for (Index j = 0; j < 180; ++j) EXPECT_NEAR((*selected)(i, j), inverse(i, j), 1e-12);
    }
    lower.coeffRef(101, 101) = -1.0;
    EXPECT_EQ(factor->factorise(values(lower)), std::optional<Index>(101));
}

TEST(SparsePlan, CountsTheEntriesThatEliminationMakes) {
    for (const Shape& shape : {Shape{1, 0.5}, Shape{12, 0.2}, Shape{60, 0.05}, Shape{60, 0.2}, Shape{150, 0.01}}) {
        const SparseMatrix lower = random_sparse(shape, 13);
        const detail::SparsePlan plan(lower);
        // By elimination of the pattern itself: a column joins all rows below its diagonal.
        Eigen::Matrix<bool, Eigen::Dynamic, Eigen::Dynamic> filled(shape.size, shape.size);
        const Matrix matrix = full(lower);
        for (Index i = 0; i < shape.size; ++i) {
            for (Index j = 0; j < shape.size; ++j) {
                filled(plan.permuted_of(i), plan.permuted_of(j)) = matrix(i, j) != 0.0;
            }
        }
        for (Index j = 0; j < shape.size; ++j) {
            Index below = 0;
            for (Index a = j + 1; a < shape.size; ++a) {
                if (!filled(a, j)) continue;
                ++below;
                for (Index b = j + 1; b < a; ++b) filled(a, b) = filled(a, b) || filled(b, j);
            }
            const auto column = static_cast<std::size_t>(j);
            EXPECT_EQ(plan.column_starts()[column + 1] - plan.column_starts()[column], below) << shape.size;
        }
    }
}

class MemoryLimit : public ::testing::Test {
  protected:
    ~MemoryLimit() override { set_factor_memory_limit(0); }
};

TEST_F(MemoryLimit, IsAShareOfTheMachineUnlessItIsSet) {
    EXPECT_GT(factor_memory_limit(), 1U << 28U);
    set_factor_memory_limit(12345);
    EXPECT_EQ(factor_memory_limit(), 12345U);
}

TEST_F(MemoryLimit, RefusesAFactorThatWouldNotFitInOneSentence) {
    const SparseMatrix lower = random_sparse({200, 0.005}, 3);
    const std::uint64_t needed = detail::SparsePlan(lower).bytes();
    set_factor_memory_limit(needed);
    EXPECT_NO_THROW(plan_cholesky(lower));
    set_factor_memory_limit(needed - 1);
    try {
        plan_cholesky(lower);
        FAIL() << "a factor that is too large was accepted";
    } catch (const FactorTooLarge& refusal) {
        const std::string message = refusal.what();
        EXPECT_NE(message.find("of 200 coordinates"), std::string::npos) << message;
        EXPECT_NE(message.find("GB"), std::string::npos) << message;
        EXPECT_NE(message.find("fewer crossed factors"), std::string::npos) << message;
    }
}

TEST_F(MemoryLimit, TakesTheSparseFactorWhereOnlyThatFits) {
    const SparseMatrix lower = random_sparse({120, 0.9}, 3);
    const std::uint64_t sparse = detail::SparsePlan(lower).bytes();
    ASSERT_LT(sparse, 8U * 120U * 120U);
    set_factor_memory_limit(sparse);
    const std::unique_ptr<Cholesky> factor = factored(lower);
    EXPECT_FALSE(is_dense(*factor));
    const Vector right = Vector::Ones(120);
    EXPECT_LT(test::relative_error(factor->solve(right), full(lower).llt().solve(right)), 1e-12);
    set_factor_memory_limit(sparse - 1);
    EXPECT_THROW(plan_cholesky(lower), FactorTooLarge);
}

// A graph of random edges has no small separators: whatever the order, a dense corner is left over.
TEST(SparsePlan, CountsMoreEntriesThanThirtyTwoBitsCan) {
    constexpr Index kSize = 150000;
    Random random(14);
    std::vector<Eigen::Triplet<double, int>> entries;
    for (int i = 0; i < kSize; ++i) {
        entries.emplace_back(i, i, 1.0);
        for (int k = 0; k < 8 && i > 0; ++k) {
            entries.emplace_back(i, static_cast<int>(random.uniform() * i), 1.0);
        }
    }
    SparseMatrix lower(kSize, kSize);
    lower.setFromTriplets(entries.begin(), entries.end());
    const detail::SparsePlan plan(lower);
    EXPECT_GT(plan.fill(), std::int64_t{1} << 31U);
    EXPECT_EQ(plan.bytes(), 12U * static_cast<std::uint64_t>(plan.fill()) + 8U * kSize);
}

TEST(Lapack, FactorsAsEigenDoesAndNamesTheFirstPivotThatFails) {
    for (const Index size : {1, 3, 8, 31, 64, 65, 128, 300}) {
        Random random(8, static_cast<std::uint64_t>(size));
        const Matrix root = test::random_matrix(size, size, random);
        const Matrix a = root * root.transpose() + Matrix::Identity(size, size);
        Matrix factor = a;
        ASSERT_FALSE(detail::cholesky_in_place(factor).has_value()) << size;
        const Matrix expected = a.llt().matrixL();
        const Matrix lower = factor.triangularView<Eigen::Lower>();
        EXPECT_LT((lower - expected).cwiseAbs().maxCoeff(), 1e-12 * expected.cwiseAbs().maxCoeff()) << size;
        for (const Index at : {Index{0}, size / 2, size - 1}) {
            for (const double bad : {-1.0, 0.0, std::nan("")}) {
                Matrix broken = a;
                broken(at, at) = bad;
                EXPECT_EQ(detail::cholesky_in_place(broken), std::optional<Index>(at)) << size;
            }
        }
    }
}

TEST(Lapack, GivesTheSameBitsOnAnyNumberOfThreadsAndLeavesTheirNumberAlone) {
    Random random(15);
    const Matrix root = test::random_matrix(300, 300, random);
    const Matrix a = root * root.transpose() + Matrix::Identity(300, 300);
    const int before = openblas_get_num_threads();
    openblas_set_num_threads(1);
    Matrix one = a;
    detail::cholesky_in_place(one);
    openblas_set_num_threads(2);
    const int two = openblas_get_num_threads();  // one, where OpenBLAS is the serial build
    Matrix other = a;
    detail::cholesky_in_place(other);
    EXPECT_EQ(openblas_get_num_threads(), two);
    openblas_set_num_threads(before);
    EXPECT_EQ(one, other);
}

// Debian's serial OpenBLAS has no locks of its own: of three threads that call it at a time, some were wrong by a
// factor of a hundred.
TEST(Lapack, GivesTheSameBitsToSeveralThreadsAtATime) {
    for (const Index size : {14, 65}) {
        Random random(17, static_cast<std::uint64_t>(size));
        const Matrix root = test::random_matrix(size, size, random);
        const Matrix a = root * root.transpose() + Matrix::Identity(size, size);
        const auto solved = [&] {
            Matrix factor = a;
            detail::cholesky_in_place(factor);
            Matrix result = Matrix::Ones(size, 1);
            detail::cholesky_solve_in_place(factor, result);
            detail::invert_from_cholesky_in_place(factor);
            return Matrix(factor + result.replicate(1, size));
        };
        const Matrix expected = solved();
        std::vector<char> same(static_cast<std::size_t>(60000 / size), 0);
        detail::in_parallel(3, static_cast<Index>(same.size()),
                            [&](Index i) { same[static_cast<std::size_t>(i)] = solved() == expected ? 1 : 0; });
        EXPECT_EQ(std::count(same.begin(), same.end(), 0), 0) << size;
    }
}

// Two crossed factors: the last columns of the factor fill in nearly, but not quite.
TEST(SelectedInverse, EqualsTheDenseInverseWhereTheLastColumnsAreNearlyFull) {
    constexpr Index kMany = 400;
    constexpr Index kFew = 90;
    Random random(6);
    Matrix dense = Matrix::Zero(kMany + kFew, kMany + kFew);
    for (Index i = 0; i < kMany; ++i) {
        for (int meeting = 0; meeting < 4; ++meeting) {
            dense(kMany + static_cast<Index>(random.uniform() * kFew), i) = random.normal();
        }
    }
    const Vector row_sums = (dense + dense.transpose()).cwiseAbs().rowwise().sum();
    dense.diagonal() = row_sums.array() + 0.1;
    const SparseMatrix lower = dense.sparseView();
    detail::SparseCholesky factor(std::make_shared<const detail::SparsePlan>(lower));
    ASSERT_FALSE(factor.factorise(values(lower)).has_value());
    const std::unique_ptr<SelectedInverse> selected = factor.selected_inverse();
    const Matrix inverse = full(lower).llt().solve(Matrix::Identity(kMany + kFew, kMany + kFew));
    bool has_gap = false;  // a late column without some row
    for (Index j = 0; j < kMany + kFew; ++j) {
        for (Index i = 0; i < kMany + kFew; ++i) {
            try {
                EXPECT_NEAR((*selected)(i, j), inverse(i, j), 1e-12);
            } catch (const std::logic_error&) {
                has_gap = has_gap || (i >= kMany && j >= kMany);
                EXPECT_EQ(dense(std::max(i, j), std::min(i, j)), 0.0);
            }
        }
    }
    EXPECT_TRUE(has_gap);
}

TEST(SelectedInverse, EqualsTheDenseInverseOnThePattern) {
    for (const Shape& shape : kShapes) {
        const SparseMatrix lower = random_sparse(shape, 5);
        const std::unique_ptr<Cholesky> factor = factored(lower);
        const std::unique_ptr<SelectedInverse> selected = factor->selected_inverse();
        const Matrix inverse = full(lower).llt().solve(Matrix::Identity(shape.size, shape.size));
        for (Index column = 0; column < shape.size; ++column) {
            for (SparseMatrix::InnerIterator entry(lower, column); entry; ++entry) {
                const double expected = inverse(entry.row(), column);
                EXPECT_NEAR((*selected)(entry.row(), column), expected, 1e-12 * inverse.cwiseAbs().maxCoeff());
                EXPECT_EQ((*selected)(entry.row(), column), (*selected)(column, entry.row()));
            }
        }
    }
}

// A factor whose last columns are full, as those of crossed groups are: these are inverted densely.
TEST(SelectedInverse, EqualsTheDenseInverseWhereTheFactorFillsIn) {
    const Shape shape{300, 0.03};
    const SparseMatrix lower = random_sparse(shape, 6);
    const auto plan = std::make_shared<const detail::SparsePlan>(lower);
    const std::vector<std::int64_t>& starts = plan->column_starts();
    ASSERT_EQ(starts[300] - starts[200], 99 * 100 / 2);  // full
    ASSERT_LT(starts[100], 3000);                        // not full
    detail::SparseCholesky factor(plan);
    ASSERT_FALSE(factor.factorise(values(lower)).has_value());
    const std::unique_ptr<SelectedInverse> selected = factor.selected_inverse();
    const Matrix inverse = full(lower).llt().solve(Matrix::Identity(shape.size, shape.size));
    for (Index column = 0; column < shape.size; ++column) {
        for (SparseMatrix::InnerIterator entry(lower, column); entry; ++entry) {
            EXPECT_NEAR((*selected)(entry.row(), column), inverse(entry.row(), column),
                        1e-12 * inverse.cwiseAbs().maxCoeff());
        }
    }
}

TEST(Lanczos, FindsTheLargestEigenvalueOfADenseDecomposition) {
    for (const Index size : {1, 2, 5, 30, 400}) {
        Random random(16, static_cast<std::uint64_t>(size));
        const Matrix root = test::random_matrix(size, size, random);
        const Matrix a = root * root.transpose();
        int products = 0;
        const detail::Eigenpair found = detail::largest_eigenpair(size, [&](const Vector& x) {
            ++products;
            return Vector(a * x);
        });
        const double expected = Eigen::SelfAdjointEigenSolver<Matrix>(a).eigenvalues()[size - 1];
        EXPECT_NEAR(found.value, expected, 1e-3 * expected) << size;
        EXPECT_LT((a * found.vector - found.value * found.vector).norm(), 1e-2 * expected) << size;
        EXPECT_LE(products, 60) << size;
    }
}

}  // namespace
}  // namespace lrvb
