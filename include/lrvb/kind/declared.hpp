#pragma once

#include <lrvb/export.hpp>
#include <lrvb/kind/fitted_model.hpp>
#include <lrvb/model/joint_model.hpp>
#include <lrvb/model/multilinear_model.hpp>

#include <memory>

/// A model that was declared with ModelBuilder, as a fit: its posterior as people read it, saved, loaded, checked,
/// asked about its rows and its prior like any other kind.
///
///     const auto model = std::make_shared<const MultilinearModel>(builder.build());
///     const auto fitted = fitted_model(model, fit(*model));
///     write_fit("fit.json", fitted->file());
///     …
///     const auto again = restore(read_fit("fit.json"), model);
///
/// A file holds no model: it answers summaries, covariances and sensitivities by itself, whatever the number of
/// variables, and the rest together with the same model, declared anew.
///
/// Where normal variables are joined (model/joint_model.hpp), everything is named as it was declared:
///
///     const auto model = std::make_shared<const JointModel>(builder.build());
///     const auto fitted = fitted_model(model, fit(*model));
///
/// A refit with another number of the prior takes the log joint to first order in that number
/// (MultilinearModel::stepped), which is all that the slope of an sd needs; for a far value declare the model with it.
namespace lrvb {

/// Every variable by its family: Normal x and the entries of vectors and matrices; Gamma x and log x; probabilities and
/// their logarithms. A name such as "theta[3]" belongs to the group "theta"; of a large model, groups of more than a
/// hundred are local.
LRVB_EXPORT Posterior declared_posterior(const MultilinearModel& model, const Optimum& optimum);

/// The same of joined variables. What mean field says of these is S, their covariance given the others.
LRVB_EXPORT Posterior declared_posterior(const JointModel& model, const Optimum& optimum);

/// `data` is what the file says of the data; its rows are those that the model was told of. Throws
/// std::invalid_argument for another number of rows.
LRVB_EXPORT std::unique_ptr<FittedModel> fitted_model(std::shared_ptr<const MultilinearModel> model, Optimum optimum,
                                                      DataRecord data = {});
LRVB_EXPORT std::unique_ptr<FittedModel> fitted_model(std::shared_ptr<const JointModel> model, Optimum optimum,
                                                      DataRecord data = {});

/// A saved fit with its model. Throws std::runtime_error for a fit that did not converge and for parameters that are
/// or rows that are not those of the model, NotAnOptimum for a model whose optimum it is not.
LRVB_EXPORT std::unique_ptr<FittedModel> restore(FitFile fit, std::shared_ptr<const MultilinearModel> model,
                                                 int threads = 1);
LRVB_EXPORT std::unique_ptr<FittedModel> restore(FitFile fit, std::shared_ptr<const JointModel> model, int threads = 1);

}  // namespace lrvb
