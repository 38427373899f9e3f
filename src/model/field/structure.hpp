#pragma once

#include <lrvb/model/field.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

/// How the rows of a field meet its coefficients: a row touches all fixed effects and one level of each factor, so that
/// AᵀWA is made of few kinds of blocks. Everything is in the inner units of FieldUnits.
namespace lrvb::detail {

/// The size of a field's numbers over the rows that count: of the response without its offset, of each column, and of
/// each factor's effects, in this order.
struct FieldScales {
    double total = 0.0;  // Σ w
    Vector mean;
    Vector about_mean;            // Σ w (v − mean)²
    Vector about_zero;            // Σ w v²
    double log_precisions = 0.0;  // Σ log of precision weights

    /// Their geometric mean.
    double precision_unit() const { return std::exp(log_precisions / total); }

    /// Weights count rows; where they come to hardly any, as weights that add up to one do, half of what they come to.
    double mean_sd(Index place) const { return std::sqrt(about_mean[place] / std::max(total - 1.0, 0.5 * total)); }
    static constexpr Index response = 0;
    static Index column(Index j) { return 1 + j; }
    static Index effect(const FieldData& data, std::size_t f, Index e);
};

/// x' = (x − centre)/scale of response, columns and effects' values; effects are centred beside an intercept alone.
struct FieldUnits {
    double response_centre = 0.0;
    double response_scale = 1.0;
    Vector centre;  // of the columns
    Vector scale;
    std::vector<Vector> effect_centre;  // of each factor
    std::vector<Vector> effect_scale;

    FieldUnits() = default;
    /// Of the rows that count; the centres of `given` in place of their means, where it has some. On a link's scale the
    /// response is left as it is.
    FieldUnits(const FieldData& data, const FieldScales& scales, const FieldPrior* given = nullptr);
    explicit FieldUnits(const FieldData& data);

    bool is_centred(std::size_t f) const { return (effect_centre[f].array() != 0.0).any(); }

    double slope_unit(Index j) const { return response_scale / scale[j]; }
    double effect_unit(std::size_t f, Index e) const { return response_scale / effect_scale[f][e]; }
};

/// Positions of coefficients: fixed effects first (the intercept α, then slopes), then each factor, level by level,
/// the effects of a level side by side.
struct FieldShape {
    struct Factor {
        Index offset = 0;
        Index levels = 0;
        Index effects = 0;
        Index size() const { return levels * effects; }
    };
    bool intercept = true;
    Index fixed = 0;            // with the coefficients of terms, which are the last of these
    Index plain = 0;            // without
    std::vector<Factor> terms;  // a coefficient is a level with one effect
    std::vector<Factor> factors;
    Index size = 0;

    /// What has a prior precision that depends on ψ: factors, then terms.
    std::size_t parts() const { return factors.size() + terms.size(); }
    const Factor& part(std::size_t i) const { return i < factors.size() ? factors[i] : terms[i - factors.size()]; }

    explicit FieldShape(const FieldData& data);
};

/// The rows of A.
class FieldDesign {
  public:
    FieldDesign(std::shared_ptr<const FieldData> data, FieldUnits units);

    const FieldData& data() const { return *data_; }
    const FieldUnits& units() const { return units_; }
    const FieldShape& shape() const { return shape_; }
    Index rows() const { return data_->y.size(); }

    /// The fixed effects' entries of row n, the intercept's one first.
    void fixed_row(Index n, double* x) const;
    /// Its entries at factor f, whose level is data().factors[f].level[n].
    void effect_row(Index n, std::size_t f, double* z) const;
    /// Where its level's coefficients begin.
    Index level_position(Index n, std::size_t f) const {
        return shape_.factors[f].offset +
               data_->factors[f].level[static_cast<std::size_t>(n)] * shape_.factors[f].effects;
    }
    /// (y − offset − centre)/scale of normal rows.
    double response(Index n) const {
        return (data_->y[n] - data_->offset_of(n) - units_.response_centre) / units_.response_scale;
    }

    /// A x of rows first … first + count − 1.
    Vector predictor(const VectorView& x, Index first, Index count) const;
    /// Aᵀ v, of rows from `first` on.
    Vector transposed(const VectorView& v, Index first = 0) const;

  private:
    std::shared_ptr<const FieldData> data_;
    FieldUnits units_;
    FieldShape shape_;
};

/// AᵀWA by blocks, for one W. All blocks are row by row.
struct FieldBlocks {
    std::vector<double> fixed;                  // p × p, both triangles
    std::vector<std::vector<double>> diagonal;  // of each factor and level, q × q, both triangles
    std::vector<std::vector<double>> border;    // of each factor and level, q × p
    std::vector<std::vector<double>> cross;     // of each pair of factors and meeting of their levels, q_f × q_g
    bool is_fold = true;  // AᵀWA it is: a column of A that is a combination of others is so in the blocks

    /// All numbers, one behind the other; and back again, into blocks of the same sizes.
    Vector numbers() const;
    void set(const Vector& numbers);
};

/// Which of the effects' values are ones, or those of a column, in every row.
struct FieldCopies {
    std::vector<std::vector<char>> ones;                    // of each factor and effect
    std::vector<std::vector<std::vector<char>>> of_column;  // of each factor, effect and column

    static FieldCopies of(const FieldData& data);
    /// In these rows and in those.
    void add(const FieldCopies& other);
};

/// Levels of two factors that meet in a row: first · levels of the second + second, ascending.
using Meetings = std::vector<std::int64_t>;

/// Which levels meet in a row, which does not depend on W.
class FieldStructure {
  public:
    explicit FieldStructure(std::shared_ptr<const FieldDesign> design);
    /// Of rows of which the design has some, or none: the meetings, pair by pair, of all.
    FieldStructure(std::shared_ptr<const FieldDesign> design, const std::vector<Meetings>& meetings,
                   FieldCopies copies);

    /// Levels of factors f > g that meet: those of f in order, and for each those of g, ascending.
    struct Pair {
        std::size_t f;
        std::size_t g;
        std::vector<int> starts;   // of each level of f
        std::vector<int> levels;   // of g
        std::vector<int> meeting;  // of each row: which of these it is
    };

    const FieldDesign& design() const { return *design_; }
    const FieldShape& shape() const { return design_->shape(); }
    const std::vector<Pair>& pairs() const { return pairs_; }
    const FieldCopies& copies() const { return copies_; }
    std::vector<Meetings> meetings() const;

    /// AᵀWA, of all rows of the design or some: in order, so the same bits always. Rows without weight change nothing.
    FieldBlocks fold(const VectorView& weights) const { return fold(weights, 0, design_->rows()); }
    FieldBlocks fold(const VectorView& weights, Index begin, Index end) const;
    /// Zeros.
    FieldBlocks empty_blocks() const;
    /// AᵀWA x.
    Vector multiply(const FieldBlocks& blocks, const VectorView& x) const;
    /// xᵀAᵀWAx and the like need no more than this. The pattern of AᵀWA, lower triangle with zeros.
    SparseMatrix lower_pattern() const;
    /// scale AᵀWA + prior (diagonal of the fixed effects, q × q for each factor) in the order of lower_pattern's
    /// entries.
    std::vector<double> lower_values(const FieldBlocks& blocks, double scale, const Vector& fixed_precision,
                                     const std::vector<Matrix>& precisions) const;

  private:
    template <class Visit>
    void visit_lower(const Visit& visit) const;

    std::shared_ptr<const FieldDesign> design_;
    std::vector<Pair> pairs_;
    FieldCopies copies_;
};

}  // namespace lrvb::detail
