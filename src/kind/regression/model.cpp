#include "base/messages.hpp"
#include "base/parallel.hpp"
#include "base/validate.hpp"
#include "model/rows_at_once.hpp"

#include <lrvb/kind/regression/model.hpp>
#include <lrvb/model/builder.hpp>

#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <unordered_map>

namespace lrvb {
namespace {

using detail::shown;

constexpr double rounding = std::numeric_limits<double>::epsilon();

[[noreturn]] void refuse(const RegressionDesign& design, const std::string& sentence) {
    throw std::runtime_error(fmt::format("{}: {}", design.source.empty() ? "regression" : design.source, sentence));
}

/// x' = (x − centre)/scale, and how far the numbers of the column may be from what they stand for, in its own scale.
struct Standardisation {
    double centre = 0.0;
    double scale = 0.0;
    double rounded_by = 0.0;
};

/// Scale 0: there is no spread. The shares of the rows add up to one; none: they are alike.
Standardisation standardisation_of(const VectorView& values, const Eigen::ArrayXd& shares, bool centred) {
    const auto mean_of = [&](const auto& array) { return shares.size() > 0 ? (shares * array).sum() : array.mean(); };
    Standardisation result;
    if (centred) {
        result.centre = mean_of(values.array());
        result.centre += mean_of(values.array() - result.centre);  // what rounding of the sum has lost
    }
    const double largest = values.cwiseAbs().maxCoeff();
    const double farthest = (values.array() - result.centre).abs().maxCoeff();
    if (farthest <= 4.0 * rounding * largest && centred) return result;
    if (farthest == 0.0) return result;
    result.scale = farthest * std::sqrt(mean_of(((values.array() - result.centre) / farthest).square()));
    result.rounded_by = rounding * largest / result.scale;
    return result;
}

struct Standardised {
    std::vector<Standardisation> columns;
    Standardisation response;
};

void require_design(const RegressionDesign& design) {
    detail::require_size("regression", "y", design.y.size(), design.columns.rows());
    detail::require_size("regression", "names", static_cast<Index>(design.names.size()), design.columns.cols());
    if (!design.intercept && design.columns.cols() == 0) {
        throw std::invalid_argument("regression: there is neither a column nor an intercept: give at least one");
    }
    if (design.weights.size() == 0) return;
    detail::require_size("regression", "weights", design.weights.size(), design.y.size());
    for (Index n = 0; n < design.weights.size(); ++n) {
        if (design.weights[n] >= 0.0 && std::isfinite(design.weights[n])) continue;
        refuse(design, fmt::format("the weight of row {} is {}, but must be zero or more", n + 1, design.weights[n]));
    }
}

/// The rows that count.
class Counted {
  public:
    explicit Counted(const RegressionDesign& design) : design_(&design) {
        require_design(design);
        if (design.weights.size() > 0 && design.weights.minCoeff() == 0.0) leave_out(design);
        const Index rows = design_->y.size();
        const std::string with_weight = design.weights.size() > 0 ? " with a weight above zero" : "";
        if (rows < 2) {
            refuse(design, fmt::format("there {}{}, but a regression needs two rows at least",
                                       rows == 1 ? "is one row" : "are no rows", with_weight));
        }
        const double total = design_->total_weight();
        if (!std::isfinite(total)) refuse(design, "the weights add up to more than a number can hold: scale them down");
        if (total < 2.0) {
            refuse(design, fmt::format("the weights add up to {:.6g}, but a regression needs two rows at least: a "
                                       "weight says how often a row counts; scale them so that they add up to the "
                                       "number of rows",
                                       total));
        }
    }

    const RegressionDesign& rows() const { return *design_; }

  private:
    void leave_out(const RegressionDesign& design) {
        std::vector<Index> kept;
        for (Index n = 0; n < design.y.size(); ++n) {
            if (design.weights[n] > 0.0) kept.push_back(n);
        }
        fewer_ = RegressionDesign{.source = design.source,
                                  .response = design.response,
                                  .terms = design.terms,
                                  .intercept = design.intercept,
                                  .names = design.names,
                                  .columns = design.columns(kept, Eigen::all),
                                  .y = design.y(kept),
                                  .weights = design.weights(kept)};
        design_ = &fewer_;
    }

