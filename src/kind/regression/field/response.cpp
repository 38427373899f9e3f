#include "kind/regression/field/response.hpp"

#include "base/messages.hpp"
#include "data/csv_record.hpp"
#include "data/part_frames.hpp"
#include "kind/notes.hpp"

#include <lrvb/base/errors.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace lrvb::detail {

namespace {

[[noreturn]] void refuse_response(const DataFrame& frame, const std::string& sentence) {
    throw std::runtime_error(fmt::format("{}: {}", frame.name, sentence));
}

double number_of(const std::string& text) {
    double number = 0.0;
    return parse_number(text, number) == NumberKind::number ? number : std::nan("");
}

/// The different values that rows have, in their order; of very many the first ones.
std::vector<std::string> values_of(const FrameColumn& column) {
    constexpr std::size_t most = 20;
    std::vector<std::string> result;
    if (column.is_text()) {
        const std::set<std::uint32_t> used(column.codes.begin(), column.codes.end());
        for (const std::uint32_t code : used) result.push_back(column.levels[code]);
        return result;
    }
    std::set<double> used;
    for (Index n = 0; n < column.numbers.size() && used.size() <= most; ++n) used.insert(column.numbers[n]);
    for (const double number : used) result.push_back(fmt::format("{}", number));
    return result;
}

std::string listed(const std::vector<std::string>& values) {
    std::vector<std::string> result;
    for (const std::string& value : values) result.push_back(shown(value));
    return enumerated(result);
}

}  // namespace

std::optional<ResponseLevels> response_levels(const DataFrame& frame, const TableFacts& facts, Index response,
                                              const Likelihood& likelihood, const std::string& success) {
    const FrameColumn& column = frame.columns[static_cast<std::size_t>(response)];
    if (!success.empty() && !likelihood.has_trials()) {
        throw UsageError("--success says which value of a bernoulli response is 1: give --family bernoulli");
    }
    if (success.empty() && !column.is_text()) return std::nullopt;
    const std::vector<std::string> values = values_of(column);
    if (column.is_text() && !likelihood.has_trials()) {
        const auto [row, text] = first_text(column, facts[static_cast<std::size_t>(response)]);
        throw std::runtime_error(
            fmt::format("{}, column {}: {} is not a number, but the response of a {} family must be: {}",
                        row_name_of(frame, row), shown(column.name), shown(text), likelihood.name(),
                        values.size() == 2 ? "--family bernoulli takes one of two values"
                                           : "correct it, or write NA if it is missing"));
    }
    if (values.size() != 2) {
        refuse_response(frame,
                        fmt::format("column {} has {}, but a bernoulli response has two values: {}", shown(column.name),
                                    values.size() == 1 ? fmt::format("{} in every row", shown(values.front()))
                                                       : fmt::format("the values {}", listed(values)),
                                    "correct it, or choose another response"));
    }
    if (success.empty()) return ResponseLevels{values[0], values[1]};
    for (std::size_t i = 0; i < 2; ++i) {
        const bool is_same = values[i] == success || (!column.is_text() && number_of(values[i]) == number_of(success));
        if (is_same) return ResponseLevels{values[1 - i], values[i]};
    }
    refuse_response(frame, fmt::format("column {} has no value {} that could be a success: it has {}",
                                       shown(column.name), shown(success), listed(values)));
}

void code_response(DataFrame& frame, Index response, const ResponseLevels& levels) {
    FrameColumn& column = frame.columns[static_cast<std::size_t>(response)];
    const Vector known{{number_of(levels[0]), number_of(levels[1])}};
    Vector numbers(frame.rows);
    for (Index n = 0; n < frame.rows; ++n) {
        const auto row = static_cast<std::size_t>(n);
        const auto is_level = [&](std::size_t i) {
            return column.is_text() ? column.levels[column.codes[row]] == levels[i]
                                    : column.numbers[n] == known[static_cast<Index>(i)];
        };
        if (!is_level(0) && !is_level(1)) {
            const std::string value =
                column.is_text() ? column.levels[column.codes[row]] : fmt::format("{}", column.numbers[n]);
            throw std::runtime_error(
                fmt::format("{}, column {}: {} is neither {} nor {}, the values of the response in the fit: correct it",
                            frame.row_name(n), shown(column.name), shown(value), shown(levels[0]), shown(levels[1])));
        }
        numbers[n] = is_level(1) ? 1.0 : 0.0;
    }
    column.numbers = std::move(numbers);
    column.levels.clear();
    column.codes.clear();
}

std::string response_note(const std::string& response, const ResponseLevels& levels) {
    return fmt::format("{}: {} is 1 and {} is 0; {} turns it round", printable(response), shown(levels[1]),
                       shown(levels[0]), typed("--success", levels[0]));
}

void require_trials(bool has_trials, const Likelihood& likelihood) {
    if (has_trials && !likelihood.has_trials()) {
        throw UsageError("cbind(successes, failures) is the response of a binomial family: give --family binomial");
    }
    if (likelihood.has_one_trial() && has_trials) {
        throw UsageError("cbind(successes, failures) is of several trials: give --family binomial");
    }
}

void require_response(const FormulaDesign& design, const DataFrame& frame, const Likelihood& likelihood) {
    const bool has_trials = design.trials.size() > 0;
    for (Index n = 0; n < design.y.size(); ++n) {
        const std::optional<double> trials = has_trials ? std::optional<double>(design.trials[n]) : std::nullopt;
        const std::optional<std::string> refusal = likelihood.refusal(design.y[n], trials);
        if (!refusal) continue;
        throw std::runtime_error(
            fmt::format("{}: the response {} {}", frame.row_name(n), shown(design.response), *refusal));
    }
}

void add_response_warnings(const FieldData& data, const std::vector<double>& values, double mean,
                           std::vector<std::string>& warnings) {
    const std::optional<std::string> suspicion = data.likelihood->suspicion(values, mean);
    if (suspicion) warnings.push_back(fmt::format("the response {} {}", shown(data.response), *suspicion));
}

}  // namespace lrvb::detail
