#pragma once

#include "kind/model/pieces.hpp"
#include "kind/model/terms.hpp"

#include <lrvb/model/expression.hpp>

#include <optional>
#include <string>
#include <vector>

/// Plates as columns: which rows have the same distribution, and sums as design matrices.
namespace lrvb::detail::text {

std::vector<Index> all_rows(Index count);

/// Rows of a piece whose arguments (all, or these) are the same, in the order of their first.
std::vector<std::vector<Index>> groups_of(const Piece& piece, const std::vector<std::size_t>& arguments = {});
/// The same of one sum over so many rows.
std::vector<std::vector<Index>> groups_of(const Sum& sum, Index rows);

/// Whether a sum is linear in normal nodes.
bool is_linear(const Sum& sum, const Terms& terms);

/// A linear sum over rows as a design: a column for each node, and one for what is constant.
struct LinearColumns {
    SparseMatrix design;
    std::vector<Expression> coefficients;
};
LinearColumns linear_columns(const Sum& sum, const std::vector<Index>& rows, const Terms& terms);

/// factor[n] × function(inside).
struct LinkedSum {
    std::string function;
    Sum inside;
    NumberColumn factor;
};
/// Probabilities f_k / Σ_l f_l with f_k = factor exp(inside), of which some may be constants: the f_k, with sums of no
/// terms inside of these. Nothing where they are no such shares.
std::optional<std::vector<LinkedSum>> shares(const std::vector<Choice>& probabilities);
/// Where the sum is one of these functions of another sum, times a number.
std::optional<LinkedSum> linked_sum(const Sum& sum, const std::vector<std::string>& functions);

/// A product of probabilities at made-up values of their nodes, those of one simplex adding up to one.
double probability_at(const Sum& sum, double seed, const Terms& terms);

}  // namespace lrvb::detail::text
