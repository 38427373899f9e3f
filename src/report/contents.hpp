#pragma once

#include "report/bins.hpp"
#include "report/page.hpp"
#include "report/selection.hpp"

#include <lrvb/kind/fit_file.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// All that a report shows, as one JSON object: what the page draws, it draws from that alone.
namespace lrvb::report {

/// A number of the prior, how far it can be moved, and how far its linear response can be trusted.
struct PriorRange {
    std::string kind;  // "location", "off_diagonal" or "positive": a location can be anything, and steps are even
    double value = 0.0;
    double least = 0.0;  // what it must exceed, and stay below; infinite where nothing bounds it
    double most = 0.0;
    double low = 0.0;
    double high = 0.0;
    double trusted_low = 0.0;
    double trusted_high = 0.0;
};

/// A fit against its exact posterior.
struct Comparison {
    std::string verdict;
    std::string message;
    std::string method;  // "importance" or "mh"
    double k_hat = 0.0;  // NaN where there is none, and so r_hat
    double r_hat = 0.0;
    double ess = 0.0;
    Index draws = 0;
    std::uint64_t seed = 1;

    struct Variable {
        double mean = 0.0;
        double sd = 0.0;
        std::string verdict;
    };
    /// In the order of the posterior; nothing for those that were not compared.
    std::vector<std::optional<Variable>> variables;
};

/// The data of a mixture.
struct DataPicture {
    std::vector<Histogram> histograms;  // one a column
    std::vector<PairBins> pairs;        // of more rows than are shown as points
    Matrix points;                      // all rows, where they are few
};

/// Rows that can be asked what they do.
struct AskedRows {
    std::vector<std::string> inputs;  // what can be moved
    bool all = true;
    std::vector<Index> file_rows;  // from 1, ascending
    Matrix values;                 // rows × inputs
    std::optional<Vector> weights;
    Matrix columns;       // of a regression: rows × columns of the design
    Matrix leverage;      // rows × (variables × inputs), inputs running fastest
    Matrix case_weights;  // rows × variables
    Vector distances;
    Index most_influential = 0;  // so many of them are the furthest of all rows
};

struct Gathered {
    FitFile fit;
    std::string fit_name;
    std::string title;  // empty: one that says what the model is
    Selection selection;
    std::vector<PriorRange> priors;  // of the selected ones
    std::optional<Comparison> comparison;
    std::optional<DataPicture> picture;
    std::optional<AskedRows> rows;
};

Json contents_of(const Gathered& gathered);

}  // namespace lrvb::report
