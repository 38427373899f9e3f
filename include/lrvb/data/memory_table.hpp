#pragma once

#include <lrvb/export.hpp>
#include <lrvb/types.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

/// A table whose numbers lie in somebody else's memory, such as an array of another language, and are read where they
/// are: rows stream from there block by block, whatever their type and however far they lie apart. Of doubles that lie
/// row by row, without a gap, not even a block is copied.
///
///     MemoryTable table{"measurements", 1000, {{.name = "x", .first = x, .stride = 8}}, owner};
///     const Dataset data(std::move(table));
namespace lrvb {

enum class NumberType { float64, float32, int64, int32, int16, int8, uint64, uint32, uint16, uint8 };

/// A column of numbers, or of text.
struct MemoryColumn {
    /// A row of a column of text that has no value.
    static constexpr std::uint32_t kMissing = std::numeric_limits<std::uint32_t>::max();

    std::string name;
    /// Of numbers: where that of the first row is, and how many bytes further that of the next, which may be fewer than
    /// none. A number that is NaN is missing.
    const void* first = nullptr;
    std::ptrdiff_t stride = 0;
    NumberType type = NumberType::float64;
    /// Of text: the different texts, sorted by their bytes, and which of them (from 0) each row has, or kMissing.
    std::vector<std::string> levels = {};
    std::vector<std::uint32_t> codes = {};

    bool is_text() const { return first == nullptr; }
    LRVB_EXPORT double number(Index row) const;
};

struct MemoryTable {
    /// What messages call it; empty: "a table in memory".
    std::string name;
    Index rows = 0;
    std::vector<MemoryColumn> columns;
    /// Kept for as long as anybody reads the numbers. They must stay as they are for that long.
    std::shared_ptr<const void> owner = {};
};

}  // namespace lrvb
