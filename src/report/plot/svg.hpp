#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A picture as SVG 1.1, with presentation attributes alone, so that every viewer and converter shows the same. Lengths
/// are pixels from the top left corner. What is not finite is not drawn, and text is text: whatever it holds, none of
/// it becomes markup.
namespace lrvb::plot {

/// The colours of the page: src/report/web/style.css.
inline constexpr std::string_view kPaper = "#ffffff";
inline constexpr std::string_view kInk = "#1b1f24";
inline constexpr std::string_view kMuted = "#5b6470";
inline constexpr std::string_view kLine = "#c3c9d1";
inline constexpr std::string_view kGrid = "#e6e9ed";
inline constexpr std::string_view kBar = "#cfd5dc";
inline constexpr std::string_view kAccent = "#0b5cad";
inline constexpr std::string_view kBad = "#a3230f";
inline constexpr std::string_view kPositive = "#0072b2";
inline constexpr std::string_view kNegative = "#d55e00";
inline constexpr double kBandOpacity = 0.2;

/// Colours of parts, which the colour-blind can tell apart; beyond seven the dashes of lines tell them apart.
std::string_view colour_of(std::size_t part);
std::string_view dash_of(std::size_t part);

struct Style {
    std::string_view fill = "none";
    std::string_view stroke = {};
    double width = 1.0;
    double opacity = 1.0;
    std::string_view dash = {};
    /// What it is, for those who read the file: its class.
    std::string_view mark = {};
    bool round = false;
};

enum class Anchor { start, middle, end };

struct TextStyle {
    double size = 12.0;
    std::string_view fill = kInk;
    Anchor anchor = Anchor::start;
    bool bold = false;
    /// Turned about its place, in degrees.
    double turned = 0.0;
    /// Longer text is cut, with an ellipsis, and its tip has all of it.
    double most = 1e9;
    /// With an edge in the colour of the paper, to be read over marks.
    bool edged = false;
    std::string_view mark = {};
};

/// With what a reader would not see written out, and what XML forbids or knows escaped.
std::string xml_text(std::string_view text);

/// About as wide as a common sans-serif face sets it; rather too much than too little.
double text_width(std::string_view text, double size);

/// As much of it as has room, with an ellipsis where that is not all.
std::string shortened(const std::string& text, double most, double size);

class Svg {
  public:
    explicit Svg(double width) : width_(width) {}

    double width() const { return width_; }

    /// A group with a class and numbers that say what its pixels mean.
    void open(std::string_view mark, const std::vector<std::pair<std::string_view, double>>& numbers = {});
    /// A group of which only what lies in the rectangle is seen.
    void open_clipped(double x, double y, double width, double height);
    void close();

    void line(double x1, double y1, double x2, double y2, const Style& style, std::string_view tip = {});
    void rect(double x, double y, double width, double height, const Style& style, std::string_view tip = {});
    void circle(double x, double y, double radius, const Style& style, std::string_view tip = {});
    /// A line through points, and back to the first where it is closed.
    void path(const std::vector<std::pair<double, double>>& points, bool closed, const Style& style,
              std::string_view tip = {});
    void text(double x, double y, const std::string& text, const TextStyle& style = {});

    /// The whole file. Title and description are for those who do not see it.
    std::string finish(double height, const std::string& title, const std::string& description) const;

  private:
    void element(const std::string& start, const Style& style, std::string_view tip);

    double width_;
    std::string body_;
    std::string definitions_;
    int clips_ = 0;
};

}  // namespace lrvb::plot
