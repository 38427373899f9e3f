#pragma once

#include <lrvb/kind/kind.hpp>
#include <lrvb/model/multilinear_model.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace lrvb::detail {

/// What a fit file keeps of a declared model: the numbers of its prior that have names. Its variables are those of the
/// parameters.
class DeclaredRecord final : public ModelRecord {
  public:
    std::vector<std::string> hyperparameters;
    Vector values;

    static std::shared_ptr<const DeclaredRecord> read(const Fields& fields);

    std::string_view kind() const override { return "declared"; }
    Document document() const override;
    std::string headline() const override { return "a declared model"; }
    std::string title(const DataRecord& data) const override;
    std::string description() const override { return "A model declared in C++"; }
    std::string prior_name() const override { return "explicit"; }
    std::vector<PriorNumber> prior(const DataRecord& data) const override;
    std::vector<VariableMeaning> meanings(const FitFile& fit) const override;
    SparseMatrix statistics(const FitFile& fit) const override;
    void predict(const FitFile& fit, const Dataset& rows, const PredictOptions& options,
                 TableSink& sink) const override;

  protected:
    std::unique_ptr<FittedModel> with_data(FitFile fit, const Dataset& data, int threads) const override;
};

/// How a user named it: "theta[3]" is the group "theta" with the index "3".
VariableMeaning meaning_of_name(const std::string& name);

/// Where stacked statistics stand among the reported ones.
using DerivedVariablesView = std::map<Index, Index>;

/// What is reported of a layout's variables: where their statistics stand among the stacked ones, and what the
/// variables of the posterior mean, in its order. Of a vector that is called x[2:4] the entries are x[2], x[3] and
/// x[4]; those of one that has no such range in its name have one more index.
class DeclaredVariables {
  public:
    /// `taken` are groups that others are called by.
    explicit DeclaredVariables(const Layout& layout, std::set<std::string> taken = {});

    /// Positions of the reported statistics among the stacked ones.
    const std::vector<Index>& stacked() const { return stacked_; }
    SparseMatrix weights() const;
    std::vector<std::string> names() const;

    /// The variables of one variable of the model, in the order of the posterior.
    struct Reported {
        Index variable = 0;
        Index first = 0;  // its first statistic in the posterior
        std::vector<VariableMeaning> meanings;
    };
    const std::vector<Reported>& reported() const { return reported_; }
    /// For who decides otherwise what people look at.
    std::vector<Reported>& reported() { return reported_; }

    /// Appends all variables to a posterior that has their statistics.
    void report(Posterior& posterior, const State& state) const;

    /// How many times its mean-field sd the posterior sd of a statistic is.
    static double stretch(Index statistic, const Posterior& posterior);
    /// Centre and slope of the normal whose quantiles are those of the logarithm at this statistic of the posterior, of
    /// a Gamma or a Scale variable; empty for any other.
    std::optional<std::pair<double, double>> skewed_logarithm_at(Index statistic, const Posterior& posterior,
                                                                 const State& state) const;

  private:
    void add(Index variable);
    std::string derived_group(std::string prefix, const std::string& group) const;

    const Layout& layout_;
    std::set<std::string> groups_;
    std::vector<Index> stacked_;
    std::vector<Reported> reported_;
};

}  // namespace lrvb::detail
