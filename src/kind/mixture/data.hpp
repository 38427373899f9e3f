#pragma once

#include "kind/mixture/pass.hpp"

#include <lrvb/family/random.hpp>
#include <lrvb/kind/mixture/model.hpp>

namespace lrvb::detail {

/// What one reading of the rows tells.
struct RowSummary {
    RowFormat format;
    Index rows = 0;
    Index used_rows = 0;  // those with weight
    double total_weight = 0.0;
    /// A sample of rows, standardised, for starts.
    Matrix sample;
    Vector sample_weights;
};

/// Reads the rows once; refuses what cannot be fitted, with the row and column.
RowSummary describe_rows(RowSource& source, const MixtureSpecification& specification);

/// k-means++ seeding and a few rounds of Lloyd's algorithm; one indicator a row.
Matrix cluster(const Matrix& rows, Index clusters, Random& random);

}  // namespace lrvb::detail
