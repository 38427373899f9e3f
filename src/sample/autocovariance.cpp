#include "sample/autocovariance.hpp"

#include <bit>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>
#include <vector>

namespace lrvb::detail {

namespace {

using Complex = std::complex<double>;

// In place, of a length that is a power of two (Cooley & Tukey 1965); `roots` are exp(−2πik/length), k < length/2.
void transform(std::vector<Complex>& values, const std::vector<Complex>& roots) {
    const std::size_t length = values.size();
    for (std::size_t i = 1, reversed = 0; i < length; ++i) {
        std::size_t bit = length >> 1U;
        for (; (reversed & bit) != 0; bit >>= 1U) reversed ^= bit;
        reversed ^= bit;
        if (i < reversed) std::swap(values[i], values[reversed]);
    }
    for (std::size_t half = 1; half < length; half *= 2) {
        const std::size_t stride = length / (2 * half);
        for (std::size_t begin = 0; begin < length; begin += 2 * half) {
            for (std::size_t k = 0; k < half; ++k) {
                const Complex odd = roots[k * stride] * values[begin + half + k];
                values[begin + half + k] = values[begin + k] - odd;
                values[begin + k] += odd;
            }
        }
    }
}

}  // namespace

Vector autocovariances(const Matrix& chains) {
    const auto draws = static_cast<std::size_t>(chains.rows());
    const std::size_t length = std::bit_ceil(2 * draws);
    std::vector<Complex> roots(length / 2);
    for (std::size_t k = 0; k < roots.size(); ++k) {
        roots[k] = std::polar(1.0, -2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length));
    }
    std::vector<Complex> power(length);
    for (Index c = 0; c < chains.cols(); ++c) {
        std::vector<Complex> values(length);
        for (std::size_t t = 0; t < draws; ++t) values[t] = chains(static_cast<Index>(t), c);
        transform(values, roots);
        for (std::size_t i = 0; i < length; ++i) power[i] += std::norm(values[i]);
    }
    // What is real and even is its own inverse transform, but for the length.
    transform(power, roots);
    Vector result(chains.rows());
    for (std::size_t lag = 0; lag < draws; ++lag) {
        result[static_cast<Index>(lag)] = power[lag].real() / static_cast<double>(length);
    }
    return result;
}

}  // namespace lrvb::detail
