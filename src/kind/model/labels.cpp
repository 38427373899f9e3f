#include "kind/model/labels.hpp"

#include "kind/model/columns.hpp"

#include <lrvb/model/row_mixture.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

namespace lrvb::detail::text {

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

bool is_label(const Declarations& own, const Piece& piece) {
    const std::string& name = own.distribution_name(piece);
    return piece.left == Piece::Left::unobserved && !piece.is_truncated && (name == "dcat" || name == "dbern");
}

// Sequences of labels, each of which depends on the one before it; nothing where they are no chains.
bool order_chains(const Declarations& own, LabelledPlate& plate) {
    std::unordered_map<Index, Index> next;  // element after element
    std::vector<Index> firsts;
    for (const std::size_t p : plate.priors) {
        const Piece& piece = own.pieces()[p];
        for (Index row = 0; row < piece.size(); ++row) firsts.push_back(own.left_element(piece, row));
    }
    std::size_t count = firsts.size();
    for (const std::size_t p : plate.transitions) {
        const Piece& piece = own.pieces()[p];
        for (Index row = 0; row < piece.size(); ++row) {
            const bool is_first =
                next.emplace(piece.selectors.front().element(row), own.left_element(piece, row)).second;
            if (!is_first) return false;
            ++count;
        }
    }
    plate.elements.clear();
    for (const Index first : firsts) {
        const std::size_t before = plate.elements.size();
        std::optional<Index> at = first;
        while (at) {
            plate.elements.push_back(*at);
            const auto found = next.find(*at);
            at = found == next.end() ? std::nullopt : std::optional<Index>(found->second);
        }
        plate.lengths.push_back(static_cast<Index>(plate.elements.size() - before));
    }
    return plate.elements.size() == count;
}

std::optional<LabelledPlate> plate_of(const Declarations& own, std::size_t array) {
    LabelledPlate plate;
    plate.array = array;
    for (std::size_t p = 0; p < own.pieces().size(); ++p) {
        const Piece& piece = own.pieces()[p];
        const bool is_own = own.relation(piece).left.array == array && is_label(own, piece);
        const bool is_chosen =
            std::ranges::any_of(piece.selectors, [&](const Selector& one) { return one.array == array; });
        if (is_own && piece.selectors.empty()) {
            plate.priors.push_back(p);
            for (Index row = 0; row < piece.size(); ++row) plate.elements.push_back(own.left_element(piece, row));
        } else if (is_own && is_chosen && piece.selectors.size() == 1 && own.distribution_name(piece) == "dcat") {
            plate.transitions.push_back(p);
        } else if (is_own) {
            return std::nullopt;
        } else if (is_chosen) {
            if (piece.left != Piece::Left::observed || piece.selectors.size() != 1) return std::nullopt;
            plate.children.push_back(p);
        }
    }
    if (plate.priors.empty() || plate.children.empty()) return std::nullopt;
    if (!plate.transitions.empty()) {
        const bool alike = plate.transitions.size() == 1 && plate.priors.size() == 1 &&
                           groups_of(own.pieces()[plate.transitions.front()]).size() == 1 &&
                           groups_of(own.pieces()[plate.priors.front()]).size() == 1;
        if (!alike || !order_chains(own, plate)) return std::nullopt;
    }
    if (plate.elements.size() < 2) return std::nullopt;
    return plate;
}

class ObservingLabelled {
  public:
    ObservingLabelled(Declarations& own, const LabelledPlate& plate) : own_(own), plate_(plate) {
        row_of_.resize(static_cast<std::size_t>(own.graph().arrays()[plate.array].size()), -1);
        for (std::size_t n = 0; n < plate.elements.size(); ++n) {
            row_of_[static_cast<std::size_t>(plate.elements[n])] = static_cast<Index>(n);
        }
    }

    void observe() {
        for (const std::size_t p : plate_.children) add_columns(own_.pieces()[p]);
        const RowRange rows = named_rows();
        if (plate_.lengths.empty()) {
            own_.builder.observe_mixture(weights(), columns_, rows);
            return;
        }
        const Piece& transition = own_.pieces()[plate_.transitions.front()];
        if (!impossible_.empty()) {
            throw Refused(own_.relation(transition).syntax->place,
                          "what a label of a chain gives no probability was observed: give it a little");
        }
        std::vector<LabelWeights> transitions;
        for (std::size_t k = 0; k < transition.combinations; ++k) {
            transitions.push_back(weights_of(transition, 0, k));
        }
        own_.builder.observe_chain(weights_of(own_.pieces()[plate_.priors.front()], 0, 0), transitions, columns_,
                                   plate_.lengths, rows);
    }

