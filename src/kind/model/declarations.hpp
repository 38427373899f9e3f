#pragma once

#include "kind/model/centring.hpp"
#include "kind/model/compiler.hpp"
#include "kind/model/pieces.hpp"
#include "kind/model/terms.hpp"

#include <lrvb/model/builder.hpp>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

/// What the parts of the compiler share: the builder, the nodes that were declared, the rows that were observed, and
/// distributions as the builder has them.
namespace lrvb::detail::text {

using AnyDistribution =
    std::variant<Distribution<family::Normal>, Distribution<family::MvNormal>, Distribution<family::Gamma>,
                 Distribution<family::Wishart>, Distribution<family::Dirichlet>, Distribution<family::Beta>,
                 Distribution<family::Bernoulli>, Distribution<family::Categorical>, Distribution<likelihood::Poisson>,
                 Distribution<likelihood::Binomial>, Distribution<likelihood::Multinomial>>;

/// Of nodes under a link that are as good as flat: where nothing else is said of them in the builder's model.
constexpr double kFlatPrecision = 1e-12;

class Declarations {
  public:
    Declarations(const Evaluator& evaluator, const std::vector<Piece>& pieces, const Centring& centring,
                 const CompileOptions& options);

    const bugs::Graph& graph() const { return evaluator_.graph(); }
    const Evaluator& evaluator() const { return evaluator_; }
    const std::vector<Piece>& pieces() const { return pieces_; }
    const Centring& centring() const { return centring_; }
    const bugs::GraphRelation& relation(const Piece& piece) const { return graph().relations()[piece.relation]; }
    const std::string& distribution_name(const Piece& piece) const { return relation(piece).syntax->right.name; }
    /// The place of an argument; of the whole where there is no such argument.
    const bugs::Place& place(const Piece& piece, std::size_t argument) const;
    const bugs::Array& left_array(const Piece& piece) const { return graph().arrays()[relation(piece).left.array]; }
    Index left_element(const Piece& piece, Index row, Index entry = 0) const {
        return relation(piece).left.at(piece.rows[static_cast<std::size_t>(row)], entry);
    }
    Index left_size(const Piece& piece) const { return relation(piece).left.elements.cols(); }
    double observed(const Piece& piece, Index row, Index entry = 0) const {
        return left_array(piece).values[static_cast<std::size_t>(left_element(piece, row, entry))];
    }
    /// "beta[3,1:2]": the node on the left in a row.
    std::string node_name(const Piece& piece, Index row) const;
    /// "beta.weight[3]": a variable that nobody wrote, beside that node or in its place.
    std::string auxiliary_name(const Piece& piece, Index row, const std::string& suffix);

    /// An argument in a row: a polynomial of variables; or, of an unobserved node, a hyperparameter where it is the
    /// same number in all rows.
    Expression argument(const Piece& piece, std::size_t argument, Index row, std::size_t combination = 0,
                        std::size_t entry = 0);
    /// A constant, the same for all labels.
    double number(const Piece& piece, std::size_t argument, Index row, std::size_t entry = 0) const;
    bool is_constant(const Piece& piece, std::size_t argument) const;
    /// Of a truncation; infinite where there is none. Throws Refused where they are no constants.
    std::pair<double, double> bounds(const Piece& piece, Index row) const;
    /// Whether I(,) says that a node with parameters that are not known is censored, as BUGS means it: its bounds are
    /// all that is known of it, and its density is not divided by what is between them, as T(,) would.
    bool is_censored(const Piece& piece) const;
    /// Notes what observed dinterval nodes say of others.
    void find_intervals(bugs::Diagnostics& diagnostics);
    /// An observed dinterval node, which says no more than bounds.
    bool is_interval(const Piece& piece) const {
        return distribution_name(piece) == "dinterval" && piece.left == Piece::Left::observed;
    }

    /// The distribution of a row where it is one of the library's, its discrete nodes choosing. Throws Refused.
    AnyDistribution distribution(const Piece& piece, Index row);
    /// That of one combination of labels.
    AnyDistribution alternative(const Piece& piece, Index row, std::size_t combination) {
        return plain(piece, row, combination);
    }
    /// The same of a dcat or dmulti node, whatever its probabilities are: what cannot be has the logarithm zero, and
    /// whoever asks sees to it that it is not.
    AnyDistribution possible_labels(const Piece& piece, Index row, std::size_t combination);
    SimplexParameter simplex(const Piece& piece, Index row, std::size_t combination = 0);
    /// log of each probability; none for what cannot be.
    std::vector<std::optional<Expression>> log_simplex(const Piece& piece, Index row, std::size_t combination = 0);
    /// log(1 − p) and log p of a dbern node; none for what cannot be.
    std::vector<std::optional<Expression>> log_odds(const Piece& piece, Index row, std::size_t combination = 0);
    MatrixParameter matrix(const Piece& piece, std::size_t argument, Index row, std::size_t combination = 0);

    /// A set of rows of the model, for these observed elements.
    Rows rows(std::size_t array, const std::vector<Index>& elements);

    template <class F>
    Variable<F> variable(const Handle& handle, F family) const {
        return Variable<F>(handle.variable, terms.tag(), std::move(family));
    }

    ModelBuilder builder;
    Terms terms;
    std::vector<Usage> usages;
    std::vector<ObservedNode> observed_rows;
    std::vector<PredictorRows> predictors;
    bugs::Place predictor_place;  // of the first of them
    std::vector<PriorNumber> prior;
    std::vector<std::string> hidden;
    std::vector<std::string> notes;

  private:
    void add_interval(const Piece& piece, Index row);
    [[noreturn]] void refuse_unknown(const Piece& piece, std::size_t argument) const;
    AnyDistribution plain(const Piece& piece, Index row, std::size_t combination);
    AnyDistribution chosen(const Piece& piece, Index row, std::size_t selector, std::size_t offset, std::size_t stride);
    AnyDistribution clustered(const Piece& piece, Index row, std::size_t which);
    std::string prior_name(const Piece& piece) const;

    const Evaluator& evaluator_;
    const std::vector<Piece>& pieces_;
    const Centring& centring_;
    const CompileOptions& options_;
    // By relation, argument and entry; with the number that is written, which another may stand for.
    std::map<std::tuple<std::size_t, std::size_t, std::size_t>, std::pair<Hyperparameter, double>> hyperparameters_;
    std::map<std::string, int> row_sets_;
    // Bounds of nodes by array and element, as dinterval nodes give them.
    std::map<std::pair<std::size_t, Index>, std::pair<double, double>> intervals_;
    std::set<std::size_t> interval_relations_;  // that define such nodes
};

/// A label by the logarithms of the probabilities that it has.
Distribution<family::Categorical> labels_by_logs(std::vector<Expression> logs);

/// Declares all unobserved nodes. What is refused goes to `diagnostics`.
void declare_nodes(Declarations& declarations, bugs::Diagnostics& diagnostics);
/// Observes all that is observed.
void observe_nodes(Declarations& declarations, bugs::Diagnostics& diagnostics);

}  // namespace lrvb::detail::text
