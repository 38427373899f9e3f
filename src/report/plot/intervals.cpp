#include "family/special.hpp"
#include "kind/drawing.hpp"
#include "report/plot/axis.hpp"
#include "report/plot/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lrvb::plot {

namespace {

constexpr std::size_t kMostIntervals = 80;
constexpr std::size_t kIntervalLimit = 1000;
constexpr double kVisible = 0.025;   // of an axis: an interval that is shorter cannot be seen
constexpr double kZeroShare = 0.08;  // of an axis that reaches to zero: an interval that is longer may take it there

struct Estimate {
    Posterior::Row row;
    const VariableMeaning* meaning = nullptr;
    double exact_mean = 0.0;
    double exact_sd = 0.0;  // 0: not known

    bool has_response() const { return !std::isnan(row.sd); }
    double sd() const { return has_response() ? row.sd : row.mean_field_sd; }
    bool is_held() const { return !(sd() > 0.0); }
    double lower() const { return has_response() ? row.lower : row.mean_field_lower; }
    double upper() const { return has_response() ? row.upper : row.mean_field_upper; }
};

using Estimates = std::vector<Estimate>;

struct IntervalPanel {
    std::string title;
    Estimates estimates;
};

std::string interval_text(const Estimate& one) {
    const double sd = one.sd();
    if (one.is_held()) return number_text(one.row.mean, 0.0) + ", held";
    return fmt::format("{} [{}, {}]", number_text(one.row.mean, sd), number_text(one.lower(), sd),
                       number_text(one.upper(), sd));
}

Range range_of(const Estimates& estimates, double z) {
    Range range;
    for (const Estimate& one : estimates) {
        for (const double value :
             {one.row.mean, one.lower(), one.upper(), one.row.mean_field_lower, one.row.mean_field_upper}) {
            range.add(value);
        }
        if (!(one.exact_sd > 0.0)) continue;
        range.add(one.exact_mean - z * one.exact_sd);
        range.add(one.exact_mean + z * one.exact_sd);
    }
    return range;
}

double shortest_share(const Estimates& estimates, const Range& range) {
    double least = 1.0;
    for (const Estimate& one : estimates) {
        if (one.is_held()) continue;
        const double length = 0.5 * range.high() - 0.5 * range.low();
        least = std::min(least, (0.5 * one.upper() - 0.5 * one.lower()) / length);
    }
    return least;
}

// Of one unit each; those of one group share an axis while every interval can be seen on it.
std::vector<IntervalPanel> panels_of(const Estimates& estimates, double z) {
    const auto unit = [](const Estimate& one) {
        return one.meaning->panel.empty() ? one.meaning->group : one.meaning->panel;
    };
    std::vector<IntervalPanel> units;
    for (const Estimate& one : estimates) {
        auto own =
            std::find_if(units.begin(), units.end(), [&](const IntervalPanel& p) { return p.title == unit(one); });
        if (own == units.end()) own = units.insert(units.end(), {unit(one), {}});
        own->estimates.push_back(one);
    }
    std::vector<IntervalPanel> panels;
    const auto group_of = [](const IntervalPanel& panel) { return panel.estimates.front().meaning->group; };
    for (IntervalPanel& next : units) {
        if (!panels.empty() && group_of(panels.back()) == group_of(next)) {
            Estimates both = panels.back().estimates;
            both.insert(both.end(), next.estimates.begin(), next.estimates.end());
            if (shortest_share(both, range_of(both, z)) >= kVisible) {
                panels.back() = {"", std::move(both)};
                continue;
            }
        }
        panels.push_back(std::move(next));
    }
    // A title that would repeat the names is none.
    for (IntervalPanel& panel : panels) {
        const auto of_group = std::count_if(panels.begin(), panels.end(), [&](const IntervalPanel& other) {
            return group_of(other) == group_of(panel);
        });
        if (of_group == 1 || panel.estimates.size() == 1 || panel.title == group_of(panel)) panel.title.clear();
    }
    return panels;
}

// Coefficients are compared with zero, where zero is near enough.
Range axis_range(const IntervalPanel& panel, double z) {
    Range range = range_of(panel.estimates, z);
    const bool coefficients = std::all_of(panel.estimates.begin(), panel.estimates.end(),
                                          [](const Estimate& one) { return one.meaning->role == Role::coefficient; });
    if (coefficients) {
        Range further = range;
        further.add(0.0);
        const double length = 0.5 * further.high() - 0.5 * further.low();
        double widest = 0.0;
        for (const Estimate& one : panel.estimates) {
            widest = std::max(widest, (0.5 * one.upper() - 0.5 * one.lower()) / length);
        }
        if (widest >= kZeroShare) range = further;
    }
    return range.with_margin(0.06);
}

void draw_estimate(Svg& svg, const Estimate& one, const Scale& scale, double y, double z) {
    const double mean = scale(one.row.mean);
    const auto from = [&](double value) { return std::isnan(value) ? mean : scale(scale.within(value)); };
    const std::string& name = one.row.name;
    svg.open("variable");
    if (one.is_held()) {
        svg.circle(mean, y, 4.0, {.fill = kPaper, .stroke = kMuted, .width = 1.5, .mark = "mean"},
                   fmt::format("{}: {}", name, interval_text(one)));
        svg.close();
        return;
    }
    const double field_low = from(one.row.mean_field_lower);
    const double field_high = from(one.row.mean_field_upper);
    svg.line(field_low, y, field_high, y, {.stroke = kNegative, .width = 10.0, .opacity = 0.35, .mark = "mean-field"},
             fmt::format("{}, mean field: {} to {}", name, number_text(one.row.mean_field_lower, one.row.mean_field_sd),
                         number_text(one.row.mean_field_upper, one.row.mean_field_sd)));
    const std::string_view colour = one.has_response() ? colour_of(0) : kNegative;
    if (one.has_response()) {
        svg.line(from(one.row.lower), y, from(one.row.upper), y,
                 {.stroke = colour, .width = 2.5, .mark = "interval", .round = true},
                 fmt::format("{}: {}", name, interval_text(one)));
    }
    svg.circle(mean, y, 4.5, {.fill = colour, .stroke = kPaper, .mark = "mean"},
               fmt::format("{}: {}", name, interval_text(one)));
    if (one.exact_sd > 0.0) {
        const double low = from(one.exact_mean - z * one.exact_sd);
        const double high = from(one.exact_mean + z * one.exact_sd);
        const double below = y + 8.5;
        const double at = scale(one.exact_mean);
        const std::string tip =
            fmt::format("{}, exact posterior: {} with sd {}", name, number_text(one.exact_mean, one.exact_sd),
                        number_text(one.exact_sd, one.exact_sd));
        svg.line(low, below, high, below, {.stroke = kInk, .width = 1.25, .dash = "3 2", .mark = "exact"}, tip);
        svg.path({{at - 3.5, below}, {at, below - 3.5}, {at + 3.5, below}, {at, below + 3.5}}, true,
                 {.fill = kInk, .mark = "exact-mean"}, tip);
    }
    svg.close();
}

Estimates estimates_of(const FitFile& fit, const std::vector<Index>& chosen, double level) {
    const std::vector<Posterior::Row> rows = fit.posterior.summary(chosen, level);
    Estimates estimates;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto at = static_cast<std::size_t>(chosen[i]);
        Estimate& one = estimates.emplace_back();
        one.row = rows[i];
        one.row.mean = rows[i].centre();
        one.row.sd = rows[i].width(level);
        one.meaning = &fit.posterior.variables[at].meaning;
        if (!fit.check || fit.check->variables[at].verdict.empty()) continue;
        const CheckedVariable& checked = fit.check->variables[at];
        if (checked.moments() == TailMoments::mean_and_sd && std::isfinite(checked.mean_exact) &&
            std::isfinite(checked.sd_exact)) {
            one.exact_mean = checked.mean_exact;
            one.exact_sd = checked.sd_exact;
        }
    }
    return estimates;
}

}  // namespace