    const RegressionDesign* design_;
    RegressionDesign fewer_;
};

Standardisation standardise_column(const RegressionDesign& design, const VectorView& values,
                                   const Eigen::ArrayXd& shares, bool centred, const std::string& what) {
    if (!values.allFinite()) refuse(design, fmt::format("{} has a value that is not a finite number", what));
    const Standardisation result = standardisation_of(values, shares, centred);
    // Squares of scales and of their ratios must be ordinary numbers; NaN where sums have overflowed.
    if (!(result.scale == 0.0 || (result.scale > 1e-75 && result.scale < 1e75))) {
        refuse(design,
               fmt::format("{} has an sd of {:.3g}, too far from 1 for squares: change its unit", what, result.scale));
    }
    return result;
}

[[noreturn]] void refuse_constant(const RegressionDesign& design, const std::vector<Index>& columns) {
    const auto name = [&](Index j) { return shown(design.names[static_cast<std::size_t>(j)]); };
    if (columns.size() == 1) {
        const Index j = columns.front();
        refuse(design, design.intercept
                           ? fmt::format("column {} is {} in every row, which the intercept already stands for: leave "
                                         "the column out, or the intercept",
                                         name(j), design.columns(0, j))
                           : fmt::format("column {} is 0 in every row: leave it out", name(j)));
    }
    std::vector<std::string> parts;
    parts.reserve(columns.size());
    for (const Index j : columns) {
        parts.push_back(design.intercept ? fmt::format("{} ({})", name(j), design.columns(0, j)) : name(j));
    }
    refuse(design, fmt::format("columns {} {}: leave them out", detail::enumerated(parts),
                               design.intercept ? "have one value in every row, which the intercept already stands for"
                                                : "are 0 in every row"));
}

Standardised standardise(const RegressionDesign& design) {
    Standardised result;
    Eigen::ArrayXd shares;
    if (design.weights.size() > 0) shares = design.weights.array() / design.weights.sum();
    const std::string response = fmt::format("the response {}", shown(design.response));
    if (design.y.minCoeff() == design.y.maxCoeff()) {
        refuse(design, fmt::format("{} is {} in every row, so there is nothing to explain: take another response",
                                   response, design.y[0]));
    }
    result.response = standardise_column(design, design.y, shares, design.intercept, response);
    if (result.response.scale == 0.0) {
        refuse(design, fmt::format("{} is the same in every row but for rounding: take another response", response));
    }
    std::vector<Index> constant;
    for (Index j = 0; j < design.columns.cols(); ++j) {
        const std::string column = fmt::format("column {}", shown(design.names[static_cast<std::size_t>(j)]));
        result.columns.push_back(standardise_column(design, design.columns.col(j), shares, design.intercept, column));
        if (!(result.columns.back().scale > 0.0)) constant.push_back(j);
    }
    if (!constant.empty()) refuse_constant(design, constant);
    return result;
}

/// The triangle R of a QR decomposition of [1 X' y'], standardised, its rows times the roots of their weights, found
/// block by block: the triangle so far stands on top of each block.
Matrix triangle_of(const RegressionDesign& design, const Standardised& units) {
    const Index first = design.intercept ? 1 : 0;
    const Index size = first + design.columns.cols() + 1;
    const Index capacity = std::max<Index>(1024, 2 * size);
    Matrix triangle = Matrix::Zero(size, size);
    Matrix stacked(size + capacity, size);
    for (Index begin = 0; begin < design.y.size(); begin += capacity) {
        const Index count = std::min(capacity, design.y.size() - begin);
        stacked.resize(size + count, size);
        stacked.topRows(size) = triangle;
        if (design.intercept) stacked.col(0).tail(count).setOnes();
        for (Index j = 0; j < design.columns.cols(); ++j) {
            const Standardisation& unit = units.columns[static_cast<std::size_t>(j)];
            stacked.col(first + j).tail(count) =
                (design.columns.col(j).segment(begin, count).array() - unit.centre) / unit.scale;
        }
        stacked.col(size - 1).tail(count) =
            (design.y.segment(begin, count).array() - units.response.centre) / units.response.scale;
        if (design.weights.size() > 0) {
            stacked.bottomRows(count).array().colwise() *= design.weights.segment(begin, count).array().sqrt();
        }
        const Eigen::HouseholderQR<Eigen::Ref<Matrix>> decomposition(stacked);
        triangle = stacked.topRows(size).triangularView<Eigen::Upper>();
    }
    return triangle;
}

std::string listed(const std::vector<std::string>& names) {
    std::vector<std::string> quoted;
    quoted.reserve(names.size());
    for (const std::string& name : names) quoted.push_back(shown(name));
    return detail::enumerated(quoted);
}

[[noreturn]] void refuse_collinear(const RegressionDesign& design, const Matrix& triangle, Index column) {
    const Index first = design.intercept ? 1 : 0;
    // The weights of the columns before it, all of them independent.
    const Vector weights =
        triangle.topLeftCorner(column, column).triangularView<Eigen::Upper>().solve(triangle.col(column).head(column));
    std::vector<std::string> others;
    for (Index j = first; j < column; ++j) {
        const bool takes_part = std::abs(weights[j]) > 1e-6 * weights.cwiseAbs().maxCoeff();
        if (takes_part) others.push_back(design.names[static_cast<std::size_t>(j - first)]);
    }
    std::string remedy = "leave one of them out";
    if (triangle.cols() - 1 > design.y.size()) {
        remedy = fmt::format("there are more coefficients ({}) than rows ({}): leave columns out, or give more rows",
                             triangle.cols() - 1, design.y.size());
    }
    refuse(design, fmt::format("column {} is collinear: it is a linear combination of {} {}{}: {}",
                               shown(design.names[static_cast<std::size_t>(column - first)]),
                               others.size() == 1 ? "column" : "columns", listed(others),
                               design.intercept ? ", up to a constant" : "", remedy));
}

void require_independent(const RegressionDesign& design, const Standardised& units, const Matrix& triangle) {
    double rounded_by = 0.0;
    for (const Standardisation& unit : units.columns) rounded_by = std::max(rounded_by, unit.rounded_by);
    const double tolerance = std::clamp(16.0 * rounded_by, 1e-10, 1e-3);
    for (Index j = 0; j + 1 < triangle.cols(); ++j) {
        const double left = std::abs(triangle(j, j));
        if (!(left > tolerance * triangle.col(j).norm())) refuse_collinear(design, triangle, j);
    }
}

/// How much of the response's variance the prior's rate is taken from: all of it, unless least squares leaves less than
/// a 25th. Never less than 64 times what rounding leaves, so that the posterior sds of a perfect fit are numbers yet.
double noise_share(const RegressionDesign& design, const Standardised& units, const Matrix& triangle) {
    const Index coefficients = triangle.cols() - 1;
    const double left = design.total_weight() - static_cast<double>(coefficients);
    if (!(left > 0.0)) return 1.0;
    const double residual = triangle(coefficients, coefficients);
    double rounded_by = std::max(rounding, units.response.rounded_by);
    for (const Standardisation& unit : units.columns) rounded_by = std::max(rounded_by, unit.rounded_by);
    const double variance = std::max(residual * residual / left, 4096.0 * rounded_by * rounded_by);
    return std::min(1.0, 25.0 * variance);
}

RegressionPrior automatic_prior(const RegressionDesign& design, const Standardised& units, const Matrix& triangle) {
    const double square = units.response.scale * units.response.scale;
    const Index columns = static_cast<Index>(units.columns.size());
    RegressionPrior prior;
    prior.intercept_mean = units.response.centre;
    prior.intercept_variance = 100.0 * square;
    prior.mean = Vector::Zero(columns);
    prior.variance.resize(columns);
    for (Index j = 0; j < columns; ++j) {
        const double ratio = units.response.scale / units.columns[static_cast<std::size_t>(j)].scale;
        prior.variance[j] = 100.0 * ratio * ratio;
    }
    prior.shape = 2.0001;
    prior.rate = 0.1 * square * noise_share(design, units, triangle);
    return prior;
}

void require_prior(const RegressionPrior& prior, const RegressionDesign& design) {
    constexpr std::string_view who = "regression prior";
    detail::require_size(who, "mean", prior.mean.size(), design.columns.cols());
    detail::require_size(who, "variance", prior.variance.size(), design.columns.cols());
    for (Index j = 0; j < prior.mean.size(); ++j) {
        const std::string& name = design.names[static_cast<std::size_t>(j)];
        detail::require_finite(who, fmt::format("mean[{}]", name), prior.mean[j]);
        detail::require_positive(who, fmt::format("variance[{}]", name), prior.variance[j]);
    }
    if (design.intercept) {
        detail::require_finite(who, "intercept_mean", prior.intercept_mean);
        detail::require_positive(who, "intercept_variance", prior.intercept_variance);
    }
    detail::require_positive(who, "shape", prior.shape);
    detail::require_positive(who, "rate", prior.rate);
    if (!prior.centre) return;
    detail::require_size(who, "centre", prior.centre->size(), design.columns.cols());
    detail::require_finite(who, "centre", *prior.centre);
}

Standardised with_centre(Standardised units, const std::optional<RegressionPrior>& prior, bool intercept) {
    if (!prior || !prior->centre || !intercept) return units;
    for (std::size_t j = 0; j < units.columns.size(); ++j) {
        units.columns[j].centre = (*prior->centre)[static_cast<Index>(j)];
    }
    return units;
}

/// A coefficient's prior in the inner units, θ' = (θ − centre)/unit.
struct InnerNormal {
    std::string mean_name;
    std::string variance_name;
    double mean = 0.0;
    double variance = 0.0;
    double unit = 0.0;
    double inner_mean = 0.0;

