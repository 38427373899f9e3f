#include "base/parallel.hpp"
#include "base/validate.hpp"
#include "sample/trajectory.hpp"

#include <lrvb/sample/diagnostics.hpp>
#include <lrvb/sample/nuts.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace lrvb {

namespace {

constexpr std::uint64_t kTrajectories = std::uint64_t{1} << 53U;  // streams
constexpr double kDispersion = 1.5;                               // of the beginnings, in sds of the approximation
constexpr int kHalvings = 60;                                     // of a beginning that has no density
constexpr Index kRoundsBetweenReports = 16;
constexpr Index kFewestDraws = 8;  // of a chain, for it to be judged

double gigabytes(Index draws, Index coordinates) {
    return 1e-9 * sizeof(double) * static_cast<double>(draws) * static_cast<double>(coordinates);
}

struct Move {
    double log_density = 0.0;
    double acceptance = 0.0;
    Index steps = 0;
    bool diverged = false;
    bool was_cut = false;
};

// What is kept of a chain.
struct Kept {
    Kept(Index dimension, Index most) : positions(dimension, most) {}

    void add(const detail::NoUTurnChain& chain) {
        positions.col(count++) = chain.draw();
        moves.push_back({chain.log_density(), chain.acceptance(), chain.steps(), chain.diverged(), chain.was_cut()});
    }

    Matrix positions;
    std::vector<Move> moves;
    Index count = 0;
};

class Sampler {
  public:
    Sampler(const SmoothDensity& density, const Whitening& whitening, const NutsOptions& options)
        : density_(density), options_(options), kept_(options.draws / options.chains), whitening_(whitening) {}

    NutsSample run() {
        NutsSample best = run_chains(0, options_.gradients);
        Index gradients = best.gradients;
        for (int refinement = 1; refinement <= options_.refinements && !best.reliable(); ++refinement) {
            if (gradients >= options_.gradients || best.points.cols() == 0) break;
            std::optional<Whitening> refined = whitening_.refined(best.points, std::max(best.ess, 1.0));
            if (!refined) break;
            whitening_ = *std::move(refined);
            NutsSample next = run_chains(refinement, options_.gradients - gradients);
            gradients += next.gradients;
            next.refinements = refinement;
            const bool better = next.reliable() || (next.r_hat <= best.r_hat && next.divergences <= best.divergences) ||
                                next.ess > best.ess;
            if (!better) break;
            best = std::move(next);
        }
        best.gradients = gradients;
        return best;
    }

  private:
    // −∞ for what is no number; gradients in z.
    DensityGradients evaluate(const Matrix& z) const {
        DensityGradients result = density_.evaluate_gradients(whitening_.points(z), options_.threads);
        constexpr double infinity = std::numeric_limits<double>::infinity();
        for (Index i = 0; i < z.cols(); ++i) {
            if (result.values[i] < infinity && result.gradients.col(i).allFinite()) continue;
            result.values[i] = -infinity;
            result.gradients.col(i).setZero();
        }
        result.gradients = whitening_.gradients(result.gradients);
        return result;
    }

    // Places with a density, about the centre, wider than the approximation.
    std::vector<detail::NoUTurnChain> begin(int refinement) const {
        std::vector<Random> random;
        Matrix z(density_.dimension(), options_.chains);
        for (Index c = 0; c < options_.chains; ++c) {
            random.emplace_back(options_.seed, kTrajectories + static_cast<std::uint64_t>(refinement) * 4096U +
                                                   static_cast<std::uint64_t>(c));
            z.col(c) = kDispersion * standard_normals(density_.dimension(), random.back());
        }
        DensityGradients there = evaluate(z);
        for (int halving = 0; halving < kHalvings && !there.values.allFinite(); ++halving) {
            for (Index c = 0; c < options_.chains; ++c) {
                if (!std::isfinite(there.values[c])) z.col(c) *= 0.5;
            }
            there = evaluate(z);
        }
        if (!there.values.allFinite()) {
            throw std::invalid_argument(
                "no_u_turn: the density is zero, or not a number, all about the centre of the approximation");
        }
        std::vector<detail::NoUTurnChain> chains;
        for (Index c = 0; c < options_.chains; ++c) {
            chains.emplace_back(z.col(c), there.values[c], there.gradients.col(c), options_.warmup, options_.acceptance,
                                options_.max_depth, random[static_cast<std::size_t>(c)]);
        }
        return chains;
    }

