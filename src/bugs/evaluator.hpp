#pragma once

#include <lrvb/bugs/graph.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

/// What expressions mean over the rows of a plate.
namespace lrvb::bugs {

/// What is wrong with an expression, once data are known.
struct EvaluationProblem {
    Place place;
    std::string sentence;
};

/// Rows have parts of different extents: ask for them one by one.
struct RaggedRows {
    Place place;
};

/// All arrays, by name.
struct Table {
    std::vector<Array> arrays;
    std::unordered_map<std::string, std::size_t> places;
    /// Whether every element of an array has a value, so that nobody needs to look.
    std::vector<char> is_all_known;

    const Array* find(std::string_view name) const;
};

/// Of 1:N-1, which is (1:N)-1, what to write if 1:(N-1) is meant; nothing of all else.
std::string hint_at_range(const Expression& range);

/// Why an expression without elements cannot stand where it does.
std::string no_elements(const Expression& empty, const std::string& where);

class Evaluator {
  public:
    /// `rows` null: all rows of the plate. No more than `most` numbers are made at once.
    Evaluator(const Table& table, const Plate& plate, const Rows* rows, std::size_t most)
        : table_(table), plate_(plate), rows_(rows), most_(most) {}

    Index rows() const { return rows_ == nullptr ? plate_.rows : static_cast<Index>(rows_->size()); }
    const Table& table() const { return table_; }
    bool is_loop_index(std::string_view name) const;

    /// All of these throw EvaluationProblem. RaggedRows is thrown by `values_at_once`, `reference` and `dims`.
    Columns values(const Expression& expression) const;
    Columns values_at_once(const Expression& expression) const;
    std::vector<bool> known(const Expression& expression) const;
    bool is_known(const Expression& expression) const;
    Reference reference(const Expression& variable) const;
    std::vector<Index> dims(const Expression& expression) const;
    /// The extents in every row: once where all rows have the same, otherwise row by row.
    void each_dims(const Expression& expression, const std::function<void(const std::vector<Index>&)>& visit) const;

    /// The elements that a variable may stand for in each row, those of variable indices too, and of ragged rows.
    /// Calls `visit(row, element)`.
    template <class Visit>
    void visit_elements(const Expression& variable, Visit visit) const;

  private:
    /// One position of the indices: a value or several in each row, or all, or a variable.
    struct Position {
        Columns values;
        bool is_dropped = false;
        const Expression* variable = nullptr;
    };

    Rows row_numbers() const;
    Columns loop_column(std::size_t loop) const;
    std::optional<Columns> values_of_leaf(const Expression& expression) const;
    std::optional<Columns> values_of_extents(const Expression& call) const;
    std::optional<std::vector<Index>> dims_of_leaf(const Expression& expression) const;
    Index length_of_range(const Expression& expression, const Columns& from, const Columns& to) const;
    Columns range(const Expression& expression, const std::vector<Columns>& ends) const;
    Columns call(const Expression& expression, const std::vector<Columns>& arguments) const;
    void require_elements(const Expression& call, std::size_t argument, Index size) const;
    std::size_t array_of(const Expression& variable) const;
    Position position(const Expression& index, const Expression& variable, Index extent, std::size_t number) const;
    void require_size(Index rows, Index columns, const Place& place) const;
    void require_size_of(const Expression& call, const std::vector<Columns>& arguments) const;
    void require_values(const Reference& found, const Expression& variable) const;
    std::vector<bool> known_variable(const Expression& variable) const;
    std::string row_text(Index row) const;

    const Table& table_;
    const Plate& plate_;
    const Rows* rows_;
    std::size_t most_;
};

template <class Visit>
void Evaluator::visit_elements(const Expression& variable, Visit visit) const {
    const auto visit_rows = [&](const Reference& found, const Evaluator& evaluator) {
        for (Index row = 0; row < evaluator.rows(); ++row) {
            for (Index j = 0; j < found.elements.cols(); ++j) {
                const Index base = found.at(row, j);
                Index combinations = 1;
                for (const Reference::VariableIndex& index : found.variable_indices) combinations *= index.extent;
                for (Index c = 0; c < combinations; ++c) {
                    Index element = base;
                    Index rest = c;
                    for (const Reference::VariableIndex& index : found.variable_indices) {
                        element += rest % index.extent * index.stride;
                        rest /= index.extent;
                    }
                    const Index number = evaluator.rows_ == nullptr
                                             ? row
                                             : static_cast<Index>((*evaluator.rows_)[static_cast<std::size_t>(row)]);
                    visit(number, element);
                }
            }
        }
    };
    try {
        visit_rows(reference(variable), *this);
    } catch (const RaggedRows&) {
        for (const std::uint32_t row : row_numbers()) {
            const Rows one{row};
            const Evaluator single(table_, plate_, &one, most_);
            visit_rows(single.reference(variable), single);
        }
    }
}

}  // namespace lrvb::bugs
