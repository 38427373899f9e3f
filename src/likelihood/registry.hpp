#pragma once

#include <lrvb/likelihood/likelihood.hpp>

#include <memory>
#include <string_view>

/// The likelihoods that there are: one class in one file each, one line here and one in registry.cpp.
namespace lrvb::detail {

using LikelihoodMaker = std::shared_ptr<const Likelihood> (*)(std::string_view link);

/// Each with one of its links.
std::shared_ptr<const Likelihood> gaussian_likelihood(std::string_view link);
std::shared_ptr<const Likelihood> student_likelihood(std::string_view link);
std::shared_ptr<const Likelihood> bernoulli_likelihood(std::string_view link);
std::shared_ptr<const Likelihood> binomial_likelihood(std::string_view link);
std::shared_ptr<const Likelihood> poisson_likelihood(std::string_view link);
std::shared_ptr<const Likelihood> negative_binomial_likelihood(std::string_view link);

}  // namespace lrvb::detail
