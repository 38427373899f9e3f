#pragma once

/// Everything a user includes: families, the model builder, the fit and the response.

#include <lrvb/family/any_family.hpp>
#include <lrvb/family/symmetric.hpp>
#include <lrvb/fit/fit.hpp>
#include <lrvb/model/builder.hpp>
#include <lrvb/model/functionals.hpp>
#include <lrvb/model/multilinear_model.hpp>
#include <lrvb/response/linear_response.hpp>
