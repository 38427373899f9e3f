#include "report/plot/axis.hpp"
#include "report/plot/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lrvb::plot {

namespace {

constexpr double kBeyond = 0.15;  // of the data's range: so far the axes follow curves that need no frame

std::string_view colour_of_part(Index part, std::string_view otherwise) {
    return part == kNoPart ? otherwise : colour_of(static_cast<std::size_t>(part));
}

struct PanelRanges {
    Range across;
    Range up;
};

// Those of the data and of all that must be seen.
PanelRanges ranges_of(const DrawingPanel& panel) {
    PanelRanges ranges;
    if (panel.bars) {
        ranges.across.add(panel.bars->start);
        ranges.across.add(panel.bars->start + panel.bars->step * static_cast<double>(panel.bars->heights.size()));
        for (const double height : panel.bars->heights) ranges.up.add(height);
    }
    for (const DrawingPanel::Cell& cell : panel.cells) {
        ranges.across.add(cell.left);
        ranges.across.add(cell.right);
        ranges.up.add(cell.low);
        ranges.up.add(cell.high);
    }
    for (const DrawingPanel::Point& point : panel.points) {
        ranges.across.add(point.x);
        ranges.up.add(point.y);
    }
    for (const DrawingPanel::Interval& one : panel.intervals) {
        ranges.across.add(one.at);
        for (const double y : {one.mean, one.lower, one.upper}) ranges.up.add(y);
    }
    if (panel.up_from_zero) ranges.up.add(0.0);
    const Range across = ranges.across.with_margin(kBeyond);
    const Range up = ranges.up.with_margin(kBeyond);
    for (const DrawingPanel::Curve& curve : panel.curves) {
        for (const double y : curve.y) {
            if (std::isfinite(y)) ranges.up.add(curve.is_framed ? y : std::clamp(y, up.low(), up.high()));
        }
        for (const double x : curve.x) {
            if (!curve.is_framed && std::isfinite(x)) ranges.across.add(std::clamp(x, across.low(), across.high()));
        }
    }
    for (const DrawingPanel::Band& band : panel.bands) {
        for (const double y : band.high) ranges.up.add(y);
        for (const double y : band.low) ranges.up.add(y);
    }
    if (!panel.places.empty()) {
        ranges.across = Range();
        ranges.across.add(-0.5);
        ranges.across.add(static_cast<double>(panel.places.size()) - 0.5);
    }
    return ranges;
}

using PixelPoints = std::vector<std::pair<double, double>>;

PixelPoints points_along(const Vector& xs, const Vector& ys, const Scale& across, const Scale& up) {
    PixelPoints points;
    for (Index i = 0; i < xs.size(); ++i) points.emplace_back(across(xs[i]), up(ys[i]));
    return points;
}

void draw_marks(Svg& svg, const DrawingPanel& panel, const Scale& across, const Scale& up) {
    if (panel.bars) {
        for (Index b = 0; b < panel.bars->heights.size(); ++b) {
            const double from = across(panel.bars->start + panel.bars->step * static_cast<double>(b));
            const double to = across(panel.bars->start + panel.bars->step * static_cast<double>(b + 1));
            const double top = up(panel.bars->heights[b]);
            svg.rect(from, top, std::max(0.5, to - from - 0.6), up(0.0) - top, {.fill = kBar, .mark = "bin"});
        }
    }
    for (const DrawingPanel::Cell& cell : panel.cells) {
        svg.rect(
            across(cell.left), up(cell.high), across(cell.right) - across(cell.left), up(cell.low) - up(cell.high),
            {.fill = colour_of_part(cell.part, kMuted), .opacity = 0.08 + 0.8 * std::sqrt(cell.share), .mark = "cell"});
    }
    for (const DrawingPanel::Band& band : panel.bands) {
        PixelPoints outline = points_along(band.x, band.high, across, up);
        const PixelPoints low = points_along(band.x, band.low, across, up);
        outline.insert(outline.end(), low.rbegin(), low.rend());
        svg.path(outline, true, {.fill = kAccent, .opacity = kBandOpacity, .mark = "band"});
    }
    for (const DrawingPanel::Point& point : panel.points) {
        svg.circle(across(point.x), up(point.y), 2.6,
                   {.fill = colour_of_part(point.part, kMuted), .opacity = 0.6, .mark = "row"});
    }
    for (const DrawingPanel::Curve& curve : panel.curves) {
        const bool is_part = curve.part != kNoPart;
        svg.path(points_along(curve.x, curve.y, across, up), false,
                 {.stroke = colour_of_part(curve.part, kInk),
                  .width = !is_part     ? 1.5
                           : panel.bars ? 4.5
                                        : 2.25,
                  .dash = is_part ? dash_of(static_cast<std::size_t>(curve.part)) : "",
                  .mark = "curve",
                  .round = true});
    }
    // Many levels stand close together.
    const double radius = std::clamp(0.3 * (across(1.0) - across(0.0)), 1.5, 5.0);
    for (const DrawingPanel::Interval& one : panel.intervals) {
        const double x = across(one.at);
        svg.line(x, up(one.lower), x, up(one.upper),
                 {.stroke = colour_of(0), .width = std::min(3.0, radius), .mark = "interval", .round = true});
        svg.circle(x, up(one.mean), radius,
                   {.fill = colour_of(0), .stroke = kPaper, .width = 0.25 * radius, .mark = "mean"});
    }
    for (const DrawingPanel::Centre& one : panel.centres) {
        const double x = across(one.x);
        const double y = up(one.y);
        const std::string_view colour = colour_of_part(one.part, kInk);
        for (const double width : {5.0, 2.5}) {
            const std::string_view stroke = width > 3.0 ? kPaper : colour;
            const std::string_view mark = width > 3.0 ? "" : "centre";
            svg.path({{x - 5.0, y}, {x + 5.0, y}}, false, {.stroke = stroke, .width = width, .mark = mark});
            svg.path({{x, y - 5.0}, {x, y + 5.0}}, false, {.stroke = stroke, .width = width});
        }
        svg.text(x + 8.0, y - 7.0, one.text,
                 {.size = 14.0, .fill = kInk, .bold = true, .edged = true, .mark = "label"});
    }
}

// The names of places below a panel: level where they have room, leaning where they have some, else how many there are.
double draw_places(Svg& svg, const DrawingPanel& panel, const Scale& across, double y) {
    const double place = (across.to - across.from) / static_cast<double>(panel.places.size());
    double widest = 0.0;
    for (const std::string& name : panel.places) widest = std::max(widest, text_width(name, kTickSize));
    svg.open("axis places", {{"low", across.low}, {"high", across.high}, {"from", across.from}, {"to", across.to}});
    svg.line(across.from, y, across.to, y, {.stroke = kLine});
    double below = 22.0;
    if (place >= 12.0) {
        const bool leans = widest + 8.0 > place && place < 60.0;
        const double most = leans ? 110.0 : place - 6.0;
        for (std::size_t i = 0; i < panel.places.size(); ++i) {
            const double x = across(static_cast<double>(i));
            svg.line(x, y, x, y + 4.0, {.stroke = kLine});
            svg.text(leans ? x + 4.0 : x, y + (leans ? 13.0 : 16.0), panel.places[i],
                     {.size = kTickSize,
                      .fill = kMuted,
                      .anchor = leans ? Anchor::end : Anchor::middle,
                      .turned = leans ? -45.0 : 0.0,
                      .most = most,
                      .mark = "name"});
        }
        if (leans) below = 14.0 + 0.75 * std::min(widest, most);
    } else {
        svg.text(0.5 * (across.from + across.to), y + 16.0, fmt::format("{} levels", panel.places.size()),
                 {.size = kTickSize, .fill = kMuted, .anchor = Anchor::middle});
    }
    if (!panel.across.empty()) {
        svg.text(0.5 * (across.from + across.to), y + below + 13.0, panel.across,
                 {.size = 13.0, .anchor = Anchor::middle, .most = across.to - across.from, .mark = "name"});
        below += 20.0;
    }
    svg.close();
    return below;
}

// How much room the names below need, without drawing them.
double room_below(const DrawingPanel& panel, double width) {
    if (panel.places.empty()) return 44.0;
    Svg unused(width);
    return draw_places(unused, panel, {-0.5, static_cast<double>(panel.places.size()) - 0.5, 0.0, width}, 0.0);
}

Swatch swatch_of(const DrawingLegend& entry) {
    switch (entry.swatch) {
        case DrawingLegend::Swatch::bar:
            return {entry.text, Swatch::Kind::block, kBar};
        case DrawingLegend::Swatch::dot:
            return {entry.text, Swatch::Kind::dot, colour_of_part(entry.part, kMuted), 0.6};
        case DrawingLegend::Swatch::band:
            return {entry.text, Swatch::Kind::block, kAccent, kBandOpacity};
        case DrawingLegend::Swatch::interval:
            return {entry.text, Swatch::Kind::bar, colour_of_part(entry.part, kInk)};
        case DrawingLegend::Swatch::line:
            break;
    }
    return {entry.text, Swatch::Kind::line, colour_of_part(entry.part, kInk)};
}

}  // namespace

