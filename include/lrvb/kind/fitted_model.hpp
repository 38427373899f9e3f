#pragma once

#include <lrvb/kind/drawing.hpp>
#include <lrvb/kind/kind.hpp>
#include <lrvb/model/row_model.hpp>
#include <lrvb/posterior/integrated.hpp>
#include <lrvb/response/linear_response.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// A fitted model with its data, fresh from a fit or restored from a file: the model, its optimum and the response, and
/// refits near by. Checks, influence, sensitivity and the report speak to it.
///
///     const FitFile file = read_fit("fit.json");
///     const auto fitted = restore(file, "old_faithful.csv");
///     fitted->response().covariance(fitted->functionals(file.posterior.select({"mu"})));
namespace lrvb {

/// What is different in a refit.
struct RefitChange {
    std::vector<Index> without_rows = {};  // in ascending order, counted from 0
    /// A number of the prior and its new value.
    std::optional<std::pair<std::string, double>> prior;
};

/// Some rows that are asked several things, without all the others being looked at again.
class LRVB_EXPORT SomeRows {
  public:
    virtual ~SomeRows() = default;
    /// Case weights or leverage, as LinearResponse gives them for all.
    virtual RowAnswers ask(const Functionals& functionals, RowChange change) const = 0;
};

/// What a kind with a response says of every row, its parameters at their posterior means.
struct FittedResponse {
    std::string name;
    Vector observed;
    Vector fitted;
    Vector predictive_sd;     // of a new response of this row
    Vector hat;               // d fitted / d observed
    Vector weights;           // how often each row counts, more than never
    std::vector<Index> rows;  // which these are
    Vector precision = {};    // residual variances are those of weight one divided by it; empty: one
};

/// What a kind that draws all rows from one distribution says of a column: Σ_k weight_k Normal(mean_k, sd_k²), its
/// parameters at their posterior means.
struct ColumnMarginal {
    std::string name;
    Vector weights;
    Vector means;
    Vector sds;
};

/// Variables in place of others, and the matrix that makes changes of the one of changes of the other.
struct Centring {
    std::vector<Index> variables;
    SparseMatrix change;
};

/// Of all variables of a posterior.
struct Moments {
    Vector means;
    Vector sds;
};

class LRVB_EXPORT FittedModel {
  public:
    virtual ~FittedModel() = default;

    virtual const Model& model() const = 0;
    /// The posterior's statistics, those of the model, in the units of the data.
    virtual Functionals statistics() const = 0;
    /// The fit again from its optimum, after a change. Throws std::runtime_error where it does not converge.
    virtual Posterior refit(const RefitChange& change) const = 0;
    /// The exact means and sds of the posterior's variables after a change, in their order, where those that are shown
    /// were integrated; nothing where they were not. Throws as `refit`, and where the integral is not reliable.
    virtual std::optional<Moments> refitted_moments(const RefitChange&) const { return std::nullopt; }

    /// What ModelRecord::predict says of the rows that were fitted, without reading them anew. A row that was left out
    /// comes as one without numbers, so that row n is row n of the data. Throws std::logic_error for a kind without.
    void predict_rows(TableSink& sink) const;

    /// What one draw costs to compare with the exact posterior, in numbers looked at.
    virtual double work_of_a_draw() const = 0;
    /// What it costs to integrate the posterior, in the same numbers; nothing for a kind whose posterior is not found
    /// so, which is the default.
    virtual std::optional<double> work_of_integration() const { return std::nullopt; }
    /// The exact posterior of all variables without draws, where there is work_of_integration: what a check compares
    /// with, and what a fit reports where it takes no longer than a check.
    virtual IntegratedPosterior integrate(const IntegrationOptions& options) const;
    /// What can be seen of a converged fit without sampling, each in a sentence with the variable and the remedy.
    virtual std::vector<std::string> warnings() const { return {}; }

    /// The file's row, from 1, of a row counted from 0.
    Index file_row(Index row) const { return file_rows_.empty() ? row + 1 : file_rows_[static_cast<std::size_t>(row)]; }
    /// What a row counted from 0 is called where rows have names of their own (y[3,2]); empty where they have numbers,
    /// which is the default.
    virtual std::string row_name(Index) const { return {}; }
    /// That name, or the number of the file's row.
    std::string row_label(Index row) const;
    /// Whether the model can be asked about its rows.
    virtual bool has_rows() const;
    /// The model as one that can be asked about its rows; throws std::runtime_error, in a sentence, where it cannot.
    const RowModel& row_model() const;
    /// What the numbers of a row that can move are called; none where nothing continuous was observed.
    virtual std::vector<std::string> inputs() const;
    /// The same in the header of a table of leverage.
    virtual std::vector<std::string> leverage_header() const { return inputs(); }
    /// More about every row, beside its leverage: of a regression, its hat value.
    virtual std::vector<std::pair<std::string, Vector>> row_columns() const { return {}; }
    /// Of a kind without inputs: columns whose numbers are shown with a row, though they cannot move, such as counts.
    virtual std::vector<std::string> shown_columns() const { return {}; }
    /// These numbers of these rows, one row each.
    virtual Matrix shown_values(const std::vector<Index>& rows) const;
    /// Rows counted from 0, in ascending order.
    virtual std::unique_ptr<SomeRows> some_rows(const std::vector<Index>& rows) const;
    /// A change of the chosen variables in which an offset of the data costs no digits: of a regression, the intercept
    /// at the centre of the columns instead of that at zero. Distances are the same in both.
    virtual Centring centring(const std::vector<Index>& variables) const;

