#include "kind/regression/drawing.hpp"

#include "family/special.hpp"
#include "kind/bins.hpp"
#include "kind/drawing.hpp"
#include "kind/regression/fitted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lrvb::detail {

namespace {

constexpr Index kLineGrid = 60;
constexpr Index kResidualBins = 48;

/// The columns that a term makes.
Index design_width(const RegressionTerm& term) {
    return term.is_factor() ? static_cast<Index>(term.levels.size()) - 1 : 1;
}

/// The rows and the fitted line along one term, the other columns held at their centres: a row's response less what the
/// others explain of it, y_n − Σ_j β_j (x_nj − x̄_j).
class TermDrawing {
  public:
    TermDrawing(const RegressionDesign& design, RegressionPosterior coefficients, std::optional<double> z)
        : design_(design), coefficients_(std::move(coefficients)), z_(z) {
        const Index size = coefficients_.mean.size();
        if (coefficients_.covariance.size() == 0) coefficients_.covariance = Matrix::Zero(size, size);
    }

    /// Of the term whose columns are `count` from `first` on.
    DrawingPanel panel(const RegressionTerm& term, Index first, Index count) const {
        DrawingPanel panel;
        panel.across = term.column;
        panel.up = design_.response;
        const Vector residuals = partial_residuals(first, count);
        if (term.is_factor()) {
            panel.places = term.levels;
            Vector places = Vector::Zero(residuals.size());
            for (Index level = 0; level < count; ++level) {
                places += static_cast<double>(level + 1) * design_.columns.col(first + level);
            }
            add_places(panel, places, residuals, first, count);
        } else {
            add_line(panel, design_.columns.col(first), residuals, first);
        }
        return panel;
    }

    /// Of a regression on nothing but an intercept.
    DrawingPanel mean_panel() const {
        DrawingPanel panel;
        panel.up = design_.response;
        panel.places = {"all rows"};
        add_places(panel, Vector::Zero(design_.y.size()), design_.y, 0, 0);
        return panel;
    }

  private:
    Vector partial_residuals(Index first, Index count) const {
        const Index columns = design_.columns.cols();
        Vector slopes = coefficients_.mean.tail(columns);
        slopes.segment(first, count).setZero();
        return design_.y - (design_.columns.rowwise() - coefficients_.centre.transpose()) * slopes;
    }

    bool are_points() const { return design_.y.size() <= kMostDrawnPoints; }

    void add_line(DrawingPanel& panel, const Vector& x, const Vector& y, Index column) const {
        if (are_points()) {
            for (Index n = 0; n < y.size(); ++n) panel.points.push_back({x[n], y[n], kNoPart});
        } else {
            add_cells(panel, axis(x.minCoeff(), x.maxCoeff(), kResidualBins), x, y);
        }
        const double low = x.minCoeff();
        const double high = x.maxCoeff();
        const double margin = low < high ? 0.04 * (high - low) : std::max(1.0, 0.1 * std::abs(low));
        Matrix rows = coefficients_.centre.transpose().replicate(kLineGrid, 1);
        rows.col(column).setLinSpaced(kLineGrid, low - margin, high + margin);
        const RegressionPrediction line = predict(coefficients_, rows);
        if (z_) {
            panel.bands.push_back({rows.col(column), line.mean - *z_ * line.mean_sd, line.mean + *z_ * line.mean_sd});
        }
        panel.curves.push_back({rows.col(column), line.mean, 0});
    }

    void add_places(DrawingPanel& panel, const Vector& places, const Vector& y, Index first, Index count) const {
        constexpr double kWidth = 0.5;
        constexpr double kGolden = 0.6180339887498949;
        if (are_points()) {
            // Side by side, so that they can be told apart: even, and the same every time.
            for (Index n = 0; n < y.size(); ++n) {
                const double turns = kGolden * static_cast<double>(n + 1);
                panel.points.push_back({places[n] + kWidth * (turns - std::floor(turns) - 0.5), y[n], kNoPart});
            }
        } else {
            const auto bins = static_cast<Index>(panel.places.size());
            add_cells(panel, {-0.5, 1.0, bins}, places, y);
            for (DrawingPanel::Cell& cell : panel.cells) {
                cell.left += 0.5 * (1.0 - kWidth);
                cell.right -= 0.5 * (1.0 - kWidth);
            }
        }
        Matrix rows = coefficients_.centre.transpose().replicate(count + 1, 1);
        rows.middleCols(first, count).setZero();
        for (Index level = 0; level < count; ++level) rows(level + 1, first + level) = 1.0;
        const RegressionPrediction means = predict(coefficients_, rows);
        for (Index level = 0; level <= count; ++level) {
            const double reach = z_.value_or(0.0) * means.mean_sd[level];
            panel.intervals.push_back(
                {static_cast<double>(level), means.mean[level], means.mean[level] - reach, means.mean[level] + reach});
        }
    }

