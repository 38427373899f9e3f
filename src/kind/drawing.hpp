#pragma once

#include <lrvb/base/document.hpp>
#include <lrvb/kind/drawing.hpp>

#include <string>
#include <vector>

/// What kinds need to draw themselves.
namespace lrvb::detail {

constexpr Index kMostDrawnPoints = 2000;
constexpr Index kMostPanels = 6;

/// Positions of these columns among all; throws std::invalid_argument, with those that there are, for another.
std::vector<Index> drawn_columns(const std::vector<std::string>& chosen, const std::vector<std::string>& all);

/// One of FittedModel::picture()'s histograms.
DrawingPanel::Bars bars_of(const Document& histogram);

/// "90 %".
std::string percent(double share);

}  // namespace lrvb::detail
