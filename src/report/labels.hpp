#pragma once

#include <lrvb/data/frame.hpp>

#include <string>
#include <vector>

namespace lrvb::report {

/// The labels of these rows of the file, counted from 1 and ascending; empty for a row that has none.
std::vector<std::string> labels_of(const DataFrame& labels, const std::vector<Index>& file_rows);

}  // namespace lrvb::report
