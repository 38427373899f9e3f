#pragma once

#include <lrvb/export.hpp>
#include <lrvb/model/model.hpp>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lrvb {

/// What can change about a row.
enum class RowChange {
    weight,  ///< how often it counts
    value,   ///< a number of it
};

/// Some rows, in order, and what was asked about each of them.
struct RowAnswers {
    Index first = 0;  // counted from 0
    Matrix inputs;    // one row a row, in the units of the data; NaN where a row has no such number
    Vector weights;
    Matrix answers;  // one row a row
};

using RowVisitor = std::function<void(const RowAnswers&)>;

/// Something that is kept of all rows and their answers, and does not grow with them: sums, or the furthest of them. As
/// bytes, so that it can be taken where the rows are.
struct RowTally {
    std::string name;
    /// Of some rows; `asked` is what else it needs to know.
    std::function<std::string(std::string_view asked, const RowAnswers& rows)> keep;
    /// Of rows and those that follow.
    std::function<std::string(std::string left, std::string right)> merge;
};

/// Makes a tally known by its name, if it is not, where others may be asked for it. Not safe while others read the
/// list: do it first.
LRVB_EXPORT void register_row_tally(RowTally tally);
/// Throws std::invalid_argument where there is none.
LRVB_EXPORT const RowTally& find_row_tally(std::string_view name);

/// Some rows, in order, as they are and as the model would draw them. A row of weight w stands w times in a row.
struct RowReplicates {
    Index first = 0;  // counted from 0, with rows that stand several times
    Matrix observed;  // one row a row, in the units of the data
    Matrix
        replicated;   // one row a row: for each value of the variables a number for each input, inputs running fastest
    Matrix expected;  // in the same order what they are about, E(x_n | θ); empty where rows differ by chance alone
};

using ReplicateVisitor = std::function<void(const RowReplicates&)>;

/// A row that counts no whole number of times, where rows are to be drawn again.
class LRVB_EXPORT FractionalWeight : public std::invalid_argument {
  public:
    /// The row counted from 0.
    FractionalWeight(Index row, double weight);

    Index row() const { return row_; }
    /// In a sentence, with the number that the row has where it comes from; `what` counts the model's rows from 1.
    std::string words(Index number) const;

  private:
    Index row_;
    double weight_;
};

/// A model that is a sum over rows, L(m) = … + Σ_n w_n ℓ_n(m, x_n), and can be asked what each of them does. All rows
/// are visited in order, a few thousand at a time, in one pass over the data.
class LRVB_EXPORT RowModel : public Model {
  public:
    /// Names of the numbers of a row that can change.
    virtual std::vector<std::string> inputs() const = 0;

    /// For directions D, one a column over the stacked means, Dᵀ ∂²L/∂m∂w_n: an answer for each direction. Or Dᵀ
    /// ∂²L/∂m∂x_np, in the units of the data: for each direction an answer for each input p, inputs running fastest.
    virtual void ask_rows(const State& state, const Matrix& directions, RowChange change,
                          const RowVisitor& visit) const = 0;

    /// What a tally keeps of the rows with what `ask_rows` would say of them: some thousands at a time, merged along a
    /// binary tree over these, so that it has the same bits wherever the rows are. Empty where there are no directions.
    virtual std::string tally_rows(const State& state, const Matrix& directions, RowChange change,
                                   const RowTally& tally, const std::string& asked) const;

    /// log p(x_n | θ) of every row, in the units of the data and as if it weighed one, at some values θ of the
    /// variables: `statistics` has their stacked statistics T(θ), one value a column, and a row has an answer for each.
    /// Throws std::invalid_argument for a model that cannot say, which is the default.
    virtual void row_log_likelihoods(const Matrix& statistics, int threads, const RowVisitor& visit) const;

    /// All rows drawn again, from x_n ~ p(· | θ) at some values θ of the variables, given as above. The numbers of a
    /// row are those of the stream with its number, under this seed: the same for any number of threads. Throws
    /// std::invalid_argument for a model that cannot draw rows, which is the default, and FractionalWeight for weights
    /// that are no whole numbers.
    virtual void replicate_rows(const Matrix& statistics, std::uint64_t seed, int threads,
                                const ReplicateVisitor& visit) const;
};

}  // namespace lrvb
