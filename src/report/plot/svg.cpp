#include "report/plot/svg.hpp"

#include "base/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace lrvb::plot {

namespace {

constexpr double kFarthest = 1e6;  // pixels: what lies further away is out of sight either way

// A ten-thousandth of a pixel, without zeros that say nothing.
std::string px(double value) {
    std::string text = fmt::format("{:.4f}", std::clamp(value, -kFarthest, kFarthest));
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text == "-0" ? "0" : text;
}

template <class... Numbers>
bool are_finite(Numbers... numbers) {
    return (std::isfinite(numbers) && ...);
}

double character_width(char32_t code) {
    constexpr std::string_view narrow = "ijlI.,:;'|! ()[]ftr-";
    constexpr std::string_view wide = "mwMW@%…";
    if (code >= 0x1100U) return code >= 0x2000U && code < 0x2E80U ? 0.7 : 1.1;
    if (code < 0x80U) {
        const char c = static_cast<char>(code);
        if (narrow.find(c) != std::string_view::npos) return 0.4;
        if (wide.find(c) != std::string_view::npos) return 0.95;
        if (c >= 'A' && c <= 'Z') return 0.72;
    }
    return 0.62;
}

}  // namespace

std::string_view colour_of(std::size_t part) {
    constexpr std::array<std::string_view, 7> kColours{"#0072b2", "#c77700", "#008f68", "#d55e00",
                                                       "#b4578c", "#2f96d6", "#8a7f00"};
    return kColours[part % kColours.size()];
}

std::string_view dash_of(std::size_t part) {
    constexpr std::array<std::string_view, 3> kDashes{"", "7 3", "2 2"};
    return kDashes[part / 7 % kDashes.size()];
}

std::string xml_text(std::string_view text) {
    const std::string visible = detail::on_one_line(text);
    std::string result;
    for (std::size_t at = 0; at < visible.size();) {
        const detail::Character character = detail::character_at(visible, at);
        const std::string_view bytes = std::string_view(visible).substr(at, character.length);
        at += character.length;
        switch (character.code) {
            case U'&':
                result += "&amp;";
                break;
            case U'<':
                result += "&lt;";
                break;
            case U'>':
                result += "&gt;";
                break;
            case U'"':
                result += "&quot;";
                break;
            case U'\'':
                result += "&#39;";
                break;
            case char32_t{0xFFFE}:  // which XML forbids
            case char32_t{0xFFFF}:
                result += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(character.code));
                break;
            default:
                result += bytes;
        }
    }
    return result;
}

double text_width(std::string_view text, double size) {
    double width = 0.0;
    for (std::size_t at = 0; at < text.size();) {
        const detail::Character character = detail::character_at(text, at);
        width += character_width(character.code);
        at += character.length;
    }
    return width * size;
}

std::string shortened(const std::string& text, double most, double size) {
    if (text_width(text, size) <= most) return text;
    const double room = most - text_width("…", size);
    double width = 0.0;
    std::size_t end = 0;
    while (end < text.size()) {
        const detail::Character character = detail::character_at(text, end);
        width += character_width(character.code) * size;
        if (width > room) break;
        end += character.length;
    }
    return text.substr(0, end) + "…";
}

void Svg::open(std::string_view mark, const std::vector<std::pair<std::string_view, double>>& numbers) {
    body_ += fmt::format("<g class=\"{}\"", mark);
    for (const auto& [name, value] : numbers) body_ += fmt::format(" data-{}=\"{}\"", name, value);
    body_ += ">\n";
}

void Svg::open_clipped(double x, double y, double width, double height) {
    ++clips_;
    definitions_ +=
        fmt::format("<clipPath id=\"clip{}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>\n", clips_,
                    px(x), px(y), px(std::max(0.0, width)), px(std::max(0.0, height)));
    body_ += fmt::format("<g clip-path=\"url(#clip{})\">\n", clips_);
}

void Svg::close() {
    body_ += "</g>\n";
}

