#include "kind/drawing.hpp"

#include "family/special.hpp"
#include "kind/bins.hpp"
#include "kind/mixture/fitted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace lrvb::detail {

namespace {

constexpr Index kGrid = 240;
constexpr Index kDrawnBins = 48;
constexpr Index kNamedComponents = 7;  // that a legend lists one by one
constexpr std::array<double, 2> kShares{0.5, 0.9};

/// A mixture at the posterior means of its weights, locations and (co)variances: p(x) = Σ_k π_k N(x | μ_k, Σ_k), and
/// how these variables stand in the posterior, by what they mean.
class DrawnMixture {
  public:
    DrawnMixture(const Posterior& posterior, Index components, Index columns)
        : posterior_(posterior), components_(components), columns_(columns) {
        for (Index v = 0; v < static_cast<Index>(posterior.variables.size()); ++v) {
            const VariableMeaning& meaning = posterior.variables[static_cast<std::size_t>(v)].meaning;
            if (meaning.group == "pi") weights_.push_back(v);
            if (meaning.group == "mu") locations_.push_back(v);
            if (meaning.group == "sigma") spreads_.push_back(v);
            if (meaning.group == "Sigma") {
                entries_.push_back(v);
                if (meaning.role == Role::covariance) spreads_.push_back(v);
            }
        }
        const auto all = static_cast<std::size_t>(components * columns);
        if (locations_.size() != all || spreads_.size() != all) {
            throw std::runtime_error("the posterior of the fit lacks means or sds of its components: fit again");
        }
    }

    double weight(Index k) const {
        return static_cast<Index>(weights_.size()) == components_ ? mean(weights_[static_cast<std::size_t>(k)]) : 1.0;
    }
    double location(Index k, Index p) const { return mean(location_at(k, p)); }
    double sd(Index k, Index p) const {
        const double spread = std::max(0.0, mean(spread_at(k, p)));
        return entries_.empty() ? spread : std::sqrt(spread);
    }
    double covariance(Index k, Index p, Index q) const {
        if (p == q) return sd(k, p) * sd(k, p);
        if (entries_.empty()) return 0.0;
        // The upper half of each component's matrix, row by row.
        const Index i = std::min(p, q);
        const Index at = i * columns_ - i * (i - 1) / 2 + std::max(p, q) - i;
        return mean(entries_[static_cast<std::size_t>(k * columns_ * (columns_ + 1) / 2 + at)]);
    }

    /// Of one component and column, weighted.
    double density(Index k, Index p, double x) const {
        const double width = sd(k, p);
        if (!(width > 0.0)) return 0.0;
        return weight(k) * normal((x - location(k, p)) / width) / width;
    }

    /// The posterior sd of the density of a column, √(gᵀ Σ̂ g) with g its gradient in the variables.
    Vector density_sds(Index p, const Vector& xs) const {
        std::vector<Index> variables;
        const bool has_weights = static_cast<Index>(weights_.size()) == components_;
        for (Index k = 0; k < components_; ++k) {
            if (has_weights) variables.push_back(weights_[static_cast<std::size_t>(k)]);
            variables.push_back(location_at(k, p));
            variables.push_back(spread_at(k, p));
        }
        const Matrix covariance = posterior_.covariance_of(variables, Method::linear_response);
        Vector sds(xs.size());
        Vector gradient = Vector::Zero(covariance.rows());
        for (Index i = 0; i < xs.size(); ++i) {
            Index next = 0;
            for (Index k = 0; k < components_; ++k) {
                const double width = sd(k, p);
                const double z = width > 0.0 ? (xs[i] - location(k, p)) / width : 0.0;
                const double height = width > 0.0 ? normal(z) / width : 0.0;
                const double inverse = width > 0.0 ? 1.0 / width : 0.0;
                if (has_weights) gradient[next++] = height;
                gradient[next++] = weight(k) * height * z * inverse;
                // Of an sd, or of a variance.
                gradient[next++] =
                    weight(k) * height * (z * z - 1.0) * (entries_.empty() ? inverse : 0.5 * inverse * inverse);
            }
            sds[i] = std::sqrt(std::max(0.0, gradient.dot(covariance * gradient)));
        }
        return sds;
    }

    /// The ellipse that holds a share of a component; a line where it is flat.
    DrawingPanel::Curve ellipse(Index k, Index p, Index q, double share) const {
        constexpr Index kSteps = 72;
        const double radius = std::sqrt(-2.0 * std::log1p(-share));
        const double a = sd(k, p);  // [a 0; b c] is the Cholesky factor
        const double b = a > 0.0 ? covariance(k, p, q) / a : 0.0;
        const double c = std::sqrt(std::max(0.0, covariance(k, q, q) - b * b));
        DrawingPanel::Curve curve{Vector(kSteps + 1), Vector(kSteps + 1), components_ > 1 ? k : kNoPart, false};
        for (Index i = 0; i <= kSteps; ++i) {
            const double angle = 2.0 * std::numbers::pi * static_cast<double>(i % kSteps) / static_cast<double>(kSteps);
            curve.x[i] = location(k, p) + a * radius * std::cos(angle);
            curve.y[i] = location(k, q) + radius * (b * std::cos(angle) + c * std::sin(angle));
        }
        return curve;
    }

