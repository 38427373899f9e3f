#pragma once

#include <lrvb/export.hpp>
#include <lrvb/fit/fit.hpp>
#include <lrvb/model/functionals.hpp>
#include <lrvb/model/row_model.hpp>
#include <lrvb/response/covariance.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

/// Linear response: how the fixed point moves when the log joint does. To first order
///
///     dm = Σ̂ · d(∇L),     Σ̂ = (I − VH)⁻¹ V = L (I − LᵀHL)⁻¹ Lᵀ,
///
/// with V = LLᵀ the mean-field covariance of the statistics and H = ∇²L. Perturbing by tᵀT makes Σ̂ itself the estimate
/// of their posterior covariance; perturbing by a hyperparameter gives the sensitivity to it.
///
/// Assumes that the optimum is a fixed point (converged) and a strict local maximum. Σ̂ is as good as the mean-field
/// means are under perturbation: it is exact for normal targets, and too small where the factorisation cannot follow
/// (strongly overlapping mixtures). Factored once in the constructor; every query is const and solves only for what it
/// is asked.
///
///     LinearResponse response(model, fit(model));
///     Matrix covariance = response.covariance({mu, log(tau)});
///     Vector sd = response.sd({mu - nu});
namespace lrvb {

class LRVB_EXPORT LinearResponse {
  public:
    /// Throws NotAnOptimum where the optimum has not converged, or is not a strict local maximum: then the message
    /// names the variable whose pivot failed; FactorTooLarge where the factorisation would not fit in memory. The model
    /// must outlive the response.
    LinearResponse(const Model& model, const Optimum& optimum);
    LinearResponse(const Model&& model, const Optimum& optimum) = delete;
    ~LinearResponse();
    LinearResponse(LinearResponse&&) noexcept;
    LinearResponse& operator=(LinearResponse&&) noexcept;

    /// Means of the functionals at the optimum.
    Vector mean(const Functionals& functionals) const;

    Matrix covariance(const Functionals& functionals) const;
    Matrix covariance(const Functionals& rows, const Functionals& columns) const;
    Vector sd(const Functionals& functionals) const;
    Matrix correlation(const Functionals& functionals) const;

    /// What mean field says about the same, for comparison.
    Matrix mean_field_covariance(const Functionals& functionals) const;
    Vector mean_field_sd(const Functionals& functionals) const;

    using Function = std::function<Vector(const Vector&)>;
    using Jacobian = std::function<Matrix(const Vector&)>;

    /// Covariance of smooth functions f of the functionals by the delta method, J Σ̂ Jᵀ with J = ∂f at their means.
    /// Without a Jacobian it is taken by fourth-order central differences, with steps of 0.001 posterior sds.
    Matrix delta_covariance(const Functionals& functionals, const Function& function,
                            const Jacobian& jacobian = {}) const;
    Vector delta_sd(const Functionals& functionals, const Function& function, const Jacobian& jacobian = {}) const;

    /// Derivative of the functionals' means in a hyperparameter.
    Vector sensitivity(const Functionals& functionals, const Hyperparameter& hyperparameter) const;
    Vector sensitivity(const Functionals& functionals, const std::string& hyperparameter) const;
    /// The same for all hyperparameters, in the model's order: one column each.
    Matrix sensitivities(const Functionals& functionals) const;

    /// Leverage, d mean / d x_n for every row and every number x_np of it (Giordano & Broderick, Eq. lrvb_lev_scores):
    /// Σ̂ ∂²L/∂m∂x_n, in the units of the data. Answers are for each functional and each input, inputs running fastest.
    /// One pass over the data; throws std::invalid_argument for a model that has no rows to ask.
    void leverage(const Functionals& functionals, const RowVisitor& visit) const;
    /// d mean / d w_n for every row: −w_n times it is, to first order, what dropping the row does.
    void case_weights(const Functionals& functionals, const RowVisitor& visit) const;
    /// What a tally keeps of these, where the rows are (RowModel::tally_rows).
    std::string tally_case_weights(const Functionals& functionals, const RowTally& tally,
                                   const std::string& asked) const;

    /// Σ̂ times any change of ∇L, stacked: the one map that answers everything.
    Vector respond(const Vector& gradient_change) const;

    /// The covariance blocks of all variables at once, by a selected inverse; no larger part of Σ̂ is formed.
    std::vector<Matrix> marginal_covariances() const;
    /// Standard deviations of all statistics, stacked, from the same.
    Vector marginal_sds() const;

    /// ∇²L at the optimum, its lower triangle, by one more expansion of the model: with the layout and the state all
    /// that FactoredCovariance needs to answer without the model.
    SparseMatrix hessian() const;

    /// The direction that the data and the prior say least about, in a few dozen solves.
    FlatDirection flattest_direction() const;
    /// The smallest pivot of I − LᵀHL, in (0, 1] or so: how close the optimum is to a flat direction.
    double smallest_pivot() const;

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace lrvb
