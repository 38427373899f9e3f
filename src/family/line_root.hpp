#pragma once

#include <algorithm>
#include <cmath>

namespace lrvb::detail {

template <class Function>
double falling_root(const Function& function, double lower, double upper, double from, double step) {
    double here = from;
    double value = function(here);
    if (value == 0.0) return here;
    const double direction = value > 0.0 ? 1.0 : -1.0;
    const double end = value > 0.0 ? upper : lower;
    double there = here;
    double there_value = value;
    double stride = step;
    for (int doublings = 0; doublings < 1100; ++doublings) {
        if (here == end) return end;
        there = here + direction * stride;
        if (direction * (there - end) >= 0.0) there = end;
        there_value = function(there);
        if (!(there_value * direction > 0.0)) break;
        here = there;
        value = there_value;
        stride *= 2.0;
    }
    // Illinois' variant of the false position, with halving where it is slow.
    double left = std::min(here, there);
    double right = std::max(here, there);
    double left_value = direction > 0.0 ? value : there_value;
    double right_value = direction > 0.0 ? there_value : value;
    int side = 0;
    for (int i = 0; i < 200 && right - left > 1e-4 * step; ++i) {
        const bool finite = std::isfinite(left_value) && std::isfinite(right_value) && left_value > right_value;
        double middle = finite ? (left * -right_value + right * left_value) / (left_value - right_value) : 0.0;
        if (!finite || i % 4 == 3 || !(middle > left && middle < right)) middle = 0.5 * (left + right);
        if (middle <= left || middle >= right) break;
        const double middle_value = function(middle);
        if (middle_value == 0.0) return middle;
        if (middle_value > 0.0) {
            left = middle;
            left_value = middle_value;
            if (side == 1) right_value *= 0.5;
            side = 1;
        } else {
            right = middle;
            right_value = middle_value;
            if (side == -1) left_value *= 0.5;
            side = -1;
        }
    }
    return std::abs(left_value) < std::abs(right_value) ? left : right;
}

}  // namespace lrvb::detail
