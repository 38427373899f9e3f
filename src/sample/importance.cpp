#include "base/parallel.hpp"
#include "base/validate.hpp"
#include "sample/student.hpp"

#include <lrvb/sample/importance.hpp>
#include <lrvb/sample/pareto.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lrvb {

namespace {

constexpr std::uint64_t kRoundStreams = std::uint64_t{1} << 40U;  // streams of one round
// A round is good enough where k̂ is so low that sds, too, have small errors (they are averages of squares, whose tail
// is twice as heavy), and where enough of the draws carry the weight.
constexpr double kComfortableKHat = 0.3;
constexpr double kSmallestShare = 0.02;    // of a part, in what is shared out
constexpr double kDrawsACoordinate = 5.0;  // that a refitted scale needs
constexpr double kPartInflation = 1.2;
constexpr Index kBlock = 64;        // points that are looked at together
constexpr double kInflation = 1.5;  // of the weighted covariance: what is not seen yet is further out

// body(begin, count) of blocks of points that many threads share out.
template <class Body>
void in_blocks(int threads, Index points, const Body& body) {
    detail::in_parallel(threads, (points + kBlock - 1) / kBlock,
                        [&](Index block) { body(block * kBlock, std::min(kBlock, points - block * kBlock)); });
}

// The Student t's of a proposal.
class Parts {
  public:
    Parts(const std::vector<ProposalPart>& proposal, double dof) : log_shares_(static_cast<Index>(proposal.size())) {
        for (std::size_t j = 0; j < proposal.size(); ++j) {
            students_.emplace_back(proposal[j].scale, dof);
            log_shares_[static_cast<Index>(j)] = std::log(proposal[j].share);
        }
    }

    const detail::StudentProposal& operator[](Index part) const { return students_[static_cast<std::size_t>(part)]; }
    Index size() const { return log_shares_.size(); }

    // Squared distances of points from each part, a row a part.
    Matrix squared_distances(const Eigen::Ref<const Matrix>& points) const {
        Matrix distances(size(), points.cols());
        for (Index j = 0; j < size(); ++j) distances.row(j) = (*this)[j].squared_distances(points);
        return distances;
    }
    // log s_j t_j of these distances.
    Matrix log_terms(const Matrix& distances) const {
        Matrix terms(size(), distances.cols());
        for (Index i = 0; i < terms.cols(); ++i) {
            for (Index j = 0; j < size(); ++j)
                terms(j, i) = log_shares_[j] + (*this)[j].log_density_at(distances(j, i));
        }
        return terms;
    }
    Vector log_densities(const Eigen::Ref<const Matrix>& points) const {
        const Matrix terms = log_terms(squared_distances(points));
        if (size() == 1) return terms.row(0).array() - log_shares_[0];
        Vector result(terms.cols());
        for (Index i = 0; i < terms.cols(); ++i) {
            const double largest = terms.col(i).maxCoeff();
            result[i] = largest + std::log((terms.col(i).array() - largest).exp().sum());
        }
        return result;
    }

