#include "kind/model/centring.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

namespace lrvb::detail::text {

namespace {

using Element = std::pair<std::size_t, Index>;  // of an array

bool is_zero(const Sum& sum) {
    return sum.is_constant() && (sum.constant().array() == 0.0).all();
}

/// What may be centred, and by which nodes; found array by array, since plates are columns of their elements.
class Search {
  public:
    Search(const Evaluator& evaluator, const std::vector<Piece>& pieces) : graph_(evaluator.graph()), pieces_(pieces) {
        for (const Piece& piece : pieces) {
            if (piece.left != Piece::Left::unobserved) continue;
            const bugs::GraphRelation& relation = graph_.relations()[piece.relation];
            if (is_effect(piece, relation)) effects_.insert(relation.left.array);
            if (is_positive(piece, relation)) positive_.insert(relation.left.array);
            if (is_gamma(relation)) precisions_.insert(relation.left.array);
        }
        // All pieces of an array must be such.
        for (const Piece& piece : pieces) {
            if (piece.left == Piece::Left::observed) continue;
            const bugs::GraphRelation& relation = graph_.relations()[piece.relation];
            if (!is_effect(piece, relation)) effects_.erase(relation.left.array);
            if (!is_positive(piece, relation)) positive_.erase(relation.left.array);
        }
    }

    std::map<Element, Centring::Scale> scales() {
        if (effects_.empty() || positive_.empty()) return {};
        each_product([&](const Product& product, Index rows) { look_at(product, rows); });
        std::erase_if(found_, [&](const auto& one) { return !effects_.contains(one.first.first); });
        require_all_elements();
        require_one_use();
        return std::move(found_);
    }

  private:
    static bool is_effect(const Piece& piece, const bugs::GraphRelation& relation) {
        return relation.syntax->right.name == "dnorm" && !piece.is_truncated && piece.selectors.empty() &&
               is_zero(piece.sum(0));
    }

    static bool is_positive(const Piece& piece, const bugs::GraphRelation& relation) {
        const std::string& name = relation.syntax->right.name;
        if (!piece.selectors.empty()) return false;
        for (const Value& argument : piece.arguments) {
            if (!argument.only().is_constant()) return false;
        }
        if (is_gamma(relation) || name == "dexp") return !piece.is_truncated;
        if (name == "dunif") return !piece.is_truncated && (piece.sum(0).constant().array() >= 0.0).all();
        const bool from_zero =
            piece.lower && !piece.upper && piece.lower->only().is_constant() && is_zero(piece.lower->only().only());
        return (name == "dnorm" || name == "dt") && from_zero;
    }

    static bool is_gamma(const bugs::GraphRelation& relation) {
        const std::string& name = relation.syntax->right.name;
        return name == "dgamma" || name == "dchisqr";
    }

    void each_product(const std::function<void(const Product&, Index)>& visit) const {
        const std::function<void(const Sum&, Index)> look = [&](const Sum& sum, Index rows) {
            for (const Product& product : sum.terms) {
                visit(product, rows);
                for (const Factor& factor : product.factors) {
                    for (const Sum& argument : factor.arguments) look(argument, rows);
                }
            }
        };
        for (const Piece& piece : pieces_) {
            for (const Value& argument : piece.arguments) {
                for (const Choice& choice : argument.elements) {
                    for (const Sum& sum : choice.alternatives) look(sum, piece.size());
                }
            }
            for (const std::optional<Value>* bound : {&piece.lower, &piece.upper}) {
                if (!*bound) continue;
                for (const Sum& sum : (*bound)->only().alternatives) look(sum, piece.size());
            }
        }
    }

    // The positive factor beside an effect; none where there is none, or more than one.
    const Factor* partner_in(const Product& product, const Factor& effect) const {
        const Factor* partner = nullptr;
        for (const Factor& factor : product.factors) {
            if (&factor == &effect) continue;
            if (factor.kind != Factor::Kind::node) return nullptr;
            if (effects_.contains(factor.array)) return nullptr;
            if (!positive_.contains(factor.array)) continue;
            if (partner != nullptr) return nullptr;
            partner = &factor;
        }
        if (partner == nullptr || effect.power != 1.0 || effect.kind != Factor::Kind::node) return nullptr;
        const bool is_root_of_precision = partner->power == -0.5;
        const bool is_sd = partner->power == 1.0 || partner->power == 0.5;
        return is_root_of_precision || (is_sd && !precisions_.contains(partner->array)) ? partner : nullptr;
    }

    void look_at(const Product& product, Index rows) {
        for (const Factor& factor : product.factors) {
            if (factor.kind == Factor::Kind::function || !effects_.contains(factor.array)) continue;
            const Factor* partner = partner_in(product, factor);
            bool fits = partner != nullptr;
            for (Index row = 0; row < rows && fits; ++row) {
                if (product.number(row) == 0.0) continue;
                const Centring::Scale scale{partner->array, partner->element(row), partner->power};
                const auto [known, is_new] = found_.emplace(Element{factor.array, factor.element(row)}, scale);
                fits = is_new || (known->second.array == scale.array && known->second.element == scale.element &&
                                  known->second.power == scale.power);
            }
            if (!fits) effects_.erase(factor.array);
        }
    }

