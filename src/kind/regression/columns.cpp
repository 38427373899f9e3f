#include "kind/regression/columns.hpp"

#include "base/messages.hpp"
#include "data/csv_record.hpp"
#include "data/kept_rows.hpp"
#include "data/row_numbers.hpp"
#include "kind/notes.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

namespace lrvb::detail {

namespace {

constexpr std::size_t kFewValues = 1000;
constexpr std::size_t kMostNotes = 10;  // of columns of numbers, before one sentence does for all

[[noreturn]] void refuse_table(const DataFrame& frame, const std::string& sentence) {
    throw std::runtime_error(fmt::format("{}: {}", frame.name, sentence));
}

/// What a column of text holds.
struct TextContent {
    Index numbers = 0;                // rows
    std::vector<std::string> others;  // texts that are no numbers, each once
    Index first_other = -1;           // the first row that has one of them

    explicit TextContent(const FrameColumn& column) {
        std::vector<bool> is_number;
        for (const std::string& level : column.levels) {
            double number = 0.0;
            is_number.push_back(parse_number(level, number) == NumberKind::number);
            if (!is_number.back()) others.push_back(level);
        }
        for (std::size_t n = 0; n < column.codes.size(); ++n) {
            if (is_number[column.codes[n]]) {
                ++numbers;
            } else if (first_other < 0) {
                first_other = static_cast<Index>(n);
            }
        }
    }

