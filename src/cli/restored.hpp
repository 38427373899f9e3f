#pragma once

#include "cli/data.hpp"

#include <lrvb/kind/fit_file.hpp>
#include <lrvb/model/row_model.hpp>
#include <lrvb/response/linear_response.hpp>

#include <memory>
#include <optional>
#include <string>

/// A fit brought back to life with its data: the model, its optimum and the response, and refits near by.
namespace lrvb::cli {

/// What is different in a refit.
struct RefitChange {
    std::optional<Index> without_row;  // counted from 0
    /// A hyperparameter and its new value.
    std::optional<std::pair<std::string, double>> prior;
};

class Restored {
  public:
    virtual ~Restored() = default;

    virtual const RowModel& model() const = 0;
    /// The statistics of the fit file, in the units of the data.
    virtual Functionals statistics() const = 0;
    /// The fit again from its optimum, after a change. Throws std::runtime_error where it does not converge.
    virtual Posterior refit(const RefitChange& change) const = 0;

    /// The file's row, from 1, of a row counted from 0.
    Index file_row(Index row) const { return file_rows_.empty() ? row + 1 : file_rows_[static_cast<std::size_t>(row)]; }
    /// A change of the chosen variables in which an offset of the data costs no digits: of a regression, the intercept
    /// at the centre of the columns instead of that at zero. Distances are the same in both.
    virtual SparseMatrix centring(const std::vector<Index>& variables) const;
    /// What is asked about some rows, counted from 0 and in ascending order: case weights or leverage, as
    /// LinearResponse gives them for all.
    virtual RowAnswers ask(const Functionals& functionals, RowChange change, const std::vector<Index>& rows) const;
    /// Of a regression: the leverage of each response on its own fitted value. Empty for other models.
    virtual Vector hat_values() const { return {}; }

    const FitFile& file() const { return file_; }
    const Optimum& optimum() const { return optimum_; }
    const LinearResponse& response() const { return *response_; }

    /// The chosen variables as functionals: what moves the statistics moves them along their gradients.
    Functionals functionals(const std::vector<Index>& variables) const;

  protected:
    explicit Restored(FitFile file) : file_(std::move(file)) {}
    /// Once the model is there.
    void respond();
    /// The posterior of the response in place of a corrected one: what rows and priors do is known of the response
    /// alone, whose variables are functions of the model's statistics.
    void undo_correction(Posterior posterior) { file_.posterior = std::move(posterior); }
    Optimum refitted(const Model& changed) const;
    void set_file_rows(std::vector<Index> rows) { file_rows_ = std::move(rows); }

  private:
    FitFile file_;
    std::vector<Index> file_rows_;
    Optimum optimum_;
    std::unique_ptr<LinearResponse> response_;
};

/// The data that a fit was made from.
struct FittedData {
    std::shared_ptr<RowSource> source;               // of a mixture: its columns, then the weights if there are any
    std::shared_ptr<const RegressionDesign> design;  // of a regression
    std::vector<Index> file_rows;                    // as in Data
};

/// Reads the data as they were read for the fit. Throws std::runtime_error for data that are others.
FittedData open_fitted(const FitFile& fit, const std::string& path);

/// Throws std::runtime_error for a fit that did not converge, and for data that are not those of the fit.
std::unique_ptr<Restored> restore(const std::string& fit, const std::string& data, int threads);
/// The same of a fit that converged, and its data.
std::unique_ptr<Restored> restore(FitFile fit, FittedData data, int threads);

}  // namespace lrvb::cli
