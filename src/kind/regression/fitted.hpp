#pragma once

#include "kind/regression/record.hpp"

#include <lrvb/kind/fitted_model.hpp>

namespace lrvb::detail {

/// What predictions need of an optimum.
RegressionPosterior coefficients_of(const RegressionModel& model, const Optimum& optimum);

/// A regression with its design.
class FittedRegression final : public FittedModel {
  public:
    /// Fresh from a fit; the file has all but the posterior.
    FittedRegression(FitFile file, std::shared_ptr<const RegressionDesign> design,
                     std::shared_ptr<const RegressionModel> model, Optimum optimum, std::vector<Index> file_rows,
                     int threads);
    /// From a file.
    FittedRegression(FitFile file, std::shared_ptr<const RegressionDesign> design, std::vector<Index> file_rows,
                     int threads);

    const Model& model() const override { return *model_; }
    Functionals statistics() const override;
    Posterior refit(const RefitChange& change) const override;
    double work_of_a_draw() const override;
    std::vector<std::pair<std::string, Vector>> row_columns() const override { return {{"hat", hat_values()}}; }
    std::optional<FittedResponse> fitted_response() const override;
    Centring centring(const std::vector<Index>& variables) const override;
    /// The rows as counts, where they are too many to be drawn one by one.
    Document picture() const override;
    Matrix beside(const std::vector<Index>& rows) const override;
    Index beside_count() const override { return design_->columns.cols(); }
    Drawing drawing(const FitFile& shown, const DrawingOptions& options) const override;

  private:
    /// The leverage of each response on its own fitted value.
    Vector hat_values() const;

    std::shared_ptr<const RegressionRecord> record_;
    std::shared_ptr<const RegressionDesign> design_;
    std::shared_ptr<const RegressionModel> model_;
};

}  // namespace lrvb::detail
