#pragma once

#include <lrvb/model/likelihood.hpp>
#include <lrvb/model/row_model.hpp>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// The rows of labelled columns as features f_0 = 1, f_1, …: what the score of a label is linear in. A feature is a
/// product of two columns of numbers at most, which are kept; products are taken block by block. Where a row lacks a
/// column, all features of the column are zero, and one more tells whether it is there, in the place of f_0.
namespace lrvb::detail {

/// A value that cannot be, of a row counted from 0.
class BadRow : public std::invalid_argument {
  public:
    BadRow(Index row_in, const std::string& reason) : std::invalid_argument(reason), row(row_in) {}
    Index row;
};

class Features {
  public:
    explicit Features(Index rows) : rows_(rows) {}

    /// Where the statistics of a column and the constant of its density stand among the features.
    struct Places {
        std::vector<Index> statistics;
        Index constant = 0;
    };

    /// A value a row; NaN: not observed. Throws BadRow.
    Places add(const AnyObserved& kind, const Matrix& values);
    /// y_n ~ Normal(d_n β, 1/τ): places of y², of y d_j, and of d_i d_j, i ≥ j, by columns.
    Places add_linear(const Vector& y, const Matrix& design);
    /// Where the numbers of a column stand among those of the model's rows, if they can move.
    void set_inputs(std::size_t column, std::vector<std::int32_t> inputs) {
        columns_[column].inputs = std::move(inputs);
    }

    Index rows() const { return rows_; }
    Index count() const { return static_cast<Index>(features_.size()); }
    /// Σ_n f², for a bound on sums of |f|.
    Vector square_sums() const;

    /// Features of `size` rows from `begin`, one after the other, kBlockRows apart and zero beyond.
    void load(Index begin, std::size_t size, double* block) const;
    /// The same as a matrix, one row a row.
    Matrix block(Index begin, Index size) const;
    /// Numbers that say where a row is, one row a row; NaN where they are missing.
    Matrix places() const;

    /// log h(x_n) of all columns; empty where it is zero everywhere.
    const Vector& log_base() const { return log_base_; }
    Features selected(const std::vector<Index>& rows) const;

    bool can_move() const;
    void copy_inputs(Index row, Index at, RowAnswers& chunk) const;
    /// Calls visit(input, feature, ∂feature/∂input) for the numbers of a row.
    template <class Visit>
    void visit_derivatives(Index row, Visit visit) const;

  private:
    struct Column {
        AnyObserved kind;
        bool is_linear = false;
        std::vector<Index> numbers;  // bases of what was observed
        std::vector<Index> design;   // bases, of a linear column
        Index present = kOne;        // base that tells whether a row has it
        std::vector<std::int32_t> inputs;
        Places places;
    };
    static constexpr Index kOne = -1;

    Index add_base(Vector values);
    Index feature(Index a, Index b);
    double base(Index number, Index row) const {
        return number == kOne ? 1.0 : bases_[static_cast<std::size_t>(number)][row];
    }
    bool is_present(const Column& column, Index row) const { return base(column.present, row) != 0.0; }
    Matrix derivatives(const Column& column, Index row) const;

    Index rows_;
    std::vector<Vector> bases_;
    std::vector<std::pair<Index, Index>> features_ = {{kOne, kOne}};
    std::map<std::pair<Index, Index>, Index> known_ = {{{kOne, kOne}, 0}};
    std::vector<Column> columns_;
    Vector log_base_;
};

template <class Visit>
void Features::visit_derivatives(Index row, Visit visit) const {
    for (const Column& column : columns_) {
        if (column.inputs.empty() || !is_present(column, row)) continue;
        const Matrix moved = derivatives(column, row);
        for (Index p = 0; p < moved.cols(); ++p) {
            for (Index s = 0; s < moved.rows(); ++s) {
                visit(static_cast<Index>(column.inputs[static_cast<std::size_t>(p)]),
                      column.places.statistics[static_cast<std::size_t>(s)], moved(s, p));
            }
        }
    }
}

}  // namespace lrvb::detail
