#include "data/csv_reader.hpp"

#include "base/messages.hpp"
#include "data/columns.hpp"

#include <lrvb/data/csv.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace lrvb::detail {
namespace {

/// No honest record is longer: a quote was left open, or the file is no CSV file. Not to be read into memory to its
/// end.
constexpr std::size_t longest_record = std::size_t{16} << 20;

/// Nor are there as many blank lines in a row, unless they never end.
constexpr Index most_blank_rows = 100'000'000;

}  // namespace

CsvReader::CsvReader(const std::string& path, std::size_t block, std::size_t kept,
                     const std::vector<std::string>& wanted, bool ranges, const std::vector<std::string>& last,
                     std::vector<std::string> na)
    : buffer_(path, block, kept), na_(std::move(na)) {
    begin();
    selected_ = select_columns(name(), names_, wanted, ranges, last);
    leaves_out_row_names_ = detail::leaves_out_row_names(names_, wanted, selected_);
    for (const std::size_t place : selected_) require_utf8(0, place, names_[place]);
    require_rows();
}

CsvReader::CsvReader(const std::string& path) : buffer_(path, std::size_t{1} << 18, 0), na_({}) {
    begin();
    require_rows();
}

void CsvReader::begin() {
    refuse_compressed();
    skip_byte_order_mark();
    if (is_blank_to_the_end()) refuse("is empty: give a line of column names, then rows of numbers");
    read_header();
}

void CsvReader::require_rows() {
    buffer_.mark();
    if (is_blank_to_the_end()) refuse("has a header but no rows: add rows of numbers below it");
}

std::vector<std::string> CsvReader::selected_names() const {
    std::unordered_map<std::string_view, std::size_t> counts;
    for (const std::string& name : names_) ++counts[name];
    std::vector<std::string> result;
    for (const std::size_t place : selected_) {
        result.push_back(counts[names_[place]] == 1 ? names_[place] : fmt::format("{}", place + 1));
    }
    return result;
}

void CsvReader::rewind() {
    buffer_.rewind();
    row_ = rows_before_;
    blank_rows_ = 0;
}

void CsvReader::restrict_to(std::size_t begin, std::size_t end, Index rows_before) {
    buffer_.restrict_to(begin, end);
    rows_before_ = rows_before;
    is_restricted_ = true;
    row_ = rows_before;
}

bool CsvReader::next() {
    blank_rows_ = 0;
    for (;;) {
        if (!split_next(row_ + blank_rows_ + 1)) return false;
        buffer_.consume(record_.next);
        if (!record_.is_blank()) break;
        ++blank_rows_;
        if (blank_rows_ > most_blank_rows) {
            refuse_row(row_ + 1, fmt::format("more than {} blank lines begin here: remove them", most_blank_rows));
        }
    }
    if (blank_rows_ > 0 && names_.size() > 1) {
        refuse_row(row_ + 1, "the line is blank, but rows follow it: remove it");
    }
    row_ += blank_rows_ + 1;
    return true;
}

void CsvReader::require_whole() const {
    const std::size_t count = record_.fields.size();
    if (count == names_.size()) return;
    refuse_row(row_, fmt::format("there {} {} field{}, but the header has {}: give every row one field a column, and "
                                 "quote text that contains {}",
                                 count == 1 ? "is" : "are", count, count == 1 ? "" : "s", names_.size(),
                                 separator_ == '\t' ? "tabs" : fmt::format("'{}'", separator_)));
}

void CsvReader::refuse(const std::string& sentence) const {
    throw std::runtime_error(fmt::format("{}: {}", name(), sentence));
}

void CsvReader::refuse_row(Index row, const std::string& sentence) const {
    refuse(fmt::format("row {}: {}", row, sentence));
}

void CsvReader::refuse_field(Index row, std::size_t place, const std::string& sentence) const {
    refuse(fmt::format("{}, {}: {}", row == 0 ? "header" : fmt::format("row {}", row), column_label(place), sentence));
}

void CsvReader::refuse_missing(Index row, std::size_t place, Index count, bool at_least) const {
    const std::string others =
        count == 1 ? "" : fmt::format(", in the first of {}{} such rows", at_least ? "at least " : "", count);
    throw MissingValue(
        fmt::format("{}: row {}, {}: the value is missing{}: fill it in, or have rows with missing values dropped",
                    name(), row, column_label(place), others));
}

void CsvReader::refuse_infinite(Index row, std::size_t place, std::string_view text) const {
    refuse_field(row, place,
                 fmt::format("{} is infinite, but must be a finite number: correct it, or write NA if it is missing",
                             shown(text)));
}

void CsvReader::refuse_too_large(Index row, std::size_t place, std::string_view text) const {
    refuse_field(
        row, place,
        fmt::format("{} is too large for a double: correct it, or change the unit of the column", shown(text)));
}

void CsvReader::refuse_all_missing() const {
    refuse("every row has a missing value in the selected columns, so none is left: select other columns");
}

