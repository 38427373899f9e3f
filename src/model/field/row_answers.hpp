#pragma once

#include "base/block_sums.hpp"
#include "model/field/precision.hpp"
#include "model/tally_tree.hpp"

#include <lrvb/model/row_model.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// What each normal row of a field does at (ψ, m). With r its residual at the coefficients' means and v = aᵀSa the
/// variance of its predictor,
///
///     ∂F/∂w = −½ log 2πσ² − ½ τ (r² + v),     ∂F/∂y = −w τ r,
///
/// differentiated in the coefficients (r alone) and in ψ (τ, and v by central differences on the pattern of S). A row
/// needs of all others their sums alone, so that it can be asked wherever it is.
namespace lrvb::detail {

/// All that rows are told, in inner units; none of it is of single rows.
struct RowsAsked {
    RowChange change = RowChange::weight;
    Matrix directions;  // over the stacked means, ψ first
    Vector x;           // the coefficients
    double tau = 0.0;
    double tau_by_psi = 0.0;
    double log_determinant_by_psi = 0.0;
    Index sigma = 0;  // which ψ it is
    /// What S is the inverse of, where weights change: here, and for every ψ a step up and down.
    struct Precision {
        double scale = 1.0;
        std::vector<Matrix> factors;
        Vector fixed;
    };
    std::vector<Precision> precisions = {};
    FieldBlocks blocks = {};  // AᵀWA of all rows

    std::string bytes() const;
    /// `empty`: blocks of the same sizes.
    static RowsAsked of(std::string_view bytes, FieldBlocks empty);
};

/// Of the rows that the plan's design has. Throws std::domain_error where a precision cannot be factored.
class NormalRowAnswers {
  public:
    NormalRowAnswers(RowsAsked asked, std::shared_ptr<const PrecisionPlan> plan);

    /// Some thousands at a time, of rows begin … end − 1 of the design, which are called `first` and so on.
    void visit(Index begin, Index end, Index first, const RowVisitor& visit) const;
    /// What a tally keeps of the rows of each block, of which the first is called `first`.
    BlockTree<Tallied> tallied(const RowBlocks& blocks, Index first, const RowTally& tally,
                               std::string_view wanted) const;

  private:
    struct InverseAt {
        PrecisionFactor factor;
        std::unique_ptr<PrecisionInverse> inverse;
    };

    RowsAsked asked_;
    std::shared_ptr<const PrecisionPlan> plan_;
    std::vector<std::unique_ptr<InverseAt>> inverses_;
};

/// How often each of these rows counts.
Vector row_weights(const FieldData& data, Index first, Index count);

/// Some rows with their answers, as a message.
std::string bytes_of(const RowAnswers& rows);
RowAnswers row_answers_of(ByteReader& reader);

}  // namespace lrvb::detail
