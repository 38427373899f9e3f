#include "report/plot/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace lrvb::plot {

namespace {

constexpr double kLargest = std::numeric_limits<double>::max();

// With a true minus sign.
std::string with_minus(std::string text) {
    if (text.find_first_not_of("-0.") == std::string::npos && text.starts_with('-')) return text.substr(1);
    for (std::size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at)) text.replace(at, 1, "−");
    return text;
}

std::string superscript(int number) {
    constexpr std::array<std::string_view, 10> kDigits{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    std::string result = number < 0 ? "⁻" : "";
    for (const char digit : fmt::format("{}", std::abs(number))) {
        result += kDigits[static_cast<std::size_t>(digit - '0')];
    }
    return result;
}

int power_of(long double value) {
    return static_cast<int>(std::floor(std::log10(std::abs(value))));
}

long double ten_to(int power) {
    return std::pow(10.0L, static_cast<long double>(power));
}

// Cut at spaces into lines that have room.
std::vector<std::string> wrapped(const std::string& text, double room, double size) {
    std::vector<std::string> lines(1);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string word = text.substr(at, end - at);
        at = end + 1;
        std::string& last = lines.back();
        std::string longer = last;
        if (!last.empty()) longer += ' ';
        longer += word;
        if (last.empty() || text_width(longer, size) <= room) {
            last = std::move(longer);
        } else {
            lines.push_back(word);
        }
    }
    return lines;
}

}  // namespace

void Range::add(double value) {
    if (!std::isfinite(value)) return;
    const bool first = is_empty();
    low_ = first ? value : std::min(low_, value);
    high_ = first ? value : std::max(high_, value);
}

Range Range::with_margin(double share) const {
    Range result;
    if (is_empty()) {
        result.add(0.0);
        result.add(1.0);
        return result;
    }
    const long double length = static_cast<long double>(high_) - static_cast<long double>(low_);
    const long double size = std::max(std::abs(low_), std::abs(high_));
    long double more = share * length;
    if (length <= 0.0L) {
        more = size > 0.0L ? 0.1L * size : 1.0L;
    } else if (length < 1e-12L * size) {  // too near each other to be told apart
        more = 1e-12L * size;
    }
    const auto bounded = [](long double value) {
        return static_cast<double>(std::clamp<long double>(value, -kLargest, kLargest));
    };
    result.add(bounded(low_ - more));
    result.add(bounded(high_ + more));
    return result;
}

double Scale::operator()(double value) const {
    // In halves, since the difference of two doubles may be too large for one.
    return from + (to - from) * ((0.5 * value - 0.5 * low) / (0.5 * high - 0.5 * low));
}

double Scale::within(double value) const {
    return std::clamp(value, low, high);
}

Ticks round_ticks(double low, double high, double about) {
    const long double length = static_cast<long double>(high) - static_cast<long double>(low);
    const long double rough = length / std::max(1.0, about);
    int power = power_of(rough);
    const long double mantissa = rough / ten_to(power);
    long double factor = mantissa < 1.5L ? 1.0L : mantissa < 3.5L ? 2.0L : mantissa < 7.5L ? 5.0L : 10.0L;
    if (factor == 10.0L) {
        factor = 1.0L;
        ++power;
    }
    const long double step = factor * ten_to(power);
    const long double size = std::max(std::abs(low), std::abs(high));
    // Far from zero, labels are counted from a round number near by.
    long double offset = 0.0L;
    int offset_power = 0;
    if (size / step >= 1e5L) {
        offset_power = power_of(length) + 1;
        const long double middle = 0.5L * low + 0.5L * high;
        offset = std::round(middle / ten_to(offset_power)) * ten_to(offset_power);
    }
    const long double first = std::ceil((low - offset) / step - 1e-9L);
    const long double last = std::floor((high - offset) / step + 1e-9L);
    long double largest = 0.0L;
    for (long double i = first; i <= last; i += 1.0L) largest = std::max(largest, std::abs(i * step));
    int shared = 0;  // power of ten that the labels leave out
    if (largest > 0.0L && (largest >= 1e6L || largest < 1e-3L)) shared = power_of(largest);
    const int decimals = std::max(0, shared - power);
    Ticks ticks;
    for (long double i = first; i <= last; i += 1.0L) {
        const auto value = static_cast<double>(i * step + offset);
        if (!std::isfinite(value)) continue;
        ticks.values.push_back(value);
        const auto label = static_cast<double>(i * factor * ten_to(power - shared));
        ticks.labels.push_back(with_minus(fmt::format("{:.{}f}", label, decimals)));
    }
    if (shared != 0) ticks.note = fmt::format("× 10{}", superscript(shared));
    if (offset != 0.0L) {
        const auto number = static_cast<double>(std::abs(offset));
        const std::string text = number < 1e15 && offset_power > -16
                                     ? fmt::format("{:.{}f}", number, std::max(0, -offset_power))
                                     : fmt::format("{:.{}e}", number, std::max(0, power_of(number) - offset_power));
        ticks.note += fmt::format("{}{} {}", ticks.note.empty() ? "" : " ", offset > 0.0L ? "+" : "−", text);
    }
    return ticks;
}

