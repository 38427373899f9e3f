#pragma once

#include <lrvb/family/random.hpp>

#include <vector>

/// Densities on a line, known by their logarithm: ∫ exp f(w) dw over (lower, upper), the moments of it, and draws.
///
/// f is given relative to its value at w = 0, which is inside (or the bound where f is largest), so that nothing
/// cancels however narrow the density is. It is either unimodal with a slope that changes its sign once from positive
/// to negative (a concave f, for one), or convex between two finite bounds.
///
/// The integral ends where exp f and exp(f + tail·w) are below 1e-20 of their tops, and is taken panel by panel, each
/// halved until Gauss' rule with 10 nodes and Kronrod's with 21 agree to 1e-10 of it: what the latter gets wrong is
/// then below 1e-14. Bounds are no obstacle, nor is a long tail.
namespace lrvb::detail {

class LineDensity {
  public:
    virtual ~LineDensity() = default;
    /// f(w), zero at w = 0.
    virtual double at(double w) const = 0;
    virtual double slope(double w) const = 0;

    double lower = 0.0;  // not above 0; may be −∞
    double upper = 0.0;  // not below 0; may be +∞
    double width = 1.0;  // about how wide it is
    double tail = 0.0;   // moments up to exp(tail·w) are wanted
    bool is_convex = false;
    bool is_concave = true;  // where not, it may still be unimodal
};

struct LineRule {
    struct Panel {
        double left;
        double right;
        double mass;  // of all: one
    };

    double log_integral = 0.0;    // of exp f
    std::vector<double> offsets;  // nodes w
    std::vector<double> weights;  // Σ weights g(offsets) = E g(w)
    std::vector<Panel> panels;    // on each of which f is monotone

    template <class Function>
    double mean(const Function& function) const {
        double sum = 0.0;
        for (std::size_t i = 0; i < offsets.size(); ++i) sum += weights[i] * function(offsets[i]);
        return sum;
    }
};

LineRule line_rule(const LineDensity& density);

/// A draw of w: of a concave f by rejection from its top and two tangents, which needs no integral; otherwise panel by
/// panel.
double line_draw(const LineDensity& density, Random& random);

/// The root of a function that falls from positive to negative between lower and upper, either of which may be
/// infinite, sought from `from` with steps of about `step`, to about 1e-4 of a step; a bound where there is none.
template <class Function>
double falling_root(const Function& function, double lower, double upper, double from, double step);

}  // namespace lrvb::detail

#include "family/line_root.hpp"
