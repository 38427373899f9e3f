#include "base/bytes.hpp"
#include "base/messages.hpp"
#include "query/tallies.hpp"

#include <lrvb/query/influence.hpp>
#include <lrvb/query/row_tallies.hpp>

#include <Eigen/Cholesky>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <unordered_map>

namespace lrvb {

namespace {

std::vector<Index> free_ones(const Posterior& posterior, const std::vector<std::string>& names) {
    std::vector<Index> asked;
    if (!names.empty()) {
        asked = posterior.select(names);
    } else {
        // Of a large model the globals; where there are none, what there is.
        const auto add = [&](bool local) {
            for (std::size_t v = 0; v < posterior.variables.size(); ++v) {
                const VariableMeaning& meaning = posterior.variables[v].meaning;
                if (meaning.is_parameter && meaning.is_local == local) asked.push_back(static_cast<Index>(v));
            }
        };
        add(false);
        if (asked.empty()) add(true);
    }
    const Vector sds = posterior.sds(asked);
    std::vector<Index> free;
    for (std::size_t v = 0; v < asked.size(); ++v) {
        if (sds[static_cast<Index>(v)] > 0.0) free.push_back(asked[v]);
    }
    return free;
}

// R with |Rᵀδ|² = δᵀ C⁻¹ δ for every δ that C allows; directions without variance (weights add up to one) have no
// distance. By C = Pᵀ L D Lᵀ P with pivots: those that are nothing but rounding come last, and change nothing before.
Matrix root_of_inverse(const Matrix& covariance) {
    constexpr double kRounding = 1e-10;  // of a correlation matrix
    const Vector inverse = covariance.diagonal().cwiseSqrt().cwiseInverse();
    const Eigen::LDLT<Matrix> ldlt(inverse.asDiagonal() * covariance * inverse.asDiagonal());
    const Vector pivots = ldlt.vectorD();
    Matrix root = Matrix::Zero(inverse.size(), inverse.size());
    for (Index i = 0; i < inverse.size(); ++i) {
        if (pivots[i] > kRounding) root(i, i) = 1.0 / std::sqrt(pivots[i]);
    }
    ldlt.matrixU().solveInPlace(root);
    return inverse.asDiagonal() * Matrix(ldlt.transpositionsP().transpose() * root);
}

std::string written(const std::vector<RowInfluence::Case>& cases) {
    detail::ByteWriter writer;
    for (const RowInfluence::Case& one : cases) {
        writer.number(one.row).vector(one.inputs).number(one.distance).vector(one.shifts);
    }
    return writer.take();
}

std::vector<RowInfluence::Case> cases_of(std::string_view bytes) {
    std::vector<RowInfluence::Case> cases;
    for (detail::ByteReader reader(bytes); !reader.at_end();) {
        RowInfluence::Case& one = cases.emplace_back();
        one.row = reader.index();
        one.inputs = reader.vector();
        one.distance = reader.number<double>();
        one.shifts = reader.vector();
    }
    return cases;
}

// What the distance of a case is taken by, and how many of them are kept.
struct Furthest {
    Index count = 0;
    Vector sds;
    Matrix root;

