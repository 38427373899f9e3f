#pragma once

#include <string>
#include <vector>

/// What a fit says of columns that may have been taken otherwise than they were meant (FitFile::notes), in the words of
/// the command line.
namespace lrvb::detail {

/// A name as it stands in a list: in quotes where it would fall apart.
std::string listed_name(const std::string& name);

/// An option as it is typed: quoted where a shell would take it for something else.
std::string typed(const std::string& option, const std::string& value);

/// Of row names that were left out, and of columns that number the rows, as an index does. Nothing of those that are
/// among `chosen`, which is what was asked for.
std::vector<std::string> index_notes(bool leaves_out_row_names, const std::vector<std::string>& counting,
                                     const std::vector<std::string>& chosen);

}  // namespace lrvb::detail
