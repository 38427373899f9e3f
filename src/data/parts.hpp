#pragma once

#include <lrvb/data/csv.hpp>
#include <lrvb/data/dataset.hpp>
#include <lrvb/data/npy.hpp>

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <vector>

/// Data in several files of one form, whose rows come one behind the other.
namespace lrvb::detail {

/// Whether the path is a pattern that no file is called, such as part-*.csv, or @ and a file that lists others.
bool names_parts(const std::string& path);

/// The files that it names: of a pattern in the order of their names, byte by byte; of a list in its own order, by
/// paths from where the list is. Of any other path, that. Throws std::runtime_error where there are none.
std::vector<std::string> parts_of(const std::string& path);

/// These files, the files that a pattern or a list among them names, and the lists themselves; those that cannot be
/// read now are left out.
std::vector<std::string> with_parts(const std::vector<std::string>& paths);

/// Refuses a part whose columns are not those of the first.
void require_columns(const std::vector<std::string>& names, const std::string& path,
                     const std::vector<std::string>& expected, const std::string& first);

/// For who reads one file.
[[noreturn]] void refuse_parts(const std::string& path);

constexpr std::size_t kToTheEnd = std::numeric_limits<std::size_t>::max();

/// Some of a file: the rows that begin at these bytes.
struct PartRange {
    std::string path;
    std::size_t begin = 0;
    std::size_t end = kToTheEnd;
    Index rows_before = 0;

    bool is_whole() const { return begin == 0 && end == kToTheEnd; }
};

std::vector<PartRange> whole_parts(const std::string& path);

/// The rows of a NumPy file that begin at the bytes of a part.
void restrict_rows(const PartRange& part, NpyOptions& options);

struct OpenedPart {
    std::shared_ptr<RowSource> source;
    std::vector<std::string> names;
    const CsvSource* csv = nullptr;
    Index rows = 0;  // where that is known before they are read
    bool leaves_out_row_names = false;
};

/// A NumPy file has no texts that could mean a missing value.
void require_no_texts(const std::string& path, const std::vector<std::string>& na);

/// The selected columns of a file, the weights last. `read_once` is that of CsvOptions.
OpenedPart open_part(const PartRange& part, const RowSelection& selection, const std::vector<std::string>& na,
                     bool read_once);

/// The rows of all parts, one file open at a time. One with other columns than the first is refused, with its name,
/// when it is come to.
class PartsSource final : public RowSource {
  public:
    struct Header {
        std::vector<std::string> names;
        std::string path;
    };

    /// `expected` are the columns, where they are known; otherwise those of the first part are.
    PartsSource(std::string name, std::vector<PartRange> parts, RowSelection selection, std::vector<std::string> na,
                Header expected = {});

    Index columns() const override { return static_cast<Index>(header_.names.size()); }
    std::string name() const override { return name_; }
    std::string column_name(Index column) const override { return header_.names.at(static_cast<std::size_t>(column)); }
    void rewind() override;
    Index read(double* rows, Index capacity) override;

    const std::vector<std::string>& column_names() const { return header_.names; }
    Index dropped() const;
    bool leaves_out_row_names() const { return leaves_out_row_names_; }

  private:
    void open_next();

    std::string name_;
    std::vector<PartRange> parts_;
    RowSelection selection_;
    std::vector<std::string> na_;
    Header header_;
    bool leaves_out_row_names_ = false;
    std::size_t next_ = 0;
    OpenedPart current_;
    Index dropped_ = 0;  // by those that are read
};

/// What can be seen of the lines that begin at some bytes of a CSV file, by who reads no others.
struct LineCount {
    Index rows = 0;           // lines that are not blank
    bool are_records = true;  // each is a record of its own: no quoted text goes on in the next
    bool has_blank = false;   // a blank line before one that is not
    bool ends_blank = false;  // a blank line after the last that is not, or there is none
};

/// Where the first line begins that does so at this byte or behind it; the end of the file where none does.
std::size_t line_start(const std::string& path, std::size_t byte);

/// Between two places where lines begin. The header, at 0, is no row.
LineCount count_lines(const std::string& path, std::size_t begin, std::size_t end);

}  // namespace lrvb::detail
