#pragma once

#include <lrvb/data/dataset.hpp>
#include <lrvb/export.hpp>
#include <lrvb/posterior/check_result.hpp>
#include <lrvb/posterior/other_optimum.hpp>
#include <lrvb/posterior/posterior.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// The fit file: all that a fit found and what it was asked, as JSON with a version. docs/file-formats.md describes it,
/// docs/fit.schema.json is its schema.
///
/// A file of another major version is refused; one of a higher minor version is read, and what is new in it left alone.
namespace lrvb {

class ModelRecord;

struct OptionsRecord {
    std::uint64_t seed = 1;
    int restarts = 1;
    double tolerance = 0.0;
    int max_iterations = 0;
};

struct OutcomeRecord {
    Termination termination = Termination::iteration_limit;
    std::string message;
    double bound = 0.0;
    double step = 0.0;  // infinite where it is not a maximum
    Index passes = 0;
    int sweeps = 0;
    int newton_steps = 0;
};

/// How the means, quantiles and covariances of the posterior were replaced by those of the exact one.
struct CorrectionRecord {
    std::string method;  // as to_string(CheckMethod) has it
    Index draws = 0;     // of integration, how many nodes
    std::uint64_t seed = 1;
    double ess = 0.0;
    std::optional<double> k_hat;  // of importance sampling
    std::optional<double> r_hat;  // of chains
    /// Monte Carlo standard errors, the largest over all variables, of a mean in its sds and of an sd as a share of it;
    /// none of integration, nor in files of before 1.7.
    std::optional<double> mean_error = std::nullopt;
    std::optional<double> sd_error = std::nullopt;
    /// How it was found, in words, of integration; empty otherwise.
    std::string how = {};
    /// What the linear response says of every variable, which stays beside it; empty in files of before 1.6.
    Vector response_mean = {};
    Vector response_sd = {};
};

/// One variable of the model, in its inner units.
struct ParameterRecord {
    std::string name;
    std::string family;
    Vector natural;
    Vector mean;
    Vector standard;  // empty where it is clamped
    bool clamped = false;
};

struct LRVB_EXPORT FitFile {
    static constexpr int kMajorVersion = 1;
    static constexpr int kMinorVersion = 10;

    std::string program;  // the version of lrvb that wrote it
    /// What its kind of model keeps: <lrvb/kind/kind.hpp>.
    std::shared_ptr<const ModelRecord> model;
    DataRecord data;
    OptionsRecord options;
    OutcomeRecord outcome;
    std::vector<std::string> warnings;
    /// How the data were taken where they could have been taken otherwise, in sentences that say how.
    std::vector<std::string> notes;
    std::vector<ParameterRecord> parameters;
    Posterior posterior;
    /// Optima that share the posterior with this one, the best first: its numbers speak of its own share alone.
    std::vector<OtherOptimum> other_optima;
    /// ∇²L at the optimum, its lower triangle over the stacked statistics: kept where the posterior's covariances are
    /// not matrices, since these, and the parameters, are all that answers them.
    std::optional<SparseMatrix> hessian;
    /// Absent where there is none, and where the posterior was corrected afterwards: it would speak of other numbers.
    std::optional<CheckResult> check;
    /// Absent where the posterior is that of the linear response.
    std::optional<CorrectionRecord> correction;

    bool converged() const { return outcome.termination == Termination::converged; }

    /// The state of a model with this layout; throws std::runtime_error where the parameters are not its.
    State state(const Layout& layout) const;
    /// The layout that the parameters themselves have.
    Layout parameter_layout() const;
};

/// Parameters as a fit file keeps them.
LRVB_EXPORT std::vector<ParameterRecord> record_parameters(const Layout& layout, const State& state);

LRVB_EXPORT OutcomeRecord record_outcome(const Optimum& optimum, Index passes);

/// Of these variables, by position, so many that matter most, in the order of the posterior: first those that people
/// look at (VariableMeaning::is_shown), then other parameters, then what follows from them; among each, first those
/// that the check calls off, then those of which it cannot tell; then locations and coefficients, weights and rates,
/// sds and variances, precisions, and last what stands off the diagonals of matrices and logarithms; and otherwise as
/// they stand. All of them where they are no more.
LRVB_EXPORT std::vector<Index> foremost_variables(const FitFile& fit, const std::vector<Index>& chosen,
                                                  std::size_t most);
/// The same for a table of this check: what it calls off, and then of what it cannot tell, before all others.
LRVB_EXPORT std::vector<Index> foremost_variables(const FitFile& fit, const CheckResult& check,
                                                  const std::vector<Index>& chosen, std::size_t most);

/// The files that a fit names: of its data, those of a list or a pattern as well, and of its model.
LRVB_EXPORT std::vector<std::string> named_files(const FitFile& fit);

/// Refuses an output, by UsageError, that would replace a file that the fit names, by whatever path or link.
LRVB_EXPORT void require_not_named(const FitFile& fit, const std::string& output);

/// "-" is standard output. The file appears when it is whole, or not at all. Throws std::runtime_error if the system
/// refuses, and UsageError for a file that the fit names.
LRVB_EXPORT void write_fit(const std::string& path, const FitFile& fit);

/// What write_fit writes.
LRVB_EXPORT std::string fit_text(const FitFile& fit);

/// "-" is standard input. Throws std::runtime_error for what is no fit file, is damaged, or is of another major
/// version.
LRVB_EXPORT FitFile read_fit(const std::string& path);

/// The same from text; `name` is what messages call it.
LRVB_EXPORT FitFile parse_fit(const std::string& text, const std::string& name);

}  // namespace lrvb
