// Leverage by location, after the paper's second figure: two components, 500 rows, weights and precisions held; how
// much each row moves the two means. An SVG on standard output; "make picture" writes it to docs/.

#include <lrvb/lrvb.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <exception>

namespace {

constexpr lrvb::Index kRows = 500;
constexpr double kLeft = 64.0;
constexpr double kTop = 62.0;
constexpr double kWidth = 550.0;
constexpr double kHeight = 260.0;

lrvb::Vector draw_rows() {
    lrvb::Random random(2014);
    lrvb::Vector x(kRows);
    for (double& value : x) value = (random.uniform() < 0.5 ? -2.0 : 2.0) + random.normal();
    return x;
}

void draw() {
    const lrvb::Vector x = draw_rows();
    lrvb::MixtureSpecification specification;
    specification.components = 2;
    lrvb::MixtureFitOptions options;
    options.fixed.weights = lrvb::Vector{{0.5, 0.5}};
    options.fixed.precisions = std::vector<lrvb::Matrix>(2, lrvb::Matrix::Ones(1, 1));
    const lrvb::MixtureFit fit = lrvb::fit_mixture(std::make_shared<lrvb::TableSource>(x), specification, options);
    const lrvb::LinearResponse response(*fit.model, fit.optimum);
    lrvb::Matrix leverage(kRows, 2);
    response.leverage(fit.model->in_data_units({"mu[1]", "mu[2]"}), [&](const lrvb::RowAnswers& rows) {
        leverage.middleRows(rows.first, rows.answers.rows()) = rows.answers;
    });

    const double low = std::floor(x.minCoeff());
    const double high = std::ceil(x.maxCoeff());
    const double bottom = 0.005 * std::floor(leverage.minCoeff() / 0.005);
    const double top = 0.005 * std::ceil(leverage.maxCoeff() / 0.005);
    const auto across = [&](double value) { return kLeft + kWidth * (value - low) / (high - low); };
    const auto down = [&](double value) { return kTop + kHeight * (top - value) / (top - bottom); };
    fmt::print(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"370\" viewBox=\"0 0 640 370\" "
        "font-family=\"sans-serif\" font-size=\"13\">\n<title>Leverage of each row on the two means, by location"
        "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
    fmt::print("<text x=\"16\" y=\"24\" font-size=\"15\">d E[mean] / d x of each of {} rows, by where it lies</text>\n",
               kRows);
    fmt::print("<circle cx=\"24\" cy=\"44\" r=\"4\" fill=\"#d55e00\"/><text x=\"36\" y=\"48\">mu[1]</text>\n");
    fmt::print("<circle cx=\"104\" cy=\"44\" r=\"4\" fill=\"#0072b2\"/><text x=\"116\" y=\"48\">mu[2]</text>\n");
    for (double tick = bottom; tick < top + 1e-9; tick += 0.005) {
        fmt::print("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", kLeft,
                   kLeft + kWidth, down(tick), down(tick), std::abs(tick) < 1e-9 ? "black" : "#dddddd");
        fmt::print("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{:.3f}</text>\n", kLeft - 8.0, down(tick) + 4.0,
                   tick + 0.0);
    }
    for (double tick = low; tick <= high; tick += 1.0) {
        fmt::print("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:.0f}</text>\n", across(tick),
                   kTop + kHeight + 20.0, tick + 0.0);
    }
    fmt::print("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">x</text>\n", kLeft + 0.5 * kWidth,
               kTop + kHeight + 40.0);
    for (lrvb::Index n = 0; n < kRows; ++n) {
        for (lrvb::Index k = 0; k < 2; ++k) {
            fmt::print("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2\" fill=\"{}\" fill-opacity=\"0.6\"/>\n", across(x[n]),
                       down(leverage(n, k)), k == 0 ? "#d55e00" : "#0072b2");
        }
    }
    fmt::print("</svg>\n");
}

}  // namespace

int main() {
    try {
        draw();
    } catch (const std::exception& error) {
        fmt::print(stderr, "leverage_picture: {}\n", error.what());
        return 1;
    }
    return 0;
}
