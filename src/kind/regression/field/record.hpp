#pragma once

#include "kind/regression/field/prediction.hpp"
#include "kind/regression/field/predictor_draws.hpp"
#include "kind/regression/field/prior.hpp"
#include "kind/regression/field/response.hpp"
#include "kind/regression/field/variables.hpp"

#include <lrvb/formula/design.hpp>
#include <lrvb/kind/kind.hpp>

#include <memory>
#include <string>
#include <vector>

namespace lrvb::detail {

/// Of a row, that the page shows.
constexpr Index kMostShownColumns = 12;

/// What a fit file keeps of a regression by formula besides its parameters, in the units of the data.
class FieldRecord final : public ModelRecord {
  public:
    std::shared_ptr<const FormulaCoding> coding;
    /// Those of the formula's columns that are coefficients: not those that were zero in every row.
    std::vector<Index> kept;
    FormulaShape shape;
    /// Of a bernoulli response that is not written as 0 and 1.
    std::optional<ResponseLevels> response_levels;
    std::string prior_origin;  // "auto" or "explicit"
    FieldPrior numbers;
    FieldMoments moments;
    /// ψ, for predictions.
    FieldNodes nodes;
    /// Of a corrected fit, coefficients and ψ at some draws, which tell how a predictor is distributed. Empty where
    /// there are very many coefficients.
    StandardisedDraws some_draws;
    /// How the layout's coefficients make the posterior's: of the fixed ones (rows: inner, columns: alpha, intercept,
    /// slopes), and of each factor's effects.
    Matrix fixed_units;
    std::vector<Vector> effect_units;

    static std::shared_ptr<const FieldRecord> read(const Fields& fields);

    FieldVariables variables() const { return {shape, numbers, moments}; }

    std::string_view kind() const override { return "regression"; }
    Document document() const override;
    std::string headline() const override;
    std::string title(const DataRecord& data) const override;
    std::string description() const override;
    std::string prior_name() const override { return prior_origin; }
    std::vector<PriorNumber> prior(const DataRecord& data) const override;
    std::vector<VariableMeaning> meanings(const FitFile& fit) const override;
    SparseMatrix statistics(const FitFile& fit) const override;
    void require_agreement(const FitFile& fit, const Fields& file) const override;
    Document page(const FitFile& fit) const override;
    void predict(const FitFile& fit, const Dataset& rows, const PredictOptions& options,
                 TableSink& sink) const override;
    bool predicts_intervals() const override { return true; }
    bool predicts_by_group() const override { return true; }
    std::shared_ptr<const ModelRecord> corrected(const CorrectionDraws& draws) const override;

  protected:
    std::unique_ptr<FittedModel> with_data(FitFile fit, const Dataset& data, int threads) const override;
};

/// By the words of --family and --link, which may be empty. Throws UsageError for what there is not.
std::shared_ptr<const Likelihood> likelihood_of_words(const std::string& family, const std::string& link);

/// Of a design, the data of a model.
FieldData field_data(FormulaDesign design, const std::vector<Index>& kept, std::shared_ptr<const Likelihood> likelihood,
                     Vector weights);
/// What the terms of the formula report of their curves.
void add_curves(const FormulaCoding& coding, FormulaShape& shape);
/// Of all numbers that were used.
std::string checksum_of(const FieldData& data);

}  // namespace lrvb::detail
