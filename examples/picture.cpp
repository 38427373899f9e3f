// The picture of the README: posterior sds of a strongly overlapping mixture by mean field and by linear response, each
// over the exact sd, as an SVG on standard output. "make picture" writes it to docs/.

#include "csv.hpp"
#include "mixture_with_indicators.hpp"

#include <cstdio>
#include <exception>

namespace {

constexpr double kLeft = 110.0;   // of the axis
constexpr double kWidth = 460.0;  // of a ratio of one
constexpr double kRow = 26.0;
constexpr double kTop = 64.0;

double x_of(double ratio) {
    return kLeft + kWidth * ratio;
}

void draw(const std::string& directory) {
    const lrvb::Vector x = lrvb::example::read_column(directory + "/mixture3.csv", "x");
    const lrvb::Vector exact = lrvb::example::read_column(directory + "/mixture3_posterior.csv", "sd");
    const lrvb::example::Mixture mixture = lrvb::example::mixture_model(x, 3);
    const lrvb::LinearResponse response(mixture.model, lrvb::fit(mixture.model, mixture.ordered_start(x)));
    const std::vector<std::string> names = mixture.global_names();
    const lrvb::Vector mfvb = response.mean_field_sd(names).cwiseQuotient(exact);
    const lrvb::Vector sd = response.sd(names).cwiseQuotient(exact);

    const double bottom = kTop + kRow * static_cast<double>(names.size());
    fmt::print(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"{:.0f}\" viewBox=\"0 0 640 {:.0f}\" "
        "font-family=\"sans-serif\" font-size=\"13\">\n",
        bottom + 44.0, bottom + 44.0);
    fmt::print("<title>Posterior sd over exact sd: mean field 0.2 to 0.5, linear response near one</title>\n");
    fmt::print("<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
    fmt::print(
        "<text x=\"16\" y=\"24\" font-size=\"15\">Posterior sd over exact sd, three overlapping normals, N = "
        "{}</text>\n",
        x.size());
    fmt::print("<circle cx=\"24\" cy=\"44\" r=\"5\" fill=\"#d55e00\"/><text x=\"36\" y=\"48\">mean field</text>\n");
    fmt::print(
        "<circle cx=\"134\" cy=\"44\" r=\"5\" fill=\"#0072b2\"/><text x=\"146\" y=\"48\">linear response</text>\n");
    for (const double tick : {0.0, 0.25, 0.5, 0.75, 1.0}) {
        fmt::print("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"{3}\"/>\n", x_of(tick),
                   kTop, bottom, tick == 1.0 ? "black" : "#cccccc");
        fmt::print("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x_of(tick), bottom + 18.0,
                   tick == 1.0 ? "1 = exact" : fmt::format("{}", tick));
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        const double y = kTop + kRow * (static_cast<double>(i) + 0.5);
        const auto at = static_cast<lrvb::Index>(i);
        fmt::print("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 12.0, y + 4.0, names[i]);
        fmt::print("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#999999\"/>\n",
                   x_of(mfvb[at]), x_of(sd[at]), y, y);
        fmt::print("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"#d55e00\"/>\n", x_of(mfvb[at]), y);
        fmt::print("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"#0072b2\"/>\n", x_of(sd[at]), y);
    }
    fmt::print("</svg>\n");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        fmt::print(stderr, "usage: picture DATA_DIRECTORY\n");
        return 2;
    }
    try {
        draw(argv[1]);
    } catch (const std::exception& error) {
        fmt::print(stderr, "picture: {}\n", error.what());
        return 1;
    }
    return 0;
}
