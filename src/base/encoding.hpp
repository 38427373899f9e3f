#pragma once

#include <lrvb/types.hpp>

#include <string>
#include <vector>

/// Numbers as text that costs little: base64 of their bytes, the lowest first, matrices row by row.
namespace lrvb::detail {

std::string base64(const std::vector<unsigned char>& bytes);

/// As float32, for what is only looked at.
std::string single_precision(const Matrix& matrix);
/// As float64, for what is computed with.
std::string double_precision(const Matrix& matrix);

}  // namespace lrvb::detail
