#include "base/validate.hpp"
#include "model/builder_implementation.hpp"
#include "model/distribution_node.hpp"
#include "model/labelled/chain.hpp"
#include "model/labelled/mixture.hpp"
#include "model/observed.hpp"

#include <lrvb/model/builder.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lrvb {

namespace {

Matrix rows_of(const Matrix& all, const std::vector<Index>& rows) {
    if (rows.empty()) return all;
    Matrix some(static_cast<Index>(rows.size()), all.cols());
    for (std::size_t i = 0; i < rows.size(); ++i) some.row(static_cast<Index>(i)) = all.row(rows[i]);
    return some;
}

}  // namespace

// What a call says, checked and lowered, before anything of it is kept.
class ModelBuilder::LabelledCall {
  public:
    LabelledCall(std::string_view who, const Implementation& self, Index labels,
                 const std::vector<LabelledColumn>& columns, const RowRange& range)
        : who_(who), self_(self), labels_(labels), columns_(columns), range_(range) {
        if (columns.empty())
            throw std::invalid_argument(fmt::format("{}: there are no columns; give at least one", who));
        rows_ = columns.front().rows();
        detail::require_at_least(who, "the number of rows", rows_, 1);
        for (std::size_t c = 0; c < columns.size(); ++c) {
            if (columns[c].rows() != rows_) {
                throw std::invalid_argument(fmt::format("{}: column {} has {} rows, but the first has {}", who, c + 1,
                                                        columns[c].rows(), rows_));
            }
            if (columns[c].labels() != labels) {
                throw std::invalid_argument(
                    fmt::format("{}: column {} has {} distributions, but there are {} labels; give one for each", who,
                                c + 1, columns[c].labels(), labels));
            }
        }
        if (range.is_named()) self.require_rows(who, range, rows_);
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const std::string_view family =
                std::visit([](const auto& f) { return std::remove_cvref_t<decltype(f)>::name; }, columns[c].kind_);
            const detail::Lowering lowering = self.lowering(fmt::format("column {} ~ {}", c + 1, family));
            std::vector<detail::ConditionalForm>& forms = forms_.emplace_back();
            for (const auto& node : columns[c].components_) {
                forms.push_back(node->lower(lowering));
                for (const Expression& natural : forms.back().natural) require_usable(natural, lowering);
                require_usable(forms.back().log_normaliser, lowering);
            }
        }
    }

    Index rows() const { return rows_; }

    /// The logarithms of weights; none where a label does not occur.
    std::vector<std::optional<Expression>> logs_of(const LabelWeights& weights, std::size_t alternative) const {
        const detail::Lowering lowering = self_.lowering("the weights of the labels");
        const LabelWeights::Alternative& own = weights.alternatives_[alternative];
        std::vector<std::optional<Expression>> logs;
        if (own.probability) {
            const auto [log_p, log_1m_p] = lowering.log_odds_parts(*own.probability, "probability");
            logs = {log_1m_p, log_p};
        } else {
            for (const std::optional<Expression>& log : own.logs) {
                logs.push_back(log ? std::optional<Expression>(lowering.lower(*log)) : std::nullopt);
            }
        }
        for (const std::optional<Expression>& log : logs) {
            if (log) require_usable(*log, lowering);
        }
        return logs;
    }

    /// The features of some rows (none given: all), and where each column stands among them.
    std::pair<detail::Features, std::vector<detail::Features::Places>> features(const std::vector<Index>& some) const {
        detail::Features features(some.empty() ? rows_ : static_cast<Index>(some.size()));
        std::vector<detail::Features::Places> places;
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const LabelledColumn& column = columns_[c];
            try {
                if (column.is_linear_) {
                    places.push_back(features.add_linear(rows_of(column.values_, some), rows_of(column.design_, some)));
                } else {
                    places.push_back(features.add(column.kind_, rows_of(column.values_, some)));
                }
            } catch (const detail::BadRow& bad) {
                const Index row = some.empty() ? bad.row : some[static_cast<std::size_t>(bad.row)];
                throw std::invalid_argument(fmt::format("{}: column {}, row {}: {}", who_, c + 1, row + 1, bad.what()));
            }
        }
        return {std::move(features), std::move(places)};
    }

    /// The polynomial of each feature for a label, with its logarithm of the weight.
    std::vector<Expression> polynomials(std::size_t label, const std::vector<detail::Features::Places>& places,
                                        Index count, const Expression& log_weight) const {
        std::vector<Expression> result(static_cast<std::size_t>(count), Expression(std::vector<Expression::Term>(), 0));
        result.front() += log_weight;
        for (std::size_t c = 0; c < places.size(); ++c) {
            const detail::ConditionalForm& form = forms_[c][label];
            for (std::size_t s = 0; s < form.natural.size(); ++s) {
                result[static_cast<std::size_t>(places[c].statistics[s])] += form.natural[s];
            }
            result[static_cast<std::size_t>(places[c].constant)] += form.log_normaliser;
        }
        return result;
    }

    /// Names for the numbers that can move; all or nothing.
    std::vector<std::vector<std::int32_t>> claim_inputs(Implementation& self) const {
        std::vector<std::vector<std::int32_t>> result(columns_.size());
        if (!range_.is_named()) return result;
        const std::vector<std::string> inputs = self.rows.inputs;
        const std::vector<std::vector<bool>> taken = self.input_taken;
        try {
            for (std::size_t c = 0; c < columns_.size(); ++c) {
                if (!detail::can_move(columns_[c].kind_)) continue;
                const RowRange named = columns_[c].input_.empty() ? range_ : range_.called(columns_[c].input_);
                result[c] = self.claim(self.free_inputs(columns_[c].kind_, named), named);
            }
        } catch (const std::invalid_argument&) {
            self.rows.inputs = inputs;
            self.input_taken = taken;
            throw;
        }
        return result;
    }

  private:
    void require_usable(const Expression& lowered, const detail::Lowering& lowering) const {
        Implementation::require_finite(lowered, lowering);
        self_.require_own_row(lowered, lowering, RowRange());
    }

    std::string_view who_;
    const Implementation& self_;
    Index labels_;
    const std::vector<LabelledColumn>& columns_;
    const RowRange& range_;
    Index rows_ = 0;
    std::vector<std::vector<detail::ConditionalForm>> forms_;  // of each column, for each label
};

