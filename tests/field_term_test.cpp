// rw2(t) in the field, against the dense normal model: Lindgren & Rue's (2008) band matrix K as they print it, its
// generalised inverse by its eigenvalues, and the covariance matrix of the rows written out.

#include "data_files.hpp"
#include "formula/term/latent_term.hpp"

#include <lrvb/formula/design.hpp>
#include <lrvb/model/field.hpp>
#include <lrvb/testing/model_battery.hpp>
#include <lrvb/testing/response_battery.hpp>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace lrvb {
namespace {

using detail::LatentTerm;

/// Lindgren & Rue's matrix, entry by entry; what refers to a node that is not there is left out.
Matrix lindgren_rue(const Vector& t) {
    const Index count = t.size();
    const auto d = [&](Index i) { return i >= 0 && i + 1 < count ? t[i + 1] - t[i] : 0.0; };
    const auto inner = [&](Index k) { return k > 0 && k + 1 < count; };
    Matrix result = Matrix::Zero(count, count);
    for (Index i = 0; i < count; ++i) {
        // Of the differences about the nodes i − 1, i and i + 1.
        if (inner(i - 1)) result(i, i) += 2.0 / (d(i - 1) * d(i - 1) * (d(i - 2) + d(i - 1)));
        if (inner(i)) result(i, i) += 2.0 / (d(i - 1) * d(i)) * (1.0 / d(i - 1) + 1.0 / d(i));
        if (inner(i + 1)) result(i, i) += 2.0 / (d(i) * d(i) * (d(i) + d(i + 1)));
        if (i + 1 < count) {
            double entry = 0.0;
            if (inner(i)) entry -= 2.0 / (d(i) * d(i)) / d(i - 1);
            if (inner(i + 1)) entry -= 2.0 / (d(i) * d(i)) / d(i + 1);
            result(i, i + 1) = result(i + 1, i) = entry;
        }
        if (i + 2 < count) result(i, i + 2) = result(i + 2, i) = 2.0 / (d(i) * d(i + 1) * (d(i) + d(i + 1)));
    }
    return result;
}

/// Of rank T − 2, scaled to a diagonal with geometric mean one; `scale`: what it was divided by.
Matrix scaled_inverse(const Matrix& precision, double* scale = nullptr) {
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(precision);
    const Index rank = precision.rows() - 2;
    const Matrix vectors = eigen.eigenvectors().rightCols(rank);
    const Matrix inverse = vectors * eigen.eigenvalues().tail(rank).cwiseInverse().asDiagonal() * vectors.transpose();
    const double mean = std::exp(inverse.diagonal().array().log().mean());
    if (scale != nullptr) *scale = mean;
    return inverse / mean;
}

const Vector kUneven{{0.0, 1.0, 1.5, 4.0, 4.25, 7.0, 7.5, 8.0, 12.0}};

std::shared_ptr<const LatentTerm> term_of(const Vector& nodes) {
    return detail::find_latent_term("rw2")->learn(nodes, "rw2(t)", "t");
}

TEST(RandomWalk2, HasTheGeneralisedInverseOfLindgrenAndRuesMatrixAtItsNodes) {
    const auto term = term_of(kUneven);
    const Matrix rows = term->rows(kUneven);
    EXPECT_EQ(rows.cols(), kUneven.size() - 2);
    const Matrix expected = scaled_inverse(lindgren_rue(kUneven));
    EXPECT_LT((rows * rows.transpose() - expected).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_NEAR((rows * rows.transpose()).diagonal().array().log().mean(), 0.0, 1e-12);
    EXPECT_LT(rows.colwise().sum().cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LT((kUneven.transpose() * rows).cwiseAbs().maxCoeff(), 1e-11);
}

TEST(RandomWalk2, DoesNotDependOnTheUnitAndTheOriginOfTime) {
    const Matrix rows = term_of(kUneven)->rows(kUneven);
    const Vector years = (kUneven.array() / 365.25 + 1e6).matrix();
    EXPECT_LT((term_of(years)->rows(years) - rows).cwiseAbs().maxCoeff(), 1e-6);  // the digits that are left of 1e6
    const Vector far = kUneven.array() + 1e9;
    EXPECT_LT((term_of(far)->rows(far) - rows).cwiseAbs().maxCoeff(), 1e-12);
    const Vector turned = -kUneven.reverse();
    const Matrix reversed = term_of(turned)->rows(turned);
    EXPECT_LT((reversed * reversed.transpose() - (rows * rows.transpose()).reverse()).cwiseAbs().maxCoeff(), 1e-11);
}

TEST(RandomWalk2, IsALineBetweenTwoNodes) {
    const auto term = term_of(kUneven);
    const Matrix rows = term->rows(Vector{{1.5, 2.5, 4.0}});
    EXPECT_LT((rows.row(1) - (0.6 * rows.row(0) + 0.4 * rows.row(2))).cwiseAbs().maxCoeff(), 1e-13);
    EXPECT_EQ(term->beyond(Vector{{0.0, 2.5, 12.0}}), Vector::Zero(3));
}

// With a node there, the walk has the same precision about all nodes before it, and one difference more.
TEST(RandomWalk2, GoesOnBeyondItsNodesAsTheWalkWithANodeThere) {
    const auto term = term_of(kUneven);
    double scale = 0.0;
    scaled_inverse(lindgren_rue(kUneven), &scale);
    for (const double there : {14.5, -3.0}) {
        Vector nodes(kUneven.size() + 1);
        nodes << kUneven, there;
        std::sort(nodes.begin(), nodes.end());
        const Matrix precision = lindgren_rue(nodes) * scale;  // of f/(sd c)
        const Index at = there > 0.0 ? nodes.size() - 1 : 0;
        // Given f at the others it is normal about the line through the two next to it.
        const Vector row = term->rows(Vector{{there}}).row(0);
        const Index one = there > 0.0 ? at - 1 : 1;
        const Index two = there > 0.0 ? at - 2 : 2;
        EXPECT_NEAR(term->beyond(Vector{{there}})[0], 1.0 / precision(at, at), 1e-10);
        const Matrix next = term->rows(Vector{{nodes[one], nodes[two]}});
        const Vector line = -(precision(at, one) * next.row(0) + precision(at, two) * next.row(1)) / precision(at, at);
        EXPECT_LT((row - line).cwiseAbs().maxCoeff(), 1e-10);
    }
}

TEST(RandomWalk2, RefusesFewerThanThreeValuesAndTooMany) {
    EXPECT_THROW(term_of(Vector{{1.0, 2.0}}), std::runtime_error);
    EXPECT_THROW(term_of(Vector::LinSpaced(401, 0.0, 1.0)), std::runtime_error);
    EXPECT_NO_THROW(term_of(Vector::LinSpaced(400, 0.0, 1.0)));
    const detail::LatentTermKind& kind = *detail::find_latent_term("rw2");
    EXPECT_EQ(kind.read(Vector{{1.0, 3.0, 2.0}}), nullptr);
    EXPECT_EQ(kind.read(Vector{{1.0, 2.0}}), nullptr);
    EXPECT_NE(kind.read(kUneven), nullptr);
}

/// Rows at uneven times, several at some, out of order; a second walk on other times, and groups.
struct Example {
    FieldData data;
    std::vector<Vector> nodes;             // of each term
    std::vector<std::vector<Index>> node;  // of each term and row
};

void add_term(Example& example, const std::string& column, const Vector& times) {
    Vector nodes = times;
    std::sort(nodes.begin(), nodes.end());
    nodes.conservativeResize(std::unique(nodes.begin(), nodes.end()) - nodes.begin());
    const auto term = term_of(nodes);
    FieldData& data = example.data;
    const Index slopes = data.slopes();
    Matrix columns(times.size(), data.columns.cols() + 1 + term->size());
    columns.leftCols(slopes) = data.columns.leftCols(slopes);
    columns.col(slopes) = times;
    const Index before = data.columns.cols() - slopes;
    columns.middleCols(slopes + 1, before) = data.columns.rightCols(before);
    columns.rightCols(term->size()) = term->rows(times);
    data.columns = columns;
    data.names.insert(data.names.begin() + slopes, column);
    for (FieldTerm& other : data.terms) ++other.first;
    const std::string name = "rw2(" + column + ")";
    data.terms.push_back({name, slopes + 1 + before, term->size()});
    for (Index k = 0; k < term->size(); ++k) data.names.push_back(name + "," + std::to_string(k + 1));
    example.nodes.push_back(nodes);
    example.node.emplace_back();
    for (const double time : times) {
        example.node.back().push_back(std::lower_bound(nodes.begin(), nodes.end(), time) - nodes.begin());
    }
}

Example example_of(int terms, bool has_groups, const std::string& family = "gaussian") {
    constexpr Index rows = 40;
    Random random(3);
    Example example;
    FieldData& data = example.data;
    data.likelihood = Likelihood::named(family);
    data.y.resize(rows);
    data.columns.resize(rows, 0);
    Vector t(rows);
    Vector s(rows);
    for (Index n = 0; n < rows; ++n) {
        t[n] = kUneven[(7 * n + n / 9) % kUneven.size()];
        s[n] = std::round(10.0 * random.uniform()) / 2.0;
        data.y[n] = 3.0 + 0.5 * t[n] + 2.0 * std::sin(t[n]) + std::cos(s[n]) + static_cast<double>(n % 4) * 0.7 +
                    random.normal();
        if (family == "poisson") data.y[n] = std::round(std::exp(0.15 * data.y[n]));
    }
    add_term(example, "t", t);
    if (terms > 1) add_term(example, "s", s);
    if (has_groups) {
        FieldFactor factor;
        factor.name = "g";
        factor.levels = {"a", "b", "c", "d"};
        factor.effects = {"intercept"};
        factor.intercept = 0;
        for (Index n = 0; n < rows; ++n) factor.level.push_back(static_cast<int>(n % 4));
        factor.values = Matrix::Ones(rows, 1);
        data.factors.push_back(factor);
    }
    return example;
}

double log_half_t(double sd, double df, double scale) {
    const double z = sd / scale;
    return std::log(2.0) + std::lgamma(0.5 * (df + 1.0)) - std::lgamma(0.5 * df) -
           0.5 * std::log(df * std::numbers::pi) - std::log(scale) - 0.5 * (df + 1.0) * std::log1p(z * z / df);
}

/// The joint normal of the rows and of (α, β, f of every term at its nodes), given sds: of groups, of terms, σ.
struct Dense {
    double log_density = 0.0;  // with the prior of the logs of the sds
    Vector mean;
    Matrix covariance;

    Dense(const Example& example, const FieldPrior& prior, const Vector& sds) {
        const FieldData& data = example.data;
        const Index rows = data.y.size();
        const Index slopes = data.slopes();
        Index size = 1 + slopes;
        for (const Vector& nodes : example.nodes) size += nodes.size();
        Matrix design = Matrix::Zero(rows, size);
        Matrix before = Matrix::Zero(size, size);
        Vector centre = Vector::Zero(size);
        design.col(0).setOnes();
        centre[0] = prior.intercept_mean;
        before(0, 0) = prior.intercept_sd * prior.intercept_sd;
        for (Index j = 0; j < slopes; ++j) {
            design.col(1 + j) = data.columns.col(j).array() - data.columns.col(j).mean();
            before(1 + j, 1 + j) = prior.sd[j] * prior.sd[j];
        }
        const auto groups = static_cast<Index>(data.factors.size());
        Index next = 1 + slopes;
        for (std::size_t i = 0; i < example.nodes.size(); ++i) {
            const double sd = sds[groups + static_cast<Index>(i)];
            const Index count = example.nodes[i].size();
            before.block(next, next, count, count) = sd * sd * scaled_inverse(lindgren_rue(example.nodes[i]));
            for (Index n = 0; n < rows; ++n) design(n, next + example.node[i][static_cast<std::size_t>(n)]) = 1.0;
            next += count;
        }
        const double sigma = sds[sds.size() - 1];
        Matrix noise = sigma * sigma * Matrix::Identity(rows, rows);
        for (Index n = 0; groups > 0 && n < rows; ++n) {
            for (Index m = 0; m < rows; ++m) {
                const std::vector<int>& level = data.factors[0].level;
                if (level[static_cast<std::size_t>(n)] == level[static_cast<std::size_t>(m)])
                    noise(n, m) += sds[0] * sds[0];
            }
        }
        const Matrix total = design * before * design.transpose() + noise;
        const Eigen::LLT<Matrix> factor(total);
        const Vector away = data.y - design * centre;
        const Vector solved = factor.solve(away);
        log_density = -0.5 * away.dot(solved) - factor.matrixLLT().diagonal().array().log().sum() -
                      0.5 * static_cast<double>(rows) * std::log(2.0 * std::numbers::pi);
        for (Index i = 0; i < sds.size(); ++i) {
            const ScalePrior& own = i < groups           ? prior.factors[0].sd[0]
                                    : i + 1 < sds.size() ? prior.terms[static_cast<std::size_t>(i - groups)]
                                                         : prior.sigma;
            log_density += log_half_t(sds[i], own.first, own.second) + std::log(sds[i]);
        }
        const Matrix gain = before * design.transpose();
        mean = centre + gain * solved;
        covariance = before - gain * factor.solve(gain.transpose());
    }
};

/// α, β and the curves as combinations of the model's coefficients.
struct Reported {
    Matrix weights;
    Vector constants;

    Reported(const FieldModel& model, const Example& example) {
        const Functionals::Resolved all = model.coefficients().resolve(model.layout());
        const Matrix each = Matrix(all.weights).bottomRows(model.coefficient_count());
        const Index first = 1 + example.data.slopes();
        Index size = first;
        for (const Vector& nodes : example.nodes) size += nodes.size();
        weights = Matrix::Zero(each.rows(), size);
        constants = Vector::Zero(size);
        weights.leftCols(first) = each.leftCols(first);
        constants.head(first) = all.constants.head(first);
        Index to = first;
        Index from = first;
        for (const Vector& nodes : example.nodes) {
            const Matrix rows = term_of(nodes)->rows(nodes);
            weights.middleCols(to, nodes.size()) = each.middleCols(from, rows.cols()) * rows.transpose();
            to += nodes.size();
            from += rows.cols();
        }
    }
};

void expect_dense(const Example& example, const Vector& sds) {
    const FieldModel model(example.data);
    const Dense dense(example, model.prior(), sds);
    const Vector psi = sds.array().log().matrix() - model.psi_shift();
    EXPECT_NEAR(model.log_density(psi), dense.log_density, 1e-6);
    const auto given = model.conditional(psi);
    const Reported reported(model, example);
    const Vector mean = reported.weights.transpose() * given->mean() + reported.constants;
    const Matrix covariance = reported.weights.transpose() * given->covariance_times(reported.weights);
    const Vector sd = dense.covariance.diagonal().cwiseSqrt();
    EXPECT_LT((mean - dense.mean).cwiseQuotient(sd).cwiseAbs().maxCoeff(), 1e-6);
    EXPECT_LT((covariance.diagonal().cwiseSqrt().cwiseQuotient(sd).array() - 1.0).abs().maxCoeff(), 1e-6);
    EXPECT_LT((covariance - dense.covariance).cwiseAbs().maxCoeff(), 1e-6 * sd.maxCoeff() * sd.maxCoeff());
}

TEST(LatentTermInTheField, EqualsTheDenseNormalModelAtGivenSds) {
    expect_dense(example_of(1, false), Vector{{1.7, 0.9}});
    expect_dense(example_of(1, false), Vector{{0.02, 2.5}});
    expect_dense(example_of(1, false), Vector{{40.0, 0.3}});
}

TEST(LatentTermInTheField, EqualsItBesideGroupsAndAnotherTerm) {
    expect_dense(example_of(1, true), Vector{{0.8, 1.7, 0.9}});
    expect_dense(example_of(2, false), Vector{{1.7, 0.6, 0.9}});
    expect_dense(example_of(2, true), Vector{{0.8, 1.7, 0.6, 0.9}});
}

TEST(LatentTermInTheField, HasTheGradientsOfItsDensities) {
    for (const std::string family : {"gaussian", "poisson"}) {
        const Example example = example_of(2, true, family);
        const FieldModel model(example.data);
        Vector psi = Vector::Constant(model.variance_count(), -0.4);
        psi[1] = 0.3;
        Vector gradient;
        model.log_density(psi, &gradient);
        for (Index j = 0; j < psi.size(); ++j) {
            constexpr double step = 1e-4;
            Vector up = psi;
            Vector down = psi;
            up[j] += step;
            down[j] -= step;
            EXPECT_NEAR(gradient[j], (model.log_density(up) - model.log_density(down)) / (2.0 * step), 2e-5);
        }
    }
}

}  // namespace
}  // namespace lrvb
