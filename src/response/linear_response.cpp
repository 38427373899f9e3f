#include "base/validate.hpp"
#include "response/queries.hpp"

#include <lrvb/response/linear_response.hpp>

#include <algorithm>
#include <cmath>

namespace lrvb {

namespace {

constexpr double kNotThisModel = 1e-4;  // posterior sds to the next fixed point

// Rounding may leave a variance of zero, of something clamped, at −1e-30.
Vector sd_of(const Vector& variances) {
    return variances.cwiseMax(0.0).cwiseSqrt();
}

std::shared_ptr<const detail::Curvature> factored(const Model& model, const Optimum& optimum) {
    const Layout& layout = model.layout();
    detail::require_size("linear response", "the optimum's state", optimum.state.mean.size(), layout.size());
    detail::require_size("linear response", "the optimum's clamps", static_cast<Index>(optimum.state.clamped.size()),
                         layout.variable_count());
    if (!optimum.converged()) {
        throw NotAnOptimum(fmt::format("no response without an optimum: the fit ended with: {}", optimum.message));
    }
    if (optimum.curvature && optimum.model_identity == model.identity() && model.identity() != 0) {
        return optimum.curvature;
    }
    const Expansion expansion = model.expand_at(optimum.state, Order::hessian);
    auto structure =
        std::make_shared<const detail::CurvatureStructure>(layout, optimum.state.clamped, expansion.hessian);
    auto curvature =
        std::make_shared<const detail::Curvature>(structure, layout, optimum.state.natural, expansion.hessian);
    detail::require_maximum(layout, *curvature);
    Vector residual = expansion.gradient - optimum.state.natural;
    for (Index j = 0; j < layout.variable_count(); ++j) {
        if (optimum.state.clamped[static_cast<std::size_t>(j)]) layout.segment(residual, j).setZero();
    }
    const double step = std::sqrt(std::max(0.0, residual.dot(curvature->respond(residual))));
    if (!(step <= kNotThisModel)) {
        throw NotAnOptimum(
            fmt::format("no response at a point that is no fixed point of this model: a step would move it by {:.1e} "
                        "posterior sds; give the optimum of the same model",
                        step));
    }
    return curvature;
}

}  // namespace

class LinearResponse::Implementation {
  public:
    Implementation(const Model& model_in, const Optimum& optimum)
        : model(model_in), state(optimum.state), means(optimum.state.mean), curvature(factored(model_in, optimum)) {}

    void ask_rows(const Functionals& functionals, RowChange change, const RowVisitor& visit) const {
        row_model().ask_rows(state, detail::responses(*curvature, resolve(functionals).weights), change, visit);
    }

    const RowModel& row_model() const {
        const auto* rows = dynamic_cast<const RowModel*>(&model);
        if (rows == nullptr) throw std::invalid_argument("this model has no rows that can be asked");
        return *rows;
    }

    Functionals::Resolved resolve(const Functionals& functionals) const { return functionals.resolve(model.layout()); }

