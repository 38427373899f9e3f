#pragma once

#include "data/csv_record.hpp"

#include <lrvb/data/csv.hpp>
#include <lrvb/data/frame.hpp>
#include <lrvb/data/memory_table.hpp>
#include <lrvb/data/row_source.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

/// What Dataset makes of tables in foreign memory, and of sources that somebody else wrote.
namespace lrvb::detail {

/// Throws std::invalid_argument for columns that are not whole.
void require_whole(const MemoryTable& table);

/// The names of the columns, and nothing in them: what columns are chosen from.
DataFrame outline_of(const MemoryTable& table);

/// The columns at these places, copied. Rows that lack a value are refused, or left out.
DataFrame frame_of(const MemoryTable& table, const std::vector<std::size_t>& places, Missing missing,
                   const std::vector<std::string>& na);

/// Columns of numbers at these places, read where they are.
class MemoryRows final : public RowSource {
  public:
    /// Looks at all numbers. Throws std::runtime_error for text, and for what is infinite; MissingValue where values
    /// are missing and those rows are not to be dropped.
    MemoryRows(std::shared_ptr<const MemoryTable> table, const std::vector<std::size_t>& places, Missing missing,
               const std::vector<std::string>& na);

    Index columns() const override { return static_cast<Index>(columns_.size()); }
    std::string name() const override { return table_->name; }
    std::string column_name(Index column) const override { return columns_[static_cast<std::size_t>(column)]->name; }
    void rewind() override { next_ = 0; }
    Index read(double* rows, Index capacity) override;
    const double* resident() const override;

    std::vector<std::string> column_names() const;
    Index rows() const { return kept_.empty() ? table_->rows : static_cast<Index>(kept_.size()); }
    Index dropped() const { return table_->rows - rows(); }
    /// The table's row, from 1, of each row; empty where none was left out.
    std::vector<Index> file_rows() const;

  private:
    std::shared_ptr<const MemoryTable> table_;
    std::vector<const MemoryColumn*> columns_;
    std::vector<Index> kept_;  // from 0; empty: all
    Index next_ = 0;
};

/// Some columns of a source that may hold what is no number: such rows are refused, or left out.
class PickedRows final : public RowSource {
  public:
    PickedRows(std::shared_ptr<RowSource> source, std::vector<std::size_t> places, Missing missing,
               const std::vector<std::string>& na);

    Index columns() const override { return static_cast<Index>(places_.size()); }
    std::string name() const override { return source_->name(); }
    std::string column_name(Index column) const override;
    void rewind() override;
    Index read(double* rows, Index capacity) override;

    /// Rows left out before the last that was read.
    Index dropped() const { return dropped_; }

  private:
    bool is_whole(const double* row) const;
    void fill();

    std::shared_ptr<RowSource> source_;
    std::vector<std::size_t> places_;
    Missing missing_;
    MissingMarks marks_;
    bool has_marks_;
    std::vector<double> chunk_;  // of the source's rows, from which those are taken that are kept
    Index in_chunk_ = 0;
    Index next_ = 0;
    Index read_ = 0;  // rows of the source
    Index dropped_ = 0;
};

}  // namespace lrvb::detail
