#include "base/messages.hpp"
#include "data/csv_record.hpp"
#include "formula/levels.hpp"

#include <lrvb/kind/regression/design.hpp>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <unordered_set>
#include <utility>

namespace lrvb {
namespace {

using detail::shown;

[[noreturn]] void refuse(const DataFrame& frame, const std::string& sentence) {
    throw std::runtime_error(fmt::format("{}: {}", frame.name, sentence));
}

/// Text that is the same in every row: all such columns at once.
void require_levels(const DataFrame& frame, const std::vector<RegressionTerm>& terms) {
    std::vector<std::string> names;
    std::string text;
    for (const RegressionTerm& term : terms) {
        if (term.levels.size() != 1) continue;
        names.push_back(shown(term.column));
        text = shown(term.levels.front());
    }
    if (names.empty()) return;
    if (names.size() > 1) {
        refuse(frame, fmt::format("columns {} have one text in every row, which tells nothing: leave them out",
                                  detail::enumerated(names)));
    }
    refuse(frame, fmt::format("column {} has the text {} in every row, which tells nothing: leave it out",
                              names.front(), text));
}

void require_factor(const DataFrame& frame, const RegressionTerm& term) {
    const std::size_t count = term.levels.size();
    const bool is_identifier = static_cast<Index>(count) == frame.rows;
    if (!is_identifier && count <= detail::kMostFactorLevels) return;
    refuse(frame, fmt::format("column {} is text with {}, too many for a factor: leave it out, or correct it if it "
                              "should hold numbers",
                              shown(term.column),
                              is_identifier ? "another value in every row" : fmt::format("{} levels", count)));
}

void put_baselines_first(const DataFrame& frame, const std::vector<Baseline>& baselines,
                         std::vector<RegressionTerm>& terms) {
    for (const Baseline& baseline : baselines) {
        const auto term = std::find_if(terms.begin(), terms.end(), [&](const RegressionTerm& known) {
            return known.column == baseline.column && known.is_factor();
        });
        if (term == terms.end()) {
            refuse(frame, fmt::format("column {} is no factor of the regression, so that it has no baseline: leave the "
                                      "baseline out",
                                      shown(baseline.column)));
        }
        const std::optional<std::size_t> place = detail::LevelIndex(term->levels).find(baseline.level);
        if (!place) {
            refuse(frame, fmt::format("column {} has no level {} that could be its baseline: its levels are {}",
                                      shown(baseline.column), shown(baseline.level), shown(term->levels)));
        }
        const auto level = term->levels.begin() + static_cast<std::ptrdiff_t>(*place);
        std::rotate(term->levels.begin(), level, level + 1);
    }
}

/// By its name alone: a number would be that of another file.
const FrameColumn& column_of(const DataFrame& frame, const RegressionTerm& term) {
    for (const FrameColumn& column : frame.columns) {
        if (column.name == term.column) return column;
    }
    throw std::invalid_argument(
        fmt::format("{}: there is no column {}, which the regression needs: add it", frame.name, shown(term.column)));
}

/// Which of the term's levels each of the column's levels is.
std::vector<std::size_t> matched_levels(const DataFrame& frame, const FrameColumn& column, const RegressionTerm& term) {
    const detail::LevelIndex index(term.levels);
    std::vector<std::size_t> matches;
    for (const std::string& level : column.levels) {
        const std::optional<std::size_t> match = index.find(level);
        if (!match) {
            const auto code = static_cast<std::uint32_t>(matches.size());
            const auto row = std::find(column.codes.begin(), column.codes.end(), code) - column.codes.begin();
            refuse(frame, fmt::format("row {}, column {}: the level {} did not occur in the data of the fit, which "
                                      "had {}: correct it, leave the row out, or fit again with rows that have it",
                                      frame.file_row(row), shown(column.name), shown(level),
                                      shown(detail::in_order(term.levels))));
        }
        matches.push_back(*match);
    }
    return matches;
}

/// Text in a column that held numbers in the fit.
[[noreturn]] void refuse_text(const DataFrame& frame, const FrameColumn& column) {
    for (Index n = 0; n < frame.rows; ++n) {
        double number = 0.0;
        const std::string& text = column.levels[column.codes[static_cast<std::size_t>(n)]];
        if (detail::parse_number(text, number) == detail::NumberKind::number) continue;
        refuse(frame, fmt::format("row {}, column {}: {} is not a number, but the column held numbers in the fit: "
                                  "correct it, or write NA if it is missing",
                                  frame.file_row(n), shown(column.name), shown(text)));
    }
    refuse(frame, fmt::format("column {} is read as text, but held numbers in the fit: read it as numbers",
                              shown(column.name)));
}

void fill_factor(const DataFrame& frame, const FrameColumn& column, const RegressionTerm& term,
                 Eigen::Ref<Matrix> dummies) {
    if (!column.is_text()) {
        refuse(frame,
               fmt::format("column {} holds numbers, but is a factor of the fit: read it as text", shown(column.name)));
    }
    const std::vector<std::size_t> matches = matched_levels(frame, column, term);
    dummies.setZero();
    for (Index n = 0; n < frame.rows; ++n) {
        const std::size_t level = matches[column.codes[static_cast<std::size_t>(n)]];
        if (level > 0) dummies(n, static_cast<Index>(level) - 1) = 1.0;
    }
}

}  // namespace

std::vector<std::string> design_names(const std::vector<RegressionTerm>& terms) {
    std::vector<std::string> names;
    for (const RegressionTerm& term : terms) {
        if (!term.is_factor()) names.push_back(term.column);
        for (std::size_t i = 1; i < term.levels.size(); ++i) names.push_back(term.column + "=" + term.levels[i]);
    }
    std::unordered_set<std::string> seen;
    for (const std::string& name : names) {
        if (seen.insert(name).second) continue;
        throw std::invalid_argument(
            fmt::format("two columns of the regression are called {}: rename one of them", shown(name)));
    }
    return names;
}

RegressionDesign regression_design(const DataFrame& frame, Index response, bool intercept,
                                   const std::vector<Baseline>& baselines) {
    const Index count = static_cast<Index>(frame.columns.size());
    if (response < 0 || response >= count) {
        throw std::invalid_argument(
            fmt::format("regression_design: response is {}, but must be from 0 to {}", response, count - 1));
    }
    const FrameColumn& y = frame.columns[static_cast<std::size_t>(response)];
    if (y.is_text()) {
        refuse(frame, fmt::format("the response {} holds text, such as {}, but must be numbers: correct it, or take "
                                  "another response",
                                  shown(y.name), shown(y.levels.back())));
    }
    RegressionDesign design;
    design.source = frame.name;
    design.response = y.name;
    design.intercept = intercept;
    design.y = y.numbers;
    for (Index j = 0; j < count; ++j) {
        if (j == response) continue;
        const FrameColumn& column = frame.columns[static_cast<std::size_t>(j)];
        RegressionTerm& term = design.terms.emplace_back(RegressionTerm{column.name});
        if (column.is_text()) term.levels = detail::in_order(detail::levels_of(column));
    }
    require_levels(frame, design.terms);
    for (const RegressionTerm& term : design.terms) {
        if (term.is_factor()) require_factor(frame, term);
    }
    put_baselines_first(frame, baselines, design.terms);
    design.names = design_names(design.terms);
    design.columns = design_matrix(frame, design.terms);
    return design;
}

Matrix design_matrix(const DataFrame& frame, const std::vector<RegressionTerm>& terms) {
    Matrix columns(frame.rows, static_cast<Index>(design_names(terms).size()));
    Index next = 0;
    for (const RegressionTerm& term : terms) {
        const FrameColumn& column = column_of(frame, term);
        if (term.is_factor()) {
            const Index width = static_cast<Index>(term.levels.size()) - 1;
            fill_factor(frame, column, term, columns.middleCols(next, width));
            next += width;
        } else if (column.is_text()) {
            refuse_text(frame, column);
        } else {
            columns.col(next++) = column.numbers;
        }
    }
    return columns;
}

}  // namespace lrvb
