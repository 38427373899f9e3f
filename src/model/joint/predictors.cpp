#include "model/joint/predictors.hpp"

#include "linalg/lapack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace lrvb::detail {

namespace {

// Of ones on a diagonal: what keeps a matrix of rank less than its size apart from zero.
constexpr double kJitter = 1e-13;

std::size_t place(Index i) {
    return static_cast<std::size_t>(i);
}

}  // namespace

JointPredictors::JointPredictors(const std::vector<PredictorRows>& sets, Index coefficients,
                                 const CoefficientOf& coefficient_of, Index model_rows, const Vector& weights)
    : coefficients_(coefficients) {
    std::map<std::vector<std::pair<Index, double>>, Index> known;
    std::vector<bool> taken(place(model_rows), false);
    for (const PredictorRows& rows : sets) {
        const auto count = static_cast<Index>(rows.predictors.size());
        const auto refuse = [&](Index row, const std::string& reason) {
            throw std::invalid_argument(fmt::format("predictor rows, row {}: {}", row + 1, reason));
        };
        if (rows.y.size() != count || (rows.trials.size() > 0 && rows.trials.size() != count)) {
            throw std::invalid_argument(fmt::format(
                "predictor rows: {} responses and {} numbers of trials for {} predictors; give one for each row",
                rows.y.size(), rows.trials.size(), count));
        }
        if (rows.likelihood->parameter_count() > 0) {
            throw std::invalid_argument(
                fmt::format("predictor rows: the likelihood {} has parameters of its own; fit it by a formula",
                            rows.likelihood->name()));
        }
        if (!rows.likelihood->has_trials() && rows.trials.size() > 0) {
            throw std::invalid_argument("predictor rows: counts have no trials; give an offset in the predictor");
        }
        Index first_row = -1;
        if (rows.rows.is_named()) {
            first_row = rows.rows.first();
            if (rows.rows.count() != count || first_row + count > model_rows) {
                throw std::invalid_argument(fmt::format("predictor rows: {} predictors for the {} rows of '{}'", count,
                                                        rows.rows.count(), rows.rows.name()));
            }
        }
        Vector offset = Vector::Zero(count);
        std::vector<Index> design;
        for (Index n = 0; n < count; ++n) {
            std::map<Index, double> row;
            for (const Expression::Term& term : rows.predictors[place(n)].terms()) {
                const double value = term.coefficient.value();
                if (!term.coefficient.derivatives().empty()) {
                    refuse(n, "its predictor has a hyperparameter; put a number in its place");
                }
                if (!std::isfinite(value)) refuse(n, fmt::format("its predictor has the number {}", value));
                if (term.atoms.empty()) {
                    offset[n] += value;
                    continue;
                }
                const Index coefficient = term.atoms.size() == 1 ? coefficient_of(term.atoms.front()) : -1;
                if (coefficient < 0) {
                    refuse(n,
                           "its predictor is not linear in joined normal variables; join what is in it, and nothing "
                           "else may be");
                }
                row[coefficient] += value;
            }
            std::vector<std::pair<Index, double>> key;
            for (const auto& [coefficient, value] : row) {
                if (value != 0.0) key.emplace_back(coefficient, value);
            }
            const auto [found, is_new] = known.emplace(key, designs());
            if (is_new) {
                for (const auto& [coefficient, value] : key) entries_.push_back({coefficient, value});
                starts_.push_back(entries_.size());
            }
            design.push_back(found->second);
        }
        const Vector own =
            weights.size() > 0 && first_row >= 0 ? Vector(weights.segment(first_row, count)) : Vector::Ones(count);
        sets_.push_back({rows.likelihood->rows({rows.y, rows.trials, offset, own, {}}), std::move(design), first_row});
    }
    if (designs() > kMostPredictors) {
        throw std::invalid_argument(
            fmt::format("predictor rows: {} different predictors are more than the {} that can be fitted; a regression "
                        "by formula takes more",
                        designs(), kMostPredictors));
    }
}

JointPredictors JointPredictors::reweighted(const Vector& weights) const {
    JointPredictors result = *this;
    if (weights.size() == 0) return result;
    for (Set& set : result.sets_) {
        if (set.first_row < 0) continue;
        set.likelihood = set.likelihood->reweighted(weights.segment(set.first_row, set.likelihood->rows()));
    }
    return result;
}

Vector JointPredictors::times(const Vector& x) const {
    Vector result = Vector::Zero(designs());
    for (Index u = 0; u < designs(); ++u) {
        for (std::size_t e = starts_[place(u)]; e < starts_[place(u + 1)]; ++e) {
            result[u] += entries_[e].value * x[entries_[e].coefficient];
        }
    }
    return result;
}

