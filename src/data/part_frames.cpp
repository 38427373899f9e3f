#include "data/part_frames.hpp"

#include "base/bytes.hpp"
#include "data/csv_record.hpp"

#include <lrvb/base/interruption.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace lrvb::detail {

namespace {

FrameColumn text_column(const std::string& name, const std::vector<std::string>& texts) {
    FrameColumn result;
    result.name = name;
    result.levels = texts;
    std::sort(result.levels.begin(), result.levels.end());
    result.levels.erase(std::unique(result.levels.begin(), result.levels.end()), result.levels.end());
    for (const std::string& text : texts) {
        const auto level = std::lower_bound(result.levels.begin(), result.levels.end(), text);
        result.codes.push_back(static_cast<std::uint32_t>(level - result.levels.begin()));
    }
    return result;
}

// Codes that are to be text, as they would be written.
FrameColumn as_text(const FrameColumn& column) {
    std::vector<std::string> texts;
    for (const double number : column.numbers) texts.push_back(fmt::format("{}", number));
    return text_column(column.name, texts);
}

// Text whose every level is a number, as that number; anything else as it is.
FrameColumn as_numbers(FrameColumn column) {
    std::vector<double> values(column.levels.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (parse_number(column.levels[i], values[i]) != NumberKind::number) return column;
    }
    column.numbers.resize(static_cast<Index>(column.codes.size()));
    for (std::size_t n = 0; n < column.codes.size(); ++n) {
        column.numbers[static_cast<Index>(n)] = values[column.codes[n]];
    }
    column.levels.clear();
    column.codes.clear();
    return column;
}

std::vector<std::string> united(const std::vector<std::string>& left, const std::vector<std::string>& right) {
    std::vector<std::string> result;
    result.reserve(std::max(left.size(), right.size()));
    std::set_union(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(result));
    return result;
}

// The rows of parts whose columns have one form, one behind the other.
DataFrame joined(DataFrame outline, std::vector<PartFrame> parts) {
    for (const PartFrame& part : parts) {
        outline.rows += part.frame.rows;
        outline.dropped += part.frame.dropped;
    }
    for (std::size_t j = 0; j < outline.columns.size(); ++j) {
        FrameColumn& column = outline.columns[j];
        if (!column.is_text()) column.numbers.resize(outline.rows);
        Index done = 0;
        for (PartFrame& part : parts) {
            FrameColumn& own = part.frame.columns[j];
            if (column.is_text()) {
                column.codes.insert(column.codes.end(), own.codes.begin(), own.codes.end());
            } else {
                column.numbers.segment(done, part.frame.rows) = own.numbers;
            }
            done += part.frame.rows;
            own = {};
        }
    }
    if (outline.dropped == 0) return outline;
    Index records = 0;
    for (const PartFrame& part : parts) {
        for (Index n = 0; n < part.frame.rows; ++n) outline.file_rows.push_back(records + part.frame.file_row(n));
        records += part.records();
    }
    return outline;
}

}  // namespace

std::vector<std::string> names_in(const DataFrame& frame, const std::vector<std::string>& columns) {
    std::vector<std::string> names;
    names.reserve(columns.size());
    for (const std::string& column : columns) {
        names.push_back(frame.columns[static_cast<std::size_t>(frame.find(column))].name);
    }
    return names;
}

