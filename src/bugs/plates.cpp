#include "bugs/plates.hpp"

#include "base/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lrvb::bugs {

namespace {

bool is_whole_number(double value) {
    return std::isfinite(value) && value == std::floor(value) && std::abs(value) < 1e15;
}

}  // namespace

std::shared_ptr<const Plate> Plates::of(const std::vector<std::size_t>& loops) {
    const auto found = known_.find(loops);
    if (found != known_.end()) return found->second;
    Plate plate;
    if (!loops.empty()) {
        const std::vector<std::size_t> outer(loops.begin(), loops.end() - 1);
        plate = extended(*of(outer), block_.loops[loops.back()]);
    }
    return known_.emplace(loops, std::make_shared<const Plate>(std::move(plate))).first->second;
}

/// Every row of the outer plate, as often as the inner loop has rounds there.
Plate Plates::extended(const Plate& outer, const Loop& loop) const {
    Plate result;
    result.indices = outer.indices;
    result.indices.push_back(loop.index);
    result.values.resize(result.indices.size());
    result.rows = 0;
    if (outer.rows == 0) return result;
    const Evaluator evaluator(table_, outer, nullptr, most_);
    const Expression& range = loop.range;
    const bool is_range = range.kind == Expression::Kind::range;
    Columns first;
    Columns last;
    if (is_range) {
        first = evaluator.values(range.parts[0]);
        last = evaluator.values(range.parts[1]);
        if (!first.is_scalar() || !last.is_scalar()) {
            throw EvaluationProblem{range.place, "the bounds of a loop are single numbers"};
        }
    } else {
        first = evaluator.values(range);
    }
    const auto rounds_of = [&](Index row) {
        return is_range ? std::max(0.0, last.at(row) - first.at(row) + 1.0) : static_cast<double>(first.values.cols());
    };
    const auto require_whole = [&](double value, const Expression& where) {
        if (is_whole_number(value)) return;
        throw EvaluationProblem{
            where.place,
            fmt::format("the loop over {} goes over whole numbers, but this is {}", lrvb::detail::shown(loop.index),
                        std::isnan(value) ? std::string("no number") : fmt::format("{}", value))};
    };
    double total = 0.0;
    for (Index row = 0; row < outer.rows; ++row) {
        if (is_range) {
            require_whole(first.at(row), range.parts[0]);
            require_whole(last.at(row), range.parts[1]);
        } else {
            for (Index j = 0; j < first.values.cols(); ++j) require_whole(first.at(row, j), range);
        }
        total += rounds_of(row);
    }
    const double most = std::min(static_cast<double>(most_), 4e9);
    if (total > most) {
        throw EvaluationProblem{range.place, fmt::format("the loop over {} has {} rounds in all, which is more than {}",
                                                         lrvb::detail::shown(loop.index), total, most)};
    }
    result.rows = static_cast<Index>(total);
    for (std::vector<double>& column : result.values) column.reserve(static_cast<std::size_t>(result.rows));
    for (Index row = 0; row < outer.rows; ++row) {
        const auto rounds = static_cast<std::size_t>(rounds_of(row));
        for (std::size_t i = 0; i < outer.values.size(); ++i) {
            result.values[i].insert(result.values[i].end(), rounds, outer.values[i][static_cast<std::size_t>(row)]);
        }
        for (std::size_t j = 0; j < rounds; ++j) {
            result.values.back().push_back(is_range ? first.at(row) + static_cast<double>(j)
                                                    : first.at(row, static_cast<Index>(j)));
        }
    }
    return result;
}

}  // namespace lrvb::bugs
