#include "family/line.hpp"

#include "family/special.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace lrvb::detail {

namespace {

constexpr double kLineDepth = 46.0;   // exp(−46) = 1e-20
constexpr double kPanelDepth = 20.0;  // of f within a panel, at most
constexpr double kAgreement = 1e-10;
constexpr double kNegligible = 1e-17;
constexpr int kMostHalvings = 60;
constexpr std::size_t kMostPanels = 4000;  // more than any density needs
constexpr int kMostTries = 100000;         // of a draw, one in three of which is taken

// The place beyond `from`, on one side, where g has fallen from its top by the depth, or somewhat more; the bound where
// it has not.
template <class Function>
double fallen(const Function& g, double top, double from, double bound, double step) {
    const double direction = bound > from ? 1.0 : -1.0;
    if (bound == from) return bound;
    double near = from;
    double far = from;
    double stride = step;
    for (int doublings = 0; doublings < 1100; ++doublings) {
        far = near + direction * stride;
        if (direction * (far - bound) >= 0.0) far = bound;
        if (!(top - g(far) < kLineDepth)) break;
        if (far == bound) return bound;
        near = far;
        stride *= 2.0;
    }
    for (int i = 0; i < 100 && !(top - g(far) < 1.5 * kLineDepth); ++i) {
        const double middle = 0.5 * (near + far);
        if (middle == near || middle == far) break;
        (top - g(middle) < kLineDepth ? near : far) = middle;
    }
    return far;
}

/// Both integrals of a panel, by both rules, and where the nodes are.
struct PanelSums {
    std::array<double, 2> kronrod{};
    std::array<double, 2> gauss{};
};

class Integrator {
  public:
    Integrator(const LineDensity& density, double tail_top) : density_(density), tail_top_(tail_top) {}

    PanelSums sums(double left, double right, std::array<double, kKronrodNodes>& values) const {
        const KronrodRule& rule = kronrod_rule();
        const double centre = 0.5 * (left + right);
        const double half = 0.5 * (right - left);
        PanelSums result;
        for (std::size_t i = 0; i < kKronrodNodes; ++i) {
            const double w = centre + half * rule.nodes[i];
            const double f = density_.at(w);
            const double plain = half * std::exp(f);
            values[i] = plain;
            const double tail = density_.tail > 0.0 ? half * std::exp(f + density_.tail * w - tail_top_) : plain;
            result.kronrod[0] += rule.weights[i] * plain;
            result.kronrod[1] += rule.weights[i] * tail;
            result.gauss[0] += rule.gauss_weights[i] * plain;
            result.gauss[1] += rule.gauss_weights[i] * tail;
        }
        return result;
    }

    void add(double left, double right, int depth, LineRule& rule) {
        if (!(right > left)) return;
        std::array<double, kKronrodNodes> values{};
        const PanelSums found = sums(left, right, values);
        if (depth == 0) {
            for (std::size_t k = 0; k < 2; ++k) total_[k] += found.kronrod[k];
        }
        const double middle = 0.5 * (left + right);
        const bool can_halve =
            depth < kMostHalvings && rule.panels.size() < kMostPanels && middle > left && middle < right;
        if (can_halve && std::isfinite(found.kronrod[0] + found.kronrod[1]) && !accepted(left, right, found)) {
            add(left, middle, depth + 1, rule);
            add(middle, right, depth + 1, rule);
            return;
        }
        const KronrodRule& nodes = kronrod_rule();
        const double half = 0.5 * (right - left);
        for (std::size_t i = 0; i < kKronrodNodes; ++i) {
            rule.offsets.push_back(middle + half * nodes.nodes[i]);
            rule.weights.push_back(nodes.weights[i] * values[i]);
        }
        rule.panels.push_back({left, right, found.kronrod[0]});
    }

  private:
    bool accepted(double left, double right, const PanelSums& found) const {
        bool negligible = true;
        for (std::size_t k = 0; k < 2; ++k) negligible = negligible && found.kronrod[k] <= kNegligible * total_[k];
        if (negligible) return true;
        for (std::size_t k = 0; k < 2; ++k) {
            const double error = std::abs(found.kronrod[k] - found.gauss[k]);
            if (!(error <= kAgreement * found.kronrod[k] || error <= kNegligible * total_[k])) return false;
        }
        return std::abs(density_.at(right) - density_.at(left)) <= kPanelDepth ||
               std::max(density_.at(left), density_.at(right)) < -kLineDepth;
    }

    const LineDensity& density_;
    double tail_top_;
    std::array<double, 2> total_{};
};

// From each end as far as the vertex, or as there is something. The factor exp(tail·w) is at most exp(spread).
std::vector<std::array<double, 2>> convex_intervals(const LineDensity& density) {
    const double lower = density.lower;
    const double upper = density.upper;
    const double spread = density.tail * (upper - lower);
    const auto f = [&](double w) { return density.at(w); };
    const double vertex =
        falling_root([&](double w) { return -density.slope(w); }, lower, upper, 0.5 * (lower + upper), upper - lower);
    std::vector<std::array<double, 2>> result;
    if (f(lower) > -kLineDepth - spread) result.push_back({lower, fallen(f, -spread, lower, vertex, density.width)});
    if (f(upper) > -kLineDepth - spread) result.push_back({fallen(f, -spread, upper, vertex, density.width), upper});
    return result;
}

}  // namespace

