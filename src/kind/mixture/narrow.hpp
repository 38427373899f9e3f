#pragma once

#include <lrvb/types.hpp>

namespace lrvb::detail {

/// How much of a column's variance the automatic prior of its precisions takes as its own: 1 for ordinary data, less
/// where rows lie so close together that a prior of the whole column's width would decide how wide they are.
///
/// Of the values, standardised and sorted, a window of mass q (of all weight) and width w is t = q √(2π)/w times as
/// dense as the peak of a normal with variance one. Of all windows of k rows, from a twentieth of them (8 at least)
/// in steps of √2 up to nine tenths, the densest counts. With t the largest over k,
///
///     s² = max_k w_k²/12 min(1, (t_k/(0.7 t))⁶),   share = min(1, max(33 s², (2/t)⁶, 2·10⁻¹⁶ n²)) :
///
/// s² is the variance within the widest window that is nearly as dense as the densest, a quarter to nine tenths of a
/// narrow component's own. Less than twice the density of a normal changes nothing, and neither does a component whose
/// sd is a fifth of the column's; it is continuous in between. A twentieth of the rows is the least that counts as a
/// component: where a density has a pole or an edge, a few rows always are close together.
///
/// Some windows are dense by chance: where a sum of g gaps is the least of those of m values, it is smaller than its
/// mean by the factor r with P(Gamma(g) < r g) = g/(2m), and t counts r times. Equal values stand for one place with
/// their number as weight, since there is no telling how close together they are: its width is the gap to its nearest
/// neighbour. Values that are no further apart than `rounding` are equal too, where a
/// tenth of them are. So half of all rows at zero say nothing, and
/// integers what they can.
///
/// The last bound keeps numbers apart: n equal rows under a smaller rate would have a mean whose posterior sd is below
/// 10⁻⁸ of the column's, where sixteen digits end.
///
/// Values and weights of a sample in the units of the column's sd; `rows` is how many there are in all.
double narrow_share(const Vector& values, const Vector& weights, double rows, double rounding = 0.0);

}  // namespace lrvb::detail
