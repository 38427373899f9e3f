#include "cli/asked_rows.hpp"

#include "cli/row_influence.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace lrvb::cli {

namespace {

// The most influential rows, as many as asked for.
std::set<Index> most_influential(const Restored& restored, const RowInfluence& influence, Index count) {
    // The nearest first, and of equals the last: what goes when there are too many.
    const auto nearer = [](const std::pair<double, Index>& a, const std::pair<double, Index>& b) {
        return a.first != b.first ? a.first < b.first : a.second > b.second;
    };
    std::set<std::pair<double, Index>, decltype(nearer)> furthest(nearer);
    restored.response().case_weights(influence.functionals(), [&](const RowAnswers& rows) {
        const Vector distances = influence.distances(RowInfluence::changes(rows));
        for (Index i = 0; i < distances.size(); ++i) {
            furthest.emplace(distances[i], rows.first + i);
            if (static_cast<Index>(furthest.size()) > count) furthest.erase(furthest.begin());
        }
    });
    std::set<Index> result;
    for (const auto& [distance, row] : furthest) result.insert(row);
    return result;
}

// At most so many rows, counted from 0 and in ascending order; of `influential` of them there are none more
// influential.
std::vector<Index> chosen_rows(const Restored& restored, const RowInfluence& influence, Index most,
                               Index& influential) {
    constexpr Index kInTable = 20;  // of the most influential, that are listed
    const Index rows = restored.file().data.rows;
    std::vector<Index> chosen(static_cast<std::size_t>(std::min(rows, most)));
    std::iota(chosen.begin(), chosen.end(), 0);
    influential = static_cast<Index>(chosen.size());
    if (rows <= most) return chosen;
    influential = std::max((most + 1) / 2, std::min(kInTable, most));
    const std::set<Index> top = most_influential(restored, influence, influential);
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

report::AskedRows asked_rows(const Restored& restored, const FittedData& data, const report::Selection& selection) {
    const RowInfluence influence(restored, {});
    report::AskedRows asked;
    asked.inputs = restored.model().inputs();
    const Index columns = data.design ? data.design->columns.cols() : 0;
    const Index most = report::most_rows(selection, static_cast<Index>(asked.inputs.size()), columns);
    const std::vector<Index> rows = chosen_rows(restored, influence, most, asked.most_influential);
    asked.all = static_cast<Index>(rows.size()) == restored.file().data.rows;
    for (const Index row : rows) asked.file_rows.push_back(restored.file_row(row));

    const Functionals variables = restored.functionals(selection.variables);
    const RowAnswers leverage = restored.ask(variables, RowChange::value, rows);
    asked.values = leverage.inputs;
    if (restored.file().data.weights) asked.weights = leverage.weights;
    asked.leverage = leverage.answers;
    asked.case_weights = restored.ask(variables, RowChange::weight, rows).answers;
    asked.distances =
        influence.distances(RowInfluence::changes(restored.ask(influence.functionals(), RowChange::weight, rows)));
    if (data.design) {
        asked.columns.resize(static_cast<Index>(rows.size()), data.design->columns.cols());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            asked.columns.row(static_cast<Index>(i)) = data.design->columns.row(rows[i]);
        }
    }
    return asked;
}

}  // namespace lrvb::cli