    void drop(std::size_t array) {
        std::erase_if(found_, [&](const auto& one) { return one.first.first == array; });
    }

    // Each element is multiplied by a node of the same array, to the same power.
    void require_all_elements() {
        const std::set<std::size_t> effects = effects_;
        for (const std::size_t array : effects) {
            const bugs::Array& own = graph_.arrays()[array];
            const Centring::Scale* first = nullptr;
            for (Index e = 0; e < own.size(); ++e) {
                if (own.states[static_cast<std::size_t>(e)] != bugs::State::unobserved) continue;
                const auto scale = found_.find({array, e});
                const bool fits =
                    scale != found_.end() &&
                    (first == nullptr || (scale->second.array == first->array && scale->second.power == first->power));
                if (!fits) {
                    drop(array);
                    break;
                }
                first = &scale->second;
            }
        }
    }

    // Elsewhere the scale enters as the precision that it stands for, or not at all.
    void require_one_use() {
        std::map<std::size_t, double> powers;  // of an array of scales
        std::set<std::size_t> refused;
        for (const auto& [effect, scale] : found_) {
            const auto [known, is_new] = powers.emplace(scale.array, scale.power);
            if (!is_new && known->second != scale.power) refused.insert(scale.array);
        }
        each_product([&](const Product& product, Index) {
            const bool has_effect = std::ranges::any_of(product.factors, [&](const Factor& factor) {
                return factor.kind == Factor::Kind::node && is_centred(factor.array);
            });
            for (const Factor& factor : product.factors) {
                if (factor.kind == Factor::Kind::function) continue;
                const auto power = powers.find(factor.array);
                if (power == powers.end()) continue;
                const bool fits = has_effect ? factor.power == power->second : factor.power == -2.0 * power->second;
                if (!fits) refused.insert(factor.array);
            }
        });
        std::erase_if(found_, [&](const auto& one) { return refused.contains(one.second.array); });
    }

    bool is_centred(std::size_t array) const {
        const auto next = found_.lower_bound({array, 0});
        return next != found_.end() && next->first.first == array;
    }

    const bugs::Graph& graph_;
    const std::vector<Piece>& pieces_;
    std::set<std::size_t> effects_;
    std::set<std::size_t> positive_;
    std::set<std::size_t> precisions_;  // among these, whose prior is conjugate
    std::map<Element, Centring::Scale> found_;
};

}  // namespace

Centring::Centring(const Evaluator& evaluator, std::vector<Piece>& pieces)
    : scales_(Search(evaluator, pieces).scales()) {
    if (scales_.empty()) return;
    std::map<std::size_t, std::size_t> arrays;  // from effects to their scales
    for (const auto& [effect, scale] : scales_) arrays.emplace(effect.first, scale.array);
    const std::function<void(Sum&)> centre = [&](Sum& sum) {
        for (Product& product : sum.terms) {
            std::set<std::size_t> taken;
            for (Factor& factor : product.factors) {
                for (Sum& argument : factor.arguments) centre(argument);
                const auto own = arrays.find(factor.array);
                if (factor.kind == Factor::Kind::node && own != arrays.end()) taken.insert(own->second);
            }
            std::erase_if(product.factors, [&](const Factor& factor) {
                return factor.kind == Factor::Kind::node && taken.contains(factor.array);
            });
        }
    };
    for (Piece& piece : pieces) {
        for (Value& argument : piece.arguments) {
            for (Choice& choice : argument.elements) {
                for (Sum& sum : choice.alternatives) centre(sum);
            }
        }
        const bugs::Reference& left = evaluator.graph().relations()[piece.relation].left;
        const auto own = piece.left == Piece::Left::unobserved ? arrays.find(left.array) : arrays.end();
        if (own == arrays.end()) continue;
        ElementColumn elements;
        double power = 1.0;
        for (const std::uint32_t row : piece.rows) {
            const Scale& scale = scales_.at({left.array, left.at(row, 0)});
            elements.push_back(scale.element);
            power = scale.power;
        }
        Sum factor = node_sum(own->second, std::move(elements));
        factor.terms.front().factors.front().power = -2.0 * power;
        Sum& precision = piece.arguments[1].elements.front().alternatives.front();
        precision = multiplied(precision, factor);
        piece.is_centred = true;
    }
}

const Centring::Scale* Centring::scale_of(std::size_t array, Index element) const {
    const auto found = scales_.find({array, element});
    return found == scales_.end() ? nullptr : &found->second;
}

Sum Centring::written(const Sum& row) const {
    if (scales_.empty()) return row;
    Sum result;
    for (const Product& product : row.terms) {
        Sum one{{product}};
        for (const Factor& factor : product.factors) {
            const Scale* scale =
                factor.kind == Factor::Kind::node ? scale_of(factor.array, factor.elements.front()) : nullptr;
            if (scale == nullptr) continue;
            Sum inverse = node_sum(scale->array, {scale->element});
            inverse.terms.front().factors.front().power = -scale->power * factor.power;
            one = multiplied(one, inverse);
        }
        result = added(result, one);
    }
    return result;
}

}  // namespace lrvb::detail::text