std::string fit_figure(const FitFile& fit, const FittedModel& fitted, const PlotOptions& options) {
    const Drawing drawing = fitted.drawing(fit, {options.columns, options.level});
    Svg svg(options.width);
    Heading heading;
    heading.title = title_of(fit, options);
    heading.caption = drawing.caption;
    if (drawing.left_out > 0) heading.caption += fmt::format("; {} more columns are not drawn", drawing.left_out);
    heading.warning = warning_of(fit);
    for (const DrawingLegend& entry : drawing.legend) heading.legend.push_back(swatch_of(entry));
    const double top = draw_heading(svg, heading) + 10.0;

    // Panels of one response share its axis, so that they can be compared.
    std::vector<PanelRanges> ranges;
    for (const DrawingPanel& panel : drawing.panels) ranges.push_back(ranges_of(panel));
    for (std::size_t a = 0; a < ranges.size(); ++a) {
        for (std::size_t b = 0; b < ranges.size(); ++b) {
            if (drawing.panels[a].up_from_zero || drawing.panels[a].up != drawing.panels[b].up) continue;
            ranges[a].up.add(ranges[b].up.low());
            ranges[a].up.add(ranges[b].up.high());
        }
    }
    const std::size_t count = drawing.panels.size();
    const std::size_t most_columns = options.width >= 900 ? 3 : options.width >= 520 ? 2 : 1;
    const std::size_t columns = std::min(count == 4 ? std::min<std::size_t>(2, most_columns) : most_columns, count);
    const std::size_t lines = (count + columns - 1) / columns;
    constexpr double kGap = 20.0;

    std::vector<Scale> ups;
    double labels = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
        Range up = ranges[i].up.with_margin(0.05);
        ups.push_back({drawing.panels[i].up_from_zero ? 0.0 : up.low(), up.high(), 320.0, 0.0});
        labels = std::max(labels, left_labels_width(ups.back()));
    }
    const double beside = 22.0 + labels + 8.0;
    const double cell =
        (options.width - 2.0 * kMargin - kGap * static_cast<double>(columns - 1)) / static_cast<double>(columns);
    double below = 0.0;
    for (const DrawingPanel& panel : drawing.panels) below = std::max(below, room_below(panel, cell - beside));
    const bool noted = std::any_of(ups.begin(), ups.end(), [](const Scale& up) { return has_note(up); });
    const double above = noted ? 16.0 : 0.0;
    const double between = above + below + 20.0;
    const auto line_count = static_cast<double>(lines);
    const double usual = count == 1 ? std::min(400.0, 0.62 * options.width) : std::min(300.0, 0.8 * cell);
    const double panel_height =
        flexible_height(options, top + between * line_count, usual * line_count, 60.0 * line_count) / line_count;

    double end = top;
    for (std::size_t i = 0; i < count; ++i) {
        const DrawingPanel& panel = drawing.panels[i];
        const std::size_t line = i / columns;
        const double left = kMargin + (cell + kGap) * static_cast<double>(i % columns) + beside;
        const double right = left - beside + cell;
        const double y = top + above + (panel_height + between) * static_cast<double>(line);
        const Range across_range = panel.places.empty() ? ranges[i].across.with_margin(0.04) : ranges[i].across;
        const Scale across{across_range.low(), across_range.high(), left, right};
        const Scale up{ups[i].low, ups[i].high, y + panel_height, y};
        svg.open("panel");
        draw_left_axis(svg, up, left, right, panel.up, left - beside + 11.0);
        if (panel.places.empty()) draw_bottom_axis(svg, across, up.from, y, !panel.up_from_zero, panel.across);
        svg.open_clipped(left, y, right - left, panel_height + 1.0);
        draw_marks(svg, panel, across, up);
        svg.close();
        if (!panel.places.empty()) draw_places(svg, panel, across, up.from);
        svg.close();
        end = std::max(end, y + panel_height + below + 8.0);
    }
    const double height = options.height > 0 ? options.height : std::ceil(end);
    return svg.finish(height, heading.title, heading.caption + ".");
}

}  // namespace lrvb::plot
