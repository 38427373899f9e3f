#pragma once

#include <lrvb/data/frame.hpp>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

/// The levels of columns that group.
namespace lrvb::detail {

/// More are no factor, but may be the groups of a random term.
inline constexpr std::size_t kMostFactorLevels = 1000;

/// As numbers where all of them are, 4 before 10; otherwise by their bytes.
std::vector<std::string> in_order(std::vector<std::string> levels);

/// Those of a column. Of numbers that were asked to be groups those of the same value are one, as it is first written;
/// text is what it is, and so are numbers in quotes.
std::vector<std::string> levels_of(const FrameColumn& column);

/// Finds levels by how they are written.
class LevelIndex {
  public:
    explicit LevelIndex(const std::vector<std::string>& levels);

    /// The one that is written so or, of levels that are all numbers, the only one of its value.
    std::optional<std::size_t> find(const std::string& text) const;

  private:
    std::unordered_map<std::string, std::size_t> texts_;
    std::unordered_map<std::string, std::optional<std::size_t>> values_;  // nothing: two levels have it
};

/// Which level each row of a column has, from 0; −1 where it is none of them.
std::vector<int> level_codes(const FrameColumn& column, const std::vector<std::string>& levels);

/// How a column's value is written in a row.
std::string text_at(const FrameColumn& column, Index row);

}  // namespace lrvb::detail
