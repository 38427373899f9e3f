#pragma once

#include <lrvb/types.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

/// What a fit looks like over its data, for `FittedModel::drawing`: numbers in the units of the data, with nothing of
/// how they are drawn. A kind of model says what there is to see; whoever draws it needs no kind's name.
///
/// Parts of the model (components of a mixture) are counted from 0 and have a colour each; kNoPart is for what belongs
/// to all of them.
namespace lrvb {

constexpr Index kNoPart = -1;

/// One pair of axes, and what lies between them, from the back to the front.
struct DrawingPanel {
    /// Titles of the axes.
    std::string across;
    std::string up;
    /// Names of the places 0, 1, 2, … across, instead of numbers: the levels of a factor.
    std::vector<std::string> places;
    bool up_from_zero = false;

    /// A histogram: bars of one width, side by side.
    struct Bars {
        double start = 0.0;
        double step = 1.0;
        Vector heights;
    };
    /// Rows that are too many to be points; `share` is the part of the fullest cell's that it has.
    struct Cell {
        double left = 0.0;
        double right = 0.0;
        double low = 0.0;
        double high = 0.0;
        double share = 0.0;
        Index part = kNoPart;
    };
    struct Point {
        double x = 0.0;
        double y = 0.0;
        Index part = kNoPart;
    };
    struct Band {
        Vector x;
        Vector low;
        Vector high;
    };
    struct Curve {
        Vector x;
        Vector y;
        Index part = kNoPart;
        /// The axes must reach as far as it does; they do not follow the others far beyond the data.
        bool is_framed = true;
    };
    /// A mean with its interval.
    struct Interval {
        double at = 0.0;
        double mean = 0.0;
        double lower = 0.0;
        double upper = 0.0;
    };
    /// A cross with a few letters.
    struct Centre {
        double x = 0.0;
        double y = 0.0;
        std::string text;
        Index part = kNoPart;
    };

    std::optional<Bars> bars;
    std::vector<Cell> cells;
    std::vector<Point> points;
    std::vector<Band> bands;
    std::vector<Curve> curves;
    std::vector<Interval> intervals;
    std::vector<Centre> centres;
};

struct DrawingLegend {
    enum class Swatch { bar, dot, line, band, interval };

    std::string text;
    Swatch swatch = Swatch::line;
    Index part = kNoPart;
};

struct Drawing {
    /// What is seen, in a line.
    std::string caption;
    std::vector<DrawingLegend> legend;
    std::vector<DrawingPanel> panels;
    /// How many more panels there would be, and are left out.
    Index left_out = 0;
};

struct DrawingOptions {
    /// The columns to draw, by name; none: those that the kind puts first.
    std::vector<std::string> columns;
    /// Of bands and intervals.
    double level = 0.9;
};

}  // namespace lrvb