    std::string bytes() const { return detail::ByteWriter().number(count).vector(sds).matrix(root).take(); }
    static Furthest of(std::string_view bytes) {
        detail::ByteReader reader(bytes);
        Furthest result;
        result.count = reader.index();
        result.sds = reader.vector();
        result.root = reader.matrix();
        return result;
    }
};

Matrix shifts_of(const Matrix& changes, const Vector& sds) {
    return changes * sds.cwiseInverse().asDiagonal();
}

Vector distances_of(const Matrix& changes, const Matrix& root) {
    if (root.size() == 0) return Vector::Zero(changes.rows());
    return (changes * root).rowwise().norm();
}

// How many are kept stands before them.
std::string furthest_rows(std::string_view asked, const RowAnswers& rows) {
    const Furthest wanted = Furthest::of(asked);
    MostInfluential most(wanted.count);
    const Matrix change = RowInfluence::changes(rows);
    const Vector distance = distances_of(change, wanted.root);
    for (Index i = 0; i < change.rows(); ++i) {
        if (!most.wants(distance[i])) continue;
        most.add({rows.first + i, rows.inputs.row(i), distance[i], shifts_of(change.row(i), wanted.sds).row(0)});
    }
    return detail::ByteWriter().number(wanted.count).text(written(most.kept())).take();
}

std::string merge_furthest(const std::string& left, const std::string& right) {
    detail::ByteReader first(left);
    detail::ByteReader second(right);
    const Index count = first.index();
    static_cast<void>(second.index());
    MostInfluential most(count);
    for (const RowInfluence::Case& one : cases_of(first.text())) most.add(one);
    for (const RowInfluence::Case& one : cases_of(second.text())) most.add(one);
    return detail::ByteWriter().number(count).text(written(most.kept())).take();
}

}  // namespace

const RowTally& detail::influence_tally() {
    static const RowTally tally{"influence", furthest_rows, merge_furthest};
    return tally;
}

RowInfluence::RowInfluence(const FittedModel& fitted, const std::vector<std::string>& names)
    : fitted_(fitted),
      variables_(free_ones(fitted.posterior(), names)),
      functionals_(fitted.functionals(variables_)),
      sds_(fitted.shown().sds(variables_)) {
    static_cast<void>(fitted.row_model());
    static_cast<void>(fitted.response());
    if (variables_.empty()) return;
    if (static_cast<Index>(variables_.size()) > 2 * kDenseStatistics) {
        throw std::length_error(
            fmt::format("the distance of {} variables together would take {} numbers: name some of them",
                        variables_.size(), variables_.size() * variables_.size()));
    }
    const Centring centring = fitted.centring(variables_);
    const SparseMatrix weights = functionals_.resolve(fitted.model().layout()).weights;
    const Functionals centred(SparseMatrix(weights * SparseMatrix(centring.change.transpose())));
    root_ = centring.change.transpose() *
            root_of_inverse(fitted.is_corrected()
                                ? fitted.shown().covariance_of(centring.variables, Method::linear_response)
                                : fitted.response().covariance(centred));
}

void RowInfluence::each(const std::function<void(const Case&)>& visit) const {
    fitted_.response().case_weights(functionals_, [&](const RowAnswers& rows) {
        const Matrix change = changes(rows);
        const Matrix shift = shifts(change);
        const Vector distance = distances(change);
        for (Index i = 0; i < change.rows(); ++i) {
            visit({rows.first + i, rows.inputs.row(i), distance[i], shift.row(i)});
        }
    });
}

std::vector<RowInfluence::Case> RowInfluence::most_influential(Index count) const {
    const std::string kept = fitted_.response().tally_case_weights(functionals_, detail::influence_tally(),
                                                                   Furthest{count, sds_, root_}.bytes());
    if (kept.empty()) return {};
    detail::ByteReader reader(kept);
    static_cast<void>(reader.index());
    return cases_of(reader.text());
}

RowInfluence::Case RowInfluence::refitted(const Case& one) const {
    const Matrix change = refitted_change({one.row});
    return {one.row, one.inputs, distances(change)[0], shifts(change).row(0)};
}

std::vector<RowInfluence::GroupCase> RowInfluence::of_groups(const std::vector<Group>& groups) const {
    std::vector<std::size_t> group_of(static_cast<std::size_t>(fitted_.file().data.rows), groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g) {
        for (const Index row : groups[g].rows) group_of.at(static_cast<std::size_t>(row)) = g;
    }
    Matrix change = Matrix::Zero(static_cast<Index>(groups.size()), static_cast<Index>(variables_.size()));
    fitted_.response().case_weights(functionals_, [&](const RowAnswers& rows) {
        const Matrix own = changes(rows);
        for (Index i = 0; i < own.rows(); ++i) {
            const std::size_t group = group_of[static_cast<std::size_t>(rows.first + i)];
            if (group < groups.size()) change.row(static_cast<Index>(group)) += own.row(i);
        }
    });
    const Matrix shift = shifts(change);
    const Vector distance = distances(change);
    std::vector<GroupCase> result;
    result.reserve(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const auto at = static_cast<Index>(g);
        result.push_back({groups[g].name, static_cast<Index>(groups[g].rows.size()), distance[at], shift.row(at)});
    }
    return result;
}

RowInfluence::GroupCase RowInfluence::refitted(const Group& group) const {
    const Matrix change = refitted_change(group.rows);
    return {group.name, static_cast<Index>(group.rows.size()), distances(change)[0], shifts(change).row(0)};
}

// By name: a model of fewer rows may have fewer variables, such as the effect of a group that is gone; what is no
// longer there has not moved from anywhere.
Matrix RowInfluence::refitted_change(const std::vector<Index>& rows) const {
    const RefitChange without{rows, {}};
    Matrix change = Matrix::Zero(1, static_cast<Index>(variables_.size()));
    if (const std::optional<Moments> after = fitted_.refitted_moments(without)) {
        for (std::size_t v = 0; v < variables_.size(); ++v) {
            const Index at = variables_[v];
            change(0, static_cast<Index>(v)) =
                after->means[at] - fitted_.shown().variables[static_cast<std::size_t>(at)].mean;
        }
        return change;
    }
    const Posterior after = fitted_.refit(without);
    std::unordered_map<std::string_view, double> means;
    for (const PosteriorVariable& variable : after.variables) means.emplace(variable.name, variable.mean);
    for (std::size_t v = 0; v < variables_.size(); ++v) {
        const PosteriorVariable& variable = fitted_.posterior().variables[static_cast<std::size_t>(variables_[v])];
        const auto found = means.find(variable.name);
        if (found != means.end()) change(0, static_cast<Index>(v)) = found->second - variable.mean;
    }
    return change;
}

std::vector<RowInfluence::Group> rows_by(const FittedModel& fitted, const Dataset& data, const std::string& column) {
    FrameOptions options;
    options.columns = {column};
    options.text = {column};
    options.missing = fitted.file().data.dropped > 0 ? Missing::drop : Missing::refuse;
    const DataFrame frame = data.with_na(fitted.file().data.na).frame(options);
    const FrameColumn& values = frame.columns.front();
    std::unordered_map<Index, std::uint32_t> level_of;  // by the file's row
    for (Index n = 0; n < frame.rows; ++n)
        level_of.emplace(frame.file_row(n), values.codes[static_cast<std::size_t>(n)]);
    std::vector<RowInfluence::Group> groups;
    std::vector<std::size_t> place(values.levels.size(), values.levels.size());
    for (Index n = 0; n < fitted.file().data.rows; ++n) {
        const auto found = level_of.find(fitted.file_row(n));
        if (found == level_of.end()) {
            throw std::runtime_error(
                fmt::format("{}: row {} has no value in the column {}, so that it belongs to no group", frame.name,
                            fitted.file_row(n), detail::shown(column)));
        }
        std::size_t& at = place[found->second];
        if (at == values.levels.size()) {
            at = groups.size();
            groups.push_back({values.levels[found->second], {}});
        }
        groups[at].rows.push_back(n);
    }
    return groups;
}

void MostInfluential::add(const RowInfluence::Case& one) {
    const auto further = [](const RowInfluence::Case& a, const RowInfluence::Case& b) {
        return a.distance != b.distance ? a.distance > b.distance : a.row < b.row;
    };
    if (!wants(one.distance)) return;
    kept_.insert(std::upper_bound(kept_.begin(), kept_.end(), one, further), one);
    if (static_cast<Index>(kept_.size()) > count_) kept_.pop_back();
}

Matrix RowInfluence::changes(const RowAnswers& case_weights) {
    return -(case_weights.weights.asDiagonal() * case_weights.answers);
}

Matrix RowInfluence::shifts(const Matrix& changes) const {
    return shifts_of(changes, sds_);
}

Vector RowInfluence::distances(const Matrix& changes) const {
    return distances_of(changes, root_);
}

void register_query_tallies() {
    register_row_tally(detail::robust_tally());
    register_row_tally(detail::influence_tally());
}

}  // namespace lrvb