    double inner_precision() const { return unit * unit / variance; }
};

std::vector<InnerNormal> inner_priors(const RegressionPrior& prior, const RegressionDesign& design,
                                      const Standardised& units) {
    std::vector<InnerNormal> priors;
    if (design.intercept) {
        priors.push_back({"intercept_mean", "intercept_variance", prior.intercept_mean, prior.intercept_variance,
                          units.response.scale, (prior.intercept_mean - units.response.centre) / units.response.scale});
    }
    for (Index j = 0; j < prior.mean.size(); ++j) {
        const std::string& name = design.names[static_cast<std::size_t>(j)];
        const double unit = units.response.scale / units.columns[static_cast<std::size_t>(j)].scale;
        priors.push_back({fmt::format("mean[{}]", name), fmt::format("variance[{}]", name), prior.mean[j],
                          prior.variance[j], unit, prior.mean[j] / unit});
    }
    return priors;
}

/// The mean of the coefficients for a plausible precision τ: minimises τ‖q − R b‖² + Σ_j p_j (b_j − m_j)². It only has
/// to be near the optimum.
Vector shrunk_estimate(const Matrix& triangle, const std::vector<InnerNormal>& priors, double rows, double shape,
                       double inner_rate) {
    const Index count = triangle.cols() - 1;
    const double residual = triangle(count, count) * triangle(count, count);
    const double precision = (shape + 0.5 * rows) / (inner_rate + 0.5 * residual);
    Matrix stacked = Matrix::Zero(2 * count, count);
    Vector right(2 * count);
    stacked.topRows(count) = std::sqrt(precision) * triangle.topLeftCorner(count, count);
    right.head(count) = std::sqrt(precision) * triangle.col(count).head(count);
    for (Index j = 0; j < count; ++j) {
        const InnerNormal& prior = priors[static_cast<std::size_t>(j)];
        stacked(count + j, j) = std::sqrt(prior.inner_precision());
        right[count + j] = stacked(count + j, j) * prior.inner_mean;
    }
    return stacked.householderQr().solve(right);
}

/// A number that moves with a hyperparameter, as an expression.
Expression moving(const Hyperparameter& hyperparameter, double value, double derivative) {
    return {{{Constant(value, {{hyperparameter.index(), derivative}}), {}}}, hyperparameter.model()};
}

MultilinearModel build(const RegressionDesign& design, const RegressionPrior& prior, const Standardised& units,
                       const std::vector<InnerNormal>& priors, const Matrix& triangle, const Vector& origin) {
    ModelBuilder builder;
    std::vector<Variable<family::Normal>> coefficients;
    for (std::size_t i = 0; i < priors.size(); ++i) {
        const InnerNormal& own = priors[i];
        const Index j = static_cast<Index>(i);
        const Hyperparameter mean = builder.hyperparameter(own.mean_name, own.mean);
        const Hyperparameter variance = builder.hyperparameter(own.variance_name, own.variance);
        const bool is_intercept = design.intercept && j == 0;
        const std::string name =
            is_intercept ? "intercept"
                         : fmt::format("beta[{}]", design.names[i - static_cast<std::size_t>(design.intercept)]);
        coefficients.push_back(
            builder.add(name, normal(moving(mean, own.inner_mean - origin[j], 1.0 / own.unit),
                                     moving(variance, own.inner_precision(), -own.inner_precision() / own.variance))));
    }
    const double square = units.response.scale * units.response.scale;
    const Hyperparameter shape = builder.hyperparameter("shape", prior.shape);
    const Hyperparameter rate = builder.hyperparameter("rate", prior.rate);
    const auto tau = builder.add("tau", gamma(shape, moving(rate, prior.rate / square, 1.0 / square)));

    // The rows of the triangle have the likelihood of all rows, but for the number of these, which the normalising
    // constants count, and for the unit of the response.
    const Index count = origin.size();
    Vector y = triangle.col(count);
    y.head(count) -= triangle.topLeftCorner(count, count).triangularView<Eigen::Upper>() * origin;
    const Matrix folded = triangle.leftCols(count);
    builder.observe_linear(y, folded, coefficients, tau);
    const double rows = design.total_weight();
    const double other_rows = rows - static_cast<double>(y.size());
    builder.add_term(0.5 * other_rows * (log(tau) - std::log(2.0 * std::numbers::pi)) -
                     rows * std::log(units.response.scale));
    return builder.build();
}

}  // namespace

struct RegressionModel::Folded {
    Standardised units;
    Matrix triangle;
    RegressionPrior prior;
    std::vector<InnerNormal> inner_priors;
    Vector origin;

