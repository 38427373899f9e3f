#pragma once

#include <lrvb/data/csv.hpp>
#include <lrvb/export.hpp>
#include <lrvb/types.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lrvb {

struct FrameOptions {
    /// The columns to read, as in CsvOptions; none means all, but row names.
    std::vector<std::string> columns = {};
    /// Whether ranges are understood, as in CsvOptions.
    bool ranges = false;
    /// Columns that are read after all others, in this order, whether or not they are among `columns`: a response, say.
    std::vector<std::string> last = {};
    /// Those of them that are text even where they look like numbers: codes, or the factors of an earlier fit.
    std::vector<std::string> text = {};
    /// Those of them whose quotes say nothing: numbers in quotes are numbers there.
    std::vector<std::string> numbers = {};
    Missing missing = Missing::refuse;
    /// Instead: a missing value of a column of numbers is NaN, that of a column of text has FrameColumn::kMissing, and
    /// every row stays. Not of NumPy files, which have none.
    bool keep_missing = false;
    /// That of CsvOptions.
    std::vector<std::string> na = {};
    /// Bytes read from the file at a time.
    std::size_t block = std::size_t{1} << 20;
    /// That of CsvOptions. (The table itself is in memory, whatever its size, unless it comes through a pipe or is
    /// packed by gzip: then it may take no more than this, either.)
    std::size_t memory = kDataMemory;
};

/// A column of a table: numbers, or text.
struct FrameColumn {
    /// The code of a missing text, where FrameOptions::keep_missing keeps it.
    static constexpr std::uint32_t kMissing = 0xFFFFFFFFU;

    std::string name;
    /// Of a column of numbers, one a row.
    Vector numbers;
    /// Of a column of text: the different texts, sorted by their bytes, and which of them (from 0) each row has.
    std::vector<std::string> levels;
    std::vector<std::uint32_t> codes;
    /// Whether its values, all but missing ones, stand in quotes, in a file that does not quote everything.
    bool quoted = false;
    /// Whether FrameOptions::text or FrameOptions::numbers has it.
    enum class Told { nothing, text, numbers } told = Told::nothing;

    bool is_text() const { return !levels.empty(); }
};

/// A table in memory, whose columns hold numbers or text. Made by `read_frame`.
struct LRVB_EXPORT DataFrame {
    /// What messages call it: a file's path.
    std::string name;
    std::vector<FrameColumn> columns;
    Index rows = 0;
    /// Rows that were left out because a value was missing.
    Index dropped = 0;
    /// The file's row, from 1, of each row; empty where none was left out, so that they are 1, 2, 3, …
    std::vector<Index> file_rows;

    /// Of several files together: what each is called, and how many of all rows came before it.
    struct Part {
        std::string name;
        Index rows_before = 0;
    };
    std::vector<Part> parts;

    /// Whether a first column without a name, that of row names, was not read, since nobody chose columns.
    bool leaves_out_row_names = false;

    /// The row, from 1, that a row (from 0) has in the file, or among those of several files together.
    Index file_row(Index row) const;
    /// What messages call a row (from 0): "data.csv: row 17"; of several files that which has it.
    std::string row_name(Index row) const;
    std::vector<std::string> column_names() const;
    /// The place (from 0) of a column, by its name or its number from 1, as CsvOptions has it: row names that were left
    /// out are counted. Throws std::invalid_argument for one that is not there.
    Index find(const std::string& column) const;
};

/// Reads a CSV file, or a NumPy file if the path ends in .npy, into memory. A column is text if any value in it is not
/// a number, or if all of them are quoted, as R writes factors, unless the whole file is: then quotes say nothing.
/// Numbers are parsed exactly. A row is missing a value where CsvSource says so (nothing, NA or NaN), in text
/// too. The columns of a NumPy file are numbers and are called "1", "2", ….
///
/// What CsvSource and NpySource refuse is refused here in the same words, except for text, and for the infinite in a
/// column of text. "-" is standard input, a CSV file. A CSV file with text is read twice.
LRVB_EXPORT DataFrame read_frame(const std::string& path, const FrameOptions& options = {});

}  // namespace lrvb