Matrix JointPredictors::times_matrix(const Matrix& x) const {
    Matrix result(designs(), x.cols());
    for (Index c = 0; c < x.cols(); ++c) result.col(c) = times(x.col(c));
    return result;
}

double JointPredictors::row_times(Index design, const Eigen::RowVectorXd& x) const {
    double sum = 0.0;
    for (std::size_t e = starts_[place(design)]; e < starts_[place(design + 1)]; ++e) {
        sum += entries_[e].value * x[entries_[e].coefficient];
    }
    return sum;
}

Matrix JointPredictors::crossed(const Matrix& covariance) const {
    return times_matrix(times_matrix(covariance).transpose());
}

Matrix JointPredictors::whitened(const Matrix& factor) const {
    Matrix result = Matrix::Zero(coefficients_, designs());
    for (Index u = 0; u < designs(); ++u) {
        for (std::size_t e = starts_[place(u)]; e < starts_[place(u + 1)]; ++e) {
            result(entries_[e].coefficient, u) += entries_[e].value;
        }
    }
    factor.triangularView<Eigen::Lower>().solveInPlace(result);
    return result;
}

Matrix JointPredictors::bent(const PredictorResponse& response, const Vector& third) const {
    // f3 A, dense, row by row of A.
    Matrix design = Matrix::Zero(designs(), coefficients_);
    for (Index u = 0; u < designs(); ++u) {
        for (std::size_t e = starts_[place(u)]; e < starts_[place(u + 1)]; ++e) {
            design(u, entries_[e].coefficient) = third[u] * entries_[e].value;
        }
    }
    const Matrix root = response.root_times(design);
    return 0.5 * root.transpose() * root;
}

Vector JointPredictors::transposed(const Vector& values) const {
    Vector result = Vector::Zero(coefficients_);
    for (Index u = 0; u < designs(); ++u) {
        for (std::size_t e = starts_[place(u)]; e < starts_[place(u + 1)]; ++e) {
            result[entries_[e].coefficient] += entries_[e].value * values[u];
        }
    }
    return result;
}

Matrix JointPredictors::transposed_rows(const Matrix& values) const {
    Matrix result(coefficients_, values.cols());
    for (Index c = 0; c < values.cols(); ++c) result.col(c) = transposed(values.col(c));
    return result;
}

void JointPredictors::fold(const Vector& weights, Matrix& lower) const {
    for (Index u = 0; u < designs(); ++u) {
        for (std::size_t e = starts_[place(u)]; e < starts_[place(u + 1)]; ++e) {
            // Coefficients of a design ascend.
            for (std::size_t f = starts_[place(u)]; f <= e; ++f) {
                lower(entries_[e].coefficient, entries_[f].coefficient) +=
                    weights[u] * entries_[e].value * entries_[f].value;
            }
        }
    }
}

Vector JointPredictors::spread(const Set& set, const Vector& by_design) const {
    Vector result(static_cast<Index>(set.design.size()));
    for (Index n = 0; n < result.size(); ++n) result[n] = by_design[set.design[place(n)]];
    return result;
}

PredictorTerms JointPredictors::terms(const Vector& means, const Vector& variances) const {
    PredictorTerms result;
    result.sets.resize(sets_.size());
    for (Vector* sum : {&result.first, &result.second, &result.third, &result.fourth}) sum->setZero(designs());
    for (std::size_t s = 0; s < sets_.size(); ++s) {
        const Set& set = sets_[s];
        LikelihoodTerms& own = result.sets[s];
        const Vector spreads = variances.size() > 0 ? spread(set, variances) : Vector();
        set.likelihood->terms(spread(set, means), spreads, Vector(), 1, own);
        for (Index n = 0; n < own.value.size(); ++n) {
            const Index u = set.design[place(n)];
            result.value += own.value[n];
            result.magnitude += std::abs(own.value[n]);
            result.first[u] += own.first[n];
            result.second[u] += own.second[n];
            result.third[u] += own.third[n];
            result.fourth[u] += own.fourth[n];
        }
    }
    return result;
}

double JointPredictors::log_likelihood(const Vector& x, Vector* gradient) const {
    const PredictorTerms at = terms(times(x), Vector());
    if (gradient != nullptr) *gradient = transposed(at.first);
    return at.value;
}

Vector JointPredictors::guess(const Matrix& precision, const Vector& force) const {
    Vector weights = Vector::Zero(designs());
    Vector pulls = Vector::Zero(designs());
    for (const Set& set : sets_) {
        const auto rows = static_cast<Index>(set.design.size());
        Vector guesses(rows);
        for (Index n = 0; n < rows; ++n) guesses[n] = set.likelihood->guess(n);
        LikelihoodTerms at;
        set.likelihood->terms(guesses, Vector(), Vector(), 1, at);
        for (Index n = 0; n < rows; ++n) {
            const double weight = std::max(0.0, -at.second[n]);
            weights[set.design[place(n)]] += weight;
            pulls[set.design[place(n)]] += weight * guesses[n];
        }
    }
    Matrix factor = precision;
    fold(weights, factor);
    Matrix result = force + transposed(pulls);
    if (cholesky_in_place(factor)) return Vector::Zero(coefficients_);
    cholesky_solve_in_place(factor, result);
    return result;
}

