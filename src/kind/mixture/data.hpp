#pragma once

#include "kind/mixture/pass.hpp"

#include <lrvb/data/row_team.hpp>
#include <lrvb/family/random.hpp>
#include <lrvb/kind/mixture/model.hpp>

#include <functional>
#include <vector>

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

/// Visits rows by their numbers, counted from 0, in ascending order; the source has so many.
void for_each_picked(RowSource& source, Index rows, const std::vector<Index>& numbers,
                     const std::function<void(const double*)>& visit);

/// What these two ask those who have the rows, where they are with others.
std::vector<RowQuestion> data_questions_of_mixtures();

/// k-means++ seeding and a few rounds of Lloyd's algorithm; one indicator a row.
Matrix cluster(const Matrix& rows, Index clusters, Random& random);

}  // namespace lrvb::detail