LineRule line_rule(const LineDensity& density) {
    std::vector<std::array<double, 2>> intervals;
    double tail_top = 0.0;
    if (density.is_convex) {
        intervals = convex_intervals(density);
        tail_top = density.tail * density.upper;
    } else {
        const auto plain = [&](double w) { return density.at(w); };
        const double mode =
            falling_root([&](double w) { return density.slope(w); }, density.lower, density.upper, 0.0, density.width);
        const double left = fallen(plain, density.at(mode), mode, density.lower, density.width);
        if (density.tail > 0.0) {
            const auto lifted = [&](double w) { return density.at(w) + density.tail * w; };
            const double top = falling_root([&](double w) { return density.slope(w) + density.tail; }, density.lower,
                                            density.upper, mode, density.width);
            tail_top = lifted(top);
            const double right = fallen(lifted, tail_top, top, density.upper, density.width);
            intervals = {{left, mode}, {mode, top}, {top, right}};
        } else {
            const double right = fallen(plain, density.at(mode), mode, density.upper, density.width);
            intervals = {{left, mode}, {mode, right}};
        }
    }
    Integrator integrator(density, tail_top);
    LineRule rule;
    for (const auto& [left, right] : intervals) integrator.add(left, right, 0, rule);
    double total = 0.0;
    for (const double weight : rule.weights) total += weight;
    rule.log_integral = std::log(total);
    for (double& weight : rule.weights) weight /= total;
    for (LineRule::Panel& panel : rule.panels) panel.mass /= total;
    return rule;
}

namespace {

double draw_by_panels(const LineDensity& density, Random& random) {
    const LineRule rule = line_rule(density);
    double left_over = random.uniform();
    std::size_t at = 0;
    if (rule.panels.empty()) return 0.0;
    while (at + 1 < rule.panels.size() && left_over > rule.panels[at].mass) left_over -= rule.panels[at++].mass;
    const LineRule::Panel& panel = rule.panels[at];
    const double top = std::max(density.at(panel.left), density.at(panel.right));
    for (int i = 0; i < kMostTries; ++i) {
        const double w = panel.left + (panel.right - panel.left) * random.uniform();
        if (random.uniform() <= std::exp(density.at(w) - top)) return w;
    }
    return panel.left;
}

/// What lies above f beyond a point: exp(top − steepness · distance) from where the tangent reaches the top.
struct Tangent {
    double from = 0.0;
    double steepness = 0.0;  // zero: the bound is here
    double mass = 0.0;       // relative to exp(top)
    double length = 0.0;     // to the bound
};

Tangent tangent(const LineDensity& density, double mode, double top, double bound) {
    const double direction = bound > mode ? 1.0 : -1.0;
    Tangent result;
    result.from = bound;
    if (bound == mode) return result;
    // Somewhere between half a nat and three below the top.
    double near = mode;
    double far = mode;
    double stride = density.width;
    for (int doublings = 0; doublings < 1100; ++doublings, stride *= 2.0) {
        far = near + direction * stride;
        if (direction * (far - bound) >= 0.0) far = bound;
        if (!(top - density.at(far) < 0.5)) break;
        if (far == bound) return result;
        near = far;
    }
    for (int i = 0; i < 100 && !(top - density.at(far) < 3.0); ++i) {
        const double middle = 0.5 * (near + far);
        if (middle == near || middle == far) break;
        (top - density.at(middle) < 0.5 ? near : far) = middle;
    }
    result.steepness = -direction * density.slope(far);
    result.from = far - direction * (top - density.at(far)) / result.steepness;
    result.length = direction * (bound - result.from);
    result.mass = -std::expm1(-result.steepness * result.length) / result.steepness;
    return result;
}

}  // namespace

double line_draw(const LineDensity& density, Random& random) {
    if (density.is_convex || !density.is_concave) return draw_by_panels(density, random);
    const double mode =
        falling_root([&](double w) { return density.slope(w); }, density.lower, density.upper, 0.0, density.width);
    const double top = density.at(mode);
    const Tangent left = tangent(density, mode, top, density.lower);
    const Tangent right = tangent(density, mode, top, density.upper);
    const double middle = right.from - left.from;
    for (int i = 0; i < kMostTries; ++i) {
        const double place = random.uniform() * (left.mass + middle + right.mass);
        double w = 0.0;
        double above = top;
        if (place < middle) {
            w = left.from + place;
        } else {
            const bool on_left = place - middle < left.mass;
            const Tangent& side = on_left ? left : right;
            const double distance =
                -std::log1p(random.uniform() * std::expm1(-side.steepness * side.length)) / side.steepness;
            w = side.from + (on_left ? -distance : distance);
            above = top - side.steepness * distance;
        }
        if (std::log(random.uniform()) <= density.at(w) - above) return w;
    }
    return mode;
}

}  // namespace lrvb::detail