    /// Of a design all of whose rows have weight.
    Folded(const RegressionDesign& design, const std::optional<RegressionPrior>& given)
        : units(checked(design, given)), triangle(triangle_of(design, units)) {
        require_independent(design, units, triangle);
        prior = given ? *given : automatic_prior(design, units, triangle);
        inner_priors = lrvb::inner_priors(prior, design, units);
        const double square = units.response.scale * units.response.scale;
        origin = shrunk_estimate(triangle, inner_priors, design.total_weight(), prior.shape, prior.rate / square);
    }

    static Standardised checked(const RegressionDesign& design, const std::optional<RegressionPrior>& given) {
        const Standardised units = standardise(design);
        if (given) require_prior(*given, design);
        return with_centre(units, given, design.intercept);
    }
};

RegressionPrior RegressionPrior::automatic(const RegressionDesign& design) {
    const Counted counted(design);
    const RegressionDesign& rows = counted.rows();
    const Standardised units = standardise(rows);
    return automatic_prior(rows, units, triangle_of(rows, units));
}

RegressionPrior RegressionPrior::paper(Index columns) {
    RegressionPrior prior;
    prior.intercept_variance = 100.0;
    prior.mean = Vector::Zero(columns);
    prior.variance = Vector::Constant(columns, 100.0);
    prior.shape = 2.0001;
    prior.rate = 0.1;
    return prior;
}

RegressionModel::RegressionModel(const RegressionDesign& design, const std::optional<RegressionPrior>& prior)
    : RegressionModel(design, Folded(Counted(design).rows(), prior)) {}

RegressionModel::RegressionModel(std::shared_ptr<const RegressionDesign> design,
                                 const std::optional<RegressionPrior>& prior)
    : RegressionModel(*design, prior) {
    design_ = std::move(design);
}

RegressionModel::RegressionModel(const RegressionDesign& design, const Folded& folded)
    : intercept_(design.intercept),
      rows_(design.y.size()),
      names_(design.names),
      centre_(design.columns.cols()),
      scale_(design.columns.cols()),
      response_centre_(folded.units.response.centre),
      response_scale_(folded.units.response.scale),
      prior_(folded.prior),
      origin_(folded.origin),
      inner_(build(design, prior_, folded.units, folded.inner_priors, folded.triangle, origin_)) {
    for (Index j = 0; j < centre_.size(); ++j) {
        centre_[j] = folded.units.columns[static_cast<std::size_t>(j)].centre;
        scale_[j] = folded.units.columns[static_cast<std::size_t>(j)].scale;
    }
    prior_.centre = centre_;
}

std::vector<std::string> RegressionModel::inputs() const {
    return {design_ ? design_->response : "y"};
}

// With e the residual at the origin's coefficients, and b, s the means of the coefficients counted from there and of
// their squares, a row of the inner model has
//
//     ℓ = ½ E log τ − ½ E τ [(e − Σ x_j b_j)² + Σ x_j² (s_j − b_j²)],
//
// whose gradient in (b, s, τ, log τ) is linear in e, and so in the response, and counts as often as its row does.
void RegressionModel::ask_rows(const State& state, const Matrix& directions, RowChange change,
                               const RowVisitor& visit) const {
    detail::require_size("ask_rows", "rows of the directions", directions.rows(), layout().size());
    require_rows();
    const Index count = origin_.size();
    const Index tau = layout()[layout().variable("tau")].offset;
    Vector b(count);
    Vector s(count);
    for (Index j = 0; j < count; ++j) {
        b[j] = state.mean[layout()[j].offset];
        s[j] = state.mean[layout()[j].offset + 1];
    }
    const double precision = state.mean[tau];
    constexpr Index kChunk = 4096;
    RowAnswers answers;
    for (; answers.first < rows_; answers.first += kChunk) {
        const Index size = std::min(kChunk, rows_ - answers.first);
        answers.inputs = design_->y.segment(answers.first, size);
        answers.weights = weights_of(answers.first, size);
        Matrix gradients = Matrix::Zero(layout().size(), size);
        for (Index n = 0; n < size; ++n) {
            const Vector x = inner_row(answers.first + n);
            const double residual = inner_residual(answers.first + n, x) - x.dot(b);
            for (Index j = 0; j < count; ++j) {
                const Index at = layout()[j].offset;
                if (change == RowChange::value) {
                    gradients(at, n) = answers.weights[n] * precision * x[j] / response_scale_;
                } else {
                    gradients(at, n) = precision * (x[j] * residual + x[j] * x[j] * b[j]);
                    gradients(at + 1, n) = -0.5 * precision * x[j] * x[j];
                }
            }
            if (change == RowChange::value) {
                gradients(tau, n) = -answers.weights[n] * residual / response_scale_;
            } else {
                const double spread = (x.array().square() * (s.array() - b.array().square())).sum();
                gradients(tau, n) = -0.5 * (residual * residual + spread);
                gradients(tau + 1, n) = 0.5;
            }
        }
        answers.answers = gradients.transpose() * directions;
        visit(answers);
    }
}

void RegressionModel::require_rows() const {
    if (!design_) throw std::invalid_argument("this regression did not keep its rows: make it from a shared design");
}

Vector RegressionModel::weights_of(Index first, Index count) const {
    if (design_->weights.size() == 0) return Vector::Ones(count);
    return design_->weights.segment(first, count);
}

Vector RegressionModel::inner_row(Index n) const {
    Vector x = Vector::Ones(origin_.size());
    x.tail(centre_.size()) = (design_->columns.row(n).transpose() - centre_).cwiseQuotient(scale_);
    return x;
}

double RegressionModel::inner_residual(Index n, const Vector& x) const {
    return (design_->y[n] - response_centre_) / response_scale_ - x.dot(origin_);
}

void RegressionModel::row_log_likelihoods(const Matrix& statistics, int, const RowVisitor& visit) const {
    detail::require_size("row_log_likelihoods", "a column of statistics", statistics.rows(), layout().size());
    require_rows();
    const Index count = origin_.size();
    const Index tau = layout()[layout().variable("tau")].offset;
    Matrix coefficients(count, statistics.cols());
    for (Index j = 0; j < count; ++j) coefficients.row(j) = statistics.row(layout()[j].offset);
    const Eigen::ArrayXd precisions = statistics.row(tau).transpose();
    const Eigen::ArrayXd constants = 0.5 * statistics.row(tau + 1).transpose().array() -
                                     0.5 * std::log(2.0 * std::numbers::pi) - std::log(response_scale_);
    RowAnswers answers;
    const Index most = detail::rows_at_once(statistics.cols());
    for (; answers.first < rows_; answers.first += most) {
        const Index size = std::min(most, rows_ - answers.first);
        answers.inputs = design_->y.segment(answers.first, size);
        answers.weights = weights_of(answers.first, size);
        Matrix x(size, count);
        Vector residuals(size);
        for (Index n = 0; n < size; ++n) {
            const Vector row = inner_row(answers.first + n);
            residuals[n] = inner_residual(answers.first + n, row);
            x.row(n) = row;
        }
        answers.answers = x * coefficients;
        for (Index s = 0; s < statistics.cols(); ++s) {
            answers.answers.col(s) =
                (constants[s] - 0.5 * precisions[s] * (residuals - answers.answers.col(s)).array().square()).matrix();
        }
        visit(answers);
    }
}

std::vector<Index> RegressionModel::repeated_rows() const {
    std::vector<Index> rows;
    rows.reserve(static_cast<std::size_t>(rows_));
    for (Index n = 0; n < rows_; ++n) {
        const double times = design_->weight(n);
        if (times != std::floor(times)) throw FractionalWeight(n, times);
        rows.insert(rows.end(), static_cast<std::size_t>(times), n);
    }
    return rows;
}

void RegressionModel::replicate_rows(const Matrix& statistics, std::uint64_t seed, int threads,
                                     const ReplicateVisitor& visit) const {
    detail::require_size("replicate_rows", "a column of statistics", statistics.rows(), layout().size());
    require_rows();
    const Index count = origin_.size();
    const Index tau = layout()[layout().variable("tau")].offset;
    Matrix coefficients(count, statistics.cols());
    for (Index j = 0; j < count; ++j) coefficients.row(j) = statistics.row(layout()[j].offset);
    const Vector noise = response_scale_ * statistics.row(tau).transpose().cwiseSqrt().cwiseInverse();
    const std::vector<Index> all = repeated_rows();
    const auto total = static_cast<Index>(all.size());
    RowReplicates rows;
    const Index most = detail::rows_at_once(statistics.cols());
    for (; rows.first < total; rows.first += most) {
        const Index size = std::min(most, total - rows.first);
        rows.observed.resize(size, 1);
        Matrix x(size, count);
        Vector residuals(size);
        for (Index n = 0; n < size; ++n) {
            const Index at = all[static_cast<std::size_t>(rows.first + n)];
            const Vector row = inner_row(at);
            residuals[n] = inner_residual(at, row);
            x.row(n) = row;
            rows.observed(n, 0) = design_->y[at];
        }
        // Counted from the observed response, as residuals are.
        rows.expected = response_scale_ * ((x * coefficients).colwise() - residuals);
        rows.expected.colwise() += rows.observed.col(0);
        rows.replicated = rows.expected;
        detail::in_parallel(threads, size, [&](Index n) {
            Random random(seed, static_cast<std::uint64_t>(rows.first + n));
            for (Index s = 0; s < statistics.cols(); ++s) rows.replicated(n, s) += noise[s] * random.normal();
        });
        visit(rows);
    }
}

/// weightsᵀ T + constant, in the data's units, for one functional after the other.
class RegressionModel::Door {
  public:
    Door(const RegressionModel& model, Index count)
        : model_(model), result_{SparseMatrix(model.layout().size(), count), Vector::Zero(count)} {}

