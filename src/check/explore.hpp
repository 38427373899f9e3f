#pragma once

#include "check/labels.hpp"

#include <lrvb/model/model.hpp>
#include <lrvb/sample/importance.hpp>
#include <lrvb/sample/model_density.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// Where the exact posterior goes and the draws do not: what k̂ cannot see.
///
/// Gibbs chains leave from five kinds of places: from draws, taken as their weights say; from these with components
/// emptied (their weights nearly zero, so that they fall back to their prior); from these with a precision moved far
/// along its logarithm; from where a fit would start; and from draws with a location moved by many sds, or two of them
/// exchanged, since rows that are outliers of one place may be the bulk of another. A point θ of a chain is *uncovered*
/// where a single one of the S draws, had it fallen there, would have made up more than a small share of the posterior,
/// or of the variance of a reported variable:
///
///     p(θ)/(Z g(θ)) · max(1, z(θ)²)/S > limit,
///
/// p the joint density, Z its integral as the draws say, g the proposal's density, and z the variable's distance from
/// its mean in its sds. A region without such points that holds a share h of the variance is expected to get h/limit
/// draws or more, so the draws themselves can tell. For this it does not matter how the chains mix.
///
/// (Points whose log p is more than 10 + 4D below that of the draws are left aside, D the number of coordinates: their
/// surroundings would have to be so much wider in every coordinate.)
///
/// Where there are uncovered points, a part of the proposal is fitted to them, and the draws are made again.
namespace lrvb::detail {

/// The reported variables at points.
using ValuesAt = std::function<Matrix(const Matrix& points)>;

struct Explored {
    /// Of the chains, labelled as the fit is, one a column.
    Matrix points;
    /// Columns that are uncovered.
    std::vector<Index> uncovered;
    /// How many of them are so by more than two and a half times the limit, in a chain from a draw or in the second
    /// half of another.
    double wide_open = 0.0;
    /// The reported variable that puts most uncovered points far out; −1 where there are none.
    Index variable = -1;
    /// The reported variable whose mean over chains from draws is not that of the draws, or whose variance is larger;
    /// −1 where all agree. (A smaller variance says nothing: few chains begin where a thousandth of the draws has most
    /// of it.)
    Index drifting = -1;
};

/// What chains say of draws that have no proposal to be weighed against: those of chains of another kind.
struct Left {
    /// As above.
    Index drifting = -1;
    /// The reported variable by which a chain that was put elsewhere stayed, in its second half, beyond all draws,
    /// though the density there is not so low that it could hold nothing: less than 10 + 4 nats below for each
    /// coordinate that was moved. −1 where all come back.
    Index away = -1;
};

class Explorer {
  public:
    Explorer(const Model& model, const State& state, const ModelDensity& density, const LabelledDensity& labelled,
             ValuesAt values_at, std::uint64_t seed, int threads);

    /// The model has a Gibbs step, and it is cheap enough for some chains.
    bool can_explore() const { return chains_ > 0; }

    /// `values` are the reported variables at the draws. A point is uncovered above this limit; `turn` sets the random
    /// numbers of several explorations apart.
    Explored explore(const ImportanceSample& sample, const Matrix& values, double dof, double limit, int turn) const;

    /// Chains from draws, all of the same weight, from these with components emptied and with precisions moved.
    Left leave(const Matrix& draws, const Matrix& values, const Vector& log_density) const;

  private:
    struct Start;
    struct Runs;
    /// A coordinate of a variable by so many sds, or what it and another have.
    struct Move {
        Index variable;
        Index other;  // −1: none
        Index coordinate;
        double sds;
    };
    std::vector<Move> moves(const std::vector<Index>& locations) const;
    Start moved(Vector point, const Move& move, const Matrix& draws, const Vector& weights) const;
    std::vector<Start> starts(const Matrix& draws, const Vector& weights, bool from_afar, Random& random) const;
    Matrix run(const Start& start, Random& random) const;
    Runs run_all(const Matrix& draws, const Vector& weights, bool from_afar, int turn) const;
    Index drifting(const Runs& runs, const Matrix& z) const;

    const Model& model_;
    const State& state_;
    const ModelDensity& density_;
    const LabelledDensity& labelled_;
    ValuesAt values_at_;
    std::uint64_t seed_;
    int threads_;
    Index chains_ = 0;
    Index kept_ = 0;  // points of a chain
    std::vector<Index> precisions_;
    std::vector<Move> moves_;
};

}  // namespace lrvb::detail
