#pragma once

#include "data/row_numbers.hpp"

#include <lrvb/kind/options.hpp>
#include <lrvb/kind/regression/design.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// How the columns of a table are taken as parts of a regression, and what is said where they could be taken otherwise.
///
/// Of a column that nobody decided about (--factor, --numeric):
///
///     text, more than half of whose values are numbers   is refused: one "?" would make groups of all the numbers
///     text, more than half of whose values are numbers
///     but for their commas, as 0,25                      is refused
///     text, some of whose values are numbers             is a factor, and said
///     numbers in quotes (FrameColumn::quoted)            are a factor, and said
///     whole numbers, at most 1000 different ones, that
///     occur twice or more on average                     are numbers, and said: they may be groups
///     all else                                           is what it looks like
namespace lrvb::detail {

/// What rows say of a column, wherever they are.
struct ColumnFacts {
    /// Of text: how many rows have each level, and the first of them, as the file counts (0: none has it).
    std::vector<Index> counts;
    std::vector<Index> firsts;
    /// Of numbers: the different ones, ascending; of very many the first ones that were found.
    std::vector<double> values;
    /// Of numbers: whether they number the rows.
    RowNumbers numbers = RowNumbers(1);

    /// What the rows that follow say; `every` value is kept.
    void add(const ColumnFacts& next, bool every);
};

/// Column by column. Every value, of columns of numbers that have this mark.
using TableFacts = std::vector<ColumnFacts>;
TableFacts facts_of(const DataFrame& frame, const std::vector<bool>& every = {});
std::string bytes_of(const TableFacts& facts);
TableFacts table_facts_of(std::string_view bytes);

/// What a weight of a row means: how often it counts, that its variance is σ²/w, or of how many trials it is.
enum class WeightMeaning { count, precision, trials };

/// The column of weights, which is then no longer one of the table's. Throws std::runtime_error, with the row, for what
/// is no weight.
Vector taken_weights(DataFrame& frame, Index place, WeightMeaning meaning);

/// Rows of weight zero are as if they were not there: neither are levels that they alone have. Where no row has weight
/// nothing is left out, and the model says so. Returns how many were.
Index leave_out_weightless(DataFrame& frame, Vector& weights);

/// Refuses, with row and remedy, what is neither clearly numbers nor clearly text. Where a formula is written, which
/// refuses text in arithmetic itself, with the place, that is left to it.
void require_clear_columns(const DataFrame& frame, const TableFacts& facts, Index response, bool is_written = false);

/// The first row of a column of text that has none of a number, as the file counts, and what it has.
std::pair<Index, std::string> first_text(const FrameColumn& column, const ColumnFacts& facts);

/// A sentence for each column of the design that could have been taken otherwise; the frame's columns are its terms.
std::vector<std::string> column_notes(const DataFrame& frame, const TableFacts& facts, const RegressionDesign& design);

/// Those of its columns that number the rows, as an index does.
std::vector<std::string> counting_columns(const DataFrame& frame, const TableFacts& facts,
                                          const RegressionDesign& design);

/// Where the response does not look like a normal one: two values, or small counts.
std::vector<std::string> response_warnings(const RegressionDesign& design);

/// --baseline: "cyl=6". Throws std::runtime_error, with those that exist, for a column or a level that is not there.
std::vector<Baseline> baselines_of(const Settings& settings, const DataFrame& frame);

}  // namespace lrvb::detail
