#pragma once

#include <lrvb/kind/fit_file.hpp>

#include <optional>
#include <string>
#include <vector>

/// The numbers of a prior by the names that a model gives its hyperparameters ("alpha", "variance[1,2]", "mean[wt]").
namespace lrvb::cli {

double prior_parameter(const MixturePrior& prior, const std::string& name);
void set_prior_parameter(MixturePrior& prior, const std::string& name, double value);

/// `slopes` are the names of the design's columns.
double prior_parameter(const RegressionPrior& prior, const std::string& name, const std::vector<std::string>& slopes);
void set_prior_parameter(RegressionPrior& prior, const std::string& name, const std::vector<std::string>& slopes,
                         double value);

/// The value of a hyperparameter of the fit; nothing where it has none of that name.
std::optional<double> prior_value_if(const FitFile& fit, const std::string& name);
/// The same, which must be there.
double prior_value(const FitFile& fit, const std::string& name);
/// The value of each, in the order of its posterior.
Vector prior_values(const FitFile& fit);

/// A number by which a hyperparameter can be moved a little: itself; of a mean, the prior's sd; of an entry off the
/// diagonal of a matrix, the root of the diagonal's product; of degrees of freedom, what they exceed the least by.
double unit_of(const FitFile& fit, const std::string& name, double value);

/// A mean: it can move either way, whatever its value.
bool is_location(const std::string& name);

}  // namespace lrvb::cli
