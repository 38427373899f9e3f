#pragma once

#include "kind/mixture/record.hpp"

#include <lrvb/kind/fitted_model.hpp>
#include <lrvb/kind/mixture/fit.hpp>

namespace lrvb::detail {

/// A mixture with its rows.
class FittedMixture final : public FittedModel {
  public:
    /// Fresh from a fit; the file has all but the posterior.
    FittedMixture(FitFile file, DataRows data, const MixtureFit& fit, int threads);
    /// From a file.
    FittedMixture(FitFile file, DataRows data, int threads);

    /// The rows again, for another fit of them.
    DataRows data() const { return {source_, file().data, file_rows(), summary_}; }
    /// The optimum, as a start of a mixture with one component more.
    MixtureBefore before() const { return {record_->shape(), optimum().state}; }

    const Model& model() const override { return *model_; }
    Functionals statistics() const override;
    Posterior refit(const RefitChange& change) const override;
    double work_of_a_draw() const override;
    std::vector<std::string> warnings() const override;
    std::vector<std::string> leverage_header() const override;
    std::unique_ptr<SomeRows> some_rows(const std::vector<Index>& rows) const override;
    std::vector<ColumnMarginal> column_marginals() const override;
    Document picture() const override;
    Drawing drawing(const FitFile& shown, const DrawingOptions& options) const override;

  protected:
    void predict_fitted(TableSink& sink) const override;

  private:
    /// The rows by two columns: points, or cells.
    DrawingPanel rows_panel(Index p, Index q, const FitFile& shown) const;
    const MixtureRecord& record() const { return *record_; }
    /// Rows, one after the other.
    std::vector<double> read_rows(const std::vector<Index>& rows) const;
    void add_prior_shares(std::vector<std::string>& warnings) const;
    void add_overlap(std::vector<std::string>& warnings) const;

    std::shared_ptr<const MixtureRecord> record_;
    std::shared_ptr<RowSource> source_;
    std::optional<ColumnSummary> summary_;  // of its columns, where they were read again
    MixtureSpecification specification_;
    std::shared_ptr<const MixtureModel> model_;
};

}  // namespace lrvb::detail