  private:
    Index count() const { return static_cast<Index>(plate_.elements.size()); }
    std::size_t row_at(Index element) const {
        return static_cast<std::size_t>(row_of_[static_cast<std::size_t>(element)]);
    }

    LabelWeights weights_of(const Piece& piece, Index row, std::size_t combination) {
        if (own_.distribution_name(piece) == "dbern") {
            return LabelWeights::bernoulli(own_.argument(piece, 0, row, combination));
        }
        try {
            return own_.simplex(piece, row, combination);
        } catch (const Refused&) {
            return LabelWeights::logs(own_.log_simplex(piece, row, combination));
        }
    }

    LabelWeights weights_without(const Piece& piece, Index row, const std::set<std::size_t>& none) {
        if (none.empty()) return weights_of(piece, row, 0);
        const bool is_binary = own_.distribution_name(piece) == "dbern";
        std::vector<std::optional<Expression>> logs =
            is_binary ? own_.log_odds(piece, row) : own_.log_simplex(piece, row, 0);
        for (const std::size_t label : none) logs[label].reset();
        if (std::ranges::none_of(logs, [](const auto& log) { return log.has_value(); })) {
            throw Refused(own_.relation(piece).syntax->left.place,
                          fmt::format("{} has no label that what was observed allows", own_.node_name(piece, row)));
        }
        return LabelWeights::logs(std::move(logs));
    }

    LabelWeights weights() {
        std::vector<LabelWeights> alternatives;
        std::vector<Index> chosen(plate_.elements.size(), 0);
        for (const std::size_t p : plate_.priors) {
            const Piece& piece = own_.pieces()[p];
            for (const std::vector<Index>& group : groups_of(piece)) {
                std::map<std::set<std::size_t>, Index> known;  // by the labels that cannot be
                for (const Index row : group) {
                    const std::size_t n = row_at(own_.left_element(piece, row));
                    const std::set<std::size_t> none = impossible_.empty() ? std::set<std::size_t>() : impossible_[n];
                    const auto [found, is_new] = known.try_emplace(none, static_cast<Index>(alternatives.size()));
                    if (is_new) alternatives.push_back(weights_without(piece, group.front(), none));
                    chosen[n] = found->second;
                }
            }
        }
        if (alternatives.size() == 1) return alternatives.front();
        return LabelWeights::chosen(alternatives, std::move(chosen));
    }

    // Rows of a child that have the same distributions, as columns of the labels' rows; where a label has several of
    // them, one column after the other.
    std::vector<std::vector<Index>> columns_of(const Piece& piece, const std::vector<Index>& group) const {
        std::vector<std::vector<Index>> result;
        std::vector<std::uint16_t> seen(plate_.elements.size(), 0);
        for (const Index row : group) {
            const std::size_t n = row_at(piece.selectors.front().element(row));
            const std::size_t which = seen[n]++;
            if (which == result.size()) result.emplace_back(plate_.elements.size(), -1);
            result[which][n] = row;
        }
        return result;
    }

    template <class Get>
    Vector column_values(const std::vector<Index>& rows, Get get) const {
        Vector values(count());
        for (Index n = 0; n < count(); ++n) {
            const Index row = rows[static_cast<std::size_t>(n)];
            values[n] = row < 0 ? kMissing : get(row);
        }
        return values;
    }

    void keep(LabelledColumn column, const Piece& piece, const std::vector<Index>& rows) {
        const std::string name = own_.left_array(piece).name;
        const int number = ++inputs_[name];
        columns_.push_back(number == 1 ? column.as(name) : column.as(fmt::format("{}({})", name, number)));
        for (std::size_t n = 0; n < rows.size(); ++n) {
            if (rows[n] < 0) continue;
            const ObservedNode node{static_cast<std::uint32_t>(own_.relation(piece).left.array),
                                    static_cast<std::uint32_t>(own_.left_element(piece, rows[n]))};
            if (names_.empty()) names_.resize(plate_.elements.size());
            if (has_name_.empty()) has_name_.resize(plate_.elements.size(), 0);
            if (++has_name_[n] == 1) names_[n] = node;
        }
    }

