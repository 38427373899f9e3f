#pragma once

#include <lrvb/fit/fit.hpp>

#include <vector>

/// Whether fits of one model ended at the same place, labels aside.
///
/// Two states are apart by max_i |m'_i − m_i|/sd_i over the stacked means, sd_i by mean field at the first: these are
/// the smallest sds, so that no two places pass for one that the posterior could tell apart. What can be exchanged
/// (Model::exchangeable) is first matched: the pairing of blocks with the least Σ((m' − m)/sd)², found exactly
/// (Kuhn's assignment) up to kMostMatched blocks; more of them stay in their order. A model that does not say what can
/// be exchanged (a declared one) is at the same place where the sorted means are the same: then its variables have
/// changed places at most.
namespace lrvb::detail {

/// Places as near as that, in sds, are one: fits end closer to their optimum.
constexpr double kSamePlace = 1.0;
/// Other optima that are listed, at most.
constexpr std::size_t kMostOthers = 5;

/// The state with its exchangeable blocks in the order that brings it nearest to another.
State matched(const Model& model, const State& to, const State& state);

bool same_place(const Model& model, const State& one, const State& other, double sds = kSamePlace);

/// Of converged fits those that are neither where `best` is nor where a better one of them is, and whose bound is
/// within kOtherOptimum of its; the best ones first, kMostOthers at most.
std::vector<Optimum> other_places(const Model& model, const Optimum& best, std::vector<Optimum> found);

}  // namespace lrvb::detail
