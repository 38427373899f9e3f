#include "kind/drawing.hpp"

#include "family/special.hpp"
#include "formula/term/latent_term.hpp"
#include "kind/bins.hpp"
#include "kind/regression/drawing.hpp"
#include "kind/regression/field/fitted.hpp"
#include "kind/regression/field/groups.hpp"
#include "kind/regression/field/plain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lrvb::detail {

namespace {

constexpr Index kFitBins = 48;
constexpr Index kMostIntervals = 150;  // of groups in a panel, that can be told apart

void add_rows(DrawingPanel& panel, const FieldData& data, const FieldRowFit& rows) {
    const Index count = rows.fitted.size();
    if (count <= kMostDrawnPoints) {
        for (Index n = 0; n < count; ++n) panel.points.push_back({rows.fitted[n], rows.observed[n], kNoPart});
        return;
    }
    const Axis across = axis(rows.fitted.minCoeff(), rows.fitted.maxCoeff(), kFitBins);
    const Axis up = axis(rows.observed.minCoeff(), rows.observed.maxCoeff(), kFitBins);
    PairBins bins(0, across, 1, up);
    for (Index n = 0; n < count; ++n) bins.add(rows.fitted[n], rows.observed[n], data.weight(n));
    const double most = bins.counts().maxCoeff();
    for (Index i = 0; i < across.bins; ++i) {
        for (Index j = 0; j < up.bins; ++j) {
            if (!(bins.counts()(i, j) > 0.0)) continue;
            const double left = across.start + across.step * static_cast<double>(i);
            const double low = up.start + up.step * static_cast<double>(j);
            panel.cells.push_back({left, left + across.step, low, low + up.step, bins.counts()(i, j) / most, kNoPart});
        }
    }
}

// The responses by what the fit says of them, with the line where they are the same.
DrawingPanel fit_panel(const FieldData& data, const FieldRowFit& rows) {
    const bool is_share = data.likelihood->has_trials();
    DrawingPanel panel;
    panel.across = is_share ? "fitted probability" : "fitted " + data.response;
    panel.up = is_share ? "observed share" : data.response;
    add_rows(panel, data, rows);
    const Vector ends{{rows.fitted.minCoeff(), rows.fitted.maxCoeff()}};
    panel.curves.push_back({ends, ends, 0});
    return panel;
}

// f at the nodes of a term, with its interval.
DrawingPanel curve_panel(const FormulaCoding::Latent& latent, const Posterior& posterior, double level) {
    const Vector& nodes = latent.term->nodes();
    std::vector<Index> chosen;
    for (std::size_t v = 0; v < posterior.variables.size(); ++v) {
        const VariableMeaning& meaning = posterior.variables[v].meaning;
        if (meaning.group == "f" && meaning.indices.size() == 2 && meaning.indices[0] == latent.name) {
            chosen.push_back(static_cast<Index>(v));
        }
    }
    const std::vector<Posterior::Row> rows = posterior.summary(chosen, level);
    const bool responds = posterior.has_response();
    Vector mean(nodes.size());
    Vector low(nodes.size());
    Vector high(nodes.size());
    for (Index i = 0; i < nodes.size(); ++i) {
        const Posterior::Row& row = rows[static_cast<std::size_t>(i)];
        mean[i] = row.mean;
        low[i] = responds ? row.lower : row.mean_field_lower;
        high[i] = responds ? row.upper : row.mean_field_upper;
    }
    DrawingPanel panel;
    panel.across = latent.column;
    panel.up = latent.name;
    panel.bands.push_back({nodes, low, high});
    panel.curves.push_back({nodes, mean, 0});
    return panel;
}

}  // namespace

