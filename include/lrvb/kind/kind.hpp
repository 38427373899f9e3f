#pragma once

#include <lrvb/base/fields.hpp>
#include <lrvb/data/dataset.hpp>
#include <lrvb/data/row_team.hpp>
#include <lrvb/export.hpp>
#include <lrvb/fit/fit.hpp>
#include <lrvb/kind/fit_file.hpp>
#include <lrvb/kind/options.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// A kind of model: mixtures, regressions, what you add. All that commands, files, checks and the report ask of a model
/// they ask through the three classes of this header and the next; nobody else knows a kind by its name.
///
///     Kind          says what can be told to it, fits it, and reads it from a file
///     ModelRecord   a fitted model without its data: what a fit file keeps of it
///     FittedModel   a fitted model with its data (<lrvb/kind/fitted_model.hpp>)
///
/// CONTRIBUTING.md has "how to add a kind of model", and tests/kind/counts_kind.cpp follows it.
namespace lrvb {

class FittedModel;

/// A number of a prior that can be moved.
struct PriorNumber {
    enum class Role {
        location,  ///< can be anything: its unit is the prior's sd
        positive,  ///< counted from `least`, which is zero unless its kind says otherwise; its unit is that distance
        off_diagonal,  ///< between −unit and +unit, the root of the diagonal's product
    };

    /// As the model's hyperparameter is called: "variance[2]".
    std::string name;
    /// What people are told instead: "variance[waiting]"; empty where that is the name.
    std::string shown;
    /// Those of one group are moved alike: "variance".
    std::string group;
    double value = 0.0;
    Role role = Role::positive;
    /// A number by which it can be moved a little.
    double unit = 0.0;

    PriorNumber() = default;
    PriorNumber(std::string name_in, std::string group_in, double value_in, Role role_in, double unit_in)
        : name(std::move(name_in)), group(std::move(group_in)), value(value_in), role(role_in), unit(unit_in) {}

    const std::string& shown_name() const { return shown.empty() ? name : shown; }
};

/// Rows of a table that a command writes, one by one: fields as text, numbers as short as they can be to be read back.
class LRVB_EXPORT TableSink {
  public:
    virtual ~TableSink() = default;
    virtual void header(const std::vector<std::string>& names) = 0;
    /// `row` is the file's row, from 1. No numbers at all: nothing is known of the row, since it was left out.
    virtual void row(Index row, const Vector& numbers) = 0;
};

/// Rows of a table as they are written, and numbers beside them.
class LRVB_EXPORT BesideSink {
  public:
    virtual ~BesideSink() = default;
    /// The columns of the table, and of what stands beside them.
    virtual void header(const std::vector<std::string>& columns, const std::vector<std::string>& beside) = 0;
    /// Every row, in order; null beside one that was left out.
    virtual void row(const std::vector<TextField>& fields, const Vector* beside) = 0;
};

struct PredictOptions {
    /// Rows with missing values are left out instead of being refused.
    bool drop_missing = false;
    /// The probability of an interval for each row ("lower", "upper"), where the kind has them.
    std::optional<double> level = {};
    /// On the scale of the link, and without the effects of groups, where the kind has them.
    bool link = false;
    bool without_groups = false;
};

/// Draws from the exact posterior, of every variable: what a correction is made of.
struct CorrectionDraws {
    const Posterior& posterior;
    const Matrix& values;  // variables × draws
    const Vector& log_weights;
};

class LRVB_EXPORT ModelRecord {
  public:
    virtual ~ModelRecord() = default;

    /// The name of its kind.
    virtual std::string_view kind() const = 0;
    /// What the fit file keeps: `Kind::read` makes the record of it again.
    virtual Document document() const = 0;

    /// Files besides the data that it names, such as that of its model: no output replaces them.
    virtual std::vector<std::string> files() const { return {}; }

    /// What stands in the headline of a summary between rows and passes: "2 components".
    virtual std::string headline() const = 0;
    /// The title of a report.
    virtual std::string title(const DataRecord& data) const = 0;
    /// What was fitted, in words that "fitted to 272 rows of …" can follow: "A mixture of 2 normals".
    virtual std::string description() const = 0;
    /// Where the numbers of the prior came from: "auto", "explicit", or a name of its own.
    virtual std::string prior_name() const = 0;
    /// The numbers of the prior, under the names and in the order of the model's hyperparameters; what people are told
    /// may say the columns of the data by their names.
    virtual std::vector<PriorNumber> prior(const DataRecord& data) const = 0;

    /// How variables of the posterior are called and what they mean, for a posterior that was read from a file. A
    /// file with a variable that is none of these is refused.
    virtual std::vector<VariableMeaning> meanings(const FitFile& fit) const = 0;
    /// The statistics of the posterior over the stacked ones of the layout: asked for where the file keeps no matrices.
    virtual SparseMatrix statistics(const FitFile& fit) const;
    /// Refuses parameters that are not those of this model, before anything is made of their size.
    virtual void require_parameters(const Fields& file) const;
    /// Refuses, by `file`, a fit whose other parts are not those of this model, when all of them were read.
    virtual void require_agreement(const FitFile& fit, const Fields& file) const;

