#pragma once

/// Everything a user includes: families, data, models, the fit, the response and the fit file.

#include <lrvb/data/csv.hpp>
#include <lrvb/data/frame.hpp>
#include <lrvb/data/npy.hpp>
#include <lrvb/data/table.hpp>
#include <lrvb/family/any_family.hpp>
#include <lrvb/family/symmetric.hpp>
#include <lrvb/fit/fit.hpp>
#include <lrvb/fit/mixture_fit.hpp>
#include <lrvb/io/fit_file.hpp>
#include <lrvb/io/posterior.hpp>
#include <lrvb/model/builder.hpp>
#include <lrvb/model/functionals.hpp>
#include <lrvb/model/mixture_model.hpp>
#include <lrvb/model/mixture_prediction.hpp>
#include <lrvb/model/multilinear_model.hpp>
#include <lrvb/model/regression_design.hpp>
#include <lrvb/model/regression_model.hpp>
#include <lrvb/response/linear_response.hpp>