std::pair<Index, Index> JointPredictors::rows_within(const Set& set, Index first, Index count) {
    const auto own = static_cast<Index>(set.design.size());
    if (set.first_row < 0) return {0, 0};
    const Index begin = std::clamp<Index>(first - set.first_row, 0, own);
    const Index end = std::clamp<Index>(first + count - set.first_row, 0, own);
    return {begin, end - begin};
}

std::vector<RowLikelihood::RowSlopes> JointPredictors::slopes(const Vector& means, const Vector& variances) const {
    std::vector<RowLikelihood::RowSlopes> result;
    for (const Set& set : sets_) {
        result.push_back(set.likelihood->by_weight(spread(set, means), spread(set, variances), Vector(), 1));
    }
    return result;
}

void JointPredictors::add_slopes(const std::vector<RowLikelihood::RowSlopes>& slopes, const Matrix& moved,
                                 const Matrix& spread, Index first, Matrix& answers) const {
    for (std::size_t s = 0; s < sets_.size(); ++s) {
        const Set& set = sets_[s];
        const auto [begin, count] = rows_within(set, first, answers.rows());
        for (Index n = begin; n < begin + count; ++n) {
            const Index u = set.design[place(n)];
            answers.row(set.first_row + n - first) +=
                slopes[s].by_mean[n] * moved.row(u) + slopes[s].by_variance[n] * spread.row(u);
        }
    }
}

void JointPredictors::add_likelihoods(const Matrix& predictors, Index first, Matrix& answers) const {
    for (const Set& set : sets_) {
        const auto [begin, count] = rows_within(set, first, answers.rows());
        if (count == 0) continue;
        Vector own(count);
        for (Index c = 0; c < predictors.cols(); ++c) {
            for (Index n = 0; n < count; ++n) own[n] = predictors(set.design[place(begin + n)], c);
            answers.col(c).segment(set.first_row + begin - first, count) +=
                set.likelihood->log_likelihoods(begin, own, Vector());
        }
    }
}

PredictorResponse::PredictorResponse(const Matrix& crossed, const PredictorTerms& terms) : bend_(0.5 * terms.fourth) {
    const Index size = crossed.rows();
    scales_ = crossed.diagonal();
    for (double& scale : scales_) {
        if (!(scale > 0.0)) scale = 1.0;
    }
    const Vector inverse = scales_.cwiseInverse();
    root_ = inverse.asDiagonal() * crossed.cwiseAbs2() * inverse.asDiagonal();
    root_.diagonal().array() += kJitter;
    if (cholesky_in_place(root_)) {  // beyond what numbers hold: as if nothing followed
        root_.setIdentity();
        used_ = Vector::Zero(size);
        factor_ = Matrix::Identity(size, size);
        return;
    }
    root_.triangularView<Eigen::StrictlyUpper>().setZero();
    const auto factorise = [&](const Vector& bend) {
        used_ = scales_.cwiseAbs2().cwiseProduct(bend);
        factor_ = Matrix::Identity(size, size);
        factor_.noalias() -= root_.transpose() * used_.asDiagonal() * root_;
        return !cholesky_in_place(factor_);
    };
    fine_ = factorise(bend_);
    if (!fine_) static_cast<void>(factorise(bend_.cwiseMin(0.0)));
}

// With C = V R Rᵀ V, V = diag(v): (I − DC)⁻¹ x = x + D V R (I − RᵀVDVR)⁻¹ RᵀV x.
Vector PredictorResponse::step(const Vector& values) const {
    Matrix inner = root_.transpose() * scales_.cwiseProduct(values);
    cholesky_solve_in_place(factor_, inner);
    const Vector back = root_ * inner;
    return values + used_.cwiseQuotient(scales_).cwiseProduct(back);
}

Matrix PredictorResponse::root_times(const Matrix& values) const {
    Matrix result = root_.transpose() * (scales_.asDiagonal() * values);
    factor_.triangularView<Eigen::Lower>().solveInPlace(result);
    return result;
}

Matrix PredictorResponse::respond(const Matrix& values) const {
    Matrix inner = root_.transpose() * (scales_.asDiagonal() * values);
    cholesky_solve_in_place(factor_, inner);
    return scales_.asDiagonal() * (root_ * inner);
}

}  // namespace lrvb::detail
