#pragma once

#include <lrvb/family/random.hpp>
#include <lrvb/types.hpp>

#include <vector>

/// Kinds of start of a mixture, as responsibilities: one row a row of the data, one column a component, each row adding
/// up to one. No kind finds every optimum. Partitions never find components that share a place; responsibilities drawn
/// at random forget small components; and what is missed by all is one move away from what is found.
namespace lrvb::detail {

enum class StartKind {
    partition,  // k-means++
    random,     // uniform on the simplex, each row by itself
    nested,     // one centre, and scales that fall geometrically
    centres,    // rows as centres, with widths of their own, up to all of the data's: they overlap
    spots,      // where rows are dense, repeat a value or weigh much, and a partition of the rest
    fewer,      // partitions of fewer parts than there are components: the others have no rows
    annealed,   // random ones again, for an ascent whose temperature falls
    moved       // from another start's optimum
};

constexpr int kFreshKinds = 7;  // that need no optimum to begin with

/// Of a kind that is not `moved`. Rows are standardised.
Matrix start_responsibilities(StartKind kind, const Matrix& rows, const Vector& weights, Index components,
                              Random& random);

/// What no ascent does: a component is taken out, its rows left to the others, and used elsewhere.
struct Move {
    enum class Way {
        along_axis,  // `split` is cut in two across its longest axis
        into_shell,  // `split` is cut into a core and a shell
        to_spot,     // where rows (of `split`, if it is another) are dense, repeat a value or weigh much
        nowhere,     // it stays empty
        at_random    // nothing is taken out: all is mixed with random responsibilities
    };

    Way way = Way::nowhere;
    Index removed = 0;
    Index split = 0;
};

/// Moves in an order drawn at random: so many, of which those that are not `to_spot` are all different where they are
/// few.
std::vector<Move> draw_moves(Index components, std::size_t count, Random& random);
/// The smallest component to a spot within each of the others, which denser spots elsewhere would hide.
std::vector<Move> spot_moves(const Matrix& scores);

/// From the scores of an optimum: the logarithms of its responsibilities, up to a constant of each row.
Matrix moved_responsibilities(const Move& move, const Matrix& rows, const Vector& weights, const Matrix& scores,
                              Random& random);

/// Moves about half of column `split` to column `into`: along the component's longest axis, or into a core and a shell.
void split_in_two(const Matrix& rows, Index split, Index into, bool into_shells, Matrix& responsibilities);

/// exp(score / temperature), normalised row by row.
Matrix tempered_responsibilities(const Matrix& scores, double temperature);

}  // namespace lrvb::detail