    void add_cells(DrawingPanel& panel, const Axis& across, const Vector& x, const Vector& y) const {
        const Axis up = axis(y.minCoeff(), y.maxCoeff(), kResidualBins);
        PairBins bins(0, across, 1, up);
        for (Index n = 0; n < y.size(); ++n) bins.add(x[n], y[n], design_.weight(n));
        const double most = bins.counts().maxCoeff();
        for (Index i = 0; i < across.bins; ++i) {
            for (Index j = 0; j < up.bins; ++j) {
                if (!(bins.counts()(i, j) > 0.0)) continue;
                const double left = across.start + across.step * static_cast<double>(i);
                const double low = up.start + up.step * static_cast<double>(j);
                panel.cells.push_back(
                    {left, left + across.step, low, low + up.step, bins.counts()(i, j) / most, kNoPart});
            }
        }
    }

    const RegressionDesign& design_;
    RegressionPosterior coefficients_;
    std::optional<double> z_;
};

}  // namespace

Drawing drawing_by_terms(const RegressionDesign& design, const RegressionPosterior& coefficients,
                         const DrawingOptions& options) {
    using Swatch = DrawingLegend::Swatch;
    std::optional<double> z;
    if (coefficients.covariance.size() > 0) z = central_quantile(options.level);
    const TermDrawing draw(design, coefficients, z);
    const std::vector<RegressionTerm>& terms = design.terms;
    std::vector<std::string> names;
    std::vector<Index> firsts;
    for (const RegressionTerm& term : terms) {
        const Index last = firsts.empty() ? 0 : firsts.back();
        const Index width = names.empty() ? 0 : design_width(terms[names.size() - 1]);
        firsts.push_back(last + width);
        names.push_back(term.column);
    }
    std::vector<Index> chosen = drawn_columns(options.columns, names);
    for (Index t = 0; options.columns.empty() && t < static_cast<Index>(terms.size()); ++t) chosen.push_back(t);
    Drawing drawing;
    const bool others = terms.size() > 1;
    drawing.caption =
        fmt::format("{}{}, and the fit", design.response, others ? ", less what the other columns explain" : "");
    drawing.legend.push_back({"rows", Swatch::dot});
    bool has_line = false;
    bool has_places = terms.empty();
    for (const Index t : chosen) {
        if (static_cast<Index>(drawing.panels.size()) == kMostPanels) {
            ++drawing.left_out;
            continue;
        }
        const RegressionTerm& term = terms[static_cast<std::size_t>(t)];
        drawing.panels.push_back(draw.panel(term, firsts[static_cast<std::size_t>(t)], design_width(term)));
        (term.is_factor() ? has_places : has_line) = true;
    }
    if (terms.empty()) drawing.panels.push_back(draw.mean_panel());
    if (has_line) drawing.legend.push_back({"fitted line", Swatch::line, 0});
    if (has_line && z) {
        drawing.legend.push_back({fmt::format("its {} posterior band", percent(options.level)), Swatch::band});
    }
    if (has_places) {
        drawing.legend.push_back(
            {z ? fmt::format("fitted mean, {} interval", percent(options.level)) : "fitted mean", Swatch::interval, 0});
    }
    return drawing;
}

Drawing FittedRegression::drawing(const FitFile& shown, const DrawingOptions& options) const {
    return drawing_by_terms(*design_, static_cast<const RegressionRecord&>(*shown.model).coefficients, options);
}

}  // namespace lrvb::detail