void ModelBuilder::observe_mixture(const LabelWeights& weights, const std::vector<LabelledColumn>& columns,
                                   const RowRange& rows) {
    Implementation& self = implementation();
    const LabelledCall call("observe_mixture", self, weights.labels(), columns, rows);
    if (!weights.chosen_.empty()) {
        detail::require_size("observe_mixture", "the choices of the weights",
                             static_cast<Index>(weights.chosen_.size()), call.rows());
    }

    struct Part {
        detail::Features features;
        std::vector<Index> order;
        std::vector<Index> possible;
        std::vector<Expression> polynomials;
    };
    std::vector<Part> parts;
    for (std::size_t a = 0; a < weights.alternatives_.size(); ++a) {
        const std::vector<std::optional<Expression>> logs = call.logs_of(weights, a);
        std::vector<Index> order;
        for (std::size_t n = 0; n < weights.chosen_.size(); ++n) {
            if (weights.chosen_[n] == static_cast<Index>(a)) order.push_back(static_cast<Index>(n));
        }
        if (!weights.chosen_.empty() && order.empty()) continue;
        auto [features, places] = call.features(order);
        Part part{std::move(features), std::move(order), {}, {}};
        for (std::size_t k = 0; k < logs.size(); ++k) {
            if (!logs[k]) continue;
            part.possible.push_back(static_cast<Index>(k));
            for (Expression& one : call.polynomials(k, places, part.features.count(), *logs[k])) {
                part.polynomials.push_back(std::move(one));
            }
        }
        parts.push_back(std::move(part));
    }

    // Nothing is refused any more but a name.
    const std::vector<std::vector<std::int32_t>> inputs = call.claim_inputs(self);
    for (Part& part : parts) {
        for (std::size_t c = 0; c < inputs.size(); ++c) part.features.set_inputs(c, inputs[c]);
        const auto first = static_cast<std::uint32_t>(self.rows.polynomials.size());
        for (const Expression& one : part.polynomials) self.rows.polynomials.add(one, self.layout);
        self.keep_labelled(std::make_shared<const detail::MixtureRows>(
                               std::move(part.features), rows.is_named() ? rows.first() : -1, std::move(part.order),
                               weights.labels(), std::move(part.possible), first),
                           rows.is_named());
    }
    self.labelled_calls.push_back(static_cast<Index>(parts.size()));
}

