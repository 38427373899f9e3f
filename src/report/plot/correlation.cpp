#include "report/plot/axis.hpp"
#include "report/plot/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace lrvb::plot {

namespace {

constexpr std::size_t kMostCorrelated = 32;  // as many as the page shows at once
constexpr std::size_t kCorrelationLimit = 200;

// From paper to blue for positive ones, to orange for negative ones: the colour-blind tell these apart, and dark from
// light needs no colour at all.
std::string colour_of_correlation(double r) {
    constexpr std::array<double, 3> kBlue{0x00, 0x72, 0xb2};
    constexpr std::array<double, 3> kOrange{0xd5, 0x5e, 0x00};
    const std::array<double, 3>& end = r < 0.0 ? kOrange : kBlue;
    const double share = std::min(1.0, std::abs(r));
    const auto mixed = [&](std::size_t i) { return static_cast<int>(std::lround(255.0 + share * (end[i] - 255.0))); };
    return fmt::format("#{:02x}{:02x}{:02x}", mixed(0), mixed(1), mixed(2));
}

std::string correlation_text(double r) {
    std::string text = fmt::format("{:.2f}", r);
    if (text == "-0.00") return "0.00";
    if (text.front() == '-') text.replace(0, 1, "−");
    return text;
}

// A bar from −1 to 1 with what its colours mean.
void draw_key(Svg& svg, double right, double y) {
    constexpr int kSteps = 40;
    constexpr double kLength = 160.0;
    const double left = right - kLength;
    svg.open("key");
    for (int i = 0; i < kSteps; ++i) {
        const double r = -1.0 + (2.0 * i + 1.0) / kSteps;
        const std::string colour = colour_of_correlation(r);
        svg.rect(left + kLength * i / kSteps, y, kLength / kSteps + 0.3, 10.0, {.fill = colour});
    }
    for (const double r : {-1.0, -0.5, 0.0, 0.5, 1.0}) {
        const double x = left + 0.5 * kLength * (1.0 + r);
        svg.line(x, y + 10.0, x, y + 14.0, {.stroke = kLine});
        svg.text(x, y + 25.0, r < 0.0 ? fmt::format("−{:g}", -r) : fmt::format("{:g}", r),
                 {.size = kTickSize, .fill = kMuted, .anchor = Anchor::middle});
    }
    svg.close();
}

}  // namespace

std::string correlation_figure(const FitFile& fit, const PlotOptions& options) {
    std::size_t left_out = 0;
    std::vector<Index> chosen = shown_variables(fit, options, kMostCorrelated, kCorrelationLimit, left_out);
    if (!fit.posterior.has_response()) {
        throw NotAnOptimum(
            "there are no correlations to draw, because the fit did not converge: fit again with more iterations or "
            "another seed");
    }
    const Vector all_sds = fit.posterior.sds(chosen);
    std::vector<Index> free;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        if (all_sds[static_cast<Index>(i)] > 0.0) free.push_back(chosen[i]);
    }
    if (free.empty()) {
        throw std::runtime_error("all of these variables were held fixed: there are no correlations to draw");
    }
    const Matrix covariance = fit.posterior.covariance_of(free, Method::linear_response);
    const Vector inverse = covariance.diagonal().cwiseSqrt().cwiseInverse();
    const Index count = covariance.rows();
    std::vector<std::string> names;
    names.reserve(free.size());
    for (const Index v : free) names.push_back(fit.posterior.variables[static_cast<std::size_t>(v)].name);

    Svg svg(options.width);
    Heading heading;
    heading.title = title_of(fit, options);
    heading.caption = "Posterior correlations";
    if (left_out > 0) heading.caption += fmt::format("; {} more variables are not drawn", left_out);
    heading.warning = warning_of(fit);
    const double top = draw_heading(svg, heading) + 6.0;

    const double most_name = 0.25 * options.width;
    double widest = 0.0;
    constexpr double kNameSize = 12.0;
    for (const std::string& name : names) widest = std::max(widest, text_width(name, kNameSize));
    widest = std::min(widest, most_name);
    const double left = kMargin + widest + 10.0;
    const double size = static_cast<double>(count);
    // Names below lean where they would touch.
    const double room = options.width - kMargin - left;
    double cell = std::min(88.0, room / size);
    const bool leans = widest + 6.0 > cell;
    const double below = leans ? 0.72 * widest + 22.0 : 32.0;
    const double others = top + below + 44.0;
    cell = std::min(cell, flexible_height(options, others, cell * size, 4.0 * size) / size);
    const double name_size = std::clamp(cell - 1.0, 3.0, kNameSize);
    const double number_size = std::min(11.5, cell / 3.1);

    std::string words;
    svg.open("cells", {{"left", left}, {"top", top}, {"cell", cell}});
    for (Index i = 0; i < count; ++i) {
        const std::string& row_name = names[static_cast<std::size_t>(i)];
        const double y = top + cell * static_cast<double>(i);
        svg.text(left - 8.0, y + 0.5 * cell + 0.36 * name_size, row_name,
                 {.size = name_size, .anchor = Anchor::end, .most = widest, .mark = "name"});
        const double x_of_name = left + cell * (static_cast<double>(i) + 0.5);
        const double y_of_name = top + cell * size + 14.0;
        svg.text(leans ? x_of_name + 3.0 : x_of_name, leans ? y_of_name - 2.0 : y_of_name + 2.0, row_name,
                 {.size = name_size,
                  .anchor = leans ? Anchor::end : Anchor::middle,
                  .turned = leans ? -45.0 : 0.0,
                  .most = leans ? widest : std::max(widest, cell)});
        for (Index j = 0; j < count; ++j) {
            const double r = i == j ? 1.0 : std::clamp(covariance(i, j) * inverse[i] * inverse[j], -1.0, 1.0);
            if (!std::isfinite(r)) continue;
            const double x = left + cell * static_cast<double>(j);
            const std::string colour = colour_of_correlation(r);
            const std::string& column_name = names[static_cast<std::size_t>(j)];
            svg.rect(x + 0.5, y + 0.5, cell - 1.0, cell - 1.0, {.fill = colour, .stroke = kGrid, .mark = "cell"},
                     fmt::format("{} and {}: {}", row_name, column_name, correlation_text(r)));
            if (number_size >= 8.5) {
                svg.text(x + 0.5 * cell, y + 0.5 * cell + 0.36 * number_size, correlation_text(r),
                         {.size = number_size,
                          .fill = r > 0.85 ? kPaper : kInk,  // whichever is read more easily
                          .anchor = Anchor::middle,
                          .mark = "number"});
            }
        }
    }
    svg.close();
    const double bottom = top + cell * size + below;
    draw_key(svg, std::max(left + cell * size, left + 170.0), bottom);
    const double height = options.height > 0 ? options.height : std::ceil(bottom + 44.0);
    return svg.finish(height, heading.title,
                      fmt::format("{} of {} variables, as a heat map: blue for positive, orange for negative ones.",
                                  heading.caption, count));
}

}  // namespace lrvb::plot
