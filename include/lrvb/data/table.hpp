#pragma once

#include <lrvb/data/row_source.hpp>

#include <string>
#include <vector>

namespace lrvb {

/// Rows in memory. At least one row and one column, and every number finite: anything else is refused where the table
/// is made, by std::invalid_argument with the row and the column.
class LRVB_EXPORT TableSource final : public RowSource {
  public:
    /// A copy of a matrix, or of a vector as one column.
    explicit TableSource(const Eigen::Ref<const Matrix>& rows);

    /// Takes over numbers that already lie row by row.
    TableSource(std::vector<double> rows, Index columns);

    /// The same, for rows that came from somewhere: what messages call them, and each of their columns.
    TableSource(std::vector<double> rows, std::string name, std::vector<std::string> column_names);

    /// A view of numbers that lie row by row. Nothing is copied: they must outlive the source and all its copies, and
    /// stay as they are.
    TableSource(const double* rows, Index row_count, Index columns);

    Index columns() const override { return columns_; }
    std::string name() const override { return name_; }
    std::string column_name(Index column) const override;
    void rewind() override { next_ = 0; }
    Index read(double* rows, Index capacity) override;

    Index rows() const { return row_count_; }

    const double* resident() const override { return view_ != nullptr ? view_ : owned_.data(); }

  private:
    std::string name_ = "a table in memory";
    std::vector<std::string> column_names_;  // empty where they have only numbers
    std::vector<double> owned_;
    const double* view_ = nullptr;
    Index row_count_ = 0;
    Index columns_ = 0;
    Index next_ = 0;
};

}  // namespace lrvb
