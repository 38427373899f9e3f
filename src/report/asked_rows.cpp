#include "report/asked_rows.hpp"

#include <lrvb/query/influence.hpp>

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>

namespace lrvb::report {

namespace {

// At most so many rows, counted from 0 and in ascending order; of `influential` of them there are none more
// influential.
std::vector<Index> chosen_rows(const RowInfluence& influence, Index rows, Index most, Index& influential) {
    constexpr Index kInTable = 20;  // of the most influential, that are listed
    std::vector<Index> chosen(static_cast<std::size_t>(std::min(rows, most)));
    std::iota(chosen.begin(), chosen.end(), 0);
    influential = static_cast<Index>(chosen.size());
    if (rows <= most) return chosen;
    influential = std::max((most + 1) / 2, std::min(kInTable, most));
    std::set<Index> top;
    for (const RowInfluence::Case& one : influence.most_influential(influential)) top.insert(one.row);
    // Places among the other rows, the middles of equal parts; each is moved beyond the rows that are taken before it.
    const Index others = rows - static_cast<Index>(top.size());
    const Index evenly = most - static_cast<Index>(top.size());
    chosen.assign(top.begin(), top.end());
    auto taken = top.begin();
    Index before = 0;
    for (Index i = 0; i < evenly; ++i) {
        const Index place = (2 * i + 1) * others / (2 * evenly);
        for (; taken != top.end() && *taken <= place + before; ++taken) ++before;
        chosen.push_back(place + before);
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
}

}  // namespace

std::optional<AskedRows> asked_rows(const FittedModel& fitted, const Selection& selection) {
    if (!fitted.has_rows() || fitted.file().data.rows == 0) return std::nullopt;
    std::optional<RowInfluence> found;
    try {
        found.emplace(fitted);
    } catch (const std::length_error&) {  // more parameters than rows have a distance for
        return std::nullopt;
    }
    const RowInfluence& influence = *found;
    AskedRows asked;
    asked.inputs = fitted.inputs();
    const bool moves = !asked.inputs.empty();
    if (!moves) asked.inputs = fitted.shown_columns();
    const Index most = most_rows(selection, static_cast<Index>(asked.inputs.size()), fitted.beside_count());
    const std::vector<Index> rows = chosen_rows(influence, fitted.file().data.rows, most, asked.most_influential);
    asked.all = static_cast<Index>(rows.size()) == fitted.file().data.rows;
    for (const Index row : rows) asked.file_rows.push_back(fitted.file_row(row));

    const std::unique_ptr<SomeRows> some = fitted.some_rows(rows);
    const Functionals variables = fitted.functionals(selection.variables);
    const RowAnswers weights = some->ask(variables, RowChange::weight);
    asked.values = moves ? weights.inputs : fitted.shown_values(rows);
    if (fitted.file().data.weights) asked.weights = weights.weights;
    asked.case_weights = weights.answers;
    if (moves) asked.leverage = some->ask(variables, RowChange::value).answers;
    asked.distances =
        influence.variables().empty()
            ? Vector::Zero(static_cast<Index>(rows.size()))
            : influence.distances(RowInfluence::changes(some->ask(influence.functionals(), RowChange::weight)));
    asked.beside = fitted.beside(rows);
    return asked;
}

}  // namespace lrvb::report