std::string intervals_figure(const FitFile& fit, const PlotOptions& options) {
    std::size_t left_out = 0;
    const std::vector<Index> chosen = shown_variables(fit, options, kMostIntervals, kIntervalLimit, left_out);
    const Estimates estimates = estimates_of(fit, chosen, options.level);
    const double z = detail::central_quantile(options.level);
    const std::vector<IntervalPanel> panels = panels_of(estimates, z);
    const bool has_response = fit.posterior.has_response();
    const bool has_exact =
        std::any_of(estimates.begin(), estimates.end(), [](const Estimate& one) { return one.exact_sd > 0.0; });
    const bool has_held =
        std::any_of(estimates.begin(), estimates.end(), [](const Estimate& one) { return one.is_held(); });

    Svg svg(options.width);
    Heading heading;
    heading.title = title_of(fit, options);
    heading.caption = fmt::format("Posterior means and {} intervals", detail::percent(options.level));
    if (left_out > 0) heading.caption += fmt::format("; {} more variables are not drawn", left_out);
    heading.warning = has_response ? warning_of(fit)
                                   : "The fit did not converge: these intervals are mean field’s, which are too short.";
    if (has_response) {
        heading.legend.push_back({!fit.correction               ? "linear response"
                                  : fit.correction->how.empty() ? "draws of the exact posterior"
                                                                : "the posterior, integrated",
                                  Swatch::Kind::bar, colour_of(0)});
    }
    heading.legend.push_back({"mean field", Swatch::Kind::block, kNegative, 0.35});
    if (has_exact) heading.legend.push_back({"exact posterior, mean ± sds", Swatch::Kind::diamond, kInk});
    if (has_held) heading.legend.push_back({"held", Swatch::Kind::dot, kLine});
    const double top = draw_heading(svg, heading) + 8.0;

    constexpr double kNameSize = 12.5;
    constexpr double kNumberSize = 11.5;
    double names = 0.0;
    double numbers = 0.0;
    for (const Estimate& one : estimates) {
        names = std::max(names, text_width(one.row.name, kNameSize));
        numbers = std::max(numbers, text_width(interval_text(one), kNumberSize));
    }
    names = std::min(names, 0.3 * options.width);
    // Numbers beside the intervals, where half of the picture is left to these.
    const bool has_numbers = options.width - 2.0 * kMargin - names - numbers - 36.0 >= 0.4 * options.width;
    const double left = kMargin + names + 12.0;
    const double right = options.width - kMargin - (has_numbers ? numbers + 16.0 : 8.0);

    constexpr double kAxisRoom = 26.0;
    constexpr double kNoteRoom = 14.0;
    constexpr double kTitleRoom = 20.0;
    constexpr double kBelow = 12.0;
    double others = top + kMargin;
    std::vector<Scale> scales;
    for (const IntervalPanel& panel : panels) {
        const Range range = axis_range(panel, z);
        scales.push_back({range.low(), range.high(), left, right});
        const bool noted = !round_ticks(range.low(), range.high(), 4.0).note.empty();
        others += kAxisRoom + kBelow + (noted ? kNoteRoom : 0.0) + (panel.title.empty() ? 0.0 : kTitleRoom);
    }
    const auto count = static_cast<double>(std::max<std::size_t>(1, estimates.size()));
    const double row = flexible_height(options, others, (has_exact ? 32.0 : 26.0) * count, 11.0 * count) / count;

    double y = top;
    std::string words;
    for (std::size_t p = 0; p < panels.size(); ++p) {
        const IntervalPanel& panel = panels[p];
        const Scale& scale = scales[p];
        if (!panel.title.empty()) {
            svg.text(left, y + 12.0, panel.title, {.size = 12.0, .fill = kMuted, .most = right - left, .mark = "name"});
            y += kTitleRoom;
        }
        const double bottom = y + row * static_cast<double>(panel.estimates.size());
        svg.open("panel");
        double room = draw_bottom_axis(svg, scale, bottom, y, true, "");
        const bool coefficients = panel.estimates.front().meaning->role == Role::coefficient;
        if (coefficients && scale.holds(0.0)) {
            svg.line(scale(0.0), y, scale(0.0), bottom, {.stroke = kMuted, .width = 1.25, .mark = "zero"});
        }
        for (std::size_t i = 0; i < panel.estimates.size(); ++i) {
            const Estimate& one = panel.estimates[i];
            const double middle = y + row * (static_cast<double>(i) + 0.5) - (has_exact ? 3.0 : 0.0);
            svg.text(left - 12.0, middle + 4.5, one.row.name,
                     {.size = std::min(kNameSize, row), .anchor = Anchor::end, .most = names, .mark = "name"});
            draw_estimate(svg, one, scale, middle, z);
            if (has_numbers) {
                svg.text(options.width - kMargin, middle + 4.0, interval_text(one),
                         {.size = std::min(kNumberSize, row), .fill = kMuted, .anchor = Anchor::end});
            }
            words += fmt::format("{}{}: {}", words.empty() ? "" : "; ", one.row.name, interval_text(one));
        }
        svg.close();
        room = std::max(room + 4.0, kAxisRoom);
        y = bottom + room + kBelow;
    }
    const double height = options.height > 0 ? options.height : std::ceil(y - kBelow + kMargin);
    return svg.finish(height, heading.title, fmt::format("{}. {}", heading.caption, words));
}

}  // namespace lrvb::plot
