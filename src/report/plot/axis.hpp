#pragma once

#include "report/plot/svg.hpp"

#include <string>
#include <vector>

/// Axes of numbers.
namespace lrvb::plot {

/// What an axis must show: grows with what is added, and leaves out what is no number.
class Range {
  public:
    void add(double value);
    bool is_empty() const { return !(low_ <= high_); }
    double low() const { return low_; }
    double high() const { return high_; }
    /// With a margin, as a share of its length; never empty, and long enough for doubles to tell its ends apart.
    Range with_margin(double share) const;

  private:
    double low_ = 1.0;  // empty: above high_
    double high_ = 0.0;
};

/// From numbers to pixels.
struct Scale {
    double low = 0.0;
    double high = 1.0;
    double from = 0.0;
    double to = 1.0;

    double operator()(double value) const;
    bool holds(double value) const { return value >= low && value <= high; }
    /// The nearest number that the axis shows.
    double within(double value) const;
};

/// Round numbers along an axis. Labels are of value = label × 10^power + offset, where `note` says so; it is empty
/// where labels are the values.
struct Ticks {
    std::vector<double> values;
    std::vector<std::string> labels;
    std::string note;
};

/// About so many, in steps of 1, 2 or 5.
Ticks round_ticks(double low, double high, double about);

/// As few digits as two of the sd (without one, three of the value) are worth.
std::string number_text(double value, double sd);

constexpr double kTickSize = 11.0;

/// An axis below a panel, with lines up to `top` where `grid`; its title in the middle below. Returns how much room it
/// takes below `y`.
double draw_bottom_axis(Svg& svg, const Scale& scale, double y, double top, bool grid, const std::string& title);
/// An axis left of a panel, with lines to `right`; its title, turned, at `title_x`.
void draw_left_axis(Svg& svg, const Scale& scale, double x, double right, const std::string& title, double title_x);
/// Whether something stands above it, of which its labels are parts.
bool has_note(const Scale& up);
/// How wide the labels of such an axis are.
double left_labels_width(const Scale& scale);

struct Swatch {
    enum class Kind { block, dot, line, bar, diamond };

    std::string text;
    Kind kind = Kind::line;
    std::string_view colour = kInk;
    double opacity = 1.0;
};

/// Swatches side by side, in as many lines as they need. Returns the room that they take.
double draw_legend(Svg& svg, double x, double y, double width, const std::vector<Swatch>& swatches);

/// The title, what is seen, and notes, one below the other. Returns where they end.
struct Heading {
    std::string title;
    std::string caption;
    std::string warning;
    std::vector<Swatch> legend;
};
double draw_heading(Svg& svg, const Heading& heading);

constexpr double kMargin = 16.0;

}  // namespace lrvb::plot