  private:
    static double normal(double z) { return std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi); }
    double mean(Index v) const { return posterior_.variables[static_cast<std::size_t>(v)].mean; }
    Index location_at(Index k, Index p) const { return locations_[static_cast<std::size_t>(k * columns_ + p)]; }
    Index spread_at(Index k, Index p) const { return spreads_[static_cast<std::size_t>(k * columns_ + p)]; }

    const Posterior& posterior_;
    Index components_;
    Index columns_;
    std::vector<Index> weights_;
    std::vector<Index> locations_;
    std::vector<Index> spreads_;  // sds, or the diagonals of full covariances
    std::vector<Index> entries_;  // of full covariances
};

// Even steps, and finer ones about each component, however narrow it is.
Vector density_grid(const DrawnMixture& mixture, Index components, Index p, double low, double high) {
    std::vector<double> xs;
    for (Index i = 0; i < kGrid; ++i) {
        xs.push_back(low + (high - low) * static_cast<double>(i) / static_cast<double>(kGrid - 1));
    }
    for (Index k = 0; k < components; ++k) {
        for (int i = -16; i <= 16; ++i) {
            const double x = mixture.location(k, p) + 0.25 * i * mixture.sd(k, p);
            if (x > low && x < high) xs.push_back(x);
        }
    }
    std::sort(xs.begin(), xs.end());
    return Eigen::Map<const Vector>(xs.data(), static_cast<Index>(xs.size()));
}

// A component where it can be told from nothing: it has one hill.
DrawingPanel::Curve seen_part(const Vector& xs, const Vector& density, const Vector& all, Index part) {
    constexpr double kSeen = 2e-3;
    const double least = kSeen * all.maxCoeff();
    Index first = 0;
    Index last = xs.size() - 1;
    while (first < last && !(density[first] > least)) ++first;
    while (last > first && !(density[last] > least)) --last;
    return {xs.segment(first, last - first + 1), density.segment(first, last - first + 1), part};
}

DrawingPanel density_panel(const DrawnMixture& mixture, Index components, Index p, DrawingPanel::Bars bars,
                           std::optional<double> z) {
    DrawingPanel panel;
    panel.up = "density";
    panel.up_from_zero = true;
    const double total = bars.heights.sum();
    if (total > 0.0) bars.heights /= total * bars.step;
    const double low = bars.start;
    const double high = bars.start + bars.step * static_cast<double>(bars.heights.size());
    const double margin = 0.04 * (high - low);
    const Vector xs = density_grid(mixture, components, p, low - margin, high + margin);
    Matrix parts(xs.size(), components);
    for (Index k = 0; k < components; ++k) {
        parts.col(k) = xs.unaryExpr([&](double x) { return mixture.density(k, p, x); });
    }
    const Vector all = parts.rowwise().sum();
    if (z) {
        const Vector reach = *z * mixture.density_sds(p, xs);
        panel.bands.push_back({xs, (all - reach).cwiseMax(0.0), all + reach});
    }
    for (Index k = 0; k < components && components > 1; ++k)
        panel.curves.push_back(seen_part(xs, parts.col(k), all, k));
    panel.curves.push_back({xs, all, kNoPart});
    panel.bars = std::move(bars);
    return panel;
}

// All rows, each with the component that has most of it.
void for_each_belonging(RowSource& source, const MixtureShape& shape, const State& state,
                        const std::function<void(const double*, Index)>& visit) {
    constexpr Index kChunk = 1 << 12;  // rows
    const Index width = source.columns();
    std::vector<double> buffer(static_cast<std::size_t>(kChunk * width));
    source.rewind();
    while (const Index count = source.read(buffer.data(), kChunk)) {
        const Matrix values =
            Eigen::Map<const Matrix>(buffer.data(), width, count).topRows(shape.centre.size()).transpose();
        Matrix shares;
        if (shape.components > 1) shares = predict(shape, state, values).responsibilities;
        for (Index i = 0; i < count; ++i) {
            Index part = kNoPart;
            if (shape.components > 1) shares.row(i).maxCoeff(&part);
            visit(buffer.data() + i * width, part);
        }
    }
}

