#pragma once

#include <lrvb/types.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

/// Scatter plots side by side, as SVG.
namespace lrvb::reproduce {

struct Points {
    std::string name;
    std::string colour;
    std::vector<double> x;
    std::vector<double> y;
};

struct Panel {
    std::string title;
    std::string x_label;
    std::string y_label;
    std::vector<Points> points;
    bool diagonal = false;  // equal axes, and the line on which both are the same
};

// Colours that the colour-blind can tell apart.
inline const std::string kOrange = "#d55e00";
inline const std::string kBlue = "#0072b2";

inline std::string plot(const std::string& title, std::vector<Panel> panels) {
    constexpr double kSide = 230.0;
    constexpr double kGap = 84.0;
    constexpr double kTop = 78.0;
    const double width = kGap + static_cast<double>(panels.size()) * (kSide + kGap);
    const double height = kTop + kSide + 60.0;
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
        "{1:.0f}\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n<title>{2}</title>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"16\" y=\"24\" font-size=\"15\">{2}</text>\n",
        width, height, title);
    double legend = 24.0;
    for (const Points& points : panels.front().points) {
        svg +=
            fmt::format("<circle cx=\"{:.0f}\" cy=\"44\" r=\"4\" fill=\"{}\"/><text x=\"{:.0f}\" y=\"48\">{}</text>\n",
                        legend, points.colour, legend + 10.0, points.name);
        legend += 40.0 + 7.0 * static_cast<double>(points.name.size());
    }
    for (std::size_t i = 0; i < panels.size(); ++i) {
        Panel& panel = panels[i];
        double low[2] = {1e300, 1e300};
        double high[2] = {-1e300, -1e300};
        for (const Points& points : panel.points) {
            for (std::size_t n = 0; n < points.x.size(); ++n) {
                low[0] = std::min(low[0], points.x[n]);
                high[0] = std::max(high[0], points.x[n]);
                low[1] = std::min(low[1], points.y[n]);
                high[1] = std::max(high[1], points.y[n]);
            }
        }
        if (panel.diagonal) {
            low[0] = low[1] = 0.0;
            high[0] = high[1] = 1.05 * std::max(high[0], high[1]);
        }
        const double left = kGap + static_cast<double>(i) * (kSide + kGap);
        const auto across = [&](double value) { return left + kSide * (value - low[0]) / (high[0] - low[0]); };
        const auto down = [&](double value) { return kTop + kSide * (high[1] - value) / (high[1] - low[1]); };
        svg += fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" stroke=\"#999999\"/>\n"
            "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n"
            "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n"
            "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" transform=\"rotate(-90 {:.1f} "
            "{:.1f})\">{}</text>\n",
            left, kTop, kSide, kSide, left + 0.5 * kSide, kTop - 8.0, panel.title, left + 0.5 * kSide,
            kTop + kSide + 40.0, panel.x_label, left - 56.0, kTop + 0.5 * kSide, left - 56.0, kTop + 0.5 * kSide,
            panel.y_label);
        for (int tick = 0; tick <= 4; ++tick) {
            const double x = low[0] + 0.25 * tick * (high[0] - low[0]);
            const double y = low[1] + 0.25 * tick * (high[1] - low[1]);
            svg += fmt::format(
                "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:.2g}</text>"
                "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{:.2g}</text>\n",
                across(x), kTop + kSide + 18.0, x, left - 6.0, down(y) + 4.0, y);
        }
        if (panel.diagonal) {
            svg += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"black\"/>\n",
                               across(low[0]), down(low[0]), across(high[0]), down(high[0]));
        }
        for (const Points& points : panel.points) {
            for (std::size_t n = 0; n < points.x.size(); ++n) {
                svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2\" fill=\"{}\" fill-opacity=\"0.5\"/>\n",
                                   across(points.x[n]), down(points.y[n]), points.colour);
            }
        }
    }
    return svg += "</svg>\n";
}

}  // namespace lrvb::reproduce
