#include "base/files.hpp"
#include "base/messages.hpp"
#include "data/csv_record.hpp"

#include <lrvb/bugs/data.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace lrvb::bugs {

namespace {

constexpr const char* kRows = "N";

bool ends_as(const std::string& path, std::string_view ending) {
    if (path.size() < ending.size()) return false;
    return std::equal(ending.begin(), ending.end(), path.end() - static_cast<std::ptrdiff_t>(ending.size()),
                      [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

std::string all_bytes(lrvb::detail::ByteStream& stream) {
    std::string text;
    std::vector<char> block(std::size_t{1} << 18);
    while (const std::size_t size = stream.read(block.data(), block.size())) text.append(block.data(), size);
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    if (text.starts_with(mark)) text.erase(0, mark.size());
    return text;
}

enum class Format { json, dump, table };

/// By its first lines: an object, an assignment or list(…), or neither.
Format format_of(std::string_view text) {
    constexpr const char* spaces = " \t\r\n";
    while (true) {
        const std::size_t begin = text.find_first_not_of(spaces);
        if (begin == std::string_view::npos) return Format::table;
        text.remove_prefix(begin);
        if (text.front() != '#') break;
        text.remove_prefix(std::min(text.find('\n'), text.size()));
    }
    if (text.front() == '{' || text.front() == '[') return Format::json;
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t sign = std::min(line.find("<-"), line.find('='));
    const bool is_assignment =
        sign != std::string_view::npos && line.substr(0, sign).find_first_of(",;\t") == std::string_view::npos;
    if (line.starts_with("list") || is_assignment) return Format::dump;
    // The name may stand on a line of its own.
    const std::size_t next = text.find_first_not_of(spaces, line.size());
    const bool is_split = next != std::string_view::npos && text.substr(next).starts_with("<-");
    return is_split ? Format::dump : Format::table;
}

}  // namespace

Data Data::read(const std::vector<std::string>& paths, const std::vector<std::string>& na) {
    Data result;
    result.na_ = na;
    for (const std::string& text : na) {
        double number = 0.0;
        if (lrvb::detail::parse_number(text, number) == lrvb::detail::NumberKind::number) {
            result.na_numbers_.push_back(number);
        }
    }
    for (const std::string& path : paths) result.add_file(path);
    return result;
}

void Data::add_file(const std::string& path) {
    for (const std::string_view table : {".csv", ".tsv", ".csv.gz", ".tsv.gz"}) {
        if (ends_as(path, table)) {
            add_csv(path);
            return;
        }
    }
    lrvb::detail::ByteStream stream(path);
    const std::string text = all_bytes(stream);
    const Format format = ends_as(path, ".json") ? Format::json : format_of(text);
    if (format == Format::json) {
        add_json(text, stream.name());
    } else if (format == Format::dump) {
        add_dump(text, stream.name());
    } else if (path == "-") {
        throw std::runtime_error(
            "standard input: this is neither JSON nor R's dump format: give a table as a file whose name ends in .csv");
    } else {
        add_csv(path);
    }
}

void Data::add_csv(const std::string& path) {
    FrameOptions options;
    options.keep_missing = true;
    options.na = na_;
    add_frame(read_frame(path, options));
}

void Data::add_frame(const DataFrame& frame) {
    for (const FrameColumn& column : frame.columns) {
        DataArray array;
        array.name = column.name;
        array.dims = {frame.rows};
        array.file = frame.name;
        if (column.is_text()) {
            array.levels = column.levels;
            for (const std::uint32_t code : column.codes) {
                const bool is_missing = code == FrameColumn::kMissing;
                array.values.push_back(is_missing ? std::numeric_limits<double>::quiet_NaN() : code + 1.0);
            }
        } else {
            array.values.assign(column.numbers.begin(), column.numbers.end());
        }
        add(std::move(array));
    }
    add_rows(frame.rows, frame.name);
}

void Data::add_rows(Index rows, const std::string& file) {
    const DataArray* known = find(kRows);
    if (has_different_rows_ || (known != nullptr && !has_implied_rows_)) return;
    if (known == nullptr) {
        add({kRows, {}, {static_cast<double>(rows)}, file, {}});
        has_implied_rows_ = true;
    } else if (known->values.front() != static_cast<double>(rows)) {
        remove(kRows);
        has_implied_rows_ = false;
        has_different_rows_ = true;
    }
}

void Data::add(DataArray array) {
    Index size = 1;
    for (const Index extent : array.dims) size *= extent;
    if (size != array.size()) {
        throw std::invalid_argument(fmt::format("bugs::Data: {} has {} values, but its dimensions ask for {}",
                                                lrvb::detail::shown(array.name), array.size(), size));
    }
    if (array.name != kRows) leave_out_missing(array);
    if (array.name == kRows && has_implied_rows_) {
        remove(kRows);
        has_implied_rows_ = false;
    }
    if (const DataArray* other = find(array.name)) {
        throw std::runtime_error(
            other->file == array.file
                ? fmt::format("{}: {} is given twice: remove one of them", lrvb::detail::on_one_line(array.file),
                              lrvb::detail::shown(array.name))
                : fmt::format("{}: {} is given in {} too: remove one of them", lrvb::detail::on_one_line(array.file),
                              lrvb::detail::shown(array.name), lrvb::detail::on_one_line(other->file)));
    }
    places_.emplace(array.name, arrays_.size());
    arrays_.push_back(std::move(array));
}

// Numbers that mean a missing value; of text, whose values are 1, 2, …, levels that do, and the others close up.
void Data::leave_out_missing(DataArray& array) const {
    constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
    if (array.levels.empty()) {
        for (double& value : array.values) {
            if (std::ranges::find(na_numbers_, value) != na_numbers_.end()) value = kMissing;
        }
        return;
    }
    std::vector<std::string> kept;
    std::vector<double> codes;
    for (const std::string& level : array.levels) {
        const bool is_missing = std::ranges::find(na_, level) != na_.end();
        if (!is_missing) kept.push_back(level);
        codes.push_back(is_missing ? kMissing : static_cast<double>(kept.size()));
    }
    for (double& value : array.values) {
        if (!std::isnan(value)) value = codes.at(static_cast<std::size_t>(value) - 1);
    }
    array.levels = std::move(kept);
}

void Data::remove(const std::string& name) {
    const std::size_t place = places_.at(name);
    arrays_.erase(arrays_.begin() + static_cast<std::ptrdiff_t>(place));
    places_.clear();
    for (std::size_t i = 0; i < arrays_.size(); ++i) places_.emplace(arrays_[i].name, i);
}

const DataArray* Data::find(std::string_view name) const {
    const auto found = places_.find(std::string(name));
    return found == places_.end() ? nullptr : &arrays_[found->second];
}

}  // namespace lrvb::bugs
