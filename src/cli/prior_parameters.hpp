#pragma once

#include <lrvb/io/fit_file.hpp>

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

}  // namespace lrvb::cli