std::string number_text(double value, double sd) {
    if (!std::isfinite(value)) return std::isnan(value) ? "NA" : value > 0.0 ? "∞" : "−∞";
    const bool has_sd = std::isfinite(sd) && sd > 0.0;
    if (value == 0.0 && !has_sd) return "0";
    if (!has_sd) return with_minus(fmt::format("{:.6g}", value));
    const int of_sd = power_of(sd);
    const int of_value = value == 0.0 ? of_sd : power_of(value);
    const int places = std::clamp(1 - of_sd, 0, std::max(0, 16 - of_value));
    if (places <= 8 && std::abs(value) < 1e7) return with_minus(fmt::format("{:.{}f}", value, places));
    return with_minus(fmt::format("{:.{}e}", value, std::clamp(1 + of_value - of_sd, 1, 16)));
}

namespace {

Ticks left_ticks(const Scale& up) {
    return round_ticks(up.low, up.high, std::max(2.0, (up.from - up.to) / 50.0));
}

}  // namespace

double draw_bottom_axis(Svg& svg, const Scale& scale, double y, double top, bool grid, const std::string& title) {
    const double length = scale.to - scale.from;
    // Fewer of them, until none touches the next.
    Ticks ticks;
    for (double about = std::max(2.0, length / 70.0); about >= 1.0; about -= 1.0) {
        ticks = round_ticks(scale.low, scale.high, about);
        double widest = 0.0;
        for (const std::string& label : ticks.labels) widest = std::max(widest, text_width(label, kTickSize));
        const auto count = static_cast<double>(ticks.values.size());
        if (count < 2.0 || (widest + 8.0) * (count - 1.0) <= scale(ticks.values.back()) - scale(ticks.values.front())) {
            break;
        }
    }
    svg.open("axis across", {{"low", scale.low}, {"high", scale.high}, {"from", scale.from}, {"to", scale.to}});
    for (std::size_t i = 0; i < ticks.values.size(); ++i) {
        const double x = scale(ticks.values[i]);
        if (grid) svg.line(x, top, x, y, {.stroke = kGrid});
        svg.line(x, y, x, y + 4.0, {.stroke = kLine});
        svg.text(x, y + 16.0, ticks.labels[i], {.size = kTickSize, .fill = kMuted, .anchor = Anchor::middle});
    }
    svg.line(scale.from, y, scale.to, y, {.stroke = kLine});
    double below = 22.0;
    if (!ticks.note.empty()) {
        svg.text(scale.to, y + 30.0, ticks.note, {.size = kTickSize, .fill = kMuted, .anchor = Anchor::end});
        below = 36.0;
    }
    if (!title.empty()) {
        const double noted = ticks.note.empty() ? 0.0 : text_width(ticks.note, kTickSize) + 10.0;
        svg.text(
            0.5 * (scale.from + scale.to), y + 35.0, title,
            {.size = 13.0, .anchor = Anchor::middle, .most = std::max(40.0, length - 2.0 * noted), .mark = "name"});
        below = 42.0;
    }
    svg.close();
    return below;
}

bool has_note(const Scale& up) {
    return !left_ticks(up).note.empty();
}

double left_labels_width(const Scale& scale) {
    const Ticks ticks = left_ticks(scale);
    double widest = 0.0;
    for (const std::string& label : ticks.labels) widest = std::max(widest, text_width(label, kTickSize));
    return widest;
}