void take_as_told(DataFrame& frame, const std::vector<std::string>& text, const std::vector<std::string>& numbers) {
    const auto has = [](const std::vector<std::string>& names, const std::string& name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    for (FrameColumn& column : frame.columns) {
        const bool to_text = has(text, column.name);
        const bool to_numbers = !to_text && has(numbers, column.name);
        if (to_text && !column.is_text()) column = as_text(column);
        if (to_numbers && column.is_text()) column = as_numbers(std::move(column));
        column.told = to_text      ? FrameColumn::Told::text
                      : to_numbers ? FrameColumn::Told::numbers
                                   : FrameColumn::Told::nothing;
    }
}

ColumnForms::ColumnForms(const PartFrame& part)
    : names_(part.frame.column_names()),
      unusable_(part.unusable),
      quotes_all_(part.quotes_all),
      leaves_out_row_names_(part.frame.leaves_out_row_names),
      source_(part.frame.name) {
    for (std::size_t j = 0; j < names_.size(); ++j) {
        const FrameColumn& column = part.frame.columns[j];
        told_.push_back(static_cast<char>(column.told));
        has_text_.push_back(part.has_text[j]);
        all_quoted_.push_back(part.all_quoted[j]);
        has_numbers_.push_back(!column.is_text() && part.frame.rows > 0);
        levels_.push_back(column.levels);
    }
}

void ColumnForms::add(const ColumnForms& next) {
    if (next.empty()) return;
    if (empty()) {
        *this = next;
        return;
    }
    require_columns(next.names_, next.source_, names_, source_);
    quotes_all_ = quotes_all_ && next.quotes_all_;
    for (std::size_t j = 0; j < names_.size(); ++j) {
        has_text_[j] = has_text_[j] || next.has_text_[j];
        all_quoted_[j] = all_quoted_[j] && next.all_quoted_[j];
        has_numbers_[j] = has_numbers_[j] || next.has_numbers_[j];
        if (unusable_[j].empty()) unusable_[j] = next.unusable_[j];
        levels_[j] = united(levels_[j], next.levels_[j]);
    }
}

bool ColumnForms::quoted(std::size_t column) const {
    return all_quoted_[column] && !quotes_all_;
}

bool ColumnForms::is_text(std::size_t column) const {
    const auto told = static_cast<FrameColumn::Told>(told_[column]);
    if (told == FrameColumn::Told::text || has_text_[column]) return true;
    return quoted(column) && told != FrameColumn::Told::numbers;
}

std::vector<bool> ColumnForms::read_again() const {
    std::vector<bool> result;
    for (std::size_t j = 0; j < names_.size(); ++j) result.push_back(is_text(j) && has_numbers_[j]);
    return result;
}

void ColumnForms::require_usable() const {
    for (std::size_t j = 0; j < names_.size(); ++j) {
        if (!is_text(j) && !unusable_[j].empty()) throw std::runtime_error(unusable_[j]);
    }
}

DataFrame ColumnForms::outline(const std::string& name) const {
    DataFrame frame;
    frame.name = name;
    frame.leaves_out_row_names = leaves_out_row_names_;
    for (std::size_t j = 0; j < names_.size(); ++j) {
        FrameColumn& column = frame.columns.emplace_back();
        column.name = names_[j];
        column.quoted = quoted(j);
        column.told = static_cast<FrameColumn::Told>(told_[j]);
        if (is_text(j)) column.levels = levels_[j];
    }
    return frame;
}

std::string ColumnForms::bytes() const {
    ByteWriter writer;
    writer.texts(names_).numbers(told_).numbers(has_text_).numbers(all_quoted_).numbers(has_numbers_).texts(unusable_);
    for (const std::vector<std::string>& levels : levels_) writer.texts(levels);
    return writer.number(quotes_all_).number(leaves_out_row_names_).text(source_).take();
}

ColumnForms ColumnForms::of(std::string_view bytes) {
    ByteReader reader(bytes);
    ColumnForms result;
    result.names_ = reader.texts();
    result.told_ = reader.numbers<char>();
    result.has_text_ = reader.numbers<char>();
    result.all_quoted_ = reader.numbers<char>();
    result.has_numbers_ = reader.numbers<char>();
    result.unusable_ = reader.texts();
    for (std::size_t j = 0; j < result.names_.size(); ++j) result.levels_.push_back(reader.texts());
    result.quotes_all_ = reader.number<bool>();
    result.leaves_out_row_names_ = reader.number<bool>();
    result.source_ = reader.text();
    return result;
}

std::string outline_bytes(const DataFrame& outline) {
    ByteWriter writer;
    writer.text(outline.name).number(outline.leaves_out_row_names).number(static_cast<Index>(outline.parts.size()));
    for (const DataFrame::Part& part : outline.parts) writer.text(part.name).number(part.rows_before);
    for (const FrameColumn& column : outline.columns) {
        writer.text(column.name).number(column.quoted).number(static_cast<int>(column.told)).texts(column.levels);
    }
    return writer.take();
}

DataFrame outline_of(std::string_view bytes) {
    ByteReader reader(bytes);
    DataFrame outline;
    outline.name = reader.text();
    outline.leaves_out_row_names = reader.number<bool>();
    outline.parts.resize(static_cast<std::size_t>(reader.index()));
    for (DataFrame::Part& part : outline.parts) {
        part.name = reader.text();
        part.rows_before = reader.index();
    }
    while (!reader.at_end()) {
        FrameColumn& column = outline.columns.emplace_back();
        column.name = reader.text();
        column.quoted = reader.number<bool>();
        column.told = static_cast<FrameColumn::Told>(reader.number<int>());
        column.levels = reader.texts();
    }
    return outline;
}

DataFrame frame_of(RowShare& share, DataFrame outline) {
    constexpr Index kReadRows = 1 << 14;
    DataFrame frame = std::move(outline);
    const std::size_t width = frame.columns.size();
    frame.rows = share.rows();
    for (FrameColumn& column : frame.columns) {
        column.codes.clear();
        if (column.is_text()) {
            column.codes.resize(static_cast<std::size_t>(frame.rows));
        } else {
            column.numbers.resize(frame.rows);
        }
    }
    std::vector<double> rows(static_cast<std::size_t>(std::min(kReadRows, frame.rows)) * width);
    for (Index done = 0; done < frame.rows;) {
        const Index count = std::min(kReadRows, frame.rows - done);
        share.copy(share.first() + done, count, rows.data());
        for (Index n = 0; n < count; ++n) {
            const double* const row = rows.data() + static_cast<std::size_t>(n) * width;
            for (std::size_t j = 0; j < width; ++j) {
                FrameColumn& column = frame.columns[j];
                if (column.is_text()) {
                    column.codes[static_cast<std::size_t>(done + n)] = static_cast<std::uint32_t>(row[j]);
                } else {
                    column.numbers[done + n] = row[j];
                }
            }
        }
        done += count;
    }
    frame.file_rows.clear();
    if (share.first() == 0 && share.file_rows().empty()) return frame;
    for (Index n = 0; n < frame.rows; ++n) frame.file_rows.push_back(share.file_row(share.first() + n));
    return frame;
}

void take_form(const DataFrame& outline, DataFrame& part) {
    for (std::size_t j = 0; j < outline.columns.size(); ++j) {
        const FrameColumn& form = outline.columns[j];
        FrameColumn& column = part.columns[j];
        column.quoted = form.quoted;
        column.told = form.told;
        if (!form.is_text()) {
            if (column.is_text()) column = as_numbers(std::move(column));
            continue;
        }
        std::vector<std::uint32_t> places;
        for (const std::string& level : column.levels) {
            const auto found = std::lower_bound(form.levels.begin(), form.levels.end(), level);
            places.push_back(static_cast<std::uint32_t>(found - form.levels.begin()));
        }
        for (std::uint32_t& code : column.codes) code = places[code];
        column.levels = form.levels;
    }
}

DataFrame read_frame_of_parts(const std::string& name, const std::vector<PartRange>& parts,
                              const FrameOptions& options) {
    std::vector<PartFrame> frames;
    ColumnForms forms;
    for (const PartRange& part : parts) {
        interruption_point();
        frames.push_back(read_part_frame(part, options));
        forms.add(ColumnForms(frames.back()));
    }
    const std::vector<bool> again = forms.read_again();
    if (std::find(again.begin(), again.end(), true) != again.end()) {
        forms = {};
        for (std::size_t i = 0; i < parts.size(); ++i) {
            frames[i] = read_part_frame(parts[i], options, again);
            forms.add(ColumnForms(frames[i]));
        }
    }
    forms.require_usable();
    DataFrame outline = forms.outline(name);
    Index records = 0;
    Index rows = 0;
    for (PartFrame& part : frames) {
        take_form(outline, part.frame);
        outline.parts.push_back({part.frame.name, records});
        records += part.records();
        rows += part.frame.rows;
    }
    if (rows == 0) {
        throw std::runtime_error(
            fmt::format("{}: every row has a missing value in a used column: use other columns", name));
    }
    return joined(std::move(outline), std::move(frames));
}

}  // namespace lrvb::detail