  private:
    std::vector<detail::StudentProposal> students_;
    Vector log_shares_;
};

// How many draws each part makes: as its share says, and all of them together.
std::vector<Index> part_of_draws(const std::vector<ProposalPart>& proposal, Index draws) {
    std::vector<Index> parts;
    double share = 0.0;
    for (std::size_t j = 0; j < proposal.size(); ++j) {
        share += proposal[j].share;
        const Index end = j + 1 == proposal.size()
                              ? draws
                              : std::min(draws, static_cast<Index>(std::lround(share * static_cast<double>(draws))));
        while (static_cast<Index>(parts.size()) < end) parts.push_back(static_cast<Index>(j));
    }
    return parts;
}

ImportanceSample one_round(const LogDensity& density, std::vector<ProposalPart> proposal,
                           const ImportanceOptions& options, int stream) {
    const std::vector<Index> part_of = part_of_draws(proposal, options.draws);
    // Draws are weighted by what was drawn.
    for (ProposalPart& part : proposal) part.share = 0.0;
    for (const Index part : part_of) {
        proposal[static_cast<std::size_t>(part)].share += 1.0 / static_cast<double>(options.draws);
    }
    const Parts parts(proposal, options.dof);
    ImportanceSample sample;
    sample.points.resize(density.dimension(), options.draws);
    sample.log_proposal.resize(options.draws);
    in_blocks(options.threads, options.draws, [&](Index begin, Index count) {
        const std::uint64_t streams = static_cast<std::uint64_t>(stream) * kRoundStreams;
        for (Index i = begin; i < begin + count;) {
            const Index part = part_of[static_cast<std::size_t>(i)];
            Index end = i + 1;
            while (end < begin + count && part_of[static_cast<std::size_t>(end)] == part) ++end;
            parts[part].draw(options.seed, streams + static_cast<std::uint64_t>(i),
                             sample.points.middleCols(i, end - i));
            i = end;
        }
        sample.log_proposal.segment(begin, count) = parts.log_densities(sample.points.middleCols(begin, count));
    });
    sample.log_density = density.evaluate(sample.points, options.threads);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (double& value : sample.log_density) {
        if (!(value < infinity)) value = -infinity;
    }
    const Vector ratios = sample.log_density - sample.log_proposal;
    if (ratios.maxCoeff() == -infinity) {
        throw std::invalid_argument(
            "importance_sample: the density is zero, or not a number, at every draw: the approximation is nowhere near "
            "it");
    }
    const double largest = ratios.maxCoeff();
    sample.log_integral = largest + std::log((ratios.array() - largest).exp().mean());
    ParetoSmoothed smoothed = pareto_smooth(ratios);
    sample.log_weights = std::move(smoothed.log_weights);
    sample.k_hat = smoothed.k_hat;
    sample.ess = smoothed.ess;
    // Of few draws a part may have none.
    std::erase_if(proposal, [](const ProposalPart& part) { return !(part.share > 0.0); });
    sample.proposal = std::move(proposal);
    return sample;
}

// The weighted moments, as far as the effective draws can bear them: where these are few, the covariance is drawn
// towards the one before, doubled.
NormalApproximation adapted(const ImportanceSample& sample, const NormalApproximation& before) {
    NormalApproximation moments = weighted_moments(sample.points, sample.log_weights);
    const double trusted = sample.ess / (sample.ess + kDrawsACoordinate * static_cast<double>(before.mean.size()));
    moments.covariance = kInflation * trusted * moments.covariance + (1.0 - trusted) * 2.0 * before.covariance;
    return moments;
}

// A step of the EM algorithm for a mixture of Student t's on the weighted draws (Cappé, Douc, Guillin, Marin & Robert
// 2008). A part that few draws are worth keeps more of the scale that it had, doubled.
std::vector<ProposalPart> adapted(const ImportanceSample& sample, const ImportanceOptions& options) {
    const double dof = options.dof;
    const Parts parts(sample.proposal, dof);
    const Index size = parts.size();
    const Index draws = sample.points.cols();
    const double dimension = static_cast<double>(sample.points.rows());
    const Vector weights = weights_of(sample.log_weights);
    Matrix memberships = Matrix::Zero(draws, size);  // weight times the probability that the draw is this part's
    Matrix stretched = memberships;                  // times the precision that the part's Student t has there
    const Matrix distances = parts.squared_distances(sample.points);
    Matrix terms = parts.log_terms(distances);
    for (Index i = 0; i < draws; ++i) {
        if (!(weights[i] > 0.0)) continue;
        const double largest = terms.col(i).maxCoeff();
        terms.col(i) = (terms.col(i).array() - largest).exp();
        memberships.row(i) = weights[i] / terms.col(i).sum() * terms.col(i);
        for (Index j = 0; j < size; ++j) {
            stretched(i, j) = memberships(i, j) * ((dof + dimension) / (dof + distances(j, i)));
        }
    }
    // Squared distances of what is wanted from its mean, in its variances; what overflowed without weight is nothing.
    Matrix squares = options.functions ? options.functions(sample.points) : sample.points;
    for (Index i = 0; i < draws; ++i) {
        if (!(weights[i] > 0.0)) squares.col(i).setZero();
    }
    const Vector mean = squares * weights;
    squares = (squares.colwise() - mean).cwiseAbs2();
    const Vector variance = (squares * weights).cwiseMax(std::numeric_limits<double>::min());
    std::vector<ProposalPart> result = sample.proposal;
    double sum = 0.0;
    for (Index j = 0; j < size; ++j) {
        ProposalPart& part = result[static_cast<std::size_t>(j)];
        const Vector own = memberships.col(j);
        const double mass = own.sum();
        const double spread = (squares * own).cwiseQuotient(variance).maxCoeff();
        part.share = std::max(mass + spread, kSmallestShare);
        sum += part.share;
        if (!(mass > 0.0)) continue;
        const double ess = mass * mass / own.squaredNorm();
        const double trusted = ess / (ess + kDrawsACoordinate * dimension);
        const Vector pull = stretched.col(j);
        const Vector location = sample.points * pull / pull.sum();
        const Matrix about = sample.points.colwise() - location;
        const Matrix scale = about * (pull / mass).asDiagonal() * about.transpose();
        part.scale.covariance = kPartInflation * trusted * scale + (1.0 - trusted) * 2.0 * part.scale.covariance;
        part.scale.mean = trusted * location + (1.0 - trusted) * part.scale.mean;
    }
    for (ProposalPart& part : result) part.share /= sum;
    return result;
}

}  // namespace

