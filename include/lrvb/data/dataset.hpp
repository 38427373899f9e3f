#pragma once

#include <lrvb/data/data_array.hpp>
#include <lrvb/data/frame.hpp>
#include <lrvb/data/memory_table.hpp>
#include <lrvb/data/row_source.hpp>
#include <lrvb/export.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Where data are: a file, several files together, a table in memory, or a source of rows of somebody's own; read as
/// rows of numbers that stream, or as a frame of columns. Arrays of any dimensions are read as what they are.
namespace lrvb {

/// What is read of the rows.
struct RowSelection {
    std::vector<std::string> columns;  // none: all
    std::string weights;               // the column of row weights; none: every row counts once
    bool drop_missing = false;
    /// Whether the ends of the columns, and some of their rows, are kept on the way.
    bool summarise = false;
    /// Whether `columns` may be ranges and columns to leave out, as in CsvOptions.
    bool ranges = false;
};

/// What one reading can tell of columns of numbers: their ends, and rows at even distances, ten thousand or so. Rows
/// without weight are not there.
class LRVB_EXPORT ColumnSummary {
  public:
    ColumnSummary(Index columns, bool weighted);

    /// The weight of a weighted row is its last number.
    void add(const double* row);

    const Vector& smallest() const { return smallest_; }
    const Vector& largest() const { return largest_; }
    const std::vector<double>& sample(Index column) const { return samples_[static_cast<std::size_t>(column)]; }

  private:
    bool weighted_;
    Vector smallest_;
    Vector largest_;
    Index row_ = 0;
    Index stride_ = 1;  // doubles whenever the sample has grown too large
    std::vector<std::vector<double>> samples_;
};

/// What is known of data once they were read.
struct DataRecord {
    std::string name;
    std::vector<std::string> files = {};  // where they are several, of which `name` then speaks together
    std::vector<std::string> columns;
    std::optional<std::string> weights;  // the column of row weights
    bool precision_weights = false;      // they do not say how often a row counts, but how precise it is
    Index rows = 0;
    Index dropped = 0;                 // rows without a value in a used column
    std::vector<std::string> na = {};  // texts that mean a missing value, besides those that always do
    double total_weight = 0.0;
    std::string checksum;  // of the numbers read, not of the file's bytes
};

/// Rows that were read once.
struct DataRows {
    std::shared_ptr<RowSource> source;  // the columns, then the weights if there are any
    DataRecord record;
    /// The file's row, from 1, of each row; empty where none was left out.
    std::vector<Index> file_rows;
    /// Where it was asked for.
    std::optional<ColumnSummary> summary;
    /// Whether a first column without a name, that of row names, was not read, since nobody chose columns.
    bool leaves_out_row_names = false;
    /// The checksum of all rows one after the other, which former programs took: another one where rows are many.
    std::string former_checksum = {};
    /// Columns whose numbers go up by one from row to row of the file, as those of an index do.
    std::vector<std::string> counting = {};
};

/// A table whose rows may be with others.
struct FrameRows {
    /// Where there is a team: columns with their levels, and how many rows there are, but none of these.
    DataFrame frame;
    /// Who has the rows, as numbers, text as the places of its levels; null where they are here.
    std::shared_ptr<RowTeam> team;
};

/// New rows, streamed as they are.
struct NewRows {
    std::shared_ptr<RowSource> source;
    /// Rows left out so far.
    std::function<Index()> dropped;
};

/// A field of a table as it is written: without the quotes around it, and those within it single.
struct TextField {
    std::string text;
    bool quoted = false;
};

/// All columns and rows of data as they are written, one row after the other: those with missing values too.
class LRVB_EXPORT TextRows {
  public:
    virtual ~TextRows() = default;
    /// Of all columns; two may be the same.
    virtual const std::vector<std::string>& names() const = 0;
    /// The next row, one field a column; false at the end.
    virtual bool next(std::vector<TextField>& fields) = 0;
    /// The file's row, from 1, of the one that `next` gave.
    virtual Index row() const = 0;
};

class RowCrew;

struct DataOptions {
    /// The most bytes of a file's numbers that are kept in memory.
    std::size_t memory = kDataMemory;
    /// Texts that mean a missing value, besides nothing, NA and NaN: "?", "-999". A NumPy file has none.
    std::vector<std::string> na = {};
    /// Processes that read the files together (<lrvb/data/row_crew.hpp>), each its share; null: this one alone.
    std::shared_ptr<RowCrew> crew = {};
};

class LRVB_EXPORT Dataset {
  public:
    /// A CSV file, a NumPy file (.npy), or "-" for standard input. Rows can also be those of several files of one form,
    /// one behind the other: a pattern ("part-*.npy"), in the order of their names, or "@" and a file that lists them.
    Dataset(std::string path, DataOptions options = {}) : paths_{std::move(path)}, options_(std::move(options)) {}
    Dataset(const char* path, DataOptions options = {}) : paths_{path}, options_(std::move(options)) {}
    /// Several files together, or none at all, for a kind that reads its data from `paths`; who asks such data for rows
    /// or a frame is told, by std::runtime_error, that one file is one table.
    Dataset(std::vector<std::string> paths, DataOptions options = {})
        : paths_(std::move(paths)), options_(std::move(options)) {}
    /// A table in memory, read as a file that held it would be: a number that is NaN is missing. Throws
    /// std::invalid_argument for columns that do not have a value for every row.
    Dataset(DataFrame frame);
    /// The same of numbers in foreign memory. Rows are read where they are: only where they do not lie row by row, and
    /// take no more than kGathered, are they put together once, since small data are looked at very often. A frame has
    /// copies of the columns that it is asked for. Throws std::invalid_argument for columns that are not whole.
    Dataset(MemoryTable table);
    /// Rows from anywhere, in chunks; a number that is NaN is missing. What takes no more than DataOptions::memory is
    /// kept, more is read from the source whenever it is needed.
    Dataset(std::shared_ptr<RowSource> source, DataOptions options = {});