    void add_columns(const Piece& piece) {
        const std::string& name = own_.distribution_name(piece);
        if (name == "dnorm") {
            add_normal(piece);
        } else if (has_certainties(piece)) {
            find_contradicted(piece);
            add_plain(piece);
        } else if (name == "dpois") {
            add_counts(piece);
        } else if (name == "dbin") {
            add_trials(piece);
        } else {
            if (name == "dcat" || name == "dmulti") find_impossible(piece);
            add_plain(piece);
        }
    }

    /// What a label is certain of: a count of zero, or that all trials succeed.
    enum class Certainty { none, zero, all };

    Certainty certainty(const Piece& piece, std::size_t label) const {
        const std::string& name = own_.distribution_name(piece);
        const Sum& sum = piece.sum(0, 0, label);
        if ((name != "dpois" && name != "dbern" && name != "dbin") || !sum.is_constant()) return Certainty::none;
        const NumberColumn numbers = sum.constant();
        if ((numbers.array() == 0.0).all()) return Certainty::zero;
        return name != "dpois" && (numbers.array() == 1.0).all() ? Certainty::all : Certainty::none;
    }

    // An animal that is not there is not seen.
    bool has_certainties(const Piece& piece) const {
        for (std::size_t k = 0; k < piece.combinations; ++k) {
            if (certainty(piece, k) != Certainty::none) return true;
        }
        return false;
    }

    void find_contradicted(const Piece& piece) {
        for (std::size_t k = 0; k < piece.combinations; ++k) {
            const Certainty own = certainty(piece, k);
            for (Index row = 0; row < piece.size() && own != Certainty::none; ++row) {
                const double trials = own_.distribution_name(piece) == "dbin" ? own_.number(piece, 1, row) : 1.0;
                const double expected = own == Certainty::zero ? 0.0 : trials;
                if (own_.observed(piece, row) == expected) continue;
                if (impossible_.empty()) impossible_.resize(plate_.elements.size());
                impossible_[row_at(piece.selectors.front().element(row))].insert(k);
            }
        }
    }

    // Labels that a row cannot have, since it has what they give no probability.
    void find_impossible(const Piece& piece) {
        const bool single = own_.distribution_name(piece) == "dcat";
        for (const std::vector<Index>& group : groups_of(piece)) {
            for (std::size_t k = 0; k < piece.combinations; ++k) {
                const std::vector<std::optional<Expression>> logs = own_.log_simplex(piece, group.front(), k);
                for (std::size_t cell = 0; cell < logs.size(); ++cell) {
                    if (logs[cell]) continue;
                    for (const Index row : group) {
                        const bool is_there = single ? own_.observed(piece, row) == static_cast<double>(cell) + 1.0
                                                     : own_.observed(piece, row, static_cast<Index>(cell)) > 0.0;
                        if (!is_there) continue;
                        if (impossible_.empty()) impossible_.resize(plate_.elements.size());
                        impossible_[row_at(piece.selectors.front().element(row))].insert(k);
                    }
                }
            }
        }
    }

    AnyDistribution alternative(const Piece& piece, Index row, std::size_t label) {
        const std::string& name = own_.distribution_name(piece);
        if (name == "dcat" || name == "dmulti") return own_.possible_labels(piece, row, label);
        if (certainty(piece, label) == Certainty::none) return own_.alternative(piece, row, label);
        if (name == "dpois") return Distribution<likelihood::Poisson>(likelihood::Poisson{}, flat_node(1));
        if (name == "dbern") return flat(family::Bernoulli{});
        const auto trials = static_cast<Index>(own_.number(piece, 1, row));
        return Distribution<likelihood::Binomial>(likelihood::Binomial{trials}, flat_node(1));
    }

    // One distribution for each label.
    template <class F>
    std::vector<Distribution<F>> distributions(const Piece& piece, Index row) {
        std::vector<Distribution<F>> result;
        for (std::size_t k = 0; k < piece.combinations; ++k) {
            result.push_back(std::get<Distribution<F>>(alternative(piece, row, k)));
        }
        return result;
    }

