#pragma once

#include <lrvb/bugs/data.hpp>
#include <lrvb/bugs/syntax.hpp>
#include <lrvb/export.hpp>
#include <lrvb/types.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// A model with its data: every name resolved, loops kept as plates, what is known computed.
///
/// A relation stands on a **plate**: a table with a column for each loop around it and a row for each round, the
/// innermost loop fastest. Bounds of inner loops may depend on outer ones; then the plate has as many rows as there are
/// rounds. A relation outside of loops has a plate of one row. Everything that an expression means is asked over the
/// rows of a plate at once, and comes as columns:
///
///     graph.known(expression, relation)      in which rows it has a value: all that it needs is data or constant
///     graph.values(expression, relation)     these values
///     graph.reference(variable, relation)    which elements of which array a variable with indices stands for
///
/// An **element** of an array is one of (State):
///
///     data            in the data, and no relation speaks of it: a constant
///     constant        `<-` of what is known; its value is computed
///     observed        `~`, and in the data
///     unobserved      `~`, and NA or not in the data: a variable of the model
///     deterministic   `<-` of something unobserved
///     undefined       none of these; nobody uses it
///
/// data, constant and observed elements have values. Linear places of elements count from 0, the first index fastest.
///
/// Assumptions: relations of the data block are evaluated first, and become data; they cannot draw random numbers.
/// Extents of arrays come from the data, else from `var`, else from the largest index on the left of relations.
///
/// Failures: ModelError with all that is wrong at once: names that are used but never defined, elements that are
/// defined twice, data for a deterministic node, cycles, indices out of range, loops over what is no whole number,
/// missing values where a constant is needed.
namespace lrvb::bugs {

using IndexMatrix = Eigen::Matrix<std::int64_t, Eigen::Dynamic, Eigen::Dynamic>;

/// Rows of a plate, from 0.
using Rows = std::vector<std::uint32_t>;

struct Plate {
    Index rows = 1;
    /// The loops, outermost first.
    std::vector<std::string> indices;
    /// Of each of them, its value in every row.
    std::vector<std::vector<double>> values;
};

/// Numbers over rows. Each row has an array of the same extents, with its first index fastest.
struct Columns {
    /// None: one number a row.
    std::vector<Index> dims;
    /// A line a row, a column an element of the row's array. A single line stands for all rows if it is the same
    /// in all.
    Matrix values;

    bool is_scalar() const { return values.cols() == 1; }
    double at(Index row, Index element = 0) const { return values(values.rows() == 1 ? 0 : row, element); }
};

/// What a variable with its indices stands for, over rows.
struct Reference {
    /// An index that is not known: a discrete variable, as in mu[z[i]].
    struct VariableIndex {
        const Expression* index = nullptr;
        Index stride = 1;  ///< elements from one value of the index to the next
        Index extent = 1;  ///< it goes from 1 to this
    };

    std::size_t array = 0;  ///< in Graph::arrays
    /// Of the part that is taken in each row; none for one element.
    std::vector<Index> dims;
    /// A line a row (or a single one for all), a column an element of the part: places in the array. Where there are
    /// variable indices, those with all of them 1.
    IndexMatrix elements;
    std::vector<VariableIndex> variable_indices;

    Index at(Index row, Index element = 0) const { return elements(elements.rows() == 1 ? 0 : row, element); }
};

enum class State : std::uint8_t { undefined, data, constant, observed, unobserved, deterministic };

/// Whether elements of this state have values.
constexpr bool is_known(State state) {
    return state == State::data || state == State::constant || state == State::observed;
}

struct LRVB_EXPORT Array {
    static constexpr std::int32_t kNone = -1;

    std::string name;
    /// None for a single number.
    std::vector<Index> dims;
    std::vector<State> states;
    /// NaN where nothing is known.
    std::vector<double> values;
    /// Which relation defines an element, or kNone, and in which row of its plate.
    std::vector<std::int32_t> relations;
    std::vector<std::uint32_t> rows;
    /// Where it is first written.
    Place place;
    /// Of text in a CSV file.
    std::vector<std::string> levels;

