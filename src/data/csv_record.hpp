#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// How CSV text falls into records and fields, and a field into a number.
namespace lrvb::detail {

struct CsvField {
    std::string_view text;  // without the quotes around it, or the spaces around it if there are none
    bool quoted = false;
};

enum class RecordState {
    complete,
    incomplete,  // its end is not in sight
    open_quote,  // neither is the closing quote of its last field
    nul_byte,    // in its last field, as are the following two
    text_after_quote,
    lone_carriage_return,
};

struct CsvRecord {
    std::vector<CsvField> fields;
    const char* next = nullptr;  // where the next record begins, if this one is complete

    bool is_blank() const { return fields.size() == 1 && !fields[0].quoted && fields[0].text.empty(); }
};

/// Splits the record that begins at `begin` into fields.
RecordState split_record(const char* begin, const char* end, char separator, CsvRecord& record);

/// Looks for the comma, semicolon or tab that occurs most often in the record, outside of quoted fields. False if the
/// record's end is not in sight, so that there may be more of them.
bool find_separator(const char* begin, const char* end, char& separator);

/// A header's field with doubled quotes made single.
std::string unquoted(const CsvField& field);

enum class NumberKind { number, missing, infinite, too_large, text };

/// The number that the field holds, exactly rounded.
NumberKind parse_number(std::string_view text, double& number);

/// Texts that mean a missing value, besides those that always do. One that is a number means every way of writing it:
/// where -999 is missing, -999.0 is no value either.
class MissingMarks {
  public:
    explicit MissingMarks(std::vector<std::string> texts);

    /// As parse_number says, but for what these texts mean.
    NumberKind parse(std::string_view text, double& number) const;
    bool has(std::string_view text) const;
    bool has(double number) const;
    /// Whether a number may be one of them.
    bool has_numbers() const { return has_numbers_; }

  private:
    std::vector<std::string> texts_;
    std::vector<double> numbers_;
    bool has_numbers_ = false;
};

/// The number that a text holds, digit by digit, in the one form that all its ways of writing share: 4, 4.0 and +4e0
/// have the same, and two identifiers of 20 digits have not, though they are one double. Nothing for text.
std::optional<std::string> decimal_form(std::string_view text);

}  // namespace lrvb::detail
