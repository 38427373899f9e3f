#pragma once

#include <lrvb/types.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lrvb::detail {

/// What the beginning of a NumPy file says about the rest: numpy.lib.format, versions 1.0, 2.0 and 3.0.
struct NpyHeader {
    std::string type;  // "<f8"
    bool fortran_order = false;
    std::vector<Index> shape;
    std::size_t data_offset = 0;
};

/// Throws std::runtime_error, with the name of the file, if it does not begin as such a file must.
NpyHeader parse_npy_header(const std::string& file, std::string_view bytes);

/// The header of a C-ordered float64 file of two dimensions, up to the first number.
std::string make_npy_header(Index rows, Index columns);

}  // namespace lrvb::detail
