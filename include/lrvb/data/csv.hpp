#pragma once

#include <lrvb/data/row_source.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace lrvb {

/// What becomes of a row without a value in a column that is read.
enum class Missing {
    refuse,  ///< MissingValue with the row, the column and the number of such rows
    drop,    ///< the row is left out and counted
};

/// What Missing::refuse throws.
class LRVB_EXPORT MissingValue : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct CsvOptions {
    /// The columns to read, in this order, each by its name or by its number from 1; a name wins over a number. None
    /// means all, but a first column that alone has no name, as that of row names has none; all of them must then hold
    /// numbers.
    std::vector<std::string> columns = {};
    /// Whether `columns` may also hold ranges of columns, "1-4" or "a-d", and columns to leave out, "-a" or "-1-4": of
    /// the others that are given, or of all if there are none. A column that is called so wins.
    bool ranges = false;
    Missing missing = Missing::refuse;
    /// Texts that mean a missing value, besides nothing, NA and NaN: "?", "-999". One that is a number means every
    /// way of writing it, -999.0 too.
    std::vector<std::string> na = {};
    /// Bytes read from the file at a time.
    std::size_t block = std::size_t{1} << 20;
    /// A column that is read after all others, whether or not it is among `columns`: row weights, say.
    std::string last = {};
    /// The most bytes of what can be read only once, such as a pipe, that are kept in memory. One that holds more is
    /// refused.
    std::size_t memory = kDataMemory;
    /// Of what can be read only once nothing is kept: `rewind` is refused after the first rows were passed.
    bool read_once = false;
    /// Of a file whose every row is a line, the rows that begin at these bytes: a share of a file that many read.
    struct Range {
        std::size_t begin = 0;  // where a line begins; within the header, the first row is meant
        std::size_t end = 0;    // where a line begins, or the file ends
        Index rows_before = 0;  // for messages
    };
    std::optional<Range> range = {};
};

/// The numbers of a CSV file, parsed exactly (each is the double nearest to what is written) while they stream by: the
/// memory does not grow with the file.
///
/// The first line names the columns, and whichever of comma, semicolon and tab occurs most often in it separates the
/// fields. Fields may be quoted, with quotes inside doubled; quoted fields may hold separators and line ends. Lines end
/// in LF or CRLF, a UTF-8 byte order mark is skipped, and so are spaces around fields and blank lines at the end. A
/// value is missing where there is nothing, NA or NaN; a blank line between the rows of a single column is one as well.
/// Columns that are not selected may hold any text.
///
/// Whatever else the file holds is refused by std::runtime_error, in one sentence with the file, the row (from 1, the
/// header not counted), the column and the remedy: by the constructor for what the header shows and a file without
/// rows, by `read` for the rest, after which only `rewind` makes sense. A first line of nothing but unquoted numbers is
/// refused too, because it is more likely a row of data than a header. Columns that are not in the file, or are asked
/// for twice, are std::invalid_argument.
///
/// A file that is packed by gzip, which its first bytes tell, is unpacked while it is read, with the same answers; one
/// that is damaged or cut short is refused.
///
/// "-" is standard input. What cannot be read twice, such as a pipe, is kept in memory while it is read.
class LRVB_EXPORT CsvSource final : public RowSource {
  public:
    explicit CsvSource(const std::string& path, const CsvOptions& options = {});
    ~CsvSource() override;
    CsvSource(CsvSource&&) noexcept;
    CsvSource& operator=(CsvSource&&) noexcept;

    Index columns() const override;
    std::string name() const override;
    std::string column_name(Index column) const override;
    void rewind() override;
    Index read(double* rows, Index capacity) override;

    /// The names of the columns that are read, in the order in which they are read.
    /// By their numbers, from 1, where the file has several of that name.
    std::vector<std::string> column_names() const;

    /// Rows left out since the last `rewind`; after a whole round, all that there are.
    Index dropped() const;

    /// Whether a first column without a name, that of row names, is not read, since nobody chose columns.
    bool leaves_out_row_names() const;

    /// Whether `rewind` always works: not for a pipe that is read once.
    bool can_go_back() const;

  private:
    class Implementation;

    std::unique_ptr<Implementation> implementation_;
};

}  // namespace lrvb
