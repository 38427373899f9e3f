#pragma once

#include "model/labelled/terms.hpp"

/// Where fits of labelled rows begin: rows of a sample get labels, and these counts.
namespace lrvb::detail {

constexpr Index kStartRows = 1000;  // of the sample, for each part
constexpr int kStartAttempts = 6;
constexpr int kStartAttemptsOfFew = 24;  // where rows are fewer than labels
constexpr int kStartUpdates = 4;         // with the labels of the clustering
constexpr int kStartSweeps = 12;         // on the sample

/// Whether some rows are too few for clusters.
bool has_few_rows(const LabelledTerms& sample);

/// Sets the counts of (m, G): rows go to the nearest of as many rows as there are labels, drawn far from each other
/// (k-means++), with a few moves of these to the means of their rows; or, every third attempt, and where rows are
/// few, to labels at random; of few rows every third attempt leaves the labels open, as the means at m have them.
void cluster_counts(const LabelledTerms& sample, int attempt, Random& random, Vector& extended);

}  // namespace lrvb::detail
