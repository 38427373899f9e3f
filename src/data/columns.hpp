#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lrvb::detail {

/// The places (from 0) of the `wanted` columns among `names`, each given by its name or else by its number from 1; all
/// of them, but row names, if none is wanted. Throws std::invalid_argument for a column that is not there or comes
/// twice, and std::runtime_error if all are wanted and two of them share a name.
///
/// With `ranges`, "1-4" and "a-d" are all columns from one to another, and "-a", "-2" or "-1-4" leaves columns out: of
/// those that are wanted besides, or of all if there are none. A column of that name wins. A range that runs backwards,
/// or can be read in two ways, is std::invalid_argument, and so is a choice that leaves nothing.
std::vector<std::size_t> select_columns(const std::string& file, const std::vector<std::string>& names,
                                        const std::vector<std::string>& wanted, bool ranges = false);

/// The same, with the columns `last`, by name or number, behind all others, whether or not they are among those. Throws
/// std::invalid_argument if columns are wanted, and none is left besides.
std::vector<std::size_t> select_columns(const std::string& file, const std::vector<std::string>& names,
                                        const std::vector<std::string>& wanted, bool ranges,
                                        const std::vector<std::string>& last);

/// Whether the first column is that of row names, as R and pandas write them: the only one without a name. It is not
/// among all columns.
bool has_row_names(const std::vector<std::string>& names);

/// Says that it cannot be used as long as it has none.
[[noreturn]] void refuse_row_names(const std::string& file);

/// Whether it was left out of these `places` because nobody chose it or others.
bool leaves_out_row_names(const std::vector<std::string>& names, const std::vector<std::string>& wanted,
                          const std::vector<std::size_t>& places);

}  // namespace lrvb::detail