    void add_plain(const Piece& piece) {
        const std::string& name = own_.distribution_name(piece);
        const double shift = name == "dcat" ? 1.0 : 0.0;
        for (const std::vector<Index>& group : groups_of(piece)) {
            for (const std::vector<Index>& rows : columns_of(piece, group)) {
                Matrix values(count(), own_.left_size(piece));
                for (Index e = 0; e < values.cols(); ++e) {
                    values.col(e) =
                        column_values(rows, [&](Index row) { return own_.observed(piece, row, e) - shift; });
                }
                std::visit(
                    [&]<class F>(const Distribution<F>&) {
                        keep(column(values, distributions<F>(piece, group.front())), piece, rows);
                    },
                    alternative(piece, group.front(), 0));
            }
        }
    }

    // Rows that share all nodes, whatever their numbers are.
    static std::vector<std::vector<Index>> groups_by_nodes(const Piece& piece, std::size_t argument, bool numbers) {
        Piece nodes = piece;
        for (std::size_t a = 0; a < nodes.arguments.size(); ++a) {
            if (a != argument || numbers) continue;
            for (Choice& choice : nodes.arguments[a].elements) {
                for (Sum& sum : choice.alternatives) {
                    for (Product& term : sum.terms) term.coefficient = NumberColumn::Ones(1);
                }
            }
        }
        return groups_of(nodes);
    }

    void add_normal(const Piece& piece) {
        const bool linear = std::ranges::all_of(piece.arguments[0].elements.front().alternatives,
                                                [&](const Sum& sum) { return is_linear(sum, own_.terms); });
        const bool varies = std::ranges::any_of(piece.arguments[0].elements.front().alternatives, [](const Sum& sum) {
            return std::ranges::any_of(sum.terms, [](const Product& term) { return term.coefficient.size() > 1; });
        });
        if (!linear || !varies) {
            add_plain(piece);
            return;
        }
        for (const std::vector<Index>& group : groups_by_nodes(piece, 0, false)) {
            for (const std::vector<Index>& rows : columns_of(piece, group)) {
                const Vector y = column_values(rows, [&](Index row) { return own_.observed(piece, row); });
                std::vector<const NumberColumn*> numbers{nullptr};  // the first: ones
                std::vector<std::vector<Expression>> coefficients(piece.combinations);
                std::vector<Expression> precisions;
                for (std::size_t k = 0; k < piece.combinations; ++k) {
                    precisions.push_back(own_.argument(piece, 1, group.front(), k));
                    for (const Product& term : piece.sum(0, 0, k).terms) {
                        const Expression node = own_.terms.polynomial(
                            Sum{{Product{NumberColumn::Ones(1), term.factors}}}, group.front(), own_.place(piece, 0));
                        std::size_t at = 0;
                        double factor = 1.0;
                        if (term.coefficient.size() > 1) {
                            at = 1;
                            while (at < numbers.size() && *numbers[at] != term.coefficient) ++at;
                            if (at == numbers.size()) numbers.push_back(&term.coefficient);
                        } else {
                            factor = term.coefficient[0];
                        }
                        if (coefficients[k].size() <= at) coefficients[k].resize(at + 1);
                        coefficients[k][at] += factor * node;
                    }
                }
                Matrix design(count(), static_cast<Index>(numbers.size()));
                design.col(0).setOnes();
                for (std::size_t c = 1; c < numbers.size(); ++c) {
                    const NumberColumn& column_numbers = *numbers[c];
                    for (Index n = 0; n < count(); ++n) {
                        const Index row = rows[static_cast<std::size_t>(n)];
                        design(n, static_cast<Index>(c)) = row < 0 ? 0.0 : column_numbers[row];
                    }
                }
                std::vector<VectorParameter> parameters;
                for (std::vector<Expression>& own : coefficients) {
                    own.resize(numbers.size());
                    parameters.emplace_back(own);
                }
                keep(linear_column(y, design, parameters, precisions), piece, rows);
            }
        }
    }

    // Exposures that are the same for all labels.
    static const NumberColumn* exposures_of(const Piece& piece) {
        const NumberColumn* shared = nullptr;
        for (std::size_t k = 0; k < piece.combinations; ++k) {
            const Sum& sum = piece.sum(0, 0, k);
            if (sum.terms.size() != 1) return nullptr;
            if (shared != nullptr && *shared != sum.terms.front().coefficient) return nullptr;
            shared = &sum.terms.front().coefficient;
        }
        return shared;
    }

