#include "model/field/inner.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>

/// What a bound F(ψ) misses of log p(y | ψ), group by group. Given the rest of the field, a level's effects are
/// t ~ N(0, Q_gg⁻¹) about their mean under q, and rows with what else there is in their predictors averaged out,
/// f_n(μ_n + z_nᵀt, v_n − z_nᵀQ_gg⁻¹z_n), are functions of t. The local posterior
///
///     p_g(t) ∝ exp φ(t),     φ(t) = −½ tᵀP_gg t + cᵀt + Σ_{n∈g} f_n(μ_n + z_nᵀt, v_n − z_nᵀQ_gg⁻¹z_n),
///
/// with c such that q_g is its best normal, exceeds q_g's bound by KL(q_g ‖ p_g), which is what is added: by a rule in
/// t for one or two effects, which stays finite far out; to second order in ℓ''' and ℓ'''' for more,
///
///     Σ_{n,m∈g} (ℓ'''_n ℓ'''_m K_nm³/12 + ℓ''''_n ℓ''''_m K_nm⁴/48),      K_nm = z_nᵀQ_gg⁻¹z_m.
///
/// Mean and covariance are those of local posteriors too, where they have a rule. With t̄ and C mean and covariance of t
/// under p_g, s = Σ_n f'_n x_n the force on the fixed effects, R = Cov(t, s) and V = Cov(s), the group moves the fixed
/// effects by a force E s − s(q) and says I_g = −Σ_n E f''_n x_nx_nᵀ − V of them, and t follows them by R. So Q's
/// blocks become, and forces are,
///
///     of the level  C⁻¹,      beside the fixed effects  −C⁻¹R,      of these  I_g + RᵀC⁻¹R;
///     on the level  C⁻¹t̄,     on the fixed effects  E s − s(q) − RᵀC⁻¹t̄,
///
/// which are Q and nothing where rows are normal. For more effects there are the derivative of the second order in the
/// predictors and the response of S (inner.hpp): far out, where rows of a group are all alike, it would take away
/// all of their precision.
namespace lrvb::detail {

namespace {

constexpr Index kMostPairs = 4000;  // rows of a group: in larger ones the second order is far below sampling error

constexpr std::size_t at(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

struct TensorRule {
    explicit TensorRule(Index effects) {
        const HermiteRule line(effects == 1 ? 15 : 7);
        const auto count = static_cast<Index>(line.nodes.size());
        const Index size = effects == 1 ? count : count * count;
        nodes.resize(effects, size);
        log_weights.resize(size);
        for (Index k = 0; k < size; ++k) {
            log_weights[k] = 0.0;
            for (Index e = 0, rest = k; e < effects; ++e, rest /= count) {
                nodes(e, k) = line.nodes[at(rest % count)];
                log_weights[k] += std::log(line.weights[at(rest % count)]);
            }
        }
    }
    Matrix nodes;
    Vector log_weights;
};

struct Level {
    const RowGroups& groups;
    std::size_t factor;
    Index level;
};

/// p_g at the nodes of a rule.
struct LocalPosterior {
    const Matrix& places;  // t, a column a node
    const Vector& probabilities;
    const std::vector<LikelihoodTerms>& terms;
};

// The blocks of a level and the forces by its local posterior. False where all of it is in one node: then Q stays.
bool use_local(const FieldInnerProblem& problem, const Level& own, const Matrix& prior, const LocalPosterior& local,
               const FieldInner& inner, FieldBlocks& blocks, Vector& force) {
    const Index p = problem.shape().fixed;
    const Index q = local.places.rows();
    const Index nodes = local.places.cols();
    const Vector& probabilities = local.probabilities;
    const RowMajor& fixed = problem.design().fixed();
    const Index begin = own.groups.starts[at(own.level)];
    const Index count = own.groups.starts[at(own.level) + 1] - begin;
    Matrix x(p, count);
    Matrix first(count, nodes);
    Vector second = Vector::Zero(count);
    Vector first_of_q(count);
    Vector weights(count);
    for (Index i = 0; i < count; ++i) {
        const Index n = own.groups.rows[at(begin + i)];
        x.col(i) = fixed.row(n).transpose();
        first_of_q[i] = inner.terms.first[n];
        weights[i] = inner.weights[n];
        for (Index k = 0; k < nodes; ++k) {
            first(i, k) = local.terms[at(k)].first[n];
            second[i] += probabilities[k] * local.terms[at(k)].second[n];
        }
    }
    if (!first.allFinite() || !second.allFinite()) return false;
    const Vector mean = local.places * probabilities;
    const Matrix away = local.places.colwise() - mean;
    const Matrix weighted = away * probabilities.asDiagonal();
    const Eigen::LLT<Matrix> covariance(weighted * away.transpose());
    if (covariance.info() != Eigen::Success) return false;
    const Matrix forces = x * (first.colwise() - first * probabilities);  // s − E s
    const Matrix together = weighted * forces.transpose();                // R
    const Matrix follows = covariance.solve(together);
    const Matrix precision = covariance.solve(Matrix::Identity(q, q)) - prior;
    const Matrix information = -x * (second + weights).asDiagonal() * x.transpose() -
                               forces * probabilities.asDiagonal() * forces.transpose() +
                               together.transpose() * follows;
    const Vector pull = covariance.solve(mean);
    const FieldShape::Factor& factor = problem.shape().factors[own.factor];
    force.segment(factor.offset + own.level * q, q) += pull;
    force.head(p) += x * (first * probabilities - first_of_q) - together.transpose() * pull;
    double* diagonal = blocks.diagonal[own.factor].data() + own.level * q * q;
    double* border = blocks.border[own.factor].data() + own.level * q * p;
    for (Index a = 0; a < q; ++a) {
        for (Index b = 0; b < q; ++b) diagonal[a * q + b] = 0.5 * (precision(a, b) + precision(b, a));
        for (Index j = 0; j < p; ++j) border[a * p + j] = -follows(a, j);
    }
    for (Index i = 0; i < p; ++i) {
        for (Index j = 0; j < p; ++j) blocks.fixed[at(i * p + j)] += information(i, j);
    }
    return true;
}

}  // namespace

FieldInnerProblem::Correction FieldInnerProblem::correction(const FieldGiven& given, const FieldInner& at) const {
    const LocalResponse response(*this, given, at);
    const Index rows = design_->rows();
    Correction result;
    result.blocks = at.blocks;
    result.force = Vector::Zero(shape().size);
    result.blocks.is_fold = response.groupings() <= 1;
    Vector force = Vector::Zero(rows);
    Vector by_rows = Vector::Zero(rows);  // the same of local posteriors, where these are not taken
    for (std::size_t f = 0; f < response.groupings(); ++f) {
        const Index q = response.effects(f);
        const RowGroups& groups = response.groups(f);
        std::vector<Matrix> whitening;  // L⁻¹ of Q_gg = LLᵀ
        for (Index g = 0; g < groups.count(); ++g) {
            const Eigen::LLT<Matrix> factor(response.precision(f, g));
            whitening.emplace_back(factor.matrixL().solve(Matrix::Identity(q, q)));
        }
        if (q > 2 || shape().factors.empty()) respond(response, f, at, true, result.blocks);
        if (q > 2) {
            for (Index g = 0; g < groups.count(); ++g) {
                const Index first = groups.starts[detail::at(g)];
                const Index count = groups.starts[detail::at(g) + 1] - first;
                if (count > kMostPairs) continue;
                Matrix white(q, count);
                Vector third(count);
                Vector fourth(count);
                for (Index i = 0; i < count; ++i) {
                    const Index n = groups.rows[detail::at(first + i)];
                    white.col(i) = Eigen::Map<const Vector>(response.values(f, n), q);
                    third[i] = at.terms.third[n];
                    fourth[i] = at.terms.fourth[n];
                }
                white = (whitening[detail::at(g)] * white).eval();
                // What the variances of predictors exceed v by is ½ Σ_{m,l} ℓ'''_m ℓ'''_l K_nm K_nl K_ml².
                Matrix spread = Matrix::Zero(q, q);
                for (Index i = 0; i < count; ++i) {
                    const Eigen::ArrayXd k = (white.transpose() * white.col(i)).array();
                    const Eigen::ArrayXd cubes = k * k * k;
                    const double pull = (third.array() * cubes).sum();
                    const double squeeze = (fourth.array() * cubes * k).sum();
                    result.log_evidence += third[i] * pull / 12.0 + fourth[i] * squeeze / 48.0;
                    force[groups.rows[detail::at(first + i)]] += fourth[i] * pull / 6.0;
                    const Vector along = white * (third.array() * k * k).matrix();
                    spread += third[i] * along * white.col(i).transpose();
                }
                for (Index i = 0; i < count; ++i) {
                    force[groups.rows[detail::at(first + i)]] +=
                        0.25 * third[i] * white.col(i).dot(spread * white.col(i));
                }
            }
            continue;
        }

        const TensorRule rule(q);
        const Index nodes = rule.log_weights.size();
        Matrix log_terms(nodes, groups.count());
        std::vector<LikelihoodTerms> at_node(detail::at(nodes));
        Vector variances = at.variances;
        std::vector<Matrix> shifts(detail::at(groups.count()));  // t at the nodes
        for (Index g = 0; g < groups.count(); ++g) {
            const Matrix& inverse = whitening[detail::at(g)];
            shifts[detail::at(g)] = inverse.transpose() * rule.nodes;
            Vector linear = Vector::Zero(q);
            for (Index i = groups.starts[detail::at(g)]; i < groups.starts[detail::at(g) + 1]; ++i) {
                const Index n = groups.rows[detail::at(i)];
                const Eigen::Map<const Vector> z(response.values(f, n), q);
                variances[n] = std::max(0.0, variances[n] - (inverse * z).squaredNorm());
                linear -= at.terms.first[n] * z;
            }
            const bool by_fixed = shape().factors.empty();
            const Matrix prior = by_fixed ? Matrix(given.fixed_precision.asDiagonal()) : given.precisions[f];
            for (Index k = 0; k < nodes; ++k) {
                const Vector t = shifts[detail::at(g)].col(k);
                log_terms(k, g) = rule.log_weights[k] + 0.5 * rule.nodes.col(k).squaredNorm() - 0.5 * t.dot(prior * t) +
                                  linear.dot(t);
            }
            result.log_evidence -= 0.5 * static_cast<double>(q) - 0.5 * (inverse * prior * inverse.transpose()).trace();
        }
        Vector predictors(rows);
        for (Index k = 0; k < nodes; ++k) {
            for (Index g = 0; g < groups.count(); ++g) {
                for (Index i = groups.starts[detail::at(g)]; i < groups.starts[detail::at(g) + 1]; ++i) {
                    const Index n = groups.rows[detail::at(i)];
                    predictors[n] =
                        at.predictors[n] +
                        Eigen::Map<const Vector>(response.values(f, n), q).dot(shifts[detail::at(g)].col(k));
                }
            }
            LikelihoodTerms& terms = at_node[detail::at(k)];
            likelihood_->terms(predictors, variances, given.theta, threads_, terms);
            for (Index g = 0; g < groups.count(); ++g) {
                for (Index i = groups.starts[detail::at(g)]; i < groups.starts[detail::at(g) + 1]; ++i) {
                    const Index n = groups.rows[detail::at(i)];
                    log_terms(k, g) += terms.value[n] - at.terms.value[n];
                }
            }
        }
        for (Index g = 0; g < groups.count(); ++g) {
            const double largest = log_terms.col(g).maxCoeff();
            Vector probabilities = (log_terms.col(g).array() - largest).exp();
            const double total = probabilities.sum();
            result.log_evidence += largest + std::log(total);
            probabilities /= total;
            const bool is_local = !shape().factors.empty() && use_local(*this, {groups, f, g}, given.precisions[f],
                                                                        {shifts[detail::at(g)], probabilities, at_node},
                                                                        at, result.blocks, result.force);
            if (is_local && response.groupings() <= 1) continue;
            Vector& pulls = is_local ? by_rows : force;
            const Vector mean = shifts[detail::at(g)] * probabilities;
            for (Index i = groups.starts[detail::at(g)]; i < groups.starts[detail::at(g) + 1]; ++i) {
                const Index n = groups.rows[detail::at(i)];
                double slope = 0.0;
                for (Index k = 0; k < nodes; ++k) slope += probabilities[k] * at_node[detail::at(k)].first[n];
                pulls[n] += slope - at.terms.first[n] -
                            at.terms.second[n] * Eigen::Map<const Vector>(response.values(f, n), q).dot(mean);
            }
        }
    }
    if (std::optional<FieldBlocks> sound_blocks = sound(given, at, result.blocks)) {
        result.blocks = std::move(*sound_blocks);
        result.force.setZero();
        force += by_rows;
    }
    result.force += design_->transposed(force, threads_);
    return result;
}

}  // namespace lrvb::detail
