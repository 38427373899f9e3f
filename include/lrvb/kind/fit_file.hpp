#pragma once

#include <lrvb/export.hpp>
#include <lrvb/posterior/posterior.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// The fit file: all that a fit found and what it was asked, as JSON with a version. docs/file-formats.md describes it,
/// docs/fit.schema.json is its schema.
///
/// A file of another major version is refused; one of a higher minor version is read, and what is new in it left alone.
namespace lrvb {

/// What is recorded of a mixture besides its parameters, in the units of the data.
struct MixtureRecord {
    Index components = 1;
    MixtureCovariance covariance = MixtureCovariance::full;
    std::string prior_name;  // "auto", "paper" or "explicit": where its numbers came from
    MixturePrior prior;
    /// The inner units that the parameters are in, x' = (x − centre)/scale.
    Vector centre;
    Vector scale;
    /// Parts that were held: some of "weights", "means", "precisions".
    std::vector<std::string> fixed;
};

/// What is recorded of a linear regression besides its parameters, in the units of the data.
struct RegressionRecord {
    std::string response;
    std::vector<RegressionTerm> terms;
    std::string prior_name;  // "auto" or "explicit"
    RegressionPrior prior;
    /// All that predictions need. The covariance is empty where the fit did not converge.
    RegressionPosterior coefficients;
};

struct DataRecord {
    std::string name;
    std::vector<std::string> columns;
    std::optional<std::string> weights;  // the column of row weights
    Index rows = 0;
    Index dropped = 0;  // rows without a value in a used column
    double total_weight = 0.0;
    std::string checksum;  // of the numbers read, not of the file's bytes
};

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

/// The exact posterior that a fit was checked against, by importance sampling.
struct CheckRecord {
    Index draws = 0;
    std::uint64_t seed = 1;
    double k_hat = 0.0;  // −∞ where there is no tail, +∞ where the draws are of no use
    double ess = 0.0;
    std::string verdict;  // "ok", "off", "doubtful" or "unchecked"
    std::string message;
    /// Of each variable, in the order of the posterior.
    Vector mean;
    Vector sd;
    std::vector<std::string> verdicts;
};

/// How the means and covariances of the posterior were replaced by those of draws from the exact one.
struct CorrectionRecord {
    std::string method;  // "importance" or "mh"
    Index draws = 0;
    std::uint64_t seed = 1;
    double ess = 0.0;
    std::optional<double> k_hat;  // of importance sampling
    std::optional<double> r_hat;  // of Metropolis–Hastings
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
    static constexpr int kMinorVersion = 1;

    std::string program;  // the version of lrvb that wrote it
    std::variant<MixtureRecord, RegressionRecord> model;
    DataRecord data;
    OptionsRecord options;
    OutcomeRecord outcome;
    std::vector<std::string> warnings;
    std::vector<ParameterRecord> parameters;
    Posterior posterior;
    /// Absent where the posterior is that of the linear response.
    std::optional<CheckRecord> check;
    std::optional<CorrectionRecord> correction;

    bool converged() const { return outcome.termination == Termination::converged; }

    /// The state of a model with this layout; throws std::runtime_error where the parameters are not its.
    State state(const Layout& layout) const;
};

/// Parameters as a fit file keeps them.
LRVB_EXPORT std::vector<ParameterRecord> record_parameters(const Layout& layout, const State& state);

LRVB_EXPORT OutcomeRecord record_outcome(const Optimum& optimum, Index passes);

/// "-" is standard output. The file appears when it is whole, or not at all. Throws std::runtime_error if the system
/// refuses.
LRVB_EXPORT void write_fit(const std::string& path, const FitFile& fit);

/// "-" is standard input. Throws std::runtime_error for what is no fit file, is damaged, or is of another major
/// version.
LRVB_EXPORT FitFile read_fit(const std::string& path);

/// The same from text; `name` is what messages call it.
LRVB_EXPORT FitFile parse_fit(const std::string& text, const std::string& name);

}  // namespace lrvb
