#include "formula/column_uses.hpp"

#include "formula/calls.hpp"

#include <unordered_map>
#include <unordered_set>

namespace lrvb::detail {

namespace {

using Kind = Expression::Kind;

/// Adds what an expression does with columns.
class Uses {
  public:
    void add_response(const Expression& response) { add_numbers(response, true, false); }

    void add_terms(const Expression& expression) {
        switch (expression.kind) {
            case Kind::column:
                use(expression.text, expression.begin).is_alone = true;
                break;
            case Kind::call:
                add_call(expression);
                break;
            case Kind::bar:
                add_terms(expression.parts[0]);
                for (std::size_t i = 1; i < expression.parts.size(); ++i) add_group(expression.parts[i]);
                break;
            default:
                for (const Expression& part : expression.parts) add_terms(part);
        }
    }

    std::vector<ColumnUse> taken() { return std::move(uses_); }

  private:
    ColumnUse& use(const std::string& column, std::size_t place, bool is_predictor = true) {
        const auto [known, is_new] = places_.try_emplace(column, uses_.size());
        if (is_new) uses_.push_back({.name = column, .place = place});
        ColumnUse& result = uses_[known->second];
        result.is_predictor = result.is_predictor || is_predictor;
        return result;
    }

    void add_call(const Expression& call) {
        const bool groups = call.text == "factor" || call.text == "C";
        if (call.text == "scale") {
            add_numbers(call, false, true);
            return;
        }
        const bool is_latent = is_latent_call(call);
        for (const Expression& part : call.parts) {
            if (is_latent && unwrapped(part).kind == Kind::column) {
                use(unwrapped(part).text, unwrapped(part).begin).is_latent = true;
            }
            if (groups) {
                add_group(part, false);
            } else if (part.kind != Kind::argument) {
                add_numbers(part, call.text == "offset", true);
            }
        }
    }

    void add_group(const Expression& expression, bool is_held = true) {
        if (expression.kind == Kind::column) {
            ColumnUse& column = use(expression.text, expression.begin);
            column.is_group = true;
            column.is_held = column.is_held || is_held;
        }
        for (const Expression& part : expression.parts) add_group(part, is_held);
    }

    void add_numbers(const Expression& expression, bool is_held, bool is_predictor) {
        if (expression.kind == Kind::column) {
            ColumnUse& column = use(expression.text, expression.begin, is_predictor);
            column.is_number = true;
            column.is_held = column.is_held || is_held;
        }
        const bool is_scale = expression.kind == Kind::call && expression.text == "scale";
        for (const Expression& part : expression.parts) {
            if (part.kind != Kind::argument) add_numbers(part, is_held, is_predictor);
            if (is_scale) return;  // what follows says how
        }
    }

    std::vector<ColumnUse> uses_;
    std::unordered_map<std::string, std::size_t> places_;
};
;

}  // namespace

std::vector<ColumnUse> column_uses(const FormulaSyntax& formula) {
    Uses uses;
    uses.add_response(formula.response);
    uses.add_terms(formula.right);
    return uses.taken();
}

std::vector<std::string> needed_columns(const FormulaSyntax& formula, const Expansion& expansion, bool with_response) {
    std::vector<std::string> result;
    std::unordered_set<std::string> known;
    const auto need = [&](const std::string& column) {
        if (known.insert(column).second) result.push_back(column);
    };
    const auto need_numbers = [&](const Expression& expression) {
        Uses uses;
        uses.add_response(expression);
        for (const ColumnUse& use : uses.taken()) need(use.name);
    };
    const auto need_terms = [&](const std::vector<TermParts>& terms) {
        for (const TermParts& term : terms) {
            for (const std::size_t place : term) {
                const TermPart& part = expansion.parts[place];
                if (part.kind == TermPart::Kind::factor || part.is_column) {
                    need(part.name);
                } else {
                    need_numbers(*part.expression);
                }
            }
        }
    };
    if (with_response) need_numbers(formula.response);
    need_terms(expansion.terms);
    for (const Expression* offset : expansion.offsets) need_numbers(*offset);
    for (const LatentPart& latent : expansion.latent) need(latent.column);
    for (const RandomPart& random : expansion.random) {
        need_terms(random.terms);
        for (const std::string& column : random.columns) need(column);
    }
    return result;
}

}  // namespace lrvb::detail
