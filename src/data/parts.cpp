#include "data/parts.hpp"

#include "base/files.hpp"
#include "base/messages.hpp"
#include "base/output_guard.hpp"
#include "data/csv_reader.hpp"

#include <lrvb/data/npy.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <glob.h>
#include <string_view>
#include <utility>

namespace lrvb::detail {

namespace {

std::vector<std::string> listed(const std::string& list) {
    std::ifstream file(list);
    if (!file) throw std::runtime_error(fmt::format("{}: the list of files cannot be opened: check its path", list));
    note_input(list);
    const std::filesystem::path folder = std::filesystem::path(list).parent_path();
    std::vector<std::string> paths;
    for (std::string line; std::getline(file, line);) {
        while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
        if (!line.empty()) paths.push_back((folder / line).string());
    }
    if (paths.empty()) throw std::runtime_error(fmt::format("{}: lists no file: write one path a line", list));
    return paths;
}

std::vector<std::string> matching(const std::string& pattern) {
    glob_t found{};
    const int result = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
    std::vector<std::string> paths;
    if (result == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    ::globfree(&found);
    if (paths.empty()) {
        throw std::runtime_error(fmt::format("{}: no file is called so: check the pattern", pattern));
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

// One line after the other of some bytes of a file.
template <class Visit>
void for_each_line(const PlacedFile& file, std::size_t begin, std::size_t end, Visit visit) {
    constexpr std::size_t block = std::size_t{1} << 20;
    std::string held;  // of a line whose end is not in sight
    std::vector<char> bytes(block);
    for (std::size_t place = begin; place < end;) {
        const std::size_t size = std::min(block, end - place);
        file.read(place, bytes.data(), size);
        place += size;
        const char* next = bytes.data();
        const char* const last = next + size;
        while (next != last) {
            const auto* feed = static_cast<const char*>(std::memchr(next, '\n', static_cast<std::size_t>(last - next)));
            if (feed == nullptr) {
                held.append(next, last);
                break;
            }
            if (held.empty()) {
                visit(std::string_view(next, static_cast<std::size_t>(feed + 1 - next)));
            } else {
                held.append(next, feed + 1);
                visit(std::string_view(held));
                held.clear();
            }
            next = feed + 1;
        }
    }
    if (!held.empty()) visit(std::string_view(held += '\n'));
}

}  // namespace

bool names_parts(const std::string& path) {
    std::error_code ignored;
    if (!path.starts_with('@') && path.find_first_of("*?[") == std::string::npos) return false;
    return !std::filesystem::exists(path, ignored);
}

std::vector<std::string> parts_of(const std::string& path) {
    if (!names_parts(path)) return {path};
    return path.starts_with('@') ? listed(path.substr(1)) : matching(path);
}

std::vector<std::string> with_parts(const std::vector<std::string>& paths) {
    std::vector<std::string> files;
    for (const std::string& path : paths) {
        files.push_back(path);
        if (!names_parts(path)) continue;
        if (path.starts_with('@')) files.push_back(path.substr(1));
        try {
            for (std::string& part : parts_of(path)) files.push_back(std::move(part));
        } catch (const std::runtime_error&) {  // who reads them says why
        }
    }
    return files;
}

void require_columns(const std::vector<std::string>& names, const std::string& path,
                     const std::vector<std::string>& expected, const std::string& first) {
    if (names == expected) return;
    throw std::runtime_error(fmt::format(
        "{}: the header has the columns {}, but {} has {}: give parts with the same columns", path,
        shown(fmt::format("{}", fmt::join(names, ", "))), first, shown(fmt::format("{}", fmt::join(expected, ", ")))));
}

void refuse_parts(const std::string& path) {
    throw std::runtime_error(fmt::format(
        "{}: names several files, which are read one after the other, but here the columns of one are needed: put them "
        "into one file",
        path));
}

std::vector<PartRange> whole_parts(const std::string& path) {
    std::vector<PartRange> result;
    for (std::string& part : parts_of(path)) result.push_back({std::move(part)});
    return result;
}

void require_no_texts(const std::string& path, const std::vector<std::string>& na) {
    if (na.empty()) return;
    throw std::runtime_error(
        fmt::format("{}: {} cannot mean a missing value in a NumPy file, which holds numbers alone: give a CSV file",
                    path, shown(na.front())));
}

void restrict_rows(const PartRange& part, NpyOptions& options) {
    if (part.is_whole()) return;
    const NpySource source(part.path, options);
    const std::size_t row = source.row_bytes();
    const auto row_at = [&](std::size_t byte) {
        // Of a file that lies column by column, all rows are where it begins.
        if (row == 0) return byte == 0 ? Index{0} : source.rows();
        const std::size_t behind = byte - std::min(byte, source.data_offset());
        const auto before = static_cast<Index>(behind / row) + (behind % row == 0 ? 0 : 1);
        return std::min(before, source.rows());
    };
    options.first_row = row_at(part.begin);
    options.most_rows = row_at(part.end) - options.first_row;
}

OpenedPart open_part(const PartRange& part, const RowSelection& selection, const std::vector<std::string>& na,
                     bool read_once) {
    OpenedPart opened;
    if (part.path.ends_with(".npy")) {
        require_no_texts(part.path, na);
        NpyOptions options;
        options.columns = selection.columns;
        options.ranges = selection.ranges;
        if (!selection.weights.empty()) options.last = {selection.weights};
        restrict_rows(part, options);
        auto source = std::make_shared<NpySource>(part.path, options);
        opened.names = source->column_names();
        opened.rows = source->rows();
        opened.source = std::move(source);
        return opened;
    }
    CsvOptions options;
    options.columns = selection.columns;
    options.ranges = selection.ranges;
    options.last = selection.weights;
    options.missing = selection.drop_missing ? Missing::drop : Missing::refuse;
    options.na = na;
    options.read_once = read_once;
    if (!part.is_whole()) options.range = {part.begin, part.end, part.rows_before};
    auto source = std::make_shared<CsvSource>(part.path, options);
    opened.names = source->column_names();
    opened.csv = source.get();
    opened.leaves_out_row_names = source->leaves_out_row_names();
    opened.source = std::move(source);
    return opened;
}

PartsSource::PartsSource(std::string name, std::vector<PartRange> parts, RowSelection selection,
                         std::vector<std::string> na, Header expected)
    : name_(std::move(name)),
      parts_(std::move(parts)),
      selection_(std::move(selection)),
      na_(std::move(na)),
      header_(std::move(expected)) {
    if (!header_.names.empty()) return;
    OpenedPart first = open_part(parts_.front(), selection_, na_, true);
    header_ = {std::move(first.names), parts_.front().path};
    leaves_out_row_names_ = first.leaves_out_row_names;
}

void PartsSource::rewind() {
    next_ = 0;
    current_ = {};
    dropped_ = 0;
}

Index PartsSource::dropped() const {
    return dropped_ + (current_.csv == nullptr ? 0 : current_.csv->dropped());
}

void PartsSource::open_next() {
    dropped_ = dropped();
    current_ = {};
    const PartRange& part = parts_[next_++];
    OpenedPart opened = open_part(part, selection_, na_, true);
    require_columns(opened.names, part.path, header_.names, header_.path);
    current_ = std::move(opened);
}

Index PartsSource::read(double* rows, Index capacity) {
    Index count = 0;
    while (count < capacity) {
        if (current_.source == nullptr) {
            if (next_ == parts_.size()) break;
            open_next();
        }
        const Index some = current_.source->read(rows + count * columns(), capacity - count);
        count += some;
        if (some == 0) {
            if (next_ == parts_.size()) break;
            open_next();
        }
    }
    return count;
}

std::size_t line_start(const std::string& path, std::size_t byte) {
    if (byte == 0) return 0;
    const PlacedFile file(path);
    constexpr std::size_t block = std::size_t{1} << 16;
    std::vector<char> bytes(block);
    for (std::size_t place = byte - 1; place < file.size();) {
        const std::size_t size = std::min(block, file.size() - place);
        file.read(place, bytes.data(), size);
        if (const void* feed = std::memchr(bytes.data(), '\n', size)) {
            return place + static_cast<std::size_t>(static_cast<const char*>(feed) - bytes.data()) + 1;
        }
        place += size;
    }
    return file.size();
}

LineCount count_lines(const std::string& path, std::size_t begin, std::size_t end) {
    const CsvReader reader(path);
    const PlacedFile file(path);
    LineCount count;
    CsvRecord record;
    bool is_header = begin == 0;
    for_each_line(file, begin, std::min(end, file.size()), [&](std::string_view line) {
        if (line.find('"') != std::string_view::npos) {
            const char* const last = line.data() + line.size();
            const RecordState state = split_record(line.data(), last, reader.separator(), record);
            if (state != RecordState::complete || record.next != last) count.are_records = false;
        }
        if (std::exchange(is_header, false)) return;
        if (line.find_first_not_of(" \t\r\n") == std::string_view::npos) {
            count.ends_blank = true;
            return;
        }
        count.has_blank = count.has_blank || count.ends_blank;
        count.ends_blank = false;
        ++count.rows;
    });
    return count;
}

}  // namespace lrvb::detail
