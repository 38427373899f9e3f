#pragma once

#include <lrvb/check/check.hpp>

#include <vector>

/// Draws of a check that all count the same, as other programs expect them.
///
/// Importance draws have weights. Systematic resampling takes draw i as often as n w_i says, rounded up or down, so
/// that what it adds to the Monte Carlo error of a mean is less than independent resampling would; then the order is
/// shuffled, as draws that were alike would stand together. A draw with much weight is there several times: n rows are
/// worth no more than Check::ess.
namespace lrvb {

/// As many positions of draws (columns of Check::values) as there are draws: of importance sampling those that were
/// resampled, with the seed of the check; of chains all, as they stand, chain by chain. Throws std::invalid_argument
/// where no draw has a weight.
LRVB_EXPORT std::vector<Index> equally_weighted(const Check& check);

}  // namespace lrvb
