#include "report/plot/axis.hpp"
#include "report/plot/figures.hpp"

#include <lrvb/query/influence.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace lrvb::plot {

namespace {

constexpr Index kMostStems = 2000;
constexpr Index kRowBins = 240;
constexpr Index kStrongest = 20;
constexpr std::size_t kLabelled = 10;

struct RowEffect {
    double row = 0.0;  // the file's
    double effect = 0.0;
};

/// Rows side by side that share a place: the ends and the mean of what they do.
struct RowBin {
    Range effects;
    double sum = 0.0;
    Index count = 0;
};

struct RowEffects {
    std::vector<RowEffect> rows;  // all, where they are few
    std::vector<RowBin> bins;     // otherwise
    std::vector<RowEffect> strongest;
    double first = 1.0;
    double last = 1.0;
};

RowEffects effects_of(const RowInfluence& influence, const FittedModel& fitted, bool is_signed) {
    const Index count = fitted.file().data.rows;
    RowEffects effects;
    effects.first = static_cast<double>(fitted.file_row(0));
    effects.last = static_cast<double>(fitted.file_row(std::max<Index>(count, 1) - 1));
    const bool are_few = count <= kMostStems;
    if (!are_few) effects.bins.resize(static_cast<std::size_t>(kRowBins));
    MostInfluential most(std::clamp<Index>(count / 10, 3, kStrongest));
    influence.each([&](const RowInfluence::Case& one) {
        const double effect = is_signed ? one.shifts[0] : one.distance;
        if (!std::isfinite(effect)) return;
        if (most.wants(one.distance)) most.add(one);
        const auto row = static_cast<double>(fitted.file_row(one.row));
        if (are_few) {
            effects.rows.push_back({row, effect});
            return;
        }
        const double place = (row - effects.first) / (effects.last - effects.first + 1.0);
        RowBin& bin = effects.bins[static_cast<std::size_t>(place * static_cast<double>(kRowBins))];
        bin.effects.add(effect);
        bin.sum += effect;
        ++bin.count;
    });
    for (const RowInfluence::Case& one : most.kept()) {
        effects.strongest.push_back(
            {static_cast<double>(fitted.file_row(one.row)), is_signed ? one.shifts[0] : one.distance});
    }
    return effects;
}

// The strongest get their numbers, where these touch no other number.
void label_strongest(Svg& svg, const RowEffects& effects, const Scale& across, const Scale& up) {
    constexpr double kSize = 11.0;
    struct Box {
        double left, right, top, bottom;
    };
    std::vector<Box> taken;
    for (std::size_t i = 0; i < std::min(kLabelled, effects.strongest.size()); ++i) {
        const RowEffect& one = effects.strongest[i];
        const std::string text = fmt::format("{:.0f}", one.row);
        const double width = text_width(text, kSize);
        const bool is_above = one.effect >= 0.0;
        const double x = std::clamp(across(one.row), across.from + 0.5 * width, across.to - 0.5 * width);
        const double base = up(one.effect) + (is_above ? -8.0 : 8.0 + 0.8 * kSize);
        const Box box{x - 0.5 * width - 2.0, x + 0.5 * width + 2.0, base - kSize, base + 2.0};
        const bool touches = std::any_of(taken.begin(), taken.end(), [&](const Box& other) {
            return box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom;
        });
        if (touches) continue;
        taken.push_back(box);
        svg.text(x, base, text, {.size = kSize, .anchor = Anchor::middle, .edged = true, .mark = "label"});
    }
}

}  // namespace

