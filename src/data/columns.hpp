#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lrvb::detail {

/// The places (from 0) of the `wanted` columns among `names`, each given by its name or else by its number from 1; all
/// of them if none is wanted. Throws std::invalid_argument for a column that is not there or comes twice, and
/// std::runtime_error if all are wanted and two of them share a name.
std::vector<std::size_t> select_columns(const std::string& file, const std::vector<std::string>& names,
                                        const std::vector<std::string>& wanted);

}  // namespace lrvb::detail
