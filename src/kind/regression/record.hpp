#pragma once

#include <lrvb/kind/kind.hpp>
#include <lrvb/kind/regression/model.hpp>

#include <string>
#include <vector>

namespace lrvb::detail {

/// What a fit file keeps of a linear regression besides its parameters, in the units of the data.
class RegressionRecord final : public ModelRecord {
  public:
    std::string response;
    std::vector<RegressionTerm> terms;
    std::string prior_origin;  // "auto" or "explicit"
    RegressionPrior numbers;
    /// All that predictions need. The covariance is empty where the fit did not converge.
    RegressionPosterior coefficients;

    static std::shared_ptr<const RegressionRecord> read(const Fields& fields);

    /// The prior of the model that was fitted, its centre included.
    RegressionPrior centred_prior() const;

    std::string_view kind() const override { return "regression"; }
    Document document() const override;
    std::string headline() const override;
    std::string title(const DataRecord& data) const override;
    std::string description() const override;
    std::string prior_name() const override { return prior_origin; }
    std::vector<PriorNumber> prior(const DataRecord& data) const override;
    std::vector<VariableMeaning> meanings(const FitFile& fit) const override;
    void require_agreement(const FitFile& fit, const Fields& file) const override;
    Document page(const FitFile& fit) const override;
    void predict(const FitFile& fit, const Dataset& rows, const PredictOptions& options,
                 TableSink& sink) const override;
    bool predicts_intervals() const override { return true; }
    std::shared_ptr<const ModelRecord> corrected(const CorrectionDraws& draws) const override;

  protected:
    std::unique_ptr<FittedModel> with_data(FitFile fit, const Dataset& data, int threads) const override;
};

/// Sets a number of a prior by the name that the model gives it: "shape", "mean[wt]". `slopes` are the names of the
/// design's columns.
void set_prior_number(RegressionPrior& prior, const std::vector<std::string>& slopes, const std::string& name,
                      double value);

/// How the columns of a regression's terms are read again: factors as text and the others as numbers, whatever they
/// look like and however they are quoted.
FrameOptions columns_of(const std::vector<RegressionTerm>& terms, bool drop_missing);

/// What a page knows of terms.
Document terms_document(const std::vector<RegressionTerm>& terms);

/// Of the response, the columns and the weights of a design.
std::string checksum_of(const RegressionDesign& design);

}  // namespace lrvb::detail
