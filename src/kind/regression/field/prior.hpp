#pragma once

#include <lrvb/base/fields.hpp>
#include <lrvb/formula/prior.hpp>
#include <lrvb/kind/kind.hpp>
#include <lrvb/model/field.hpp>

#include <memory>
#include <string>
#include <vector>

/// The prior of a regression by formula: in words, as numbers that can be moved, and in a fit file.
namespace lrvb::detail {

/// What there is to have a prior of.
struct FormulaShape {
    std::shared_ptr<const Likelihood> likelihood = Likelihood::named("gaussian");
    bool intercept = true;
    std::vector<std::string> slopes;  // the last are the coefficients of terms: "rw2(t),1"
    struct Term {
        std::string name;                      // "rw2(t)"
        Index count = 0;                       // of its coefficients
        std::vector<std::string> places = {};  // where its curve is reported
        Matrix curve = {};                     // places × coefficients
    };
    std::vector<Term> terms = {};
    struct Factor {
        std::string name;
        std::vector<std::string> effects;
        std::vector<std::string> levels;
        std::vector<Index> blocks = {};  // as FieldFactor has them
        Index intercept = -1;
    };
    std::vector<Factor> factors;

    /// The slopes that are fixed effects.
    Index plain() const {
        auto result = static_cast<Index>(slopes.size());
        for (const Term& term : terms) result -= term.count;
        return result;
    }
    bool has_sigma() const { return likelihood->has_sigma(); }
};

FormulaShape shape_of(const FieldData& data);

/// The prior with what the sentences say in place of its own. A sentence about an sd of a factor with several effects
/// makes these independent of each other and of their correlations, which are then uniform, unless a sentence about
/// `cor` says otherwise; and the prior speaks of the effects as they are written, at zero, unless the sentence is about
/// `intercept_at_means`. Throws FormulaError.
FieldPrior with_sentences(FieldPrior prior, const FormulaShape& shape, const std::vector<PriorSentence>& sentences);

/// As --prior takes it, a line each; what follows # is for readers.
std::vector<std::string> prior_sentences(const FieldPrior& prior, const FormulaShape& shape);

/// The numbers of the prior, under the names of FieldModel::hyperparameters.
std::vector<PriorNumber> prior_numbers(const FieldPrior& prior, const FormulaShape& shape);
/// Throws std::invalid_argument for a name that is none of these.
void set_prior_number(FieldPrior& prior, const FormulaShape& shape, const std::string& name, double value);

Document to_document(const FieldPrior& prior);
/// Refuses, by the fields, what no prior can be.
FieldPrior field_prior(const Fields& fields, const FormulaShape& shape);

}  // namespace lrvb::detail
