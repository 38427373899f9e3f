#pragma once

#include <lrvb/types.hpp>

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

/// What an expression of a model means over rows of a plate, as far as it is not known: sums of products of nodes,
///
///     Σ_t coefficient_t[n] Π_f node_f[n]^power_f,
///
/// with columns for the numbers and for which element of its array a node is in row n. So a plate of a million rows has
/// a few terms, and not a million expressions.
///
/// Where discrete nodes choose (mu[z[i]]), there is one sum for each of their labels.
namespace lrvb::detail::text {

/// A number in every row; a single one stands for all.
using NumberColumn = Vector;
/// Places in an array, likewise.
using ElementColumn = std::vector<Index>;

struct Sum;

/// What is said of a sum that is refused because it has too many terms, or functions too deep within each other.
class TooLarge : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct Factor {
    enum class Kind {
        node,        ///< an element of an array
        complement,  ///< one less it: of a probability
        function,    ///< of sums: "exp", "ilogit", …
    };
    Kind kind = Kind::node;
    std::size_t array = 0;
    ElementColumn elements;
    double power = 1.0;
    std::string function;
    std::vector<Sum> arguments;
    int depth = 0;         // functions within each other: 1 for one of nodes alone
    std::size_t size = 1;  // nodes and functions in it

    Index element(Index row) const {
        return elements.size() == 1 ? elements.front() : elements[static_cast<std::size_t>(row)];
    }
};

struct Product {
    NumberColumn coefficient;
    std::vector<Factor> factors;

    double number(Index row) const { return coefficient[coefficient.size() == 1 ? 0 : row]; }
};

struct Sum {
    std::vector<Product> terms;

    bool is_constant() const;
    /// Of a constant: one number, or one for every row.
    NumberColumn constant() const;
    double constant_at(Index row) const;
};

/// A discrete node that chooses among alternatives.
struct Selector {
    std::size_t array = 0;
    ElementColumn elements;
    Index labels = 0;
    double first = 1.0;  // the value of its first label: 0 of a Bernoulli node

    Index element(Index row) const {
        return elements.size() == 1 ? elements.front() : elements[static_cast<std::size_t>(row)];
    }
    bool same_as(const Selector& other) const { return array == other.array && elements == other.elements; }
};

/// One number a row: a sum for each combination of the labels of its selectors, the first changing fastest.
struct Choice {
    std::vector<Selector> selectors;
    std::vector<Sum> alternatives;

    bool is_constant() const { return selectors.empty() && alternatives.front().is_constant(); }
    const Sum& only() const { return alternatives.front(); }
};

/// An array a row, its first index fastest.
struct Value {
    std::vector<Index> dims;
    std::vector<Choice> elements;

    bool is_scalar() const { return elements.size() == 1; }
    const Choice& only() const { return elements.front(); }
};

/// Those that make sums throw TooLarge.
Sum constant_sum(const NumberColumn& column);
Sum node_sum(std::size_t array, ElementColumn elements);
Sum function_sum(const std::string& function, std::vector<Sum> arguments);
Choice constant_choice(const NumberColumn& column);

void add_to(Sum& sum, const Sum& other);
Sum added(const Sum& left, const Sum& right);
Sum scaled(const Sum& sum, const NumberColumn& by);
Sum multiplied(const Sum& left, const Sum& right);
/// What is no power of a single product is a function.
Sum raised(const Sum& base, const Sum& exponent);
/// By the name of a function or an operator of the language, where it works number by number.
Sum applied(const std::string& function, const std::vector<Sum>& arguments);
/// Whether `applied` knows it.
bool is_elementwise(const std::string& function);

/// The same for every combination of labels.
Choice applied(const std::string& function, const std::vector<Choice>& arguments);
/// How many nodes and products are written in it.
std::size_t size_of_terms(const Value& value);
/// Puts choices over the same selectors: of each the alternatives that belong to them.
std::vector<Choice> aligned(const std::vector<Choice>& choices);

/// For each new row the old one that it was.
Sum gathered(const Sum& sum, const std::vector<Index>& rows);
Value gathered(const Value& value, const std::vector<Index>& rows);

/// A row of a sum by itself.
Sum at_row(const Sum& sum, Index row);

/// Whether two sums are written alike.
bool same(const Sum& left, const Sum& right);

/// All nodes and selectors of a choice, functions' arguments included.
void visit_factors(const Sum& sum, const std::function<void(const Factor&)>& visit);

}  // namespace lrvb::detail::text