Drawing FittedField::drawing(const FitFile& shown, const DrawingOptions& options) const {
    using Swatch = DrawingLegend::Swatch;
    if (std::optional<std::vector<RegressionTerm>> terms = plain_terms(*record_)) {
        return drawing_by_terms(plain_design(std::move(*terms), rows()),
                                plain_coefficients(*record_, shown.posterior, shown.posterior.mean), options);
    }
    const FormulaShape& shape = record_->shape;
    const FieldVariables variables = record_->variables();
    const FieldData& data = this->rows();
    std::vector<std::string> names{data.response};
    for (const FormulaShape::Factor& factor : shape.factors) {
        if (std::find(names.begin(), names.end(), factor.name) == names.end()) names.push_back(factor.name);
    }
    for (const FormulaShape::Term& term : shape.terms) names.push_back(term.name);
    std::vector<std::string> wanted;
    for (const Index at : drawn_columns(options.columns, names)) wanted.push_back(names[static_cast<std::size_t>(at)]);
    const auto is_wanted = [&](const std::string& name) {
        return options.columns.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
    };
    Drawing drawing;
    const Vector& means = shown.posterior.mean;
    if (is_wanted(data.response)) {
        const FieldRowFit rows = row_fit(data, variables, *record_->numbers.centre, means);
        drawing.panels.push_back(fit_panel(data, rows));
        drawing.caption = fmt::format("{} by what the fit says", data.response);
        drawing.legend.push_back({"rows", Swatch::dot});
        drawing.legend.push_back({"observed as fitted", Swatch::line, 0});
    }
    bool has_curves = false;
    for (std::size_t t = 0; t < shape.terms.size(); ++t) {
        if (!is_wanted(shape.terms[t].name)) continue;
        if (static_cast<Index>(drawing.panels.size()) == kMostPanels) {
            ++drawing.left_out;
            continue;
        }
        drawing.panels.push_back(curve_panel(record_->coding->latent()[t], shown.posterior, options.level));
        has_curves = true;
    }
    if (has_curves) {
        drawing.caption += drawing.caption.empty() ? "Curves of terms" : ", and the curves of terms";
        drawing.legend.push_back(
            {fmt::format("curve of a term, {} interval", percent(options.level)), Swatch::band, 0});
    }
    const Index count = static_cast<Index>(variables.statistics().size()) - variables.first_effect();
    const Index first = static_cast<Index>(shown.posterior.variables.size()) - count;
    bool has_groups = false;
    for (const DrawnEffect& one :
         drawn_effects(shape, means.segment(variables.first_effect(), count), kMostIntervals)) {
        const FormulaShape::Factor& factor = shape.factors[one.factor];
        if (!is_wanted(factor.name)) continue;
        if (static_cast<Index>(drawing.panels.size()) == kMostPanels) {
            ++drawing.left_out;
            continue;
        }
        DrawingPanel panel;
        panel.up = fmt::format("{} of {}", factor.effects[static_cast<std::size_t>(one.effect)], factor.name);
        const bool all = one.levels.size() == factor.levels.size();
        panel.across =
            all ? fmt::format("{}, by mean", factor.name)
                : fmt::format("{} of {} of {}, by mean", one.levels.size(), factor.levels.size(), factor.name);
        std::vector<Index> chosen;
        for (const Index level : one.levels) {
            panel.places.push_back(factor.levels[static_cast<std::size_t>(level)]);
            chosen.push_back(first + one.place(shape, level));
        }
        const std::vector<Posterior::Row> rows = shown.posterior.summary(chosen, options.level);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const bool responds = shown.posterior.has_response();
            panel.intervals.push_back({static_cast<double>(i), rows[i].mean,
                                       responds ? rows[i].lower : rows[i].mean_field_lower,
                                       responds ? rows[i].upper : rows[i].mean_field_upper});
        }
        const Vector zero = Vector::Zero(2);
        panel.curves.push_back({Vector{{-0.5, static_cast<double>(rows.size()) - 0.5}}, zero, kNoPart});
        drawing.panels.push_back(std::move(panel));
        has_groups = true;
    }
    if (has_groups) {
        drawing.caption += drawing.caption.empty() ? "Effects of the groups" : ", and the effects of the groups";
        drawing.legend.push_back(
            {fmt::format("effect of a group, {} interval", percent(options.level)), Swatch::interval, 0});
    }
    return drawing;
}

}  // namespace lrvb::detail