void Svg::element(const std::string& start, const Style& style, std::string_view tip) {
    body_ += "<" + start;
    if (!style.mark.empty()) body_ += fmt::format(" class=\"{}\"", style.mark);
    body_ += fmt::format(" fill=\"{}\"", style.fill);
    if (!style.stroke.empty()) {
        body_ += fmt::format(" stroke=\"{}\" stroke-width=\"{}\"", style.stroke, px(style.width));
        if (!style.dash.empty()) body_ += fmt::format(" stroke-dasharray=\"{}\"", style.dash);
        if (style.round) body_ += " stroke-linecap=\"round\" stroke-linejoin=\"round\"";
    }
    if (style.opacity < 1.0) {
        body_ += fmt::format(" {}=\"{}\"", style.stroke.empty() ? "fill-opacity" : "opacity", px(style.opacity));
    }
    if (tip.empty()) {
        body_ += "/>\n";
        return;
    }
    body_ += fmt::format("><title>{}</title></{}>\n", xml_text(tip), start.substr(0, start.find(' ')));
}

void Svg::line(double x1, double y1, double x2, double y2, const Style& style, std::string_view tip) {
    if (!are_finite(x1, y1, x2, y2)) return;
    element(fmt::format("line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"", px(x1), px(y1), px(x2), px(y2)), style, tip);
}

void Svg::rect(double x, double y, double width, double height, const Style& style, std::string_view tip) {
    if (!are_finite(x, y, width, height)) return;
    element(fmt::format("rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", px(x), px(y), px(std::max(0.0, width)),
                        px(std::max(0.0, height))),
            style, tip);
}

void Svg::circle(double x, double y, double radius, const Style& style, std::string_view tip) {
    if (!are_finite(x, y)) return;
    element(fmt::format("circle cx=\"{}\" cy=\"{}\" r=\"{}\"", px(x), px(y), px(radius)), style, tip);
}

void Svg::path(const std::vector<std::pair<double, double>>& points, bool closed, const Style& style,
               std::string_view tip) {
    std::string data;
    for (const auto& [x, y] : points) {
        if (are_finite(x, y)) data += fmt::format("{}{} {}", data.empty() ? "M" : "L", px(x), px(y));
    }
    if (data.empty()) return;
    element(fmt::format("path d=\"{}{}\"", data, closed ? "Z" : ""), style, tip);
}

void Svg::text(double x, double y, const std::string& text, const TextStyle& style) {
    if (text.empty() || !are_finite(x, y)) return;
    const std::string visible = detail::on_one_line(text);
    constexpr double kBold = 1.14;  // times as wide
    const std::string seen = shortened(visible, style.most, style.bold ? kBold * style.size : style.size);
    body_ +=
        fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\"", px(x), px(y), px(style.size), style.fill);
    if (!style.mark.empty()) body_ += fmt::format(" class=\"{}\"", style.mark);
    if (style.anchor != Anchor::start) {
        body_ += fmt::format(" text-anchor=\"{}\"", style.anchor == Anchor::middle ? "middle" : "end");
    }
    if (style.bold) body_ += " font-weight=\"bold\"";
    if (style.turned != 0.0) {
        body_ += fmt::format(" transform=\"rotate({} {} {})\"", px(style.turned), px(x), px(y));
    }
    if (style.edged) {
        body_ +=
            fmt::format(" stroke=\"{}\" stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\"", kPaper);
    }
    body_ += ">" + xml_text(seen);
    if (seen != visible) body_ += "<title>" + xml_text(visible) + "</title>";
    body_ += "</text>\n";
}

std::string Svg::finish(double height, const std::string& title, const std::string& description) const {
    std::string file = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\" "
        "aria-labelledby=\"title description\" font-family=\"sans-serif\">\n<title id=\"title\">{2}</title>\n"
        "<desc id=\"description\">{3}</desc>\n",
        px(width_), px(height), xml_text(title), xml_text(description));
    if (!definitions_.empty()) file += "<defs>\n" + definitions_ + "</defs>\n";
    file += fmt::format("<rect width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", px(width_), px(height), kPaper);
    return file + body_ + "</svg>\n";
}

}  // namespace lrvb::plot
