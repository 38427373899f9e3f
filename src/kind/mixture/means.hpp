#pragma once

#include <lrvb/kind/fit_file.hpp>

#include <vector>

namespace lrvb::detail {

/// The components of a fitted mixture at the means of their parameters, in the units of the data.
struct MixtureMeans {
    Vector weights;
    Matrix locations;                 // one row a component
    std::vector<Matrix> covariances;  // E Σ of a full one; otherwise 1/E τ of each column
};

/// Throws std::out_of_range for a posterior that is not that of a mixture.
MixtureMeans mixture_means(const FitFile& fit);

}  // namespace lrvb::detail