    /// times × α.
    void add_centre_intercept(Index functional, double times) {
        const double unit = times * model_.response_scale_;
        result_.constants[functional] += times * model_.response_centre_ + unit * model_.origin_[0];
        add(functional, 0, 0, unit);
    }
    /// times × β_j.
    void add_slope(Index functional, Index j, double times) {
        const Index variable = model_.slope(j);
        const double unit = times * model_.response_scale_ / model_.scale_[j];
        result_.constants[functional] += unit * model_.origin_[variable];
        add(functional, variable, 0, unit);
    }
    void add_intercept(Index functional) {
        add_centre_intercept(functional, 1.0);
        for (Index j = 0; j < model_.scale_.size(); ++j) add_slope(functional, j, -model_.centre_[j]);
    }
    void add_precision(Index functional) {
        add(functional, precision(), 0, 1.0 / (model_.response_scale_ * model_.response_scale_));
    }
    void add_log_precision(Index functional) {
        result_.constants[functional] -= 2.0 * std::log(model_.response_scale_);
        add(functional, precision(), 1, 1.0);
    }

    Functionals functionals() {
        result_.weights.setFromTriplets(triplets_.begin(), triplets_.end());
        return {result_.weights, result_.constants};
    }

  private:
    Index precision() const { return model_.origin_.size(); }

