#pragma once

#include <lrvb/export.hpp>
#include <lrvb/fit/fit.hpp>
#include <lrvb/kind/mixture/model.hpp>
#include <lrvb/kind/mixture/prediction.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

/// Fits a normal mixture, from rows to optimum, looking at all rows only a few times.
///
/// Starts are made where rows are cheap: on a random sample, whose rows stand for the others by their weight, starts of
/// several kinds run a tournament on the bound, and the winner is taken through larger samples to the whole data, with
/// the few other places that the sample's rows do not rule out: on more rows one of them may be the best, or share the
/// posterior with it. These get a hundred iterations on more rows, and are left where that is not enough. A
/// sample of n rows ends √(N/n) posterior sds from the optimum of all N, near enough for Newton's steps to be few.
///
/// The bound of a mixture has many optima, and every kind of start is blind to some. Seven take turns: k-means++
/// partitions, random responsibilities, nested scales (one centre, which no partition finds), overlapping components
/// about rows, dense spots (values that many rows repeat, rows that weigh much), partitions that leave components
/// empty, and annealed ascent, its temperature falling. The better half goes on, and the best of each kind, since a
/// start that is slow at first may go further; the last are fitted. From the best of them moves that no ascent makes
/// are tried: a component is taken out, and another split in two, along its longest axis or into a core and a shell, or
/// none; or all are perturbed; and again from what that found, as long as it is better. `make optima` says how often
/// that misses.
namespace lrvb {

/// Parts of a mixture that are held at given values, in the data's units.
struct MixtureFixed {
    std::optional<Vector> weights;
    std::optional<Matrix> means;                    // components × columns
    std::optional<std::vector<Matrix>> precisions;  // one a component; diagonal where covariances are
};

/// An optimum of the same rows with one component fewer.
struct MixtureBefore {
    MixtureShape shape;
    State state;
};

struct MixtureFitOptions {
    /// Largest step, in posterior sds, of the converged last fit, on all rows.
    double tolerance = 1e-8;
    /// Sweeps and Newton steps together, of each start of the tournament and of each fit.
    int max_iterations = 10000;
    /// The tournament's effort: its starts, of all kinds in turn, and half as many moves a round. Up to four times as
    /// many where rows are few and sweeps cost next to nothing; one is a single k-means++ start, and no moves.
    int restarts = 16;
    /// Of the starts and of the samples.
    std::uint64_t seed = 1;
    /// Called after every iteration from the first start on; returning false cancels.
    std::function<bool(const Progress&)> progress;
    MixtureFixed fixed;
    /// Its components, split in two, one after the other, are more starts of the tournament: they take nobody's place.
    std::optional<MixtureBefore> before = {};
    /// Rows of the sample that places are compared on; data no larger than twice that are compared on themselves. The
    /// places are sought on 2,048 of the rows, or on all where there are fewer than twice as many.
    Index sample_rows = 8192;
};

struct MixtureFit {
    std::shared_ptr<const MixtureModel> model;
    Optimum optimum;
    /// Passes over all rows by the last fit.
    Index passes = 0;
    /// Those before it: of the tournament and its comparison, where the data are too small to be sampled. (Besides, all
    /// rows are read once for centre and scale, and once to draw samples.)
    Index start_passes = 0;
    /// Those after it: of fits at the other optima that the tournament found, `optimum.others`, three of them at most.
    Index other_passes = 0;
    /// The bound that each start of the tournament, and each move, had when it left it, on the sample it ran on.
    std::vector<double> start_bounds;
    /// Starts that came to the places that were fitted to the end, and how many of them to the best: where few did,
    /// more restarts may find a better optimum.
    int finalists = 0;
    int finalists_at_best = 0;
};

/// Components come out in ascending order of their first mean.
LRVB_EXPORT MixtureFit fit_mixture(const std::shared_ptr<RowSource>& source, const MixtureSpecification& specification,
                                   const MixtureFitOptions& options = {});

}  // namespace lrvb
