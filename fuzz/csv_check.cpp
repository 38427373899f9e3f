#include "checks.hpp"
#include "finding.hpp"

#include <lrvb/data/csv.hpp>
#include <lrvb/data/dataset.hpp>
#include <lrvb/data/frame.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace lrvb::fuzz {
namespace {

/// What a source gives, or why it refuses.
struct Rows {
    std::string refusal;
    std::vector<std::string> names;
    std::vector<double> numbers;  // row by row
    Index dropped = 0;

    bool operator==(const Rows&) const = default;
};

std::vector<double> read_round(CsvSource& source) {
    constexpr Index capacity = 3;
    std::vector<double> numbers;
    std::vector<double> chunk(static_cast<std::size_t>(capacity * source.columns()));
    for (Index count = capacity; count == capacity;) {
        count = source.read(chunk.data(), capacity);
        numbers.insert(numbers.end(), chunk.begin(), chunk.begin() + count * source.columns());
    }
    require(source.read(chunk.data(), capacity) == 0, "the end stays the end");
    return numbers;
}

Rows read_rows(const std::string& path, const CsvOptions& options) {
    Rows rows;
    rows.refusal = refusal_of([&] {
        CsvSource source(path, options);
        rows.names = source.column_names();
        const std::vector<double> numbers = read_round(source);
        rows.dropped = source.dropped();
        source.rewind();
        require(read_round(source) == numbers && source.dropped() == rows.dropped, "a second round gives the same");
        rows.numbers = numbers;
    });
    if (rows.refusal.empty()) require(!rows.numbers.empty(), "a file without rows is refused");
    return rows;
}

struct Frame {
    std::string refusal;
    DataFrame content;
};

void require_consistent(const DataFrame& frame) {
    require(frame.rows > 0, "a file without rows is refused");
    const auto rows = static_cast<std::size_t>(frame.rows);
    require(frame.file_rows.size() == (frame.dropped > 0 ? rows : 0), "dropped rows have numbers");
    for (const FrameColumn& column : frame.columns) {
        if (!column.is_text()) {
            require(column.numbers.size() == frame.rows && column.numbers.allFinite(), "numbers are finite, one a row");
            continue;
        }
        require(column.codes.size() == rows, "text has one code a row");
        const auto is_known = [&](std::uint32_t code) { return code < column.levels.size(); };
        require(std::all_of(column.codes.begin(), column.codes.end(), is_known), "every code has a level");
        require(std::is_sorted(column.levels.begin(), column.levels.end()), "levels are sorted");
    }
}

Frame read(const std::string& path, const FrameOptions& options) {
    Frame frame;
    frame.refusal = refusal_of([&] { frame.content = read_frame(path, options); });
    if (frame.refusal.empty()) require_consistent(frame.content);
    return frame;
}

bool are_equal(const Frame& a, const Frame& b) {
    const auto same = [](const FrameColumn& one, const FrameColumn& other) {
        return one.name == other.name && one.numbers == other.numbers && one.levels == other.levels &&
               one.codes == other.codes && one.quoted == other.quoted;
    };
    return a.refusal == b.refusal && a.content.rows == b.content.rows && a.content.dropped == b.content.dropped &&
           a.content.file_rows == b.content.file_rows &&
           std::equal(a.content.columns.begin(), a.content.columns.end(), b.content.columns.begin(),
                      b.content.columns.end(), same);
}

bool are_equal(const Rows& rows, const Frame& frame) {
    if (!rows.refusal.empty() || !frame.refusal.empty()) return false;
    const std::vector<FrameColumn>& columns = frame.content.columns;
    if (columns.size() != rows.names.size() || frame.content.dropped != rows.dropped) return false;
    if (static_cast<std::size_t>(frame.content.rows) * columns.size() != rows.numbers.size()) return false;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].name != rows.names[i]) return false;
        if (columns[i].quoted) continue;  // text to a frame
        if (columns[i].is_text()) return false;
        const double* number = rows.numbers.data() + i;
        for (Index row = 0; row < frame.content.rows; ++row, number += columns.size()) {
            if (std::memcmp(&columns[i].numbers[row], number, sizeof *number) != 0) return false;
        }
    }
    return true;
}

/// Whatever can be read as a frame can be read as text: all rows, with the numbers that they have in the file.
void require_text(const std::string& path, const DataFrame& frame) {
    const std::unique_ptr<TextRows> texts = Dataset(path).text_rows();
    const std::size_t columns = frame.columns.size() + (frame.leaves_out_row_names ? 1 : 0);
    require(texts->names().size() == columns, "text has the columns of a frame, and row names");
    std::vector<TextField> fields;
    Index count = 0;
    while (texts->next(fields)) {
        require(texts->row() == ++count, "rows of text are counted");
        require(fields.size() == columns, "rows of text are whole");
    }
    require(count == frame.rows + frame.dropped, "no row of text is left out");
}

}  // namespace

void check_csv(std::string_view bytes) {
    if (bytes.empty()) return;
    const auto choice = static_cast<unsigned char>(bytes[0]);
    const std::size_t block = 1 + choice % 64U;
    const Missing missing = choice < 128 ? Missing::refuse : Missing::drop;
    const ScratchFile file("data.csv");
    file.write(bytes.substr(1));

    constexpr std::size_t whole = std::size_t{1} << 13;  // longer than any input of the fuzzer
    const std::string path = file.path();
    const Rows rows = read_rows(path, {.missing = missing, .block = block});
    // Of a damaged gzip file either its damage is named or what came before it, whichever is seen first.
    const bool is_packed = bytes.substr(1).starts_with("\x1F\x8B");
    const auto are_refused = [&](const auto& one, const auto& other) {
        return is_packed && !one.refusal.empty() && !other.refusal.empty();
    };
    const Rows same_rows = read_rows(path, {.missing = missing, .block = whole});
    require(rows == same_rows || are_refused(rows, same_rows), "rows do not depend on the block");
    const Frame frame = read(path, {.missing = missing, .block = block});
    const Frame same_frame = read(path, {.missing = missing, .block = whole});
    require(are_equal(frame, same_frame) || are_refused(frame, same_frame), "nor does the frame");
    if (rows.refusal.empty()) require(are_equal(rows, frame), "a frame has the numbers that a source gives");
    if (!frame.refusal.empty()) return;
    require_text(path, frame.content);

    std::vector<std::string> numeric;
    for (const FrameColumn& column : frame.content.columns) {
        if (!column.is_text()) numeric.push_back(column.name);
    }
    if (numeric.empty()) return;
    require(are_equal(read_rows(path, {.columns = numeric, .missing = missing, .block = block}),
                      read(path, {.columns = numeric, .missing = missing, .block = block})),
            "columns of numbers are read alike by both");
}

}  // namespace lrvb::fuzz
