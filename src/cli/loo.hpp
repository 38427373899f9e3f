#pragma once

#include <lrvb/kind/options.hpp>
#include <lrvb/query/loo.hpp>

#include <string>
#include <vector>

/// What the commands that leave rows out share.
namespace lrvb::cli {

/// --method, --draws, --seed, --threads.
std::vector<OptionInfo> loo_method_options();
LooOptions loo_options(const Settings& settings);

/// "psis" or "response".
std::string method_name(LooMethod method);
/// "by linear response", or by how many draws.
std::string method_text(const Loo& loo);

}  // namespace lrvb::cli
