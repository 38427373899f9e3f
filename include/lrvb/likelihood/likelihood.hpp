#pragma once

#include <lrvb/export.hpp>
#include <lrvb/family/random.hpp>
#include <lrvb/family/scale_prior.hpp>
#include <lrvb/types.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What a row of a regression may be: the distribution of a response y_n given its linear predictor η_n and a few
/// parameters θ that all rows share.
///
///     log p(y_n | η_n, θ) = ℓ(y_n, η_n, θ),     E(y_n | η_n, θ) = g(η_n), with g the inverse of the link
///
/// A likelihood is one class in one file of `src/likelihood/`, and one line in its registry. It says what it is called,
/// which links and responses it has, what its parameters are and which priors these have by default, its mean and
/// variance, its distribution function and its draws, and gives the rows their log-likelihoods (`rows`). Whoever fits,
/// predicts, checks or plots asks for these, and knows no likelihood by name.
namespace lrvb {

namespace detail {
class RowLikelihood;
}

/// How the mean of a response, or of one trial, follows from the predictor.
struct LRVB_EXPORT Link {
    std::string_view name;
    double (*mean)(double eta);
    double (*slope)(double eta);  // dmean/deta
    bool is_identity = false;
    bool is_log = false;  // the mean is exp(η), which has moments of its own under a normal η
    /// How far an offset may be from zero, and may vary, and what is wrong with one beyond.
    double largest_offset = 1e140;
    double largest_offset_spread = 1e300;
    std::string_view offset_fault;

    /// "identity", "logit", "probit", "cloglog" or "log". Throws std::invalid_argument for others.
    static const Link& named(std::string_view name);
};

/// A parameter of a likelihood besides the predictor and σ: degrees of freedom, a dispersion. With ψ unbounded it is
/// lower + exp(ψ).
struct LikelihoodParameter {
    std::string name;      // "nu"
    std::string psi_name;  // "log_nu_above_1"
    std::string meaning;   // "the degrees of freedom", for messages
    double lower = 0.0;
    ScalePrior prior;  // the default
    /// Where a fit begins, and other values at which tops of its posterior are sought, each with how much log σ is
    /// moved.
    double guess = 1.0;
    std::vector<std::pair<double, double>> starts = {};
    /// Where ℓ is not concave: values at which several best fits of the coefficients are sought.
    std::vector<double> rival_values = {};
    /// What is reported besides: a power of the parameter, such as phi = (1/sqrt(phi))⁻².
    struct Power {
        std::string name;
        double exponent = 1.0;
        bool has_moments = true;  // otherwise it is reported by its median and quantiles
    };
    std::vector<Power> powers = {};

    double value(double psi) const;
    double psi(double value) const;
};

/// The variance of a response, or of one trial, with mean m: constant + linear m + quadratic m².
struct VarianceFunction {
    double constant = 0.0;
    double linear = 0.0;
    double quadratic = 0.0;

    double at(double mean) const { return constant + (linear + quadratic * mean) * mean; }
};

/// Whether a row stays possible as its predictor goes to −∞, or to +∞: what such a row alone does not tell is where its
/// predictor is.
struct OpenEnds {
    bool low = false;
    bool high = false;
};

/// The slope of a row's log-likelihood in its predictor, and its expected curvature.
struct RowWorking {
    double slope = 0.0;
    double curvature = 0.0;
};

/// Responses of rows with what belongs to them. Empty: one trial, no offset, a weight of one.
struct LikelihoodRows {
    Vector y;
    Vector trials;
    Vector offset;
    Vector weights;
    /// Of likelihoods with a σ: that of row n is σ/√precisions[n]. Empty: one.
    Vector precisions;
};

class LRVB_EXPORT Likelihood : public std::enable_shared_from_this<Likelihood> {
  public:
    virtual ~Likelihood() = default;
    Likelihood(const Likelihood&) = delete;
    Likelihood& operator=(const Likelihood&) = delete;