    bool is_mostly_numbers(Index rows) const { return 2 * numbers > rows; }
};

/// Numbers but for their commas: 0,25 or 1,100.
bool is_number_with_commas(std::string text) {
    if (std::erase(text, ',') == 0) return false;
    double number = 0.0;
    return parse_number(text, number) == NumberKind::number;
}

/// Refuses numbers with decimal commas, which would be as many groups.
void require_points(const DataFrame& frame, const FrameColumn& column, Index numbers, bool can_be_factor) {
    std::vector<bool> has_commas;
    for (const std::string& level : column.levels) has_commas.push_back(is_number_with_commas(level));
    Index count = 0;
    Index first = 0;
    for (Index n = frame.rows - 1; n >= 0; --n) {
        if (!has_commas[column.codes[static_cast<std::size_t>(n)]]) continue;
        ++count;
        first = n;
    }
    if (count == 0 || 2 * (count + numbers) <= frame.rows) return;
    const std::string& text = column.levels[column.codes[static_cast<std::size_t>(first)]];
    refuse_table(frame, fmt::format("row {}, column {}: {} is not a number because of its comma, as {} of the column's "
                                    "{} values are not: write decimal points, and no commas between thousands{}",
                                    frame.file_row(first), shown(column.name), shown(text), count, frame.rows,
                                    can_be_factor ? fmt::format("; {} takes the column as groups",
                                                                typed("--factor", listed_name(column.name)))
                                                  : ""));
}

std::string missing_remedy(const TextContent& content) {
    constexpr std::size_t most = 5;
    std::string texts;
    for (std::size_t i = 0; i < std::min(content.others.size(), most); ++i) {
        if (content.others[i].find(',') == std::string::npos) texts += (texts.empty() ? "" : ",") + content.others[i];
    }
    if (texts.empty()) return "write NA if it is missing";
    return fmt::format("{} --drop-missing leaves out such rows", typed("--na", texts));
}

/// The text that stands first in the way, and where.
std::string first_text(const DataFrame& frame, const FrameColumn& column, const TextContent& content) {
    const std::string& text = column.levels[column.codes[static_cast<std::size_t>(content.first_other)]];
    return fmt::format("row {}, column {}: {} is not a number", frame.file_row(content.first_other), shown(column.name),
                       shown(text));
}

/// Of text that nobody asked to be groups.
void require_clear_text(const DataFrame& frame, const FrameColumn& column, bool is_response, bool is_written) {
    const TextContent content(column);
    const bool told_numbers = column.told == FrameColumn::Told::numbers;
    if (content.others.empty()) {
        if (static_cast<Index>(column.levels.size()) < frame.rows) return;
        refuse_table(frame, fmt::format("column {} holds {}, another in every row, too many for groups: {} takes it as "
                                        "a number, or leave it out",
                                        shown(column.name), column.quoted ? "numbers in quotes" : "numbers as text",
                                        typed("--numeric", listed_name(column.name))));
    }
    require_points(frame, column, content.numbers, !told_numbers && !is_response);
    if (!content.is_mostly_numbers(frame.rows)) {
        if (!told_numbers || is_response || is_written) return;
        refuse_table(frame, fmt::format("{}, so that --numeric cannot take the column: correct it, or leave the column "
                                        "out",
                                        first_text(frame, column, content)));
    }
    const bool can_be_factor = !told_numbers;
    refuse_table(frame,
                 fmt::format("{}, but {} of the column's {} values are: correct it; {}{}",
                             first_text(frame, column, content), content.numbers, frame.rows, missing_remedy(content),
                             can_be_factor ? fmt::format(", and {} takes the column as groups",
                                                         typed("--factor", listed_name(column.name)))
                                           : ""));
}

std::string group_note(const FrameColumn& column, const RegressionTerm& term) {
    const TextContent content(column);
    if (column.told != FrameColumn::Told::nothing || content.numbers == 0) return {};
    std::vector<std::string> levels;
    for (const std::string& level : term.levels) levels.push_back(printable(level));
    const std::string groups =
        fmt::format("{}: groups {} (baseline {})", printable(column.name), enumerated(levels), levels.front());
    if (content.others.empty()) {
        return fmt::format("{}{}; {} takes it as a number", groups, column.quoted ? ", as its numbers are quoted" : "",
                           typed("--numeric", listed_name(column.name)));
    }
    const auto rows = static_cast<Index>(column.codes.size());
    return fmt::format("{}, as {} of its {} values are not numbers{}", groups, rows - content.numbers, rows,
                       content.others.size() == 1
                           ? fmt::format("; {} takes {} as missing", typed("--na", content.others.front()),
                                         shown(content.others.front()))
                           : "");
}

/// The different numbers, if they are no more than so many.
std::set<double> different_values(const Vector& numbers, std::size_t most) {
    std::set<double> values;
    for (const double number : numbers) {
        values.insert(number);
        if (values.size() > most) return {};
    }
    return values;
}

/// The different numbers, if they are few, whole and repeated.
std::set<double> few_whole_values(const Vector& numbers) {
    const std::set<double> values = different_values(numbers, kFewValues);
    const bool is_whole =
        std::all_of(values.begin(), values.end(), [](double value) { return value == std::floor(value); });
    const bool repeats = 2 * static_cast<Index>(values.size()) <= numbers.size();
    return is_whole && repeats && values.size() > 1 ? values : std::set<double>();
}

std::string number_note(const FrameColumn& column) {
    if (column.told != FrameColumn::Told::nothing) return {};
    const std::set<double> values = few_whole_values(column.numbers);
    if (values.empty()) return {};
    const std::string range =
        values.size() == 2 ? fmt::format("{} or {}", *values.begin(), *values.rbegin())
                           : fmt::format("{} to {}, {} values", *values.begin(), *values.rbegin(), values.size());
    return fmt::format("{}: a number, {}; {} takes it as groups", printable(column.name), range,
                       typed("--factor", listed_name(column.name)));
}

}  // namespace

Vector taken_weights(DataFrame& frame, Index place) {
    const FrameColumn column = std::move(frame.columns[static_cast<std::size_t>(place)]);
    frame.columns.erase(frame.columns.begin() + place);
    if (column.told == FrameColumn::Told::text) {
        throw UsageError(fmt::format("{}: weights must be numbers: leave it out there",
                                     typed("--factor", listed_name(column.name))));
    }
    if (column.is_text()) {
        refuse_table(frame, fmt::format("{}, but --weights must be: correct it, or write NA if it is missing",
                                        first_text(frame, column, TextContent(column))));
    }
    for (Index n = 0; n < column.numbers.size(); ++n) {
        if (column.numbers[n] >= 0.0) continue;
        refuse_table(frame, fmt::format("row {}, column {}: the weight is {}, but must be zero or more: correct it",
                                        frame.file_row(n), shown(column.name), column.numbers[n]));
    }
    return column.numbers;
}

Index leave_out_weightless(DataFrame& frame, Vector& weights) {
    std::vector<Index> kept;
    for (Index n = 0; n < weights.size(); ++n) {
        if (weights[n] > 0.0) kept.push_back(n);
    }
    const Index left_out = weights.size() - static_cast<Index>(kept.size());
    if (kept.empty() || left_out == 0) return 0;
    keep_rows(frame, kept);
    weights = Vector(weights(kept));
    return left_out;
}

void require_clear_columns(const DataFrame& frame, Index response, bool is_written) {
    for (std::size_t j = 0; j < frame.columns.size(); ++j) {
        const FrameColumn& column = frame.columns[j];
        const bool is_response = static_cast<Index>(j) == response;
        if (column.told == FrameColumn::Told::text) {
            if (!is_response) continue;
            if (is_written) {
                throw UsageError(
                    fmt::format("{} is the response, so that it cannot group the rows too: leave it out there",
                                shown(column.name)));
            }
            throw UsageError(fmt::format("{}: the response must be numbers: leave it out there",
                                         typed("--factor", listed_name(column.name))));
        }
        if (column.is_text()) require_clear_text(frame, column, is_response, is_written);
    }
}

std::vector<std::string> counting_columns(const DataFrame& frame, const RegressionDesign& design) {
    std::vector<std::string> names;
    for (const FrameColumn& column : frame.columns) {
        if (column.is_text() || column.name == design.response) continue;
        RowNumbers numbers(1);
        for (Index n = 0; n < frame.rows && numbers.any_counts(); ++n) {
            numbers.add(&column.numbers[n], frame.file_row(n));
        }
        if (numbers.counts(0)) names.push_back(column.name);
    }
    return names;
}

std::vector<std::string> column_notes(const DataFrame& frame, const RegressionDesign& design) {
    std::vector<std::string> groups;
    std::vector<std::string> numbers;
    std::vector<std::string> names;  // of the latter
    for (const RegressionTerm& term : design.terms) {
        for (const FrameColumn& column : frame.columns) {
            if (column.name != term.column) continue;
            std::string note = term.is_factor() ? group_note(column, term) : number_note(column);
            if (note.empty()) continue;
            if (!term.is_factor()) names.push_back(printable(column.name));
            (term.is_factor() ? groups : numbers).push_back(std::move(note));
        }
    }
    if (numbers.size() > kMostNotes) {
        numbers = {fmt::format("{}: numbers, whole and of few values; --factor with their names takes them as groups",
                               enumerated(names))};
    }
    groups.insert(groups.end(), numbers.begin(), numbers.end());
    return groups;
}

std::vector<std::string> response_warnings(const RegressionDesign& design) {
    const std::set<double> different = different_values(design.y, 2);
    if (different.size() == 2) {
        return {
            fmt::format("the response {} has two values, {} and {}, but this fits a normal response, so that "
                        "predictions can lie beyond both and sds are only rough: --family bernoulli, without "
                        "--prior paper and --prior-…, fits one of 0 and 1",
                        shown(design.response), *different.begin(), *different.rbegin())};
    }
    constexpr double kSmallMean = 10.0;
    const std::set<double> few = few_whole_values(design.y);
    if (few.empty() || *few.begin() < 0.0 || design.y.mean() >= kSmallMean) return {};
    return {
        fmt::format("the response {} has small counts, {} to {}, but this fits a normal response of one variance, "
                    "so that predictions can be negative and sds are only rough: --family poisson, without "
                    "--prior paper and --prior-…, fits counts",
                    shown(design.response), *few.begin(), *few.rbegin())};
}

std::vector<Baseline> baselines_of(const Settings& settings, const DataFrame& frame) {
    std::vector<Baseline> baselines;
    std::vector<std::string> factors;
    for (const FrameColumn& column : frame.columns) {
        if (column.is_text()) factors.push_back(shown(column.name));
    }
    for (const std::string& entry : settings.list("baseline")) {
        if (entry.find('=') == std::string::npos) {
            const bool was_split = settings.text("baseline").find(',') != std::string::npos;
            throw UsageError(
                fmt::format("--baseline {}: give a column and one of its levels, such as cyl=6{}", printable(entry),
                            was_split ? "; a level with a comma stands in quotes, as in 'size=\"6,5\"'" : ""));
        }
        const FrameColumn* found = nullptr;
        for (const FrameColumn& column : frame.columns) {
            if (!entry.starts_with(column.name + "=")) continue;
            if (found == nullptr || column.name.size() > found->name.size()) found = &column;
        }
        if (found == nullptr) {
            refuse_table(frame, fmt::format("--baseline {}: there is no such column; {}", printable(entry),
                                            factors.empty() ? "none has groups"
                                                            : "those with groups are " + enumerated(factors)));
        }
        if (!found->is_text()) {
            refuse_table(frame,
                         fmt::format("--baseline {}: column {} is a number: {} takes it as groups", printable(entry),
                                     shown(found->name), typed("--factor", listed_name(found->name))));
        }
        const auto is_same = [&](const Baseline& baseline) { return baseline.column == found->name; };
        if (std::any_of(baselines.begin(), baselines.end(), is_same)) {
            throw UsageError(fmt::format("--baseline: column {} has two baselines: give one", shown(found->name)));
        }
        baselines.push_back({found->name, entry.substr(found->name.size() + 1)});
    }
    return baselines;
}

}  // namespace lrvb::detail
