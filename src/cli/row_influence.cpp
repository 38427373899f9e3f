#include "cli/row_influence.hpp"

#include <Eigen/Cholesky>

#include <cmath>

namespace lrvb::cli {

namespace {

std::vector<std::string> one_for_each_parameter(const Posterior& posterior) {
    std::vector<std::string> names;
    for (const char* name : {"intercept", "beta", "pi", "mu", "log_tau", "Lambda"}) {
        for (const PosteriorVariable& variable : posterior.variables) {
            if (variable.name.substr(0, variable.name.find('[')) != name) continue;
            names.emplace_back(name);
            break;
        }
    }
    return names;
}

Vector sds_of(const Posterior& posterior, const std::vector<Index>& variables) {
    const std::vector<Posterior::Row> rows = posterior.summary(variables, 0.9);
    Vector sds(static_cast<Index>(rows.size()));
    for (std::size_t v = 0; v < rows.size(); ++v) sds[static_cast<Index>(v)] = rows[v].sd;
    return sds;
}

std::vector<Index> free_ones(const Posterior& posterior, const std::vector<std::string>& names) {
    std::vector<Index> free;
    for (const Index at : posterior.select(names.empty() ? one_for_each_parameter(posterior) : names)) {
        if (sds_of(posterior, {at})[0] > 0.0) free.push_back(at);
    }
    return free;
}

// R with |Rᵀδ|² = δᵀ C⁻¹ δ for every δ that C allows; directions without variance (weights add up to one) have no
// distance. By C = Pᵀ L D Lᵀ P with pivots: those that are nothing but rounding come last, and change nothing before.
Matrix root_of_inverse(const Matrix& covariance) {
    constexpr double kNothing = 1e-10;  // of a correlation matrix
    const Vector inverse = covariance.diagonal().cwiseSqrt().cwiseInverse();
    const Eigen::LDLT<Matrix> ldlt(inverse.asDiagonal() * covariance * inverse.asDiagonal());
    const Vector pivots = ldlt.vectorD();
    Matrix root = Matrix::Zero(inverse.size(), inverse.size());
    for (Index i = 0; i < inverse.size(); ++i) {
        if (pivots[i] > kNothing) root(i, i) = 1.0 / std::sqrt(pivots[i]);
    }
    ldlt.matrixU().solveInPlace(root);
    return inverse.asDiagonal() * Matrix(ldlt.transpositionsP().transpose() * root);
}

}  // namespace

RowInfluence::RowInfluence(const Restored& restored, const std::vector<std::string>& names)
    : variables_(free_ones(restored.file().posterior, names)),
      functionals_(restored.functionals(variables_)),
      sds_(sds_of(restored.file().posterior, variables_)) {
    if (variables_.empty()) return;
    const SparseMatrix centring = restored.centring(variables_);
    const SparseMatrix weights = functionals_.resolve(restored.model().layout()).weights;
    const Functionals centred(SparseMatrix(weights * SparseMatrix(centring.transpose())));
    root_ = centring.transpose() * root_of_inverse(restored.response().covariance(centred));
}

Matrix RowInfluence::changes(const RowAnswers& case_weights) {
    return -(case_weights.weights.asDiagonal() * case_weights.answers);
}

Matrix RowInfluence::shifts(const Matrix& changes) const {
    return changes * sds_.cwiseInverse().asDiagonal();
}

Vector RowInfluence::distances(const Matrix& changes) const {
    if (variables_.empty()) return Vector::Zero(changes.rows());
    return (changes * root_).rowwise().norm();
}

}  // namespace lrvb::cli