    /// What its own part of the page draws from, where it has one: src/kind/<its name>/web.
    virtual Document page(const FitFile&) const { return {}; }

    /// Predictions for new rows, one row each. Throws std::runtime_error, with a remedy, for a kind that has none, and
    /// for rows that it cannot predict.
    virtual void predict(const FitFile& fit, const Dataset& rows, const PredictOptions& options,
                         TableSink& sink) const = 0;
    /// Whether PredictOptions::level means something to it: where one number is predicted for every row.
    virtual bool predicts_intervals() const { return false; }
    /// Whether PredictOptions::link and without_groups mean something to it.
    virtual bool predicts_by_group() const { return false; }
    /// Said with predictions of a corrected fit, where they are not corrected; empty where they are.
    virtual std::string prediction_note() const { return {}; }
    /// The record with what it keeps for predictions taken from draws.
    virtual std::shared_ptr<const ModelRecord> corrected(const CorrectionDraws&) const { return nullptr; }

    /// The fit with its data again, converged or not; what meant a missing value in the fit means it here too. Throws
    /// std::runtime_error for data that are not those of the fit.
    std::unique_ptr<FittedModel> restore(FitFile fit, const Dataset& data, int threads) const;

  protected:
    /// The same, of data that are read as those of the fit were.
    virtual std::unique_ptr<FittedModel> with_data(FitFile fit, const Dataset& data, int threads) const = 0;
};

/// Predictions beside the rows as they are written: row n of what comes out is row n of the data, also where rows are
/// left out. A prediction that would be called as a column of the data is called predicted_… instead. Throws as
/// ModelRecord::predict, and std::runtime_error for rows that come through a pipe, which would have to be read twice.
LRVB_EXPORT void predict_beside(const FitFile& fit, const Dataset& rows, const PredictOptions& options,
                                BesideSink& sink);

/// What a fit is asked.
struct FitRequest {
    Dataset data;
    Settings settings;
    /// Tolerance, iterations, seed, progress.
    FitOptions options;
    int threads = 1;
    /// Told how many rows there are, once they were read.
    std::function<void(Index)> on_rows = {};
    /// A fit of this kind of the same data, with another number where the settings can have a range: its data need not
    /// be read again, and it may be one more start, beside all others.
    const FittedModel* previous = nullptr;
};

class LRVB_EXPORT Kind {
  public:
    virtual ~Kind() = default;

    /// The word in `lrvb fit <name>`, and in its files.
    virtual std::string_view name() const = 0;
    /// One line for the help: "Fit a normal mixture".
    virtual std::string_view help() const = 0;

    /// What can be told to a fit besides data, seed and tolerance; nothing for a kind that is not fitted by the
    /// program. The data's own options are `-c` and `--drop-missing` ("columns", "drop-missing").
    virtual std::optional<std::vector<OptionInfo>> options() const = 0;
    /// DATA, of type files, for a kind that reads any number of them and decides itself what is missing; its own
    /// arguments then come before. Nothing where there is one file, which is the default.
    virtual std::optional<OptionInfo> several_files() const { return std::nullopt; }
    /// Whether there is a `-c`: not where every column has an option of its own.
    virtual bool chooses_columns() const { return true; }
    /// The option, of type output, by which a fit writes a table of its own rows (FittedModel::predict_rows);
    /// nothing where it has none.
    virtual std::optional<OptionInfo> table_option() const { return std::nullopt; }
    /// Reads the data and fits. Not to converge is an outcome, in the file of the result.
    virtual std::unique_ptr<FittedModel> fit(const FitRequest& request) const = 0;

    /// What its models ask those who have their rows, where these are with others (<lrvb/data/row_team.hpp>); none for
    /// a kind that needs all of them in one process, which is the default.
    virtual std::vector<RowQuestion> row_questions() const { return {}; }

    /// Whether `priors` says something: then there is a `--show-priors`.
    virtual bool shows_priors() const { return false; }
    /// The prior that a fit would have, as sentences that `--prior` takes, one a line, without fitting. Throws what
    /// `fit` throws for data that it does not take.
    virtual std::vector<std::string> priors(const FitRequest&) const { return {}; }

    /// The record of a fit file. Throws std::runtime_error, by `fields`, for one that is damaged.
    virtual std::shared_ptr<const ModelRecord> read(const Fields& fields) const = 0;

    /// What `lrvb simulate <name>` can be told; nothing where it draws no data.
    virtual std::optional<std::vector<OptionInfo>> simulation_options() const { return std::nullopt; }
    virtual std::string_view simulation_help() const { return {}; }
    /// Draws data: a header, then rows.
    virtual void simulate(const Settings& settings, const std::function<void(const std::string&)>& write) const;
};

/// All kinds, in the order of the help.
LRVB_EXPORT const std::vector<std::unique_ptr<const Kind>>& kinds();
/// The kind of that name; null where there is none.
LRVB_EXPORT const Kind* find_kind(std::string_view name);
/// The questions of all kinds.
LRVB_EXPORT std::vector<RowQuestion> row_questions();
/// Adds a kind to those of the library. Not safe while others read the list: do it first. Throws std::invalid_argument
/// for a name that is taken.
LRVB_EXPORT void register_kind(std::unique_ptr<const Kind> kind);

}  // namespace lrvb