    const Model& model;
    State state;
    Vector means;
    std::shared_ptr<const detail::Curvature> curvature;
};

LinearResponse::LinearResponse(const Model& model, const Optimum& optimum)
    : implementation_(std::make_unique<Implementation>(model, optimum)) {}
LinearResponse::~LinearResponse() = default;
LinearResponse::LinearResponse(LinearResponse&&) noexcept = default;
LinearResponse& LinearResponse::operator=(LinearResponse&&) noexcept = default;

Vector LinearResponse::mean(const Functionals& functionals) const {
    const Functionals::Resolved resolved = implementation_->resolve(functionals);
    return resolved.weights.transpose() * implementation_->means + resolved.constants;
}

Matrix LinearResponse::covariance(const Functionals& functionals) const {
    return detail::covariance(*implementation_->curvature, implementation_->resolve(functionals).weights);
}

Matrix LinearResponse::covariance(const Functionals& rows, const Functionals& columns) const {
    return detail::covariance(*implementation_->curvature, implementation_->resolve(rows).weights,
                              implementation_->resolve(columns).weights);
}

Vector LinearResponse::sd(const Functionals& functionals) const {
    return detail::variances(*implementation_->curvature, implementation_->resolve(functionals).weights).cwiseSqrt();
}

Matrix LinearResponse::correlation(const Functionals& functionals) const {
    const Matrix covariances = covariance(functionals);
    const Vector sds = sd_of(covariances.diagonal());
    Matrix result = Matrix::Identity(sds.size(), sds.size());
    for (Index i = 0; i < sds.size(); ++i) {
        if (!(sds[i] > 0.0))
            throw std::invalid_argument(fmt::format("correlation: functional {} has no variance", i + 1));
        for (Index j = 0; j < i; ++j) result(i, j) = result(j, i) = covariances(i, j) / (sds[i] * sds[j]);
    }
    return result;
}

Matrix LinearResponse::mean_field_covariance(const Functionals& functionals) const {
    return detail::mean_field_covariance(*implementation_->curvature, implementation_->resolve(functionals).weights);
}

Vector LinearResponse::mean_field_sd(const Functionals& functionals) const {
    return detail::mean_field_variances(*implementation_->curvature, implementation_->resolve(functionals).weights)
        .cwiseSqrt();
}

Matrix LinearResponse::delta_covariance(const Functionals& functionals, const Function& function,
                                        const Jacobian& jacobian) const {
    const Vector at = mean(functionals);
    const Matrix covariances = covariance(functionals);
    if (jacobian) {
        const Matrix derivative = jacobian(at);
        detail::require_size("delta_covariance", "columns of the Jacobian", derivative.cols(), at.size());
        if (!derivative.allFinite()) throw std::invalid_argument("delta_covariance: the Jacobian is not finite");
        return derivative * covariances * derivative.transpose();
    }
    const Vector steps = 1e-3 * sd_of(covariances.diagonal());
    const Vector value = function(at);
    Matrix derivative = Matrix::Zero(value.size(), at.size());
    for (Index i = 0; i < at.size(); ++i) {
        if (steps[i] == 0.0) continue;
        const auto difference = [&](double step) {
            Vector up = at;
            Vector down = at;
            up[i] += step;
            down[i] -= step;
            return Vector((function(up) - function(down)) / (up[i] - down[i]));
        };
        derivative.col(i) = (4.0 * difference(steps[i]) - difference(2.0 * steps[i])) / 3.0;
    }
    if (!derivative.allFinite()) {
        throw std::invalid_argument("delta_covariance: the function is not finite around the means of its arguments");
    }
    return derivative * covariances * derivative.transpose();
}

Vector LinearResponse::delta_sd(const Functionals& functionals, const Function& function,
                                const Jacobian& jacobian) const {
    return sd_of(delta_covariance(functionals, function, jacobian).diagonal());
}

Vector LinearResponse::sensitivity(const Functionals& functionals, const Hyperparameter& hyperparameter) const {
    const SparseMatrix weights = implementation_->resolve(functionals).weights;
    const Vector gradient =
        implementation_->model.hyperparameter_gradient(implementation_->means, hyperparameter.index());
    return weights.transpose() * implementation_->curvature->respond(gradient);
}

Vector LinearResponse::sensitivity(const Functionals& functionals, const std::string& hyperparameter) const {
    const std::vector<std::string>& names = implementation_->model.hyperparameters();
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] != hyperparameter) continue;
        const Vector gradient =
            implementation_->model.hyperparameter_gradient(implementation_->means, static_cast<Index>(i));
        return implementation_->resolve(functionals).weights.transpose() *
               implementation_->curvature->respond(gradient);
    }
    throw std::invalid_argument(fmt::format("there is no hyperparameter '{}'; the model has: {}", hyperparameter,
                                            names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
}

Matrix LinearResponse::sensitivities(const Functionals& functionals) const {
    const SparseMatrix weights = implementation_->resolve(functionals).weights;
    const Index count = static_cast<Index>(implementation_->model.hyperparameters().size());
    Matrix result(weights.cols(), count);
    // Many at once: a solver that reads its factor for each of them waits for memory most of the time.
    constexpr Index kAtOnce = 64;
    for (Index first = 0; first < count; first += kAtOnce) {
        Matrix gradients(weights.rows(), std::min(kAtOnce, count - first));
        for (Index i = 0; i < gradients.cols(); ++i) {
            gradients.col(i) = implementation_->model.hyperparameter_gradient(implementation_->means, first + i);
        }
        result.middleCols(first, gradients.cols()) =
            weights.transpose() * implementation_->curvature->respond_to_all(gradients);
    }
    return result;
}

void LinearResponse::leverage(const Functionals& functionals, const RowVisitor& visit) const {
    implementation_->ask_rows(functionals, RowChange::value, visit);
}

void LinearResponse::case_weights(const Functionals& functionals, const RowVisitor& visit) const {
    implementation_->ask_rows(functionals, RowChange::weight, visit);
}

std::string LinearResponse::tally_case_weights(const Functionals& functionals, const RowTally& tally,
                                               const std::string& asked) const {
    const Implementation& self = *implementation_;
    return self.row_model().tally_rows(self.state,
                                       detail::responses(*self.curvature, self.resolve(functionals).weights),
                                       RowChange::weight, tally, asked);
}

Vector LinearResponse::respond(const Vector& gradient_change) const {
    detail::require_size("respond", "gradient_change", gradient_change.size(), implementation_->model.layout().size());
    return implementation_->curvature->respond(gradient_change);
}

std::vector<Matrix> LinearResponse::marginal_covariances() const {
    return implementation_->curvature->marginal_blocks();
}

Vector LinearResponse::marginal_sds() const {
    const Layout& layout = implementation_->model.layout();
    const std::vector<Matrix> blocks = marginal_covariances();
    Vector sds(layout.size());
    for (Index j = 0; j < layout.variable_count(); ++j) {
        layout.segment(sds, j) = sd_of(blocks[static_cast<std::size_t>(j)].diagonal());
    }
    return sds;
}

SparseMatrix LinearResponse::hessian() const {
    return implementation_->model.expand_at(implementation_->state, Order::hessian).hessian;
}

FlatDirection LinearResponse::flattest_direction() const {
    return detail::flattest_direction(*implementation_->curvature);
}

double LinearResponse::smallest_pivot() const {
    return implementation_->curvature->smallest_pivot();
}

}  // namespace lrvb
