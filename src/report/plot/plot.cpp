#include "base/messages.hpp"
#include "report/plot/figures.hpp"
#include "report/selection.hpp"

#include <lrvb/query/sensitivity.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace lrvb {

namespace plot {

std::string title_of(const FitFile& fit, const PlotOptions& options) {
    return options.title.empty() ? fit.model->title(fit.data) : options.title;
}

std::string warning_of(const FitFile& fit) {
    return fit.converged() ? "" : "The fit did not converge: do not rely on this picture.";
}

std::vector<Index> shown_variables(const FitFile& fit, const PlotOptions& options, std::size_t most, std::size_t limit,
                                   std::size_t& left_out) {
    left_out = 0;
    if (!options.variables.empty()) {
        std::vector<Index> chosen = fit.posterior.select(options.variables);
        if (chosen.size() > limit) {
            throw std::invalid_argument(
                fmt::format("{} variables are too many for one picture: name {} or fewer", chosen.size(), limit));
        }
        return chosen;
    }
    const report::Selection selection = report::select(fit, prior_numbers(fit));
    std::vector<Index> chosen = selection.variables;
    left_out = static_cast<std::size_t>(selection.variables_left_out);
    if (chosen.size() > most) {
        // What people look at first: the entries beside diagonals go before the others.
        std::stable_partition(chosen.begin(), chosen.end(), [&](Index v) {
            return fit.posterior.variables[static_cast<std::size_t>(v)].meaning.role != Role::off_diagonal;
        });
        left_out += chosen.size() - most;
        chosen.resize(most);
        std::sort(chosen.begin(), chosen.end());
    }
    return chosen;
}

double flexible_height(const PlotOptions& options, double others, double usual, double least) {
    if (options.height == 0) return usual;
    const double left = options.height - others;
    if (left >= least) return left;
    throw std::invalid_argument(fmt::format("a height of {} is too small for this picture: it needs {} or more",
                                            options.height, static_cast<int>(std::ceil(others + least))));
}

}  // namespace plot

const std::vector<std::string>& figure_names() {
    static const std::vector<std::string> names{"intervals", "fit", "correlation", "influence"};
    return names;
}

Figure figure_named(std::string_view name) {
    const std::vector<std::string>& names = figure_names();
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
        throw std::invalid_argument(
            fmt::format("there is no figure {}: choose from {}", detail::shown(name), detail::enumerated(names)));
    }
    return static_cast<Figure>(found - names.begin());
}

bool needs_data(Figure figure) {
    return figure == Figure::fit || figure == Figure::influence;
}

std::string plot_svg(const FitFile& fit, const FittedModel* fitted, Figure figure, const PlotOptions& options) {
    constexpr int kNarrowest = 240;
    constexpr int kLargest = 20'000;
    if (options.width < kNarrowest || options.width > kLargest || options.height < 0 || options.height > kLargest) {
        throw std::invalid_argument(fmt::format(
            "the picture is to be {} by {} pixels: a width from {} to {} and a height up to {} can be drawn",
            options.width, options.height, kNarrowest, kLargest, kLargest));
    }
    if (needs_data(figure) && fitted == nullptr) {
        throw std::invalid_argument(fmt::format("the figure '{}' shows the data: give those that were fitted",
                                                figure_names()[static_cast<std::size_t>(figure)]));
    }
    switch (figure) {
        case Figure::fit:
            return plot::fit_figure(fit, *fitted, options);
        case Figure::correlation:
            return plot::correlation_figure(fit, options);
        case Figure::influence:
            return plot::influence_figure(fit, *fitted, options);
        case Figure::intervals:
            break;
    }
    return plot::intervals_figure(fit, options);
}

}  // namespace lrvb