    /// What a check of the model looks at beside rows drawn again (RowModel::replicate_rows); nothing by default.
    virtual std::optional<FittedResponse> fitted_response() const { return std::nullopt; }
    virtual std::vector<ColumnMarginal> column_marginals() const { return {}; }

    /// What the page draws of the data, or nothing.
    virtual Document picture() const { return {}; }
    /// The fit over its data, for pictures without a page: by default the histograms of `picture`. `shown` is the fit
    /// as its file has it, corrected or not. Throws std::runtime_error, in a sentence, where there is nothing to draw,
    /// and std::invalid_argument for columns that are not there.
    virtual Drawing drawing(const FitFile& shown, const DrawingOptions& options) const;
    /// Numbers of these rows that the page needs beside the inputs: of a regression, its columns. Nothing by default.
    virtual Matrix beside(const std::vector<Index>& rows) const;
    /// How many of them there are for each row.
    virtual Index beside_count() const { return 0; }

    const FitFile& file() const { return file_; }
    FitFile& file() { return file_; }
    /// By linear response: what rows and priors move.
    const Posterior& posterior() const { return file_.posterior; }
    /// The same variables as the summary of the file shows them: exact, where the file is corrected. The sds that
    /// shifts are counted in.
    const Posterior& shown() const { return shown_ ? *shown_ : file_.posterior; }
    bool is_corrected() const { return shown_.has_value(); }
    const Optimum& optimum() const { return optimum_; }
    /// Throws NotAnOptimum where the fit has not converged.
    const LinearResponse& response() const;
    int threads() const { return threads_; }

    /// The chosen variables as functionals: what moves the statistics moves them along their gradients.
    Functionals functionals(const std::vector<Index>& variables) const;

  protected:
    FittedModel(FitFile file, std::vector<Index> file_rows, int threads)
        : file_(std::move(file)), file_rows_(std::move(file_rows)), threads_(threads) {}

    /// Empty where no row was left out.
    const std::vector<Index>& file_rows() const { return file_rows_; }

    /// Once the model is there: the optimum of a fit.
    void set_optimum(Optimum optimum) { optimum_ = std::move(optimum); }
    /// The same, as the file has it.
    void restore_optimum();
    /// The posterior of the file; where its covariances are not matrices the file gets the Hessian that answers them,
    /// and ModelRecord::statistics says what they are of.
    void set_posterior(Posterior posterior);
    /// The posterior of a restored file as it was before its correction; the corrected one is what is shown.
    void set_uncorrected(Posterior posterior);
    /// Once the posterior is there: the optima that share it with this one, by the posterior of each, and a warning.
    /// Left out are those that differ, labels aside, by no more than a posterior sd in anything that is reported.
    void set_other_optima(const std::function<Posterior(const Optimum&)>& posterior_at);
    /// For predict_rows: the rows that were not left out, by the file's row.
    virtual void predict_fitted(TableSink& sink) const;
    /// A fit of a changed model that begins at this optimum. Throws std::runtime_error where it does not converge.
    Optimum refitted(const Model& changed, bool from_optimum = true) const;

  private:
    FitFile file_;
    std::optional<Posterior> shown_;  // of a corrected file
    std::vector<Index> file_rows_;
    int threads_ = 1;
    Optimum optimum_;
    mutable std::once_flag responded_;
    mutable std::unique_ptr<LinearResponse> response_;
};

/// A fit with the data that it was made from: a path or a table in memory. A corrected fit is restored as it was before
/// its correction, and its file says so, since a correction has no response to rows and priors. Throws
/// std::runtime_error for a fit that did not converge, and for data that are others.
LRVB_EXPORT std::unique_ptr<FittedModel> restore(FitFile fit, const Dataset& data, int threads = 1);

/// Refuses data that hold other numbers than those of the fit, or another number of rows.
LRVB_EXPORT void require_fitted_data(const FitFile& fit, const std::string& name, const std::string& checksum,
                                     Index rows);

}  // namespace lrvb