    Index size() const { return static_cast<Index>(states.size()); }
    /// Indices from 1.
    std::vector<Index> indices(Index element) const;
    /// "y[3,2]"; "tau" for a single number.
    std::string element_name(Index element) const;
    /// How many elements are in a state.
    Index count(State state) const;
};

/// A relation of the model block.
struct GraphRelation {
    const Relation* syntax = nullptr;
    std::shared_ptr<const Plate> plate;
    /// What is on the left: dims of a row's part, and its elements. No variable indices.
    Reference left;
    /// Of a deterministic relation whose rows use each other, as x[i] <- x[i-1] + 1 does: in each row, how many
    /// deterministic nodes come one after the other before it. None where that is 0 in all rows.
    std::vector<std::uint32_t> depths;

    std::uint32_t depth(Index row) const { return depths.empty() ? 0 : depths[static_cast<std::size_t>(row)]; }
    bool is_stochastic() const { return syntax->is_stochastic; }
    Index rows() const { return plate->rows; }
};

/// Part of an order in which everything is defined before it is used.
struct Step {
    std::size_t relation = 0;
    /// In ascending order; all rows of the relation if `is_all`.
    Rows rows;
    bool is_all = true;
};

struct GraphOptions {
    /// The most rows of a plate, elements of an array, and numbers of an expression. What has more is refused.
    std::size_t most = 200'000'000;
    /// The most nodes that are not known: elements that relations define and data do not.
    std::size_t most_nodes = 2'000'000;
    /// The most deterministic nodes that are not known and come one after the other.
    std::size_t longest_chain = 100'000;
};

class LRVB_EXPORT Graph {
  public:
    /// Throws ModelError.
    Graph(Syntax syntax, Data data, const GraphOptions& options = {});
    ~Graph();
    Graph(Graph&&) noexcept;
    Graph& operator=(Graph&&) noexcept;

    const Syntax& syntax() const;
    const Source& source() const { return syntax().source; }
    /// With what the data block made.
    const Data& data() const;

    const std::vector<Array>& arrays() const;
    /// Null where there is none of that name.
    const Array* find(std::string_view name) const;
    /// In the order of the text, without those in loops that have no rounds.
    const std::vector<GraphRelation>& relations() const;
    /// All rows of all relations, each after all that it uses.
    const std::vector<Step>& steps() const;
    /// What is no error, but may be meant otherwise: `for (i in N)`, which has one round; dnorm(mu, sigma).
    const std::vector<Diagnostic>& notes() const;
    /// Names of data that the model does not use.
    const std::vector<std::string>& unused_data() const;

    /// Whether a name is a loop's index at a relation, and not an array.
    bool is_loop_index(std::string_view name, const GraphRelation& relation) const;

    /// In which rows (null: all of them) everything that the expression needs is known. One entry for all rows, where
    /// it is the same in all.
    std::vector<bool> known(const Expression& expression, const GraphRelation& relation,
                            const Rows* rows = nullptr) const;
    /// In all of them.
    bool is_known(const Expression& expression, const GraphRelation& relation, const Rows* rows = nullptr) const;

    /// The values in these rows, where it is known in all of them. Throws ModelError where it is not, where it is not
    /// a number, and where the rows have arrays of different extents (is_ragged).
    Columns values(const Expression& expression, const GraphRelation& relation, const Rows* rows = nullptr) const;

    /// What a variable stands for in these rows. Throws ModelError for indices out of range and where the rows take
    /// parts of different extents; std::invalid_argument for what is no variable, or is a loop's index.
    Reference reference(const Expression& variable, const GraphRelation& relation, const Rows* rows = nullptr) const;

    /// The extents of an expression in each of these rows; none for a single number. Throws as `reference` does.
    std::vector<Index> dims(const Expression& expression, const GraphRelation& relation,
                            const Rows* rows = nullptr) const;

    /// Whether the parts that a variable takes differ in extent between these rows, as x[1:n[i]] does: ask row by row.
    bool is_ragged(const Expression& variable, const GraphRelation& relation, const Rows* rows = nullptr) const;

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace lrvb::bugs
