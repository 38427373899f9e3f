#pragma once

#include <lrvb/kind/fitted_model.hpp>
#include <lrvb/kind/options.hpp>

#include <vector>

namespace lrvb::cli {

/// What `lrvb check --model` takes beside the options of `lrvb check`.
std::vector<OptionInfo> model_check_options();

/// `lrvb check --model`: whether the model fits. Refuses options that are of the approximation alone.
void require_model_check_options(const Settings& settings);
void show_model_check(const FittedModel& fitted, const Settings& settings);

}  // namespace lrvb::cli
