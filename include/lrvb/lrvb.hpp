#pragma once

/// Everything a user includes: families, data, models, the fit, the response, the fit file, samplers and the check.

#include <lrvb/check/check.hpp>
#include <lrvb/data/csv.hpp>
#include <lrvb/data/frame.hpp>
#include <lrvb/data/npy.hpp>
#include <lrvb/data/table.hpp>
#include <lrvb/family/any_family.hpp>
#include <lrvb/family/symmetric.hpp>
#include <lrvb/fit/fit.hpp>
#include <lrvb/kind/fit_file.hpp>
#include <lrvb/kind/mixture/fit.hpp>
#include <lrvb/kind/mixture/model.hpp>
#include <lrvb/kind/mixture/prediction.hpp>
#include <lrvb/kind/regression/design.hpp>
#include <lrvb/kind/regression/model.hpp>
#include <lrvb/linalg/factor_too_large.hpp>
#include <lrvb/model/builder.hpp>
#include <lrvb/model/functionals.hpp>
#include <lrvb/model/multilinear_model.hpp>
#include <lrvb/model/row_model.hpp>
#include <lrvb/model/rows.hpp>
#include <lrvb/posterior/posterior.hpp>
#include <lrvb/response/covariance.hpp>
#include <lrvb/response/linear_response.hpp>
#include <lrvb/sample/diagnostics.hpp>
#include <lrvb/sample/importance.hpp>
#include <lrvb/sample/log_density.hpp>
#include <lrvb/sample/metropolis.hpp>
#include <lrvb/sample/mode.hpp>
#include <lrvb/sample/model_density.hpp>
#include <lrvb/sample/pareto.hpp>
#include <lrvb/sample/unbounded.hpp>