void draw_left_axis(Svg& svg, const Scale& scale, double x, double right, const std::string& title, double title_x) {
    const Ticks ticks = left_ticks(scale);
    svg.open("axis up", {{"low", scale.low}, {"high", scale.high}, {"from", scale.from}, {"to", scale.to}});
    for (std::size_t i = 0; i < ticks.values.size(); ++i) {
        const double y = scale(ticks.values[i]);
        svg.line(x, y, right, y, {.stroke = kGrid});
        svg.text(x - 6.0, y + 4.0, ticks.labels[i], {.size = kTickSize, .fill = kMuted, .anchor = Anchor::end});
    }
    svg.text(x, scale.to - 8.0, ticks.note, {.size = kTickSize, .fill = kMuted});
    svg.text(title_x, 0.5 * (scale.from + scale.to), title,
             {.size = 13.0,
              .anchor = Anchor::middle,
              .turned = -90.0,
              .most = std::max(40.0, scale.from - scale.to),
              .mark = "name"});
    svg.close();
}

double draw_legend(Svg& svg, double x, double y, double width, const std::vector<Swatch>& swatches) {
    constexpr double kSize = 12.0;
    constexpr double kSwatch = 22.0;
    constexpr double kLineHeight = 20.0;
    if (swatches.empty()) return 0.0;
    double left = x;
    double base = y;
    svg.open("legend");
    for (const Swatch& one : swatches) {
        const double most = width - kSwatch - 8.0;
        const double room = kSwatch + 6.0 + std::min(most, text_width(one.text, kSize)) + 14.0;
        if (left > x && left + room - 14.0 > x + width) {
            left = x;
            base += kLineHeight;
        }
        const double middle = base + 10.0;
        switch (one.kind) {
            case Swatch::Kind::block:
                svg.rect(left + 3.0, middle - 6.0, kSwatch - 6.0, 12.0, {.fill = one.colour, .opacity = one.opacity});
                break;
            case Swatch::Kind::dot:
                svg.circle(left + 0.5 * kSwatch, middle, 4.0, {.fill = one.colour, .opacity = one.opacity});
                break;
            case Swatch::Kind::line:
                svg.line(left, middle, left + kSwatch, middle, {.stroke = one.colour, .width = 2.5});
                break;
            case Swatch::Kind::bar:
                svg.line(left, middle, left + kSwatch, middle, {.stroke = one.colour, .width = 2.5});
                svg.circle(left + 0.5 * kSwatch, middle, 4.0, {.fill = one.colour});
                break;
            case Swatch::Kind::diamond:
                svg.line(left, middle, left + kSwatch, middle, {.stroke = one.colour, .width = 1.25, .dash = "3 2"});
                svg.path({{left + 7.0, middle},
                          {left + 11.0, middle - 4.0},
                          {left + 15.0, middle},
                          {left + 11.0, middle + 4.0}},
                         true, {.fill = one.colour});
                break;
        }
        svg.text(left + kSwatch + 6.0, middle + 4.0, one.text, {.size = kSize, .fill = kMuted, .most = most});
        left += room;
    }
    svg.close();
    return base - y + kLineHeight;
}

double draw_heading(Svg& svg, const Heading& heading) {
    const double room = svg.width() - 2.0 * kMargin;
    double y = kMargin + 14.0;
    svg.text(kMargin, y, heading.title, {.size = 17.0, .bold = true, .most = room, .mark = "title"});
    constexpr double kSize = 12.5;
    constexpr std::size_t kMostLines = 4;  // of one long name the tip has the rest
    const auto add = [&](const std::string& words, std::string_view fill, std::string_view mark) {
        if (words.empty()) return;
        std::vector<std::string> lines = wrapped(words, room, kSize);
        lines.resize(std::min(lines.size(), kMostLines));
        y += 3.0;
        for (const std::string& line : lines) {
            y += 17.0;
            svg.text(kMargin, y, line, {.size = kSize, .fill = fill, .most = room, .mark = mark});
        }
    };
    add(heading.caption, kMuted, "caption");
    add(heading.warning, kBad, "warning");
    y += 8.0;
    return y + draw_legend(svg, kMargin, y, room, heading.legend);
}

}  // namespace lrvb::plot
