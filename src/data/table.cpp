#include "base/validate.hpp"

#include <lrvb/data/table.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace lrvb {
namespace {

std::vector<double> row_by_row(const Eigen::Ref<const Matrix>& rows) {
    std::vector<double> numbers(static_cast<std::size_t>(rows.size()));
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Eigen::Map<RowMajor>(numbers.data(), rows.rows(), rows.cols()) = rows;
    return numbers;
}

Index count_rows(const std::vector<double>& rows, Index columns) {
    detail::require_at_least("TableSource", "columns", columns, 1);
    const Index size = static_cast<Index>(rows.size());
    if (size % columns == 0) return size / columns;
    throw std::invalid_argument(
        fmt::format("TableSource: rows has {} entries, but must have a multiple of columns = {}", size, columns));
}

void require_table(const double* rows, Index row_count, Index columns) {
    detail::require_at_least("TableSource", "columns", columns, 1);
    detail::require_at_least("TableSource", "the number of rows", row_count, 1);
    if (rows == nullptr) throw std::invalid_argument("TableSource: rows is null, but must point to the first row");
    const Index size = row_count * columns;
    for (Index i = 0; i < size; ++i) {
        if (std::isfinite(rows[i])) continue;
        const Index row = i / columns + 1;
        const Index column = i % columns + 1;
        detail::require_finite("TableSource", fmt::format("the value in row {}, column {}", row, column), rows[i]);
    }
}

}  // namespace

TableSource::TableSource(const Eigen::Ref<const Matrix>& rows)
    : owned_(row_by_row(rows)), row_count_(rows.rows()), columns_(rows.cols()) {
    require_table(owned_.data(), row_count_, columns_);
}

TableSource::TableSource(std::vector<double> rows, Index columns)
    : owned_(std::move(rows)), row_count_(count_rows(owned_, columns)), columns_(columns) {
    require_table(owned_.data(), row_count_, columns_);
}

TableSource::TableSource(std::vector<double> rows, std::string name, std::vector<std::string> column_names)
    : TableSource(std::move(rows), static_cast<Index>(column_names.size())) {
    name_ = std::move(name);
    column_names_ = std::move(column_names);
}

TableSource::TableSource(const double* rows, Index row_count, Index columns)
    : view_(rows), row_count_(row_count), columns_(columns) {
    require_table(rows, row_count, columns);
}

std::string TableSource::column_name(Index column) const {
    if (column_names_.empty()) return RowSource::column_name(column);
    return column_names_.at(static_cast<std::size_t>(column));
}

Index TableSource::read(double* rows, Index capacity) {
    detail::require_at_least("TableSource", "capacity", capacity, 1);
    const Index count = std::min(capacity, row_count_ - next_);
    std::copy_n(resident() + next_ * columns_, count * columns_, rows);
    next_ += count;
    return count;
}

}  // namespace lrvb