    /// As options and files have it: "poisson".
    virtual std::string_view name() const = 0;
    /// "Poisson regression", within a sentence.
    virtual std::string_view title() const = 0;
    /// All of its links, the default first.
    virtual const std::vector<std::string_view>& links() const = 0;
    const Link& link() const { return link_; }

    // ---- What a response may be.

    /// Whether rows are counts of successes among trials, and whether of one trial each.
    virtual bool has_trials() const { return false; }
    virtual bool has_one_trial() const { return false; }
    /// What is wrong with a response, after "the response y "; `trials` where the rows have some.
    virtual std::optional<std::string> refusal(double y, std::optional<double> trials) const = 0;
    /// What makes a response look like one of another likelihood, after "the response y "; from its different values,
    /// at most 21 of them, and its mean.
    virtual std::optional<std::string> suspicion(const std::vector<double>& values, double mean) const;
    /// Which responses stay possible at the ends of the predictor, and which ones a group has that all end: "both
    /// outcomes". Empty where no response stays possible at any end.
    virtual OpenEnds open_ends(double y, double trials) const;
    virtual std::string_view telling_response() const { return {}; }

    // ---- Parameters: θ is σ, where there is one, and then `parameters`.

    /// Whether rows have a residual sd σ in the unit of the response, which is then that of the predictor too.
    virtual bool has_sigma() const { return false; }
    const std::vector<LikelihoodParameter>& parameters() const { return parameters_; }
    Index parameter_count() const { return (has_sigma() ? 1 : 0) + static_cast<Index>(parameters_.size()); }
    /// The mean of the automatic prior of the intercept, where there is no σ, for responses (over exp(offset), where
    /// the link is log) with this mean.
    virtual double intercept_guess(double mean) const;

    // ---- The distribution of a response, or of one trial.

    /// Whether y ~ Normal(η, σ²): then rows fold into cross-products, and the field is exact given σ.
    virtual bool is_normal() const { return false; }
    /// Whether ℓ is concave in η, whatever the response is.
    virtual bool is_log_concave() const { return true; }
    double mean(double eta) const { return link_.mean(eta); }
    virtual VarianceFunction variance(const Vector& theta) const = 0;
    /// P(response ≤ y).
    virtual double cdf(double y, double eta, const Vector& theta) const = 0;
    /// Whether responses are whole numbers.
    virtual bool is_discrete() const { return false; }
    /// Whether intervals of predictions are those of the mean, not of a new response: a probability.
    virtual bool predicts_means() const { return false; }
    /// The variance of a response given its predictor on the scale of the link, for R² and intraclass correlations
    /// (Nakagawa, Johnson & Schielzeth 2017), where there is no σ; NaN where there is none. `mean` is that of all
    /// responses.
    virtual double link_variance(double mean, const Vector& theta) const = 0;
    /// For pictures: of a response that differs by `rest` from its mean, which has this slope in the predictor, with
    /// this variance.
    virtual RowWorking working(double rest, double mean_slope, double variance, const Vector& theta) const;

    /// Throws std::invalid_argument, with the row counted from 1, for what is no such row.
    virtual std::shared_ptr<const detail::RowLikelihood> rows(LikelihoodRows rows) const = 0;

    /// By the name that options have, "bernoulli" among them, and one of its links; an empty link is the default.
    /// Throws std::invalid_argument with a list of what there is.
    static std::shared_ptr<const Likelihood> named(std::string_view name, std::string_view link = {});
    /// All that options can name.
    static const std::vector<std::string>& names();

  protected:
    explicit Likelihood(std::string_view link, std::vector<LikelihoodParameter> parameters = {})
        : link_(Link::named(link)), parameters_(std::move(parameters)) {}

  private:
    const Link& link_;
    std::vector<LikelihoodParameter> parameters_;
};

}  // namespace lrvb
