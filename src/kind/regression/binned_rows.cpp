#include "kind/regression/binned_rows.hpp"

#include "kind/bins.hpp"

#include <algorithm>
#include <cmath>

namespace lrvb::detail {

namespace {

constexpr Index kFewRows = 100;  // that every page has room for
constexpr Index kMostBinnedTerms = 40;
constexpr double kMostTermCells = 46'000;  // of all terms together
constexpr Index kMostTermBins = 48;
constexpr Index kFewestTermBins = 12;

// Bins of the numbers x, or of so many levels, by the numbers y, each row as often as it counts.
Document binned(const RegressionDesign& design, const Vector& x, const Vector& y, Index levels, Index bins) {
    const Axis across = levels > 0 ? Axis{-0.5, 1.0, levels} : axis(x.minCoeff(), x.maxCoeff(), bins);
    const Axis up = axis(y.minCoeff(), y.maxCoeff(), bins);
    PairBins pair(0, across, 1, up);
    for (Index n = 0; n < x.size(); ++n) pair.add(x[n], y[n], design.weight(n));
    return Document{{"x_start", across.start},
                    {"x_step", across.step},
                    {"y_start", up.start},
                    {"y_step", up.step},
                    {"cells", cells_of(pair)}};
}

// Which level of a factor each row has, from its dummies: none is set in the reference.
Vector level_numbers(const Matrix& dummies) {
    Vector result(dummies.rows());
    for (Index n = 0; n < dummies.rows(); ++n) {
        Index level = 0;
        for (Index l = 0; l < dummies.cols(); ++l) {
            if (dummies(n, l) != 0.0) level = l + 1;
        }
        result[n] = static_cast<double>(level);
    }
    return result;
}

}  // namespace

Document binned_rows(const RegressionDesign& design, const RegressionPosterior& coefficients) {
    if (design.y.size() <= kFewRows) return {};
    const Index slopes = design.columns.cols();
    const double origin = coefficients.intercept ? coefficients.mean[0] : 0.0;
    const Vector beta = coefficients.mean.tail(slopes);
    const Vector fitted = ((design.columns * beta).array() + (origin - beta.dot(coefficients.centre))).matrix();
    const Vector residual = design.y - fitted;
    const Index terms = std::min(kMostBinnedTerms, static_cast<Index>(design.terms.size()));
    const auto room = static_cast<Index>(std::sqrt(kMostTermCells / static_cast<double>(terms + 1)));
    const Index bins = std::clamp(room, kFewestTermBins, kMostTermBins);
    Document list = Document::list();
    Index first = 0;
    for (Index t = 0; t < terms; ++t) {
        const RegressionTerm& term = design.terms[static_cast<std::size_t>(t)];
        const auto levels = static_cast<Index>(term.levels.size());
        const Index width = term.is_factor() ? levels - 1 : 1;
        const Matrix own = design.columns.middleCols(first, width);
        const double centre = beta.segment(first, width).dot(coefficients.centre.segment(first, width));
        const Vector partial = ((residual + own * beta.segment(first, width)).array() + (origin - centre)).matrix();
        list.push_back(
            binned(design, term.is_factor() ? level_numbers(own) : Vector(own.col(0)), partial, levels, bins));
        first += width;
    }
    return Document{
        {"binned", Document{{"terms", std::move(list)}, {"fitted", binned(design, fitted, design.y, 0, bins)}}}};
}

}  // namespace lrvb::detail
