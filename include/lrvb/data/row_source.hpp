#pragma once

#include <lrvb/export.hpp>
#include <lrvb/types.hpp>

#include <cstddef>
#include <string>

namespace lrvb {

class RowTeam;

/// How many bytes of data are kept in memory where nothing else is asked for; what is more is read again from its file
/// whenever it is needed.
inline constexpr std::size_t kDataMemory = std::size_t{256} << 20;

/// Rows of numbers, read from the first to the last as often as asked: what a model that streams its data needs to know
/// of it. Tables in memory, CSV and NPY files are sources; so is any chunked reader that a user writes.
class LRVB_EXPORT RowSource {
  public:
    virtual ~RowSource() = default;

    /// Numbers a row.
    virtual Index columns() const = 0;

    /// What messages call it: a file's path, "a table in memory".
    virtual std::string name() const = 0;

    /// What messages call a column, counted from 0: its name, or its number from 1 where it has none.
    virtual std::string column_name(Index column) const { return std::to_string(column + 1); }

    /// Begins again at the first row.
    virtual void rewind() = 0;

    /// Writes the next rows, at most `capacity` of them, row by row to `rows`; how many there were, 0 at the end. All
    /// but the last call of a round give `capacity` rows. Throws std::runtime_error with the file, row and column of
    /// what cannot be read.
    virtual Index read(double* rows, Index capacity) = 0;

    /// All rows, one after the other, where they stand in memory; null where they do not. What is read from here is
    /// what `read` gives.
    virtual const double* resident() const { return nullptr; }

    /// Those who have the rows, where they are with others (<lrvb/data/row_team.hpp>): what is a sum over rows can be
    /// asked of them, instead of reading the rows here. Null where the rows are here.
    virtual RowTeam* team() const { return nullptr; }
};

}  // namespace lrvb