// Counts of cells by component: each has the colour of the one that has most of its rows.
std::vector<DrawingPanel::Cell> cells_of(const Axis& x, const Axis& y, const Matrix& counts) {
    const Vector totals = counts.rowwise().sum();
    const double most = totals.maxCoeff();
    std::vector<DrawingPanel::Cell> cells;
    for (Index cell = 0; cell < counts.rows(); ++cell) {
        if (!(totals[cell] > 0.0)) continue;
        Index part = kNoPart;
        if (counts.cols() > 1) counts.row(cell).maxCoeff(&part);
        const Index row = cell / y.bins;
        const double left = x.start + x.step * static_cast<double>(row);
        const double low = y.start + y.step * static_cast<double>(cell % y.bins);
        cells.push_back({left, left + x.step, low, low + y.step, totals[cell] / most, part});
    }
    return cells;
}

void add_component_legend(Drawing& drawing, const DrawnMixture& mixture, Index components) {
    using Swatch = DrawingLegend::Swatch;
    if (components == 1) return;
    if (components > kNamedComponents) {
        drawing.legend.push_back({fmt::format("{} components", components), Swatch::line, 0});
        return;
    }
    for (Index k = 0; k < components; ++k) {
        drawing.legend.push_back(
            {fmt::format("component {} ({:.3g} %)", k + 1, 100.0 * mixture.weight(k)), Swatch::line, k});
    }
}

}  // namespace

Drawing FittedMixture::drawing(const FitFile& shown, const DrawingOptions& options) const {
    using Swatch = DrawingLegend::Swatch;
    const std::vector<std::string>& names = shown.data.columns;
    std::vector<Index> columns = drawn_columns(options.columns, names);
    if (columns.size() > 2) throw std::invalid_argument("more than two columns of a mixture to draw: give one or two");
    if (columns.empty()) columns.push_back(0);
    if (options.columns.empty() && names.size() > 1) columns.push_back(1);
    const Index components = record().components;
    const DrawnMixture mixture(shown.posterior, components, record().columns());
    const auto name = [&](Index p) { return names[static_cast<std::size_t>(p)]; };
    Drawing drawing;
    if (columns.size() == 1) {
        const Document document = picture();
        const Document& histogram = (*document.find("histograms")->entries())[static_cast<std::size_t>(columns[0])];
        std::optional<double> z;
        if (shown.posterior.has_response()) z = central_quantile(options.level);
        drawing.panels.push_back(density_panel(mixture, components, columns[0], bars_of(histogram), z));
        drawing.panels.back().across = name(columns[0]);
        drawing.caption = fmt::format("The rows by {}, and the fitted density", name(columns[0]));
        drawing.legend = {{"rows", Swatch::bar}, {"density", Swatch::line}};
        if (z) drawing.legend.push_back({fmt::format("its {} posterior band", percent(options.level)), Swatch::band});
    } else {
        drawing.caption = fmt::format("The rows by {} and {}: ellipses hold {} and {} of each component",
                                      name(columns[0]), name(columns[1]), percent(kShares[0]), percent(kShares[1]));
        DrawingPanel& panel = drawing.panels.emplace_back(rows_panel(columns[0], columns[1], shown));
        panel.across = name(columns[0]);
        panel.up = name(columns[1]);
        for (Index k = 0; k < components; ++k) {
            for (const double share : kShares) {
                panel.curves.push_back(mixture.ellipse(k, columns[0], columns[1], share));
            }
            panel.centres.push_back({mixture.location(k, columns[0]), mixture.location(k, columns[1]),
                                     components > 1 ? fmt::format("{}", k + 1) : "", components > 1 ? k : kNoPart});
        }
    }
    add_component_legend(drawing, mixture, components);
    return drawing;
}

DrawingPanel FittedMixture::rows_panel(Index p, Index q, const FitFile& shown) const {
    ColumnSummary ends(record().columns(), file().data.weights.has_value());
    if (!summary_) for_each_row(*source_, [&](const double* row) { ends.add(row); });
    const ColumnSummary& summary = summary_ ? *summary_ : ends;
    const MixtureShape shape = record().shape();
    const State state = shown.state(mixture_layout(shape));
    const auto weight = [&](const double* row) { return file().data.weights ? row[record().columns()] : 1.0; };
    DrawingPanel panel;
    if (file().data.rows <= kMostDrawnPoints) {
        for_each_belonging(*source_, shape, state, [&](const double* row, Index part) {
            if (weight(row) > 0.0) panel.points.push_back({row[p], row[q], part});
        });
        return panel;
    }
    const Axis x = axis(summary.smallest()[p], summary.largest()[p], kDrawnBins);
    const Axis y = axis(summary.smallest()[q], summary.largest()[q], kDrawnBins);
    Matrix counts = Matrix::Zero(x.bins * y.bins, record().components);
    for_each_belonging(*source_, shape, state, [&](const double* row, Index part) {
        counts(x.bin(row[p]) * y.bins + y.bin(row[q]), std::max<Index>(part, 0)) += weight(row);
    });
    panel.cells = cells_of(x, y, counts);
    return panel;
}

}  // namespace lrvb::detail