void ModelBuilder::observe_chain(const LabelWeights& initial, const std::vector<LabelWeights>& transitions,
                                 const std::vector<LabelledColumn>& columns, const std::vector<Index>& lengths,
                                 const RowRange& rows) {
    constexpr const char* kWho = "observe_chain";
    Implementation& self = implementation();
    const Index labels = initial.labels();
    detail::require_size(kWho, "transitions", static_cast<Index>(transitions.size()), labels);
    for (const LabelWeights& row : transitions) {
        detail::require_size(kWho, "a row of the transitions", row.labels(), labels);
        detail::require_size(kWho, "the choices of a row of the transitions", static_cast<Index>(row.chosen_.size()),
                             0);
    }
    detail::require_size(kWho, "the choices of the initial weights", static_cast<Index>(initial.chosen_.size()), 0);
    const LabelledCall call(kWho, self, labels, columns, rows);
    Index total = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        detail::require_at_least(kWho, fmt::format("the length of sequence {}", i + 1), lengths[i], 1);
        total += lengths[i];
    }
    if (total != call.rows()) {
        throw std::invalid_argument(fmt::format("{}: the lengths of the sequences add up to {}, but there are {} rows",
                                                kWho, total, call.rows()));
    }

    auto [features, places] = call.features({});
    std::vector<Expression> polynomials;
    for (std::size_t k = 0; k < static_cast<std::size_t>(labels); ++k) {
        for (Expression& one : call.polynomials(k, places, features.count(), Expression(0.0))) {
            polynomials.push_back(std::move(one));
        }
    }
    detail::ChainRows::Steps steps;
    const std::vector<std::optional<Expression>> firsts = call.logs_of(initial, 0);
    for (std::size_t k = 0; k < firsts.size(); ++k) {
        if (!firsts[k]) continue;
        steps.first.push_back(static_cast<Index>(k));
        polynomials.push_back(*firsts[k]);
    }
    for (std::size_t from = 0; from < transitions.size(); ++from) {
        const std::vector<std::optional<Expression>> row = call.logs_of(transitions[from], 0);
        for (std::size_t to = 0; to < row.size(); ++to) {
            if (!row[to]) continue;
            steps.steps.emplace_back(static_cast<Index>(from), static_cast<Index>(to));
            polynomials.push_back(*row[to]);
        }
    }

    // Nothing is refused any more but a name.
    const std::vector<std::vector<std::int32_t>> inputs = call.claim_inputs(self);
    for (std::size_t c = 0; c < inputs.size(); ++c) features.set_inputs(c, inputs[c]);
    const auto first = static_cast<std::uint32_t>(self.rows.polynomials.size());
    for (const Expression& one : polynomials) self.rows.polynomials.add(one, self.layout);
    self.keep_labelled(
        std::make_shared<const detail::ChainRows>(std::move(features), rows.is_named() ? rows.first() : -1, labels,
                                                  lengths, std::move(steps), first),
        rows.is_named());
    self.labelled_calls.push_back(1);
}

void ModelBuilder::Implementation::keep_labelled(std::shared_ptr<const detail::LabelledRows> part, bool is_named) {
    if (is_named) rows.blocks.push_back(part);
    labelled.push_back(std::move(part));
}

std::shared_ptr<const detail::LabelledTerms> ModelBuilder::Implementation::labelled_terms() const {
    if (labelled.empty()) return {};
    detail::MonomialSum coupling;
    std::vector<detail::MonomialSum> derivatives(hyperparameters.size());
    auto number = static_cast<std::uint32_t>(layout.size());
    for (const auto& part : labelled) {
        for (Index g = 0; g < part->size(); ++g) {
            rows.polynomials.add_times(number++, coupling, derivatives,
                                       part->polynomial() + static_cast<std::size_t>(g));
        }
    }
    auto moving = std::make_shared<detail::Polynomials>();
    for (const detail::MonomialSum& one : derivatives) moving->add(one);
    return std::make_shared<const detail::LabelledTerms>(layout.size(), labelled, labelled_calls, coupling,
                                                         std::move(moving));
}

}  // namespace lrvb
