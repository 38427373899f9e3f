#pragma once

#include <lrvb/report/plot.hpp>

#include <string>
#include <vector>

/// The figures, one file each.
namespace lrvb::plot {

std::string intervals_figure(const FitFile& fit, const PlotOptions& options);
std::string fit_figure(const FitFile& fit, const FittedModel& fitted, const PlotOptions& options);
std::string correlation_figure(const FitFile& fit, const PlotOptions& options);
std::string influence_figure(const FitFile& fit, const FittedModel& fitted, const PlotOptions& options);

std::string title_of(const FitFile& fit, const PlotOptions& options);
/// "means and intervals are …", or nothing: what must be known of the fit.
std::string warning_of(const FitFile& fit);

/// Positions of the variables to show, at most so many of those that nobody asked for by name; `left_out` says how many
/// more there are. Throws std::invalid_argument for more than `limit` that were asked for.
std::vector<Index> shown_variables(const FitFile& fit, const PlotOptions& options, std::size_t most, std::size_t limit,
                                   std::size_t& left_out);

/// The height of what can grow, so that the whole is as high as asked for, or `usual` where nothing was. Throws
/// std::invalid_argument where less than `least` would be left.
double flexible_height(const PlotOptions& options, double others, double usual, double least);

}  // namespace lrvb::plot
