#include "kind/regression/field/prior.hpp"

#include "base/messages.hpp"
#include "model/field/variance_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>

namespace lrvb::detail {

namespace {

using Kind = ScalePrior::Kind;

constexpr std::array<std::pair<Kind, std::string_view>, 6> kScalePriors{{{Kind::half_t, "half_t"},
                                                                         {Kind::half_normal, "half_normal"},
                                                                         {Kind::exponential, "exponential"},
                                                                         {Kind::uniform, "uniform"},
                                                                         {Kind::gamma_precision, "gamma"},
                                                                         {Kind::gamma, "gamma_of_value"}}};

std::string_view word_of(Kind kind) {
    return std::find_if(kScalePriors.begin(), kScalePriors.end(),
                        [&](const auto& known) { return known.first == kind; })
        ->second;
}

bool has_second(Kind kind) {
    return kind != Kind::half_normal && kind != Kind::exponential;
}

ScalePrior scale_prior(const PriorSentence& sentence, const std::string& of_what) {
    if (sentence.target == "tau") {
        sentence.require_distribution({"gamma"}, "a precision");
        return ScalePrior::gamma_precision(sentence.numbers[0], sentence.numbers[1]);
    }
    sentence.require_distribution({"half_t", "half_cauchy", "half_normal", "exponential", "uniform"}, of_what);
    if (sentence.distribution == "half_t") return ScalePrior::half_t(sentence.numbers[0], sentence.numbers[1]);
    if (sentence.distribution == "half_cauchy") return ScalePrior::half_t(1.0, sentence.numbers[0]);
    if (sentence.distribution == "half_normal") return ScalePrior::half_normal(sentence.numbers[0]);
    if (sentence.distribution == "exponential") return ScalePrior::exponential(sentence.numbers[0]);
    if (sentence.numbers[0] < 0.0) {
        throw FormulaError(fmt::format("an sd is not negative, but {} begins below zero", sentence.distribution),
                           sentence.text, sentence.distribution_place);
    }
    return ScalePrior::uniform(sentence.numbers[0], sentence.numbers[1]);
}

// A number that is cut off at a lower end has a prior that says so, and no sd has one between bounds.
ScalePrior parameter_prior(const PriorSentence& sentence, const LikelihoodParameter& parameter) {
    if (parameter.lower > 0.0) {
        sentence.require_distribution({"gamma"}, parameter.meaning);
    } else {
        sentence.require_distribution({"half_t", "half_cauchy", "half_normal", "exponential", "gamma"},
                                      parameter.meaning);
    }
    if (sentence.distribution == "gamma") return ScalePrior::gamma(sentence.numbers[0], sentence.numbers[1]);
    return scale_prior(sentence, parameter.meaning);
}

std::string written(const ScalePrior& prior, const std::string& sd, const std::string& precision) {
    if (prior.kind == Kind::gamma_precision) {
        return fmt::format("{} ~ gamma({}, {})", precision, prior.first, prior.second);
    }
    if (prior.kind == Kind::gamma) return fmt::format("{} ~ gamma({}, {})", sd, prior.first, prior.second);
    if (!has_second(prior.kind)) return fmt::format("{} ~ {}({})", sd, word_of(prior.kind), prior.first);
    return fmt::format("{} ~ {}({}, {})", sd, word_of(prior.kind), prior.first, prior.second);
}

/// Something with a prior, and where that is kept.
struct Place {
    PriorTarget target;
    std::function<void(const PriorSentence&)> set;
    bool by_name = false;  // of sentences that have all of its indices alone
};

EffectParameters parameters_of(const FieldPrior::Factor& prior, const FormulaShape::Factor& shape) {
    const auto count = static_cast<Index>(shape.effects.size());
    return {prior,
            Vector::Ones(count),
            {shape.blocks, shape.intercept, prior.centre.value_or(Vector::Zero(count))},
            shape.name};
}

// Under the name by which its prior is known.
std::string named_effect(const FormulaShape::Factor& shape, const EffectParameters& parameters, std::size_t e) {
    return effect_name(shape.effects[e], static_cast<Index>(e) == shape.intercept && parameters.prior_at_means());
}

// Whether there is another prior at the means: an intercept beside slopes that it is correlated with.
bool has_means(const FieldPrior::Factor& prior, const FormulaShape::Factor& shape) {
    FieldPrior::Factor any = prior;
    for (ScalePrior& one : any.sd) one = ScalePrior::half_normal(1.0);
    any.huang_wand = false;
    any.at_means = true;
    return parameters_of(any, shape).prior_at_means();
}

bool has_correlations(const FormulaShape::Factor& shape) {
    return shape.effects.size() > 1 && (shape.blocks.empty() || std::any_of(shape.blocks.begin(), shape.blocks.end(),
                                                                            [](Index size) { return size > 1; }));
}

// The residual sd and its precision are one thing, and so are those of each effect.
std::vector<Place> places(FieldPrior& prior, const FormulaShape& shape) {
    std::vector<Place> result;
    const auto normal = [&](PriorTarget target, double& mean, double& sd) {
        result.push_back({std::move(target), [&mean, &sd](const PriorSentence& sentence) {
                              sentence.require_distribution({"normal"}, "a coefficient");
                              mean = sentence.numbers[0];
                              sd = sentence.numbers[1];
                          }});
    };
    if (shape.intercept) normal({"intercept", {}}, prior.intercept_mean, prior.intercept_sd);
    for (Index at = 0; at < shape.plain(); ++at) {
        const auto j = static_cast<std::size_t>(at);
        normal({"beta", {shape.slopes[j]}}, prior.mean[at], prior.sd[at]);
    }
    for (std::size_t f = 0; f < shape.factors.size(); ++f) {
        FieldPrior::Factor& own = prior.factors[f];
        const FormulaShape::Factor& factor = shape.factors[f];
        const bool joint = has_correlations(factor);
        for (std::size_t e = 0; e < factor.effects.size(); ++e) {
            for (const bool at_means : {false, true}) {
                if (at_means && (static_cast<Index>(e) != factor.intercept || !has_means(own, factor))) continue;
                for (const char* group : {"sd", "tau"}) {
                    result.push_back({{group, {factor.name, effect_name(factor.effects[e], at_means)}},
                                      [&own, e, at_means, joint](const PriorSentence& sentence) {
                                          own.sd[e] = scale_prior(sentence, "a standard deviation");
                                          own.at_means = at_means;
                                          if (joint) own.huang_wand = false;
                                      },
                                      at_means});
                }
            }
        }
        if (!joint) continue;
        result.push_back({{"cor", {factor.name}}, [&own](const PriorSentence& sentence) {
                              sentence.require_distribution({"huang_wand", "lkj"}, "correlations");
                              own.huang_wand = sentence.distribution == "huang_wand";
                              if (own.huang_wand || sentence.numbers[0] == 1.0) return;
                              throw FormulaError("of lkj(eta) there is lkj(1) alone, which is uniform: take that",
                                                 sentence.text, sentence.distribution_place);
                          }});
    }
    for (std::size_t t = 0; t < shape.terms.size(); ++t) {
        for (const char* group : {"sd", "tau"}) {
            result.push_back({{group, {shape.terms[t].name}}, [&prior, t](const PriorSentence& sentence) {
                                  prior.terms[t] = scale_prior(sentence, "a standard deviation");
                              }});
        }
    }
    if (shape.has_sigma()) {
        for (const char* group : {"sigma", "tau"}) {
            result.push_back({{group, {}}, [&prior](const PriorSentence& sentence) {
                                  prior.sigma = scale_prior(sentence, "a standard deviation");
                              }});
        }
    }
    for (std::size_t i = 0; i < shape.likelihood->parameters().size(); ++i) {
        const LikelihoodParameter& parameter = shape.likelihood->parameters()[i];
        result.push_back(
            {{parameter.name, {}}, [&own = prior.parameters[i], &parameter](const PriorSentence& sentence) {
                 own = parameter_prior(sentence, parameter);
             }});
    }
    return result;
}

/// A number of the prior, and where it is kept.
struct NumberPlace {
    PriorNumber number;
    double* kept = nullptr;
};

// In the order in which FieldModel::hyperparameters has them, which is not asked of anybody.
std::vector<NumberPlace> number_places(FieldPrior& prior, const FormulaShape& shape) {
    std::vector<NumberPlace> result;
    const auto add = [&](const std::string& of, const std::string& word, PriorNumber::Role role, double unit,
                         double& value, const std::string& group) {
        result.push_back(
            {PriorNumber(fmt::format("{}: {}", of, word), fmt::format("{}: {}", group, word), value, role, unit),
             &value});
    };
    const auto positive = [&](const std::string& of, const std::string& word, double& value, const std::string& group) {
        add(of, word, PriorNumber::Role::positive, value, value, group);
    };
    const auto normal = [&](const std::string& of, double& mean, double& sd, const std::string& group) {
        add(of, "mean", PriorNumber::Role::location, sd, mean, group);
        positive(of, "sd", sd, group);
    };
    const auto scale = [&](const std::string& of, ScalePrior& own, const std::string& group) {
        switch (own.kind) {
            case Kind::half_t:
                positive(of, "df", own.first, group);
                positive(of, "scale", own.second, group);
                break;
            case Kind::half_normal:
                positive(of, "scale", own.first, group);
                break;
            case Kind::exponential:
                positive(of, "rate", own.first, group);
                break;
            case Kind::gamma_precision:
            case Kind::gamma:
                positive(of, "shape", own.first, group);
                positive(of, "rate", own.second, group);
                break;
            case Kind::uniform:
                break;
        }
    };
    if (shape.intercept) normal("intercept", prior.intercept_mean, prior.intercept_sd, "intercept");
    for (Index at = 0; at < shape.plain(); ++at) {
        const auto j = static_cast<std::size_t>(at);
        normal(fmt::format("beta[{}]", shape.slopes[j]), prior.mean[at], prior.sd[at], "beta");
    }
    for (std::size_t f = 0; f < shape.factors.size(); ++f) {
        FieldPrior::Factor& own = prior.factors[f];
        const FormulaShape::Factor& factor = shape.factors[f];
        const std::string group = fmt::format("sd[{}]", factor.name);
        const EffectParameters parameters = parameters_of(own, factor);
        bool has_degrees = false;
        for (std::size_t e = 0; e < own.sd.size(); ++e) {
            const std::string name = fmt::format("sd[{},{}]", factor.name, named_effect(factor, parameters, e));
            if (parameters.is_huang_wand(static_cast<Index>(e))) {
                if (!has_degrees) positive(group, "df", own.sd[e].first, group);
                has_degrees = true;
                positive(name, "scale", own.sd[e].second, group);
            } else {
                scale(name, own.sd[e], group);
            }
        }
    }
    for (std::size_t t = 0; t < shape.terms.size(); ++t) {
        const std::string name = fmt::format("sd[{}]", shape.terms[t].name);
        scale(name, prior.terms[t], name);
    }
    if (shape.has_sigma()) scale("sigma", prior.sigma, "sigma");
    for (std::size_t i = 0; i < prior.parameters.size(); ++i) {
        const std::string& name = shape.likelihood->parameters()[i].name;
        scale(name, prior.parameters[i], name);
    }
    return result;
}

Document scale_document(const ScalePrior& prior) {
    return Document{{"distribution", word_of(prior.kind)}, {"numbers", Document::Numbers{prior.first, prior.second}}};
}

ScalePrior scale_record(const Fields& fields) {
    const std::string word = fields.text("distribution");
    const auto* found =
        std::find_if(kScalePriors.begin(), kScalePriors.end(), [&](const auto& known) { return known.second == word; });
    if (found == kScalePriors.end()) fields.refuse("distribution", "is none that is known");
    const Vector numbers = fields.vector("numbers", 2);
    const ScalePrior prior{found->first, numbers[0], numbers[1]};
    const bool is_uniform = prior.kind == Kind::uniform;
    const bool fits = is_uniform ? numbers[0] >= 0.0 && numbers[1] > numbers[0]
                                 : numbers[0] > 0.0 && (numbers[1] > 0.0 || !has_second(prior.kind));
    if (!fits || !numbers.allFinite()) fields.refuse("numbers", "are none that such a distribution has");
    return prior;
}

}  // namespace

FormulaShape shape_of(const FieldData& data) {
    FormulaShape shape{data.likelihood, data.intercept, data.names, {}, {}};
    for (const FieldTerm& term : data.terms) shape.terms.push_back({term.name, term.count});
    for (const FieldFactor& factor : data.factors) {
        shape.factors.push_back({factor.name, factor.effects, factor.levels, factor.blocks, factor.intercept});
    }
    return shape;
}

namespace {

// An sd has one prior, at zero or at the means; and Huang & Wand's goes with half_t alone, at the means.
void require_agreement(FieldPrior::Factor& prior, const FormulaShape::Factor& shape, const std::vector<Place>& known,
                       const std::vector<int>& chosen, const std::vector<PriorSentence>& sentences) {
    bool at_means = false;
    bool at_zero = false;
    const PriorSentence* of_intercept = nullptr;
    const PriorSentence* of_correlations = nullptr;
    for (std::size_t t = 0; t < known.size(); ++t) {
        const PriorTarget& target = known[t].target;
        if (chosen[t] < 0 || target.indices.empty() || target.indices[0] != shape.name) continue;
        const PriorSentence& sentence = sentences[static_cast<std::size_t>(chosen[t])];
        if (target.group == "cor") of_correlations = &sentence;
        if (target.group != "sd" && target.group != "tau") continue;
        if (known[t].by_name) {
            at_means = true;
            of_intercept = &sentence;
        } else {
            at_zero = at_zero || (shape.intercept >= 0 &&
                                  target.indices[1] == shape.effects[static_cast<std::size_t>(shape.intercept)]);
        }
    }
    if (at_means) prior.at_means = true;
    if (at_means && at_zero) {
        throw FormulaError("an sd has a prior at zero and one at the means: leave one of them out", of_intercept->text,
                           of_intercept->target_place);
    }
    if (of_correlations == nullptr || of_correlations->distribution != "huang_wand") return;
    prior.huang_wand = true;
    const double df = of_correlations->numbers[0];
    const EffectParameters parameters = [&] {
        FieldPrior::Factor any = prior;
        for (ScalePrior& one : any.sd) one = ScalePrior::half_t(df, 1.0);
        return parameters_of(any, shape);
    }();
    for (std::size_t e = 0; e < prior.sd.size(); ++e) {
        if (!parameters.is_huang_wand(static_cast<Index>(e))) continue;
        if (prior.sd[e].kind == Kind::half_t && prior.sd[e].first == df) continue;
        throw FormulaError(
            fmt::format("huang_wand({0}) goes with half_t({0}, scale) for every sd of {1}: write that for {2}", df,
                        printable(shape.name), printable(named_effect(shape, parameters, e))),
            of_correlations->text, of_correlations->distribution_place);
    }
    if (prior.at_means || !parameters.prior_at_means()) return;
    throw FormulaError(fmt::format("huang_wand speaks of the effects at the means: write sd[{},intercept_at_means] for "
                                   "sd[{},intercept]",
                                   printable(shape.name), printable(shape.name)),
                       of_correlations->text, of_correlations->distribution_place);
}

}  // namespace

FieldPrior with_sentences(FieldPrior prior, const FormulaShape& shape, const std::vector<PriorSentence>& sentences) {
    std::vector<PriorTarget> targets;
    const std::vector<Place> known = places(prior, shape);
    for (const Place& place : known) targets.push_back(place.target);
    std::vector<int> chosen = sentences_of_targets(sentences, targets);
    for (std::size_t t = 0; t < known.size(); ++t) {
        if (chosen[t] < 0) continue;
        const PriorSentence& sentence = sentences[static_cast<std::size_t>(chosen[t])];
        const bool of_all = sentence.indices.empty();
        if (known[t].by_name && !sentence.indices.ends_with(targets[t].indices.back())) chosen[t] = -1;
        // tau alone is that of the residuals, where there are any.
        if (sentence.target == "tau" && of_all && !targets[t].indices.empty() && shape.has_sigma()) chosen[t] = -1;
    }
    for (std::size_t t = 0; t < known.size(); ++t) {
        if (chosen[t] < 0) continue;
        const PriorSentence& sentence = sentences[static_cast<std::size_t>(chosen[t])];
        for (std::size_t other = 0; other < t; ++other) {
            const bool same =
                targets[other].indices == targets[t].indices && chosen[other] >= 0 &&
                (targets[t].group == "tau" && (targets[other].group == "sd" || targets[other].group == "sigma"));
            if (!same) continue;
            throw FormulaError(fmt::format("{} and {} are one thing, and have two priors: leave one of them out",
                                           printable(targets[other].name()), printable(targets[t].name())),
                               sentence.text, sentence.target_place);
        }
        known[t].set(sentence);
    }
    for (std::size_t f = 0; f < shape.factors.size(); ++f)
        require_agreement(prior.factors[f], shape.factors[f], known, chosen, sentences);
    return prior;
}

std::vector<std::string> prior_sentences(const FieldPrior& prior, const FormulaShape& shape) {
    std::vector<std::string> lines;
    const auto normal = [&](const std::string& of, double mean, double sd) {
        lines.push_back(fmt::format("{} ~ normal({}, {})", of, mean, sd));
    };
    if (shape.intercept) {
        normal("intercept", prior.intercept_mean, prior.intercept_sd);
        if (shape.plain() > 0) lines.back() += "  # at the means of the columns";
    }
    for (Index at = 0; at < shape.plain(); ++at) {
        const auto j = static_cast<std::size_t>(at);
        normal(fmt::format("beta[{}]", shape.slopes[j]), prior.mean[at], prior.sd[at]);
    }
    for (std::size_t f = 0; f < shape.factors.size(); ++f) {
        const FormulaShape::Factor& factor = shape.factors[f];
        const EffectParameters parameters = parameters_of(prior.factors[f], factor);
        for (std::size_t e = 0; e < factor.effects.size(); ++e) {
            const std::string indices = fmt::format("[{},{}]", factor.name, named_effect(factor, parameters, e));
            lines.push_back(written(prior.factors[f].sd[e], "sd" + indices, "tau" + indices));
        }
        if (!has_correlations(factor)) continue;
        double df = 0.0;  // of the effects that are correlated
        for (std::size_t e = 0; e < factor.effects.size(); ++e) {
            if (parameters.is_huang_wand(static_cast<Index>(e))) df = prior.factors[f].sd[e].first;
        }
        lines.push_back(prior.factors[f].huang_wand ? fmt::format("cor[{}] ~ huang_wand({})", factor.name, df)
                                                    : fmt::format("cor[{}] ~ lkj(1)", factor.name));
    }
    for (std::size_t t = 0; t < shape.terms.size(); ++t) {
        const std::string index = fmt::format("[{}]", shape.terms[t].name);
        lines.push_back(written(prior.terms[t], "sd" + index, "tau" + index));
    }
    if (shape.has_sigma()) lines.push_back(written(prior.sigma, "sigma", "tau"));
    for (std::size_t i = 0; i < prior.parameters.size(); ++i) {
        const LikelihoodParameter& parameter = shape.likelihood->parameters()[i];
        lines.push_back(written(prior.parameters[i], parameter.name, ""));
        if (parameter.lower > 0.0) lines.back() += fmt::format("  # above {}", parameter.lower);
    }
    return lines;
}

std::vector<PriorNumber> prior_numbers(const FieldPrior& prior, const FormulaShape& shape) {
    FieldPrior copy = prior;
    std::vector<PriorNumber> result;
    for (const NumberPlace& place : number_places(copy, shape)) result.push_back(place.number);
    return result;
}

void set_prior_number(FieldPrior& prior, const FormulaShape& shape, const std::string& name, double value) {
    for (const NumberPlace& place : number_places(prior, shape)) {
        if (place.number.name != name) continue;
        *place.kept = value;
        // Huang & Wand's degrees of freedom are those of all correlated effects, and kept with the first.
        for (std::size_t f = 0; f < shape.factors.size(); ++f) {
            FieldPrior::Factor& own = prior.factors[f];
            FieldPrior::Factor plain = own;
            for (ScalePrior& one : plain.sd) one = ScalePrior::half_t(1.0, 1.0);
            const EffectParameters parameters = parameters_of(plain, shape.factors[f]);
            std::optional<double> df;
            for (std::size_t e = 0; e < own.sd.size(); ++e) {
                if (!parameters.is_huang_wand(static_cast<Index>(e))) continue;
                if (!df) df = own.sd[e].first;
                own.sd[e].first = *df;
            }
        }
        return;
    }
    throw std::invalid_argument(fmt::format("the regression has no prior parameter '{}'", name));
}

Document to_document(const FieldPrior& prior) {
    Document json;
    json["intercept"] = Document::Numbers{prior.intercept_mean, prior.intercept_sd};
    json["mean"] = prior.mean;
    json["sd"] = prior.sd;
    json["sigma"] = scale_document(prior.sigma);
    Document factors = Document::list();
    for (const FieldPrior::Factor& factor : prior.factors) {
        Document sds = Document::list();
        for (const ScalePrior& one : factor.sd) sds.push_back(scale_document(one));
        factors.push_back(Document{{"huang_wand", factor.huang_wand},
                                   {"at_means", factor.at_means},
                                   {"centre", factor.centre.value_or(Vector())},
                                   {"sd", std::move(sds)}});
    }
    json["factors"] = std::move(factors);
    if (!prior.terms.empty()) {
        Document terms = Document::list();
        for (const ScalePrior& own : prior.terms) terms.push_back(scale_document(own));
        json["terms"] = std::move(terms);
    }
    Document parameters = Document::list();
    for (const ScalePrior& own : prior.parameters) parameters.push_back(scale_document(own));
    json["parameters"] = std::move(parameters);
    json["centre"] = prior.centre.value_or(Vector());
    return json;
}

FieldPrior field_prior(const Fields& fields, const FormulaShape& shape) {
    FieldPrior prior;
    const auto slopes = static_cast<Index>(shape.slopes.size());
    const Vector intercept = fields.vector("intercept", 2);
    prior.intercept_mean = intercept[0];
    prior.intercept_sd = intercept[1];
    prior.mean = fields.vector("mean", slopes);
    prior.sd = fields.vector("sd", slopes);
    prior.sigma = scale_record(fields.fields("sigma"));
    fields.each("factors", [&](const Fields& entry) {
        FieldPrior::Factor& factor = prior.factors.emplace_back();
        factor.huang_wand = entry.flag("huang_wand");
        factor.at_means = entry.flag("at_means");
        factor.centre = entry.vector("centre");
        entry.each("sd", [&](const Fields& one) { factor.sd.push_back(scale_record(one)); });
    });
    bool fits = prior.factors.size() == shape.factors.size();
    for (std::size_t f = 0; fits && f < shape.factors.size(); ++f) {
        fits = prior.factors[f].sd.size() == shape.factors[f].effects.size() &&
               prior.factors[f].centre->size() == static_cast<Index>(shape.factors[f].effects.size());
    }
    if (!fits) fields.refuse("model.prior.factors", "are not those of the formula");
    for (std::size_t f = 0; f < shape.factors.size(); ++f) {
        try {
            parameters_of(prior.factors[f], shape.factors[f]);
        } catch (const std::invalid_argument&) {
            fields.refuse("model.prior.factors",
                          "are not half_t with the same degrees of freedom, as Huang and Wand's are");
        }
    }
    if (fields.has("terms")) {
        fields.each("terms", [&](const Fields& entry) { prior.terms.push_back(scale_record(entry)); });
    }
    if (prior.terms.size() != shape.terms.size()) fields.refuse("model.prior.terms", "are not those of the formula");
    const std::vector<LikelihoodParameter>& parameters = shape.likelihood->parameters();
    if (fields.has("parameters")) {
        fields.each("parameters", [&](const Fields& own) { prior.parameters.push_back(scale_record(own)); });
    } else if (!parameters.empty()) {  // of files before 1.10, whose one parameter was the degrees of freedom
        const Vector nu = fields.vector("nu", 2);
        prior.parameters.push_back(ScalePrior::gamma(nu[0], nu[1]));
        if (!(nu.minCoeff() > 0.0)) fields.refuse("model.prior.nu", "holds a shape or rate that is not positive");
    }
    bool are_known = prior.parameters.size() == parameters.size();
    for (std::size_t i = 0; are_known && i < parameters.size(); ++i) {
        const Kind kind = prior.parameters[i].kind;
        are_known = parameters[i].lower > 0.0 ? kind == Kind::gamma : kind != Kind::uniform;
    }
    if (!are_known) fields.refuse("model.prior.parameters", "are not those of the family");
    prior.centre = fields.vector("centre", slopes);
    const bool positive = prior.intercept_sd > 0.0 && (slopes == 0 || prior.sd.minCoeff() > 0.0);
    if (!positive) fields.refuse("model.prior", "holds an sd that is not positive");
    return prior;
}

}  // namespace lrvb::detail