    void add(Index functional, Index variable, Index statistic, double weight) {
        triplets_.emplace_back(model_.layout()[variable].offset + statistic, functional, weight);
    }

    const RegressionModel& model_;
    Functionals::Resolved result_;
    std::vector<Eigen::Triplet<double, Index>> triplets_;
};

Functionals RegressionModel::in_data_units(const std::vector<std::string>& names) const {
    std::unordered_map<std::string, Index> slopes;
    for (std::size_t j = 0; j < names_.size(); ++j) {
        slopes.emplace(fmt::format("beta[{}]", names_[j]), static_cast<Index>(j));
    }
    Door door(*this, static_cast<Index>(names.size()));
    for (std::size_t i = 0; i < names.size(); ++i) {
        const Index functional = static_cast<Index>(i);
        const auto known = slopes.find(names[i]);
        if (known != slopes.end()) {
            door.add_slope(functional, known->second, 1.0);
        } else if (names[i] == "intercept" && intercept_) {
            door.add_intercept(functional);
        } else if (names[i] == "tau") {
            door.add_precision(functional);
        } else if (names[i] == "log_tau") {
            door.add_log_precision(functional);
        } else {
            throw std::invalid_argument(
                fmt::format("the regression has no variable {}: ask for {}'beta[column]', 'tau' or 'log_tau', with the "
                            "columns {}",
                            shown(names[i]), intercept_ ? "'intercept', " : "", listed(names_)));
        }
    }
    return door.functionals();
}

Functionals RegressionModel::coefficients() const {
    Door door(*this, origin_.size());
    if (intercept_) door.add_centre_intercept(0, 1.0);
    for (Index j = 0; j < scale_.size(); ++j) door.add_slope(slope(j), j, 1.0);
    return door.functionals();
}

double RegressionModel::noise_variance(const State& state) const {
    detail::require_size("noise_variance", "state", state.natural.size(), layout().size());
    const Vector natural = layout().segment(state.natural, origin_.size());
    const Vector standard = family::Gamma{}.standard(natural);  // shape, which two rows make more than one, and rate
    return standard[1] / (standard[0] - 1.0) * response_scale_ * response_scale_;
}

RegressionPrediction predict(const RegressionPosterior& posterior, const Matrix& columns) {
    const Index first = posterior.intercept ? 1 : 0;
    const Index count = posterior.centre.size();
    detail::require_size("predict", "a row", columns.cols(), count);
    detail::require_size("predict", "mean", posterior.mean.size(), first + count);
    detail::require_size("predict", "covariance", posterior.covariance.rows(), first + count);
    detail::require_size("predict", "covariance", posterior.covariance.cols(), first + count);
    if (!columns.allFinite()) throw std::invalid_argument("predict: a row has a value that is not finite");

    RegressionPrediction prediction;
    prediction.mean.resize(columns.rows());
    prediction.mean_sd.resize(columns.rows());
    Vector weights = Vector::Ones(first + count);
    for (Index n = 0; n < columns.rows(); ++n) {
        weights.tail(count) = columns.row(n).transpose() - posterior.centre;
        prediction.mean[n] = weights.dot(posterior.mean);
        // A row whose square is no double is looked at in its direction: the sd grows as the row does.
        constexpr double kFarthest = 1e100;
        const double beyond = std::max(1.0, weights.cwiseAbs().maxCoeff() / kFarthest);
        weights /= beyond;
        // Rounding may leave a variance just below zero where there is none.
        prediction.mean_sd[n] = beyond * std::sqrt(std::max(0.0, weights.dot(posterior.covariance * weights)));
        if (first == 1) weights[0] = 1.0;
    }
    const double noise = std::sqrt(posterior.noise_variance);
    prediction.sd = prediction.mean_sd.unaryExpr([noise](double sd) { return std::hypot(sd, noise); });
    return prediction;
}

}  // namespace lrvb