std::string influence_figure(const FitFile& fit, const FittedModel& fitted, const PlotOptions& options) {
    const RowInfluence influence(fitted, options.variables);
    if (influence.variables().empty()) {
        throw std::runtime_error("all of these variables were held fixed: no row moves them");
    }
    // Of one variable it is known where to; of several, only how far.
    const bool is_signed = influence.variables().size() == 1 && !options.variables.empty();
    const RowEffects effects = effects_of(influence, fitted, is_signed);
    const std::string& first =
        fitted.posterior().variables[static_cast<std::size_t>(influence.variables().front())].name;

    Svg svg(options.width);
    Heading heading;
    heading.title = title_of(fit, options);
    heading.caption = is_signed ? fmt::format("What dropping each row would do to the mean of {}", first)
                                : fmt::format("How far dropping each row would move the means of {} variables together",
                                              influence.variables().size());
    if (fit.correction) heading.warning = "By the linear response, before the fit was corrected.";
    if (!effects.bins.empty()) {
        heading.legend = {{"rows side by side, from the least to the most", Swatch::Kind::block, kBar},
                          {"their mean", Swatch::Kind::line, kMuted},
                          {fmt::format("the {} strongest", effects.strongest.size()), Swatch::Kind::dot, colour_of(0)}};
    }
    const double top = draw_heading(svg, heading) + 16.0;

    Range ups;
    ups.add(0.0);
    for (const RowEffect& one : effects.rows) ups.add(one.effect);
    for (const RowBin& bin : effects.bins) {
        if (bin.count == 0) continue;
        ups.add(bin.effects.low());
        ups.add(bin.effects.high());
    }
    Range wide = ups.with_margin(0.08);
    Scale up{is_signed ? wide.low() : 0.0, wide.high(), 0.0, top};
    constexpr double kBelow = 46.0;
    up.from = top + flexible_height(options, top + kBelow + 8.0, 320.0, 60.0);
    const double left = kMargin + 22.0 + left_labels_width(up) + 8.0;
    Range rows;
    rows.add(effects.first);
    rows.add(effects.last);
    const Range across_range = rows.with_margin(0.015);
    const Scale across{across_range.low(), across_range.high(), left, options.width - kMargin};

    svg.open("panel");
    draw_left_axis(svg, up, left, across.to, is_signed ? "shift, in posterior sds" : "distance, in posterior sds",
                   kMargin + 11.0);
    draw_bottom_axis(svg, across, up.from, top, false, "row");
    svg.line(left, up(0.0), across.to, up(0.0), {.stroke = kLine, .mark = "zero"});
    const double bin_width = (across.to - across.from) * (effects.last - effects.first + 1.0) /
                             (across.high - across.low) / static_cast<double>(kRowBins);
    for (std::size_t b = 0; b < effects.bins.size(); ++b) {
        const RowBin& bin = effects.bins[b];
        if (bin.count == 0) continue;
        const double x = across(effects.first) + bin_width * static_cast<double>(b);
        const double high = up(bin.effects.high());
        const double low = up(bin.effects.low());
        const double mean = up(bin.sum / static_cast<double>(bin.count));
        svg.rect(x, high, bin_width, std::max(0.5, low - high), {.fill = kBar, .mark = "bin"});
        svg.line(x, mean, x + bin_width, mean, {.stroke = kMuted, .width = 1.5, .mark = "bin-mean"});
    }
    for (const RowEffect& one : effects.rows) {
        svg.line(across(one.row), up(0.0), across(one.row), up(one.effect), {.stroke = kLine, .mark = "stem"});
    }
    const auto tip = [&](const RowEffect& one) {
        return fmt::format("row {:.0f}: {}", one.row, number_text(one.effect, 0.1 * std::abs(one.effect)));
    };
    for (const RowEffect& one : effects.rows) {
        svg.circle(across(one.row), up(one.effect), 2.6, {.fill = kMuted, .opacity = 0.7, .mark = "row"}, tip(one));
    }
    for (const RowEffect& one : effects.strongest) {
        svg.circle(across(one.row), up(one.effect), 3.4, {.fill = colour_of(0), .stroke = kPaper, .mark = "strong"},
                   tip(one));
    }
    label_strongest(svg, effects, across, up);
    svg.close();
    const double height = options.height > 0 ? options.height : std::ceil(up.from + kBelow + 8.0);
    std::string words;
    for (std::size_t i = 0; i < std::min<std::size_t>(5, effects.strongest.size()); ++i) {
        words += fmt::format("{}{}", i == 0 ? " The strongest: " : "; ", tip(effects.strongest[i]));
    }
    return svg.finish(height, heading.title,
                      fmt::format("{}, in posterior sds, by the row’s number.{}", heading.caption, words));
}

}  // namespace lrvb::plot
