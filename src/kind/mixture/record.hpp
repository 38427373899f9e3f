#pragma once

#include "kind/mixture/drawn.hpp"
#include "kind/mixture/statistics.hpp"

#include <lrvb/kind/kind.hpp>
#include <lrvb/kind/mixture/prediction.hpp>

#include <functional>
#include <string>
#include <vector>

namespace lrvb::detail {

/// What a fit file keeps of a mixture besides its parameters, in the units of the data.
class MixtureRecord final : public ModelRecord {
  public:
    Index components = 1;
    MixtureCovariance covariance = MixtureCovariance::full;
    std::string prior_origin;  // "auto", "paper" or "explicit": where its numbers came from
    MixturePrior numbers;
    /// The inner units that the parameters are in, x' = (x − centre)/scale.
    Vector centre;
    Vector scale;
    /// Parts that were held: some of "weights", "means", "precisions".
    std::vector<std::string> fixed;
    /// Of the exact posterior, where the fit was corrected by them.
    MixtureDraws draws;

    /// Throws std::runtime_error for what is no such record.
    static std::shared_ptr<const MixtureRecord> read(const Fields& fields);

    Index columns() const { return centre.size(); }
    bool is_full() const { return covariance == MixtureCovariance::full && columns() > 1; }
    MixtureShape shape() const { return {components, covariance, centre, scale}; }
    MixtureStatistics positions(const FitFile& fit) const { return positions(fit.data); }
    MixtureStatistics positions(const DataRecord& data) const { return MixtureStatistics(shape(), data.columns); }
    /// Of the model that was fitted, on its data.
    MixtureSpecification specification(bool weighted, int threads) const;

    std::string_view kind() const override { return "mixture"; }
    Document document() const override;
    std::string headline() const override;
    std::string title(const DataRecord& data) const override;
    std::string description() const override;
    std::string prior_name() const override { return prior_origin; }
    std::vector<PriorNumber> prior(const DataRecord& data) const override;
    std::vector<VariableMeaning> meanings(const FitFile& fit) const override;
    SparseMatrix statistics(const FitFile& fit) const override;
    void require_parameters(const Fields& file) const override;
    void require_agreement(const FitFile& fit, const Fields& file) const override;
    Document page(const FitFile& fit) const override;
    void predict(const FitFile& fit, const Dataset& rows, const PredictOptions& options,
                 TableSink& sink) const override;
    /// The same for rows of any source, by the draws, or else at a state of the model, whose n-th (from 0) is called by
    /// `number` just after it was read.
    void predict(const State& state, RowSource& rows, bool one_by_one, const std::function<Index(Index)>& number,
                 TableSink& sink, MixtureDraws::RowsAre rows_are) const;
    std::string prediction_note() const override;
    std::shared_ptr<const ModelRecord> corrected(const CorrectionDraws& exact) const override;

  protected:
    std::unique_ptr<FittedModel> with_data(FitFile fit, const Dataset& data, int threads) const override;
};

/// Sets a number of a prior by the name that the model gives it, "alpha" or "variance[1,2]", or that people are told,
/// "variance[eruptions,waiting]".
void set_prior_number(MixturePrior& prior, const MixtureStatistics& positions, const std::string& name, double value);

}  // namespace lrvb::detail
