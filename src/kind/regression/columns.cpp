#include "kind/regression/columns.hpp"

#include "base/bytes.hpp"
#include "base/messages.hpp"
#include "data/csv_record.hpp"
#include "data/kept_rows.hpp"
#include "data/part_frames.hpp"
#include "kind/notes.hpp"

#include <lrvb/base/interruption.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
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
    Index first_other = 0;            // the first row that has one of them, as the file counts
    std::string first_text;           // and what it has

    TextContent(const FrameColumn& column, const ColumnFacts& facts) {
        for (std::size_t i = 0; i < column.levels.size(); ++i) {
            double number = 0.0;
            if (parse_number(column.levels[i], number) == NumberKind::number) {
                numbers += facts.counts[i];
                continue;
            }
            others.push_back(column.levels[i]);
            const Index first = facts.firsts[i];
            if (first == 0 || (first_other > 0 && first_other < first)) continue;
            first_other = first;
            first_text = column.levels[i];
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
void require_points(const DataFrame& frame, const FrameColumn& column, const ColumnFacts& facts, Index numbers,
                    bool can_be_factor) {
    Index count = 0;
    Index first = 0;
    std::string text;
    for (std::size_t i = 0; i < column.levels.size(); ++i) {
        if (facts.counts[i] == 0 || !is_number_with_commas(column.levels[i])) continue;
        count += facts.counts[i];
        if (first > 0 && first < facts.firsts[i]) continue;
        first = facts.firsts[i];
        text = column.levels[i];
    }
    if (count == 0 || 2 * (count + numbers) <= frame.rows) return;
    throw std::runtime_error(fmt::format(
        "{}, column {}: {} is not a number because of its comma, as {} of the column's "
        "{} values are not: write decimal points, and no commas between thousands{}",
        row_name_of(frame, first), shown(column.name), shown(text), count, frame.rows,
        can_be_factor ? fmt::format("; {} takes the column as groups", typed("--factor", listed_name(column.name)))
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
std::string in_the_way(const DataFrame& frame, const FrameColumn& column, const TextContent& content) {
    return fmt::format("{}, column {}: {} is not a number", row_name_of(frame, content.first_other), shown(column.name),
                       shown(content.first_text));
}

/// Of text that nobody asked to be groups.
void require_clear_text(const DataFrame& frame, const FrameColumn& column, const ColumnFacts& facts, bool is_response,
                        bool is_written) {
    const TextContent content(column, facts);
    const bool told_numbers = column.told == FrameColumn::Told::numbers;
    if (content.others.empty()) {
        if (static_cast<Index>(column.levels.size()) < frame.rows) return;
        refuse_table(frame, fmt::format("column {} holds {}, another in every row, too many for groups: {} takes it as "
                                        "a number, or leave it out",
                                        shown(column.name), column.quoted ? "numbers in quotes" : "numbers as text",
                                        typed("--numeric", listed_name(column.name))));
    }
    require_points(frame, column, facts, content.numbers, !told_numbers && !is_response);
    if (!content.is_mostly_numbers(frame.rows)) {
        if (!told_numbers || is_response || is_written) return;
        throw std::runtime_error(
            fmt::format("{}, so that --numeric cannot take the column: correct it, or leave the column out",
                        in_the_way(frame, column, content)));
    }
    const bool can_be_factor = !told_numbers;
    throw std::runtime_error(fmt::format(
        "{}, but {} of the column's {} values are: correct it; {}{}", in_the_way(frame, column, content),
        content.numbers, frame.rows, missing_remedy(content),
        can_be_factor ? fmt::format(", and {} takes the column as groups", typed("--factor", listed_name(column.name)))
                      : ""));
}

std::string group_note(const FrameColumn& column, const ColumnFacts& facts, Index rows, const RegressionTerm& term) {
    const TextContent content(column, facts);
    if (column.told != FrameColumn::Told::nothing || content.numbers == 0) return {};
    std::vector<std::string> levels;
    for (const std::string& level : term.levels) levels.push_back(printable(level));
    const std::string groups =
        fmt::format("{}: groups {} (baseline {})", printable(column.name), enumerated(levels), levels.front());
    if (content.others.empty()) {
        return fmt::format("{}{}; {} takes it as a number", groups, column.quoted ? ", as its numbers are quoted" : "",
                           typed("--numeric", listed_name(column.name)));
    }
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

/// Whether the different numbers of so many rows are few, whole and repeated.
bool are_few_and_whole(const std::set<double>& values, Index rows) {
    const bool is_whole =
        std::all_of(values.begin(), values.end(), [](double value) { return value == std::floor(value); });
    const bool repeats = 2 * static_cast<Index>(values.size()) <= rows;
    return is_whole && repeats && values.size() > 1 && values.size() <= kFewValues;
}

std::string number_note(const FrameColumn& column, const ColumnFacts& facts, Index rows) {
    if (column.told != FrameColumn::Told::nothing) return {};
    const std::set<double> values(facts.values.begin(), facts.values.end());
    if (!are_few_and_whole(values, rows)) return {};
    const std::string range =
        values.size() == 2 ? fmt::format("{} or {}", *values.begin(), *values.rbegin())
                           : fmt::format("{} to {}, {} values", *values.begin(), *values.rbegin(), values.size());
    return fmt::format("{}: a number, {}; {} takes it as groups", printable(column.name), range,
                       typed("--factor", listed_name(column.name)));
}

ColumnFacts text_facts(const DataFrame& frame, const FrameColumn& column) {
    ColumnFacts facts;
    facts.counts.assign(column.levels.size(), 0);
    facts.firsts.assign(column.levels.size(), 0);
    for (std::size_t n = 0; n < column.codes.size(); ++n) {
        if (facts.counts[column.codes[n]]++ == 0) {
            facts.firsts[column.codes[n]] = frame.file_row(static_cast<Index>(n));
        }
    }
    return facts;
}

ColumnFacts number_facts(const DataFrame& frame, const FrameColumn& column, bool every) {
    ColumnFacts facts;
    std::set<double> values;
    for (Index n = 0; n < column.numbers.size(); ++n) {
        if (every || values.size() <= kFewValues) values.insert(column.numbers[n]);
        if (facts.numbers.any_counts()) facts.numbers.add(&column.numbers[n], frame.file_row(n));
    }
    facts.values.assign(values.begin(), values.end());
    return facts;
}

}  // namespace

void ColumnFacts::add(const ColumnFacts& next, bool every) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
        counts[i] += next.counts[i];
        if (firsts[i] == 0) firsts[i] = next.firsts[i];
    }
    std::vector<double> all;
    std::set_union(values.begin(), values.end(), next.values.begin(), next.values.end(), std::back_inserter(all));
    if (!every && all.size() > kFewValues + 1) all.resize(kFewValues + 1);
    values = std::move(all);
    numbers.add(next.numbers);
}

TableFacts facts_of(const DataFrame& frame, const std::vector<bool>& every) {
    TableFacts facts;
    for (std::size_t j = 0; j < frame.columns.size(); ++j) {
        interruption_point();
        const FrameColumn& column = frame.columns[j];
        facts.push_back(column.is_text() ? text_facts(frame, column)
                                         : number_facts(frame, column, j < every.size() && every[j]));
    }
    return facts;
}

std::string bytes_of(const TableFacts& facts) {
    ByteWriter writer;
    writer.number(static_cast<Index>(facts.size()));
    for (const ColumnFacts& one : facts) {
        writer.numbers(one.counts).numbers(one.firsts).numbers(one.values).text(one.numbers.bytes());
    }
    return writer.take();
}

TableFacts table_facts_of(std::string_view bytes) {
    ByteReader reader(bytes);
    TableFacts facts(static_cast<std::size_t>(reader.index()));
    for (ColumnFacts& one : facts) {
        one.counts = reader.numbers<Index>();
        one.firsts = reader.numbers<Index>();
        one.values = reader.numbers<double>();
        one.numbers = RowNumbers::of_bytes(reader.text());
    }
    return facts;
}

std::pair<Index, std::string> first_text(const FrameColumn& column, const ColumnFacts& facts) {
    const TextContent content(column, facts);
    return {content.first_other, content.first_text};
}

Vector taken_weights(DataFrame& frame, Index place, WeightMeaning meaning) {
    const FrameColumn column = std::move(frame.columns[static_cast<std::size_t>(place)]);
    frame.columns.erase(frame.columns.begin() + place);
    if (column.told == FrameColumn::Told::text) {
        throw UsageError(fmt::format("{}: weights must be numbers: leave it out there",
                                     typed("--factor", listed_name(column.name))));
    }
    if (column.is_text()) {
        const TextContent content(column, text_facts(frame, column));
        throw std::runtime_error(fmt::format("{}, but --weights must be: correct it, or write NA if it is missing",
                                             in_the_way(frame, column, content)));
    }
    // Beyond these the sums over rows lose all others.
    const bool is_precision = meaning == WeightMeaning::precision;
    const double least = is_precision ? 1e-100 : 0.0;
    const double most = is_precision ? 1e100 : 1e12;
    for (Index n = 0; n < column.numbers.size(); ++n) {
        const double weight = column.numbers[n];
        if (weight == 0.0 || (weight >= least && weight <= most)) continue;
        const std::string reason = !(weight >= 0.0) ? "must be zero or more: correct it"
                                   : is_precision   ? "must be from 1e-100 to 1e100: divide all weights by a number"
                                                    : "a row counts at most 1e12 times: correct it";
        throw std::runtime_error(fmt::format("{}, column {}: the weight is {}, but {}", frame.row_name(n),
                                             shown(column.name), weight, reason));
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

void require_clear_columns(const DataFrame& frame, const TableFacts& facts, Index response, bool is_written) {
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
        if (column.is_text()) require_clear_text(frame, column, facts[j], is_response, is_written);
    }
}

std::vector<std::string> counting_columns(const DataFrame& frame, const TableFacts& facts,
                                          const RegressionDesign& design) {
    std::vector<std::string> names;
    for (std::size_t j = 0; j < frame.columns.size(); ++j) {
        const FrameColumn& column = frame.columns[j];
        if (column.is_text() || column.name == design.response) continue;
        if (facts[j].numbers.counts(0)) names.push_back(column.name);
    }
    return names;
}

std::vector<std::string> column_notes(const DataFrame& frame, const TableFacts& facts, const RegressionDesign& design) {
    std::vector<std::string> groups;
    std::vector<std::string> numbers;
    std::vector<std::string> names;  // of the latter
    for (const RegressionTerm& term : design.terms) {
        for (std::size_t j = 0; j < frame.columns.size(); ++j) {
            const FrameColumn& column = frame.columns[j];
            if (column.name != term.column) continue;
            std::string note = term.is_factor() ? group_note(column, facts[j], frame.rows, term)
                                                : number_note(column, facts[j], frame.rows);
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
    const std::set<double> few = different_values(design.y, kFewValues);
    if (!are_few_and_whole(few, design.y.size()) || *few.begin() < 0.0 || design.y.mean() >= kSmallMean) return {};
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