    /// Arrays by name, for a kind that reads its data from `arrays`, and that says what is wrong with them.
    static Dataset of_arrays(std::string name, std::vector<DataArray> arrays);

    static constexpr std::size_t kGathered = std::size_t{8} << 20;  // bytes

    /// What messages call it; of several files all of them.
    std::string name() const;
    /// The files; none of a table in memory.
    const std::vector<std::string>& paths() const { return paths_; }
    /// The table in memory; null where the data are files.
    const DataFrame* table() const { return frame_.get(); }
    /// The arrays in memory; null where the data are something else.
    const std::vector<DataArray>* arrays() const { return arrays_.get(); }

    /// DataOptions::na.
    const std::vector<std::string>& na() const { return options_.na; }
    /// The same data, in which these texts mean a missing value as well.
    Dataset with_na(const std::vector<std::string>& texts) const;

    /// Reads the data once: numbers that take no more than DataOptions::memory stay in memory, more is streamed from
    /// the file whenever it is needed, with the same answers to the last bit. Throws std::runtime_error for data that
    /// cannot be read, and for more than that through a pipe, which cannot be read again.
    DataRows rows(const RowSelection& selection) const;
    /// These columns, as they are.
    NewRows new_rows(const std::vector<std::string>& columns, bool drop_missing) const;
    /// All rows, in this process, whoever else may read the files.
    DataFrame frame(const FrameOptions& options) const;
    /// The same, which many read together where DataOptions::crew has them.
    FrameRows frame_rows(const FrameOptions& options) const;
    /// Everything, as it is written, beside whatever else reads the data. Throws std::runtime_error for a pipe, which
    /// can be read only once.
    std::unique_ptr<TextRows> text_rows() const;
    /// The names of all columns, before any row is read; none for a pipe, which can be read only once, and for what
    /// cannot be read at all: whoever reads it says why.
    std::vector<std::string> column_names() const;

  private:
    const std::string& path() const;

    std::vector<std::string> paths_;
    std::string name_;  // of arrays
    DataOptions options_;
    std::shared_ptr<const DataFrame> frame_;
    std::shared_ptr<const MemoryTable> table_;
    std::shared_ptr<RowSource> source_;
    std::shared_ptr<const std::vector<DataArray>> arrays_;
};

/// The data that a record names.
LRVB_EXPORT Dataset dataset_of(const DataRecord& record);

/// Visits all rows in order.
LRVB_EXPORT void for_each_row(RowSource& source, const std::function<void(const double*)>& visit);

/// A checksum over the bits of numbers, in order, so that a table has one whatever file it is in.
class LRVB_EXPORT Checksum {
  public:
    void add(const double* values, Index count);
    void add(const Matrix& values) { add(values.data(), values.size()); }
    std::string text() const;
    std::uint64_t bits() const { return hash_; }

  private:
    std::uint64_t hash_ = 0x2545F4914F6CDD1DU;
};

}  // namespace lrvb