void CsvReader::require_utf8(Index row, std::size_t place, std::string_view text) const {
    if (is_utf8(text)) return;
    const std::string where = row == 0 ? fmt::format("the name of column {}", place + 1)
                                       : fmt::format("row {}, {}: the text", row, column_label(place));
    refuse(fmt::format("{} is {}, which is not UTF-8: convert the file, for example with 'iconv -f LATIN1 -t UTF-8'",
                       where, shown(text)));
}

std::string CsvReader::column_label(std::size_t place) const {
    const bool has_name = place < names_.size() && !names_[place].empty();
    return has_name ? fmt::format("column {}", shown(names_[place])) : fmt::format("column {}", place + 1);
}

void CsvReader::refuse_compressed() {
    struct Packed {
        std::string_view first_bytes;
        std::string_view what;
        std::string_view program;  // that unpacks it to standard output
    };
    constexpr std::array<Packed, 5> known{{{"\x1F\x8B", "gzip", "zcat"},
                                           {"BZh", "bzip2", "bzcat"},
                                           {"\xFD"
                                            "7zXZ",
                                            "xz", "xzcat"},
                                           {"\x28\xB5\x2F\xFD", "zstd", "zstdcat"},
                                           {"PK\x03\x04", "zip", "unzip -p"}}};
    while (buffer_.size() < 6 && !buffer_.is_last()) buffer_.fill();
    const std::string_view bytes(buffer_.begin(), buffer_.size());
    for (const Packed& packed : known) {
        if (!bytes.starts_with(packed.first_bytes)) continue;
        // A column may be called BZhours.
        if (packed.what == "bzip2" && (bytes.size() < 4 || bytes[3] < '1' || bytes[3] > '9')) continue;
        if (packed.what == "zip") {
            refuse(
                "is a ZIP archive, as those of spreadsheets (.xlsx, .ods) are: save the table as CSV, or unpack the "
                "file");
        }
        refuse(fmt::format("is compressed by {}: unpack it, for example by '{} {} | lrvb …' with - for the data",
                           packed.what, packed.program, name() == "standard input" ? "FILE" : name()));
    }
}

void CsvReader::skip_byte_order_mark() {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    while (buffer_.size() < mark.size() && !buffer_.is_last()) buffer_.fill();
    if (std::string_view(buffer_.begin(), buffer_.size()).substr(0, mark.size()) == mark) {
        buffer_.consume(buffer_.begin() + mark.size());
    }
}

void CsvReader::read_header() {
    while (!find_separator(buffer_.begin(), buffer_.end(), separator_) && !buffer_.is_last() &&
           buffer_.size() <= longest_record) {
        buffer_.fill();
    }
    split_next(0);
    if (record_.is_blank()) refuse("the first line is blank, but must hold the names of the columns");
    bool only_numbers = true;
    for (const CsvField& field : record_.fields) {
        names_.push_back(unquoted(field));
        double number = 0.0;
        if (field.quoted || parse_number(field.text, number) != NumberKind::number) only_numbers = false;
    }
    if (only_numbers) {
        refuse(
            "the first line holds numbers, but must hold the names of the columns: add a line of names above it, "
            "or quote the names if they are numbers");
    }
    buffer_.consume(record_.next);
}

/// Whether only blank lines follow. More of them than a record may be long are not looked through.
bool CsvReader::is_blank_to_the_end() {
    const char* const blank = separator_ == '\t' ? " \r\n" : " \t\r\n";  // as fields are trimmed
    for (;;) {
        const std::string_view rest(buffer_.begin(), buffer_.size());
        if (rest.find_first_not_of(blank) != std::string_view::npos || rest.size() > longest_record) return false;
        if (buffer_.is_last()) return true;
        buffer_.fill();
    }
}

/// Splits the record at the beginning of the buffer, without consuming it; false at the end of the file. Row 0 is the
/// header.
bool CsvReader::split_next(Index row) {
    for (;;) {
        const RecordState state = split_record(buffer_.begin(), buffer_.end(), separator_, record_);
        if (state == RecordState::complete) return true;
        const bool needs_more = state == RecordState::incomplete || state == RecordState::open_quote;
        if (!needs_more || (buffer_.is_last() && buffer_.size() > 0)) refuse_malformed(row, state);
        if (buffer_.is_last()) return false;
        if (buffer_.size() > longest_record) {
            refuse_field(row, record_.fields.size() - 1,
                         fmt::format("no end of the row within {} MiB: close the quote that was left open, or give "
                                     "a text file with line ends",
                                     longest_record >> 20));
        }
        buffer_.fill();
    }
}

void CsvReader::refuse_malformed(Index row, RecordState state) const {
    const std::size_t place = record_.fields.size() - 1;
    if (state == RecordState::nul_byte) {
        refuse_field(row, place, "there is a NUL byte, so this is not a CSV file: save it as text in UTF-8");
    }
    if (state == RecordState::lone_carriage_return) {
        refuse_field(row, place, "a carriage return has no line feed behind it: save with line ends LF or CRLF");
    }
    if (state == RecordState::text_after_quote) {
        refuse_field(row, place, "text follows the closing quote: double the quotes within quoted text");
    }
    refuse_field(row, place, "a quote is opened but never closed: close it, or double the quotes within quoted text");
}

}  // namespace lrvb::detail
