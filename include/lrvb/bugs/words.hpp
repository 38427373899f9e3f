#pragma once

#include <lrvb/export.hpp>

#include <string>
#include <string_view>
#include <vector>

/// The names that mean something in every model: distributions and functions, as JAGS has them.
namespace lrvb::bugs {

struct DistributionWord {
    std::string_view name;                    ///< "dnorm"
    std::vector<std::string_view> arguments;  ///< "mean", "precision"
    bool is_discrete = false;
    bool is_multivariate = false;
    std::vector<std::string_view> aliases = {};
    /// A letter for each argument: n for a number, v a vector, m a square matrix, a for anything; none: all numbers.
    std::string_view shapes = {};
};

struct FunctionWord {
    std::string_view name;
    std::size_t least = 1;  ///< arguments
    std::size_t most = 1;   ///< many: no limit
    /// Number by number: of arrays, an array of the same shape.
    bool is_elementwise = false;
    std::vector<std::string_view> aliases = {};

    static constexpr std::size_t many = 1'000'000;
};

/// By their names or aliases; null for a name that is none.
LRVB_EXPORT const DistributionWord* find_distribution(std::string_view name);
LRVB_EXPORT const FunctionWord* find_function(std::string_view name);

/// All of them, by their first names.
LRVB_EXPORT const std::vector<DistributionWord>& distribution_words();
LRVB_EXPORT const std::vector<FunctionWord>& function_words();

/// Functions that may stand on the left: log, logit, probit, cloglog.
LRVB_EXPORT bool is_link(std::string_view name);

}  // namespace lrvb::bugs