    void add_counts(const Piece& piece) {
        const NumberColumn* exposures = exposures_of(piece);
        if (exposures == nullptr || exposures->size() == 1) {
            add_plain(piece);
            return;
        }
        for (const std::vector<Index>& group : groups_by_nodes(piece, 0, false)) {
            for (const std::vector<Index>& rows : columns_of(piece, group)) {
                std::vector<Expression> rates;
                for (std::size_t k = 0; k < piece.combinations; ++k) {
                    rates.push_back(own_.terms.polynomial(
                        Sum{{Product{NumberColumn::Ones(1), piece.sum(0, 0, k).terms.front().factors}}}, group.front(),
                        own_.place(piece, 0)));
                }
                Vector own = column_values(rows, [&](Index row) { return (*exposures)[row]; });
                for (double& exposure : own) exposure = std::isnan(exposure) ? 1.0 : exposure;
                keep(
                    count_column(column_values(rows, [&](Index row) { return own_.observed(piece, row); }), own, rates),
                    piece, rows);
            }
        }
    }

    void add_trials(const Piece& piece) {
        if (!own_.is_constant(piece, 1)) {
            add_plain(piece);  // which refuses it
            return;
        }
        for (const std::vector<Index>& group : groups_of(piece, {0})) {
            for (const std::vector<Index>& rows : columns_of(piece, group)) {
                std::vector<Expression> probabilities;
                for (std::size_t k = 0; k < piece.combinations; ++k) {
                    probabilities.push_back(own_.argument(piece, 0, group.front(), k));
                }
                const NumberColumn sizes = piece.sum(1).constant();
                Vector trials = column_values(rows, [&](Index row) { return sizes[sizes.size() == 1 ? 0 : row]; });
                for (double& one : trials) one = std::isnan(one) ? 1.0 : one;
                keep(trial_column(column_values(rows, [&](Index row) { return own_.observed(piece, row); }), trials,
                                  probabilities),
                     piece, rows);
            }
        }
    }

    // Rows are called by what is observed where that is one node each, and otherwise by their labels.
    RowRange named_rows() {
        const bool one_each = std::ranges::all_of(has_name_, [](int seen) { return seen == 1; });
        if (one_each && !names_.empty()) {
            const auto array = static_cast<std::size_t>(names_.front().array);
            const bool same =
                std::ranges::all_of(names_, [&](const ObservedNode& node) { return node.array == array; });
            if (same) {
                std::vector<Index> elements;
                for (const ObservedNode& node : names_) elements.push_back(node.element);
                return own_.rows(array, elements).called("");
            }
        }
        return own_.rows(plate_.array, plate_.elements).called("");
    }

    Declarations& own_;
    const LabelledPlate& plate_;
    std::vector<Index> row_of_;  // of each element of the array
    std::vector<LabelledColumn> columns_;
    std::map<std::string, int> inputs_;
    std::vector<ObservedNode> names_;
    std::vector<int> has_name_;
    std::vector<std::set<std::size_t>> impossible_;  // labels of each row; none: all are possible
};

}  // namespace

std::vector<LabelledPlate> labelled_plates(Declarations& declarations) {
    std::vector<LabelledPlate> plates;
    for (std::size_t array = 0; array < declarations.graph().arrays().size(); ++array) {
        if (!declarations.usages[array].selects) continue;
        std::optional<LabelledPlate> plate = plate_of(declarations, array);
        if (!plate) continue;
        for (const Index element : plate->elements) {
            declarations.terms.at(array, element).form = Form::summed_out;
        }
        plates.push_back(std::move(*plate));
    }
    return plates;
}

void observe_labelled(Declarations& declarations, const std::vector<LabelledPlate>& plates,
                      bugs::Diagnostics& diagnostics) {
    for (const LabelledPlate& plate : plates) {
        const Piece& first = declarations.pieces()[plate.children.front()];
        try {
            ObservingLabelled(declarations, plate).observe();
        } catch (const Refused& refused) {
            if (*refused.what() != '\0') diagnostics.add(refused.place(), refused.what());
        } catch (const std::invalid_argument& error) {
            diagnostics.add(declarations.relation(first).syntax->right.place, error.what());
        }
    }
}

}  // namespace lrvb::detail::text
