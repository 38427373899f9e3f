#include "base/messages.hpp"

#include <lrvb/query/influence.hpp>

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

}  // namespace

RowInfluence::RowInfluence(const FittedModel& fitted, const std::vector<std::string>& names)
    : fitted_(fitted),
      variables_(free_ones(fitted.posterior(), names)),
      functionals_(fitted.functionals(variables_)),
      sds_(fitted.posterior().sds(variables_)) {
    static_cast<void>(fitted.row_model());
    static_cast<void>(fitted.response());
    if (variables_.empty()) return;
    if (static_cast<Index>(variables_.size()) > 2 * kDenseStatistics) {
        throw std::length_error(
            fmt::format("the distance of {} variables together would take {} numbers: name some of them",
                        variables_.size(), variables_.size() * variables_.size()));
    }
    const SparseMatrix centring = fitted.centring(variables_);
    const SparseMatrix weights = functionals_.resolve(fitted.model().layout()).weights;
    const Functionals centred(SparseMatrix(weights * SparseMatrix(centring.transpose())));
    root_ = centring.transpose() * root_of_inverse(fitted.response().covariance(centred));
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
    MostInfluential most(count);
    fitted_.response().case_weights(functionals_, [&](const RowAnswers& rows) {
        const Matrix change = changes(rows);
        const Vector distance = distances(change);
        for (Index i = 0; i < change.rows(); ++i) {
            if (!most.wants(distance[i])) continue;
            most.add({rows.first + i, rows.inputs.row(i), distance[i], shifts(change.row(i)).row(0)});
        }
    });
    return most.take();
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
    const Posterior& before = fitted_.posterior();
    const Posterior after = fitted_.refit({rows, {}});
    std::unordered_map<std::string_view, double> means;
    for (const PosteriorVariable& variable : after.variables) means.emplace(variable.name, variable.mean);
    Matrix change = Matrix::Zero(1, static_cast<Index>(variables_.size()));
    for (std::size_t v = 0; v < variables_.size(); ++v) {
        const PosteriorVariable& variable = before.variables[static_cast<std::size_t>(variables_[v])];
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
    return changes * sds_.cwiseInverse().asDiagonal();
}

Vector RowInfluence::distances(const Matrix& changes) const {
    if (variables_.empty()) return Vector::Zero(changes.rows());
    return (changes * root_).rowwise().norm();
}

}  // namespace lrvb
