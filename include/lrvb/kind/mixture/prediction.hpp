#pragma once

#include <lrvb/export.hpp>
#include <lrvb/kind/mixture/model.hpp>

namespace lrvb {

/// What is known of a fitted mixture without its data: how its states are to be read.
struct MixtureShape {
    Index components = 1;
    MixtureCovariance covariance = MixtureCovariance::full;
    /// The inner units, x' = (x − centre)/scale.
    Vector centre;
    Vector scale;
};

LRVB_EXPORT Layout mixture_layout(const MixtureShape& shape);

/// For new rows, in the units of the data; what MixtureModel::predict gives.
LRVB_EXPORT MixtureModel::Prediction predict(const MixtureShape& shape, const State& state, const Matrix& rows);

}  // namespace lrvb