bool ImportanceSample::reliable() const {
    return k_hat < pareto_threshold(points.cols());
}

NormalApproximation weighted_moments(const Matrix& points, const Vector& log_weights) {
    const Vector weights = weights_of(log_weights);
    NormalApproximation moments;
    moments.mean = points * weights / weights.sum();
    const Matrix centred = points.colwise() - moments.mean;
    moments.covariance = centred * (weights / weights.sum()).asDiagonal() * centred.transpose();
    return moments;
}

namespace {

// `adapt` makes the proposal of the next round.
template <class Adapt>
ImportanceSample sample_in_rounds(const LogDensity& density, std::vector<ProposalPart> proposal,
                                  const ImportanceOptions& options, int first_stream, Adapt adapt) {
    detail::require_at_least("importance_sample", "draws", options.draws, 100);
    detail::require_at_least("importance_sample", "rounds", options.rounds, 1);
    detail::require_at_least("importance_sample", "threads", options.threads, 1);
    for (const ProposalPart& part : proposal) {
        detail::require_size("importance_sample", "mean", part.scale.mean.size(), density.dimension());
        detail::require_positive("importance_sample", "share", part.share);
    }
    ImportanceSample best;
    for (int round = 0; round < options.rounds; ++round) {
        ImportanceSample sample = one_round(density, proposal, options, first_stream + round);
        const bool good =
            sample.k_hat < kComfortableKHat && sample.ess >= options.enough * static_cast<double>(options.draws);
        if (!good && round + 1 < options.rounds) proposal = adapt(sample);
        // Not simply the lowest k̂: draws that happened to miss a tail have it low, and sds too small.
        if (round == 0 || sample.reliable() || sample.k_hat < best.k_hat) best = std::move(sample);
        best.rounds = round + 1;
        if (good) break;
    }
    return best;
}

}  // namespace

ImportanceSample importance_sample(const LogDensity& density, const NormalApproximation& approximation,
                                   const ImportanceOptions& options) {
    const auto adapt = [](const ImportanceSample& sample) {
        return std::vector<ProposalPart>{{1.0, adapted(sample, sample.proposal.front().scale)}};
    };
    return sample_in_rounds(density, {{1.0, approximation}}, options, 0, adapt);
}

ImportanceSample importance_sample(const LogDensity& density, std::vector<ProposalPart> proposal,
                                   const ImportanceOptions& options, int first_stream) {
    const auto adapt = [&](const ImportanceSample& sample) { return adapted(sample, options); };
    return sample_in_rounds(density, std::move(proposal), options, first_stream, adapt);
}

Vector log_proposal_at(const std::vector<ProposalPart>& proposal, const Matrix& points, double dof, int threads) {
    const Parts parts(proposal, dof);
    Vector result(points.cols());
    in_blocks(threads, points.cols(), [&](Index begin, Index count) {
        result.segment(begin, count) = parts.log_densities(points.middleCols(begin, count));
    });
    return result;
}

}  // namespace lrvb
