#include "base/encoding.hpp"

#include <bit>
#include <cstdint>

namespace lrvb::detail {

namespace {

template <class Number, class Bits>
std::string encoded(const Matrix& matrix) {
    std::vector<unsigned char> bytes;
    bytes.reserve(static_cast<std::size_t>(matrix.size()) * sizeof(Number));
    for (Index i = 0; i < matrix.rows(); ++i) {
        for (Index j = 0; j < matrix.cols(); ++j) {
            auto bits = std::bit_cast<Bits>(static_cast<Number>(matrix(i, j)));
            for (std::size_t b = 0; b < sizeof(Number); ++b, bits >>= 8U) {
                bytes.push_back(static_cast<unsigned char>(bits & 0xFFU));
            }
        }
    }
    return base64(bytes);
}

}  // namespace

std::string base64(const std::vector<unsigned char>& bytes) {
    constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        // Three bytes are four digits; what is missing at the end is padded.
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t bits = 0;
        for (std::size_t b = 0; b < 3; ++b) bits = (bits << 8U) | (b < count ? bytes[i + b] : 0U);
        for (std::size_t d = 0; d < 4; ++d) text += d <= count ? kDigits[(bits >> (18U - 6U * d)) & 63U] : '=';
    }
    return text;
}

std::string single_precision(const Matrix& matrix) {
    return encoded<float, std::uint32_t>(matrix);
}

std::string double_precision(const Matrix& matrix) {
    return encoded<double, std::uint64_t>(matrix);
}

}  // namespace lrvb::detail