    // All chains ask together, as long as they have moves to make.
    NutsSample run_chains(int refinement, Index limit) const {
        std::vector<detail::NoUTurnChain> chains = begin(refinement);
        const Index count = options_.chains;
        const Index length = options_.warmup + kept_;
        NutsSample sample;
        sample.chains = options_.chains;
        std::vector<Kept> kept(static_cast<std::size_t>(count), Kept(density_.dimension(), kept_));
        std::vector<Index> asking;
        for (Index c = 0; c < count; ++c) asking.push_back(c);
        Matrix z;
        for (Index round = 0; !asking.empty() && sample.gradients < limit; ++round) {
            const Index size = static_cast<Index>(asking.size());
            z.resize(density_.dimension(), size);
            for (Index i = 0; i < size; ++i) z.col(i) = chain_at(chains, asking, i).position();
            const DensityGradients there = evaluate(z);
            sample.gradients += size;
            for (Index i = 0; i < size; ++i) {
                detail::NoUTurnChain& chain = chain_at(chains, asking, i);
                if (!chain.told(there.values[i], there.gradients.col(i))) continue;
                if (chain.moves() > options_.warmup) {
                    kept[static_cast<std::size_t>(asking[static_cast<std::size_t>(i)])].add(chain);
                }
                if (chain.moves() < length) chain.begin_move();
            }
            std::erase_if(asking, [&](Index c) { return chains[static_cast<std::size_t>(c)].moves() == length; });
            if (round % kRoundsBetweenReports == 0) report(chains, length);
        }
        gather(kept, sample);
        diagnose(sample);
        return sample;
    }

    static detail::NoUTurnChain& chain_at(std::vector<detail::NoUTurnChain>& chains, const std::vector<Index>& asking,
                                          Index i) {
        return chains[static_cast<std::size_t>(asking[static_cast<std::size_t>(i)])];
    }

    // As many draws of each chain as the one with the fewest has.
    void gather(const std::vector<Kept>& kept, NutsSample& sample) const {
        Index length = kept_;
        for (const Kept& one : kept) length = std::min(length, one.count);
        if (length < kFewestDraws) length = 0;
        const Index total = length * sample.chains;
        sample.points.resize(density_.dimension(), total);
        sample.log_density.resize(total);
        if (total == 0) return;
        for (Index c = 0; c < sample.chains; ++c) {
            const Kept& one = kept[static_cast<std::size_t>(c)];
            sample.points.middleCols(c * length, length) = whitening_.points(one.positions.leftCols(length));
            for (Index i = 0; i < length; ++i) {
                const Move& move = one.moves[static_cast<std::size_t>(i)];
                sample.log_density[c * length + i] = move.log_density;
                sample.acceptance += move.acceptance / static_cast<double>(total);
                sample.divergences += move.diverged ? 1 : 0;
                sample.cut += move.was_cut ? 1 : 0;
                sample.kept_gradients += move.steps;
            }
        }
        if (!options_.representative) return;
        for (Index i = 0; i < total; ++i) sample.points.col(i) = options_.representative(sample.points.col(i));
    }

    void report(const std::vector<detail::NoUTurnChain>& chains, Index length) const {
        if (!options_.progress) return;
        double done = 0.0;
        for (const detail::NoUTurnChain& chain : chains) done += static_cast<double>(chain.moves());
        if (options_.progress(done / static_cast<double>(length * static_cast<Index>(chains.size())))) return;
        throw std::runtime_error("no_u_turn: the draws were cancelled");
    }

    void diagnose(NutsSample& sample) const {
        sample.r_hat = std::numeric_limits<double>::infinity();
        if (sample.points.cols() == 0) return;
        const Index dimension = sample.points.rows();
        Vector ess(dimension);
        Vector r_hat(dimension);
        detail::in_parallel(options_.threads, dimension, [&](Index i) {
            const Vector values = sample.points.row(i);
            const Matrix chains = sample.by_chain(values);
            ess[i] = std::min(bulk_ess(chains), tail_ess(chains));
            r_hat[i] = split_r_hat(chains);
        });
        sample.ess = ess.minCoeff();
        sample.r_hat = r_hat.maxCoeff();
    }

    const SmoothDensity& density_;
    const NutsOptions& options_;
    Index kept_;
    Whitening whitening_;
};

}  // namespace

NutsSample no_u_turn(const SmoothDensity& density, const Whitening& whitening, const NutsOptions& options) {
    detail::require_at_least("no_u_turn", "chains", options.chains, 1);
    detail::require_at_least("no_u_turn", "draws", options.draws, Index{25} * options.chains);
    detail::require_at_least("no_u_turn", "warmup", options.warmup, 0);
    detail::require_at_least("no_u_turn", "max_depth", options.max_depth, 1);
    detail::require_at_least("no_u_turn", "threads", options.threads, 1);
    detail::require_size("no_u_turn", "centre", whitening.dimension(), density.dimension());
    if (!(options.acceptance > 0.0 && options.acceptance < 1.0)) {
        throw std::invalid_argument(
            fmt::format("no_u_turn: acceptance is {}; it must be between 0 and 1", options.acceptance));
    }
    if (options.draws > kMostNutsNumbers / density.dimension()) {
        throw std::invalid_argument(
            fmt::format("no_u_turn: {} draws of {} coordinates would take {:.3g} GB, but may take no more than {:.3g}: "
                        "draw {} or fewer",
                        options.draws, density.dimension(), gigabytes(options.draws, density.dimension()),
                        gigabytes(kMostNutsNumbers, 1), kMostNutsNumbers / density.dimension()));
    }
    return Sampler(density, whitening, options).run();
}

NutsSample no_u_turn(const SmoothDensity& density, const NormalApproximation& approximation,
                     const NutsOptions& options) {
    return no_u_turn(density, Whitening::of_covariance(approximation), options);
}

}  // namespace lrvb
