#pragma once

#include <lrvb/types.hpp>

#include <string>
#include <vector>

namespace lrvb {

/// Numbers under a name, of any number of dimensions: what models in text call their data.
struct DataArray {
    std::string name;
    /// Extents; none for a single number.
    std::vector<Index> dims;
    /// First index fastest. A missing value is NaN.
    std::vector<double> values;
    /// Where it comes from: a file, or "data block".
    std::string file;
    /// Of a column of text in a table, whose values are 1, 2, …: what they mean, in this order.
    std::vector<std::string> levels = {};

    Index size() const { return static_cast<Index>(values.size()); }
};

}  // namespace lrvb
