#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

/// Short decimal numbers, such as data are mostly made of, in a few instructions that do not branch on their digits.
namespace lrvb::detail {

static_assert(std::endian::native == std::endian::little, "the first digit must be in the lowest byte");

/// How many bytes behind a number's first must be readable, whatever they hold.
inline constexpr std::size_t decimal_padding = 24;

/// Up to seven digits from the beginning of eight bytes of text, all eight at once.
class LeadingDigits {
  public:
    explicit LeadingDigits(const char* text) {
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, text, sizeof bytes);
        bytes ^= 0x3030303030303030U;  // digits become 0 to 9
        // A byte above 9 sets its highest bit. Carries only spoil the bytes behind the first such one.
        const std::uint64_t others = ((bytes + 0x7676767676767676U) | bytes) & 0x8080808080808080U;
        count_ = static_cast<unsigned>(std::countr_zero(others)) / 8;
        bytes_ = bytes;
    }

    /// 8 if there may be more.
    unsigned count() const { return count_; }

    /// For a count of less than 8.
    std::uint64_t value() const {
        std::uint64_t digits = bytes_ << (56 - 8 * count_) << 8;  // as if there were zeros before them
        digits = digits * 10 + (digits >> 8);                     // pairs
        constexpr std::uint64_t mask = 0x000000FF000000FFU;
        const std::uint64_t outer = (digits & mask) * 0x000F424000000064U;          // × 1'000'000 and × 100
        const std::uint64_t inner = ((digits >> 16) & mask) * 0x0000271000000001U;  // × 10'000 and × 1
        return (outer + inner) >> 32;
    }

  private:
    std::uint64_t bytes_;
    unsigned count_;
};

/// Parses [-]digits[.digits] with one to seven digits before the point and up to seven behind it. Both integers of the
/// quotient are exact, so the quotient is the nearest double. Where the number ends, or null if it is written
/// otherwise.
inline const char* parse_short_decimal(const char* text, double& number) {
    constexpr std::array<double, 8> powers = {1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7};
    const bool is_negative = *text == '-';
    text += is_negative ? 1 : 0;
    const LeadingDigits whole(text);
    if (whole.count() == 0 || whole.count() == 8) return nullptr;
    text += whole.count();
    double magnitude = static_cast<double>(whole.value());
    if (*text == '.') {
        const LeadingDigits fraction(++text);
        if (fraction.count() == 8) return nullptr;
        text += fraction.count();
        const double power = powers[fraction.count()];
        magnitude = (magnitude * power + static_cast<double>(fraction.value())) / power;
    }
    if (*text == 'e' || *text == 'E') return nullptr;
    number = is_negative ? -magnitude : magnitude;
    return text;
}

}  // namespace lrvb::detail
