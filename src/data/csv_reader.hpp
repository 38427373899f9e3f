#pragma once

#include "data/csv_buffer.hpp"
#include "data/csv_record.hpp"

#include <lrvb/types.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lrvb::detail {

/// The records of a CSV file, one after the other, and the sentences in which they are refused: what all readers of
/// such files share. The header is read by the constructor, which also selects the columns.
class CsvReader {
  public:
    /// `wanted`, `ranges`, `last` and `na` are those of FrameOptions, `kept` is that of ByteStream.
    CsvReader(const std::string& path, std::size_t block, std::size_t kept, const std::vector<std::string>& wanted,
              bool ranges, const std::vector<std::string>& last, std::vector<std::string> na = {});
    /// Selects nothing, so that columns may be called as they like.
    explicit CsvReader(const std::string& path);

    const std::string& name() const { return buffer_.name(); }
    const std::vector<std::string>& names() const { return names_; }        // of the file's columns
    const std::vector<std::size_t>& selected() const { return selected_; }  // the columns to read, as places
    /// What the columns to read are called: by their numbers, from 1, where the file has several of that name, so that
    /// the same columns are found again.
    std::vector<std::string> selected_names() const;
    /// Whether a first column of row names is not among them, as nobody chose columns.
    bool leaves_out_row_names() const { return leaves_out_row_names_; }
    char separator() const { return separator_; }
    CsvBuffer& buffer() { return buffer_; }
    const CsvBuffer& buffer() const { return buffer_; }

    /// Begins again at the first row.
    void rewind();
    /// CsvOptions::range.
    void restrict_to(std::size_t begin, std::size_t end, Index rows_before);
    bool is_restricted() const { return is_restricted_; }

    /// Splits the next record that is not blank; false at the end of the file. Of a file with a single column, the
    /// blank lines before it are rows without a value; in any other, they are refused.
    bool next();

    /// The record that `next` found, good until it is called again.
    const CsvRecord& record() const { return record_; }
    /// Its row, from 1.
    Index row() const { return row_; }
    /// How many blank rows came just before it.
    Index blank_rows() const { return blank_rows_; }
    /// What a field holds, and its number: as parse_number says, but that texts of `na` are missing.
    NumberKind parse(std::string_view text, double& number) const { return na_.parse(text, number); }
    /// Whether a plain number may be one of `na`, such as -999.
    bool has_missing_numbers() const { return na_.has_numbers(); }
    /// Rows that somebody else has read from the buffer.
    void skip_rows(Index count) { row_ += count; }

    /// Refuses a record that has not one field a column.
    void require_whole() const;

    [[noreturn]] void refuse(const std::string& sentence) const;
    [[noreturn]] void refuse_row(Index row, const std::string& sentence) const;
    /// Row 0 is the header.
    [[noreturn]] void refuse_field(Index row, std::size_t place, const std::string& sentence) const;
    /// The first of `count` rows, or at least as many, that have a value missing.
    [[noreturn]] void refuse_missing(Index row, std::size_t place, Index count, bool at_least) const;
    [[noreturn]] void refuse_infinite(Index row, std::size_t place, std::string_view text) const;
    [[noreturn]] void refuse_too_large(Index row, std::size_t place, std::string_view text) const;
    [[noreturn]] void refuse_all_missing() const;
    /// Row 0 is the header.
    void require_utf8(Index row, std::size_t place, std::string_view text) const;

  private:
    void begin();
    void require_rows();
    void refuse_compressed();
    void skip_byte_order_mark();
    void read_header();
    bool is_blank_to_the_end();
    bool split_next(Index row);
    [[noreturn]] void refuse_malformed(Index row, RecordState state) const;
    std::string column_label(std::size_t place) const;

    CsvBuffer buffer_;
    MissingMarks na_;
    char separator_ = ',';
    std::vector<std::string> names_;
    std::vector<std::size_t> selected_;
    bool leaves_out_row_names_ = false;
    CsvRecord record_;
    Index rows_before_ = 0;
    bool is_restricted_ = false;
    Index row_ = 0;  // rows passed
    Index blank_rows_ = 0;
};

}  // namespace lrvb::detail
