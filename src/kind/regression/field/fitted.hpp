#pragma once

#include "kind/regression/field/record.hpp"

#include <lrvb/kind/fitted_model.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace lrvb::detail {

/// A regression by formula with its data.
class FittedField final : public FittedModel {
  public:
    /// Fresh from a fit; the file has all but the posterior, and the record all but the units and the nodes.
    /// `response_sd` is that of the rows, each once.
    FittedField(FitFile file, std::shared_ptr<const FieldModel> model, Optimum optimum, double response_sd,
                std::vector<Index> file_rows, int threads);
    /// From a file, and its data.
    static std::unique_ptr<FittedField> restored(FitFile file, const Dataset& data, int threads);

    const Model& model() const override { return *model_; }
    Functionals statistics() const override { return record_->variables().functionals(*model_); }
    Posterior refit(const RefitChange& change) const override;
    std::optional<Moments> refitted_moments(const RefitChange& change) const override;
    double work_of_a_draw() const override;
    std::optional<double> work_of_integration() const override;
    IntegratedPosterior integrate(const IntegrationOptions& options) const override;
    std::vector<std::string> warnings() const override;
    /// The leverage of each response on its own fitted value, where the response is normal.
    std::vector<std::pair<std::string, Vector>> row_columns() const override;
    std::optional<FittedResponse> fitted_response() const override;
    Centring centring(const std::vector<Index>& chosen) const override;
    Document picture() const override;
    Drawing drawing(const FitFile& shown, const DrawingOptions& options) const override;
    /// For each row what is observed and fitted, its level of each factor, and its first columns; where it is shown
    /// term by term, its columns.
    Matrix beside(const std::vector<Index>& chosen) const override;
    Index beside_count() const override;

  private:
    double work_of_a_node() const;
    std::string rival_text(const FieldRival& rival) const;
    FieldPrior prior_after(const RefitChange& change) const;
    FieldModel model_after(const RefitChange& change) const;
    FittedField(FitFile file, std::shared_ptr<const FieldModel> model, double response_sd, std::vector<Index> file_rows,
                int threads);
    /// The data with their rows, which are brought here where others have them.
    const FieldData& rows() const { return model_->data_with_rows(); }

    std::shared_ptr<const FieldRecord> record_;
    std::shared_ptr<const FieldModel> model_;
    double response_sd_ = 0.0;
    std::optional<std::uint64_t> integrated_with_;  // the seed, where the posterior that is shown was integrated
};

}  // namespace lrvb::detail
