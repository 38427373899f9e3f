#pragma once

#include "cli/options.hpp"

#include <lrvb/check/check.hpp>

#include <string>
#include <vector>

/// The file of --save-draws: equally weighted draws of the exact posterior, as R's posterior and ArviZ read them.
namespace lrvb::cli {

enum class DrawsFormat { csv, npz };

/// As --format npz or the name of the file says. Throws UsageError for --format npz without --save-draws, and for a
/// format of what would not be printed beside draws on standard output.
DrawsFormat draws_format(const Settings& settings);

/// CSV has .chain, .iteration and .draw, counted from 1, the chosen variables and lp__, a row for each draw; a NumPy
/// archive has an array of chains × iterations for each of the variables and for lp__. Importance draws are one chain.
void save_draws(const Check& check, const std::vector<Index>& chosen, const std::string& path, DrawsFormat format);

}  // namespace lrvb::cli
