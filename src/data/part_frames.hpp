#pragma once

#include "data/parts.hpp"

#include <lrvb/data/frame.hpp>
#include <lrvb/data/row_team.hpp>

#include <string>
#include <string_view>
#include <vector>

/// Tables of numbers and of text that are read in parts: by several files, or by several processes. What a column is
/// depends on all of it, so that who reads a part says what is in it, and learns from all others what the column is.
namespace lrvb::detail {

struct PartFrame {
    DataFrame frame;             // as these rows alone would be; file_rows are counted from the first of these
    std::vector<bool> has_text;  // of each column: whether a value is no number
    std::vector<bool> all_quoted;
    std::vector<std::string> unusable;  // why it cannot be numbers, such as an infinite one
    bool quotes_all = true;             // every value is quoted, of columns that are not read too

    Index records() const { return frame.rows + frame.dropped; }
};

/// `as_text`: columns in which others found text.
PartFrame read_part_frame(const PartRange& part, const FrameOptions& options, const std::vector<bool>& as_text = {});

/// What parts say of the columns, before the columns are anything.
class ColumnForms {
  public:
    ColumnForms() = default;
    explicit ColumnForms(const PartFrame& part);

    /// What the parts that follow say. Throws std::runtime_error where their columns are others.
    void add(const ColumnForms& next);

    bool empty() const { return names_.empty(); }
    const std::vector<std::string>& names() const { return names_; }
    /// Whether the column is text; then whether its values are quoted in a table that is not quoted as a whole.
    bool is_text(std::size_t column) const;
    bool quoted(std::size_t column) const;
    /// Those that are text, though some part took them as numbers: of which the texts are not known.
    std::vector<bool> read_again() const;
    /// Of those that are text, sorted.
    const std::vector<std::string>& levels(std::size_t column) const { return levels_[column]; }
    /// Refuses numbers that are none, in columns that are no text.
    void require_usable() const;
    /// The columns, without rows.
    DataFrame outline(const std::string& name) const;

    std::string bytes() const;
    static ColumnForms of(std::string_view bytes);

  private:
    std::vector<std::string> names_;
    std::vector<char> told_;
    std::vector<char> has_text_;
    std::vector<char> all_quoted_;
    std::vector<char> has_numbers_;  // some part took it as numbers
    std::vector<std::string> unusable_;
    std::vector<std::vector<std::string>> levels_;
    bool quotes_all_ = true;
    bool leaves_out_row_names_ = false;
    std::string source_;  // the first part, for messages
};

/// A table without its rows, as a message.
std::string outline_bytes(const DataFrame& outline);
DataFrame outline_of(std::string_view bytes);

/// The rows of a share, whose columns are those of the outline, text as the places of its levels.
DataFrame frame_of(RowShare& share, DataFrame outline);

/// A part of a table, its columns as those of the outline: codes count the outline's levels.
void take_form(const DataFrame& outline, DataFrame& part);

/// All rows of several files.
DataFrame read_frame_of_parts(const std::string& name, const std::vector<PartRange>& parts,
                              const FrameOptions& options);

/// DataFrame::row_name of a row by its number in the file, from 1.
std::string row_name_of(const DataFrame& frame, Index file_row);

/// What columns are called that were asked for by name or number.
std::vector<std::string> names_in(const DataFrame& frame, const std::vector<std::string>& columns);

/// Makes columns text, or numbers where they can be.
void take_as_told(DataFrame& frame, const std::vector<std::string>& text, const std::vector<std::string>& numbers);

}  // namespace lrvb::detail
