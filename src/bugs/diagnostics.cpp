#include "base/messages.hpp"
#include "base/picture.hpp"

#include <lrvb/bugs/diagnostics.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace lrvb::bugs {

namespace {

constexpr std::size_t kMostShown = 20;
constexpr std::size_t kMostKept = 200;

std::string all_written(const std::vector<Diagnostic>& diagnostics) {
    std::string text;
    for (std::size_t i = 0; i < std::min(diagnostics.size(), kMostShown); ++i) {
        if (i > 0) text += '\n';
        text += diagnostics[i].written();
    }
    if (diagnostics.size() > kMostShown) text += fmt::format("\nand {} more", diagnostics.size() - kMostShown);
    return text;
}

}  // namespace

Source::Source(std::string name, std::string text) {
    std::vector<std::size_t> lines{0};
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool is_lone_return = text[at] == '\r' && (at + 1 == text.size() || text[at + 1] != '\n');
        if (text[at] == '\n' || is_lone_return) lines.push_back(at + 1);
    }
    parts_ = std::make_shared<const Parts>(Parts{std::move(name), std::move(text), std::move(lines)});
}

std::string_view Source::text(const Place& place) const {
    const std::size_t begin = std::min(place.begin, text().size());
    return std::string_view(text()).substr(begin, std::max(place.end, begin) - begin);
}

std::size_t Source::line(std::size_t byte) const {
    const auto& lines = parts_->lines;
    return static_cast<std::size_t>(std::upper_bound(lines.begin(), lines.end(), byte) - lines.begin());
}

std::size_t Source::column(std::size_t byte) const {
    const std::size_t end = std::min(byte, text().size());
    std::size_t count = 1;
    for (std::size_t at = parts_->lines[line(byte) - 1]; at < end; ++count) {
        at += detail::character_at(text(), at).length;
    }
    return count;
}

std::string Source::position(const Place& place) const {
    return fmt::format("{}:{}:{}", detail::on_one_line(name()), line(place.begin), column(place.begin));
}

std::string Source::picture(const Place& place) const {
    const std::size_t number = line(place.begin);
    const std::size_t begin = parts_->lines[number - 1];
    const std::size_t next = number < parts_->lines.size() ? parts_->lines[number] : text().size();
    std::string_view shown = std::string_view(text()).substr(begin, next - begin);
    while (!shown.empty() && (shown.back() == '\n' || shown.back() == '\r')) shown.remove_suffix(1);
    const auto within = [&](std::size_t byte) { return std::min(byte < begin ? 0 : byte - begin, shown.size()); };
    return detail::picture_of(shown, within(place.begin), within(place.end));
}

std::string Diagnostic::written() const {
    return fmt::format("{}:{}:{}: {}\n{}", file, line, column, sentence, picture);
}

ModelError::ModelError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(all_written(diagnostics)), diagnostics_(std::move(diagnostics)) {}

void Diagnostics::add(const Place& place, std::string sentence) {
    const auto is_same = [&](const Found& other) {
        return other.place == place && other.diagnostic.sentence == sentence;
    };
    if (found_.size() >= kMostKept || std::any_of(found_.begin(), found_.end(), is_same)) return;
    found_.push_back({place,
                      {detail::on_one_line(source_.name()), source_.line(place.begin), source_.column(place.begin),
                       std::move(sentence), source_.picture(place)}});
}

std::vector<Diagnostic> Diagnostics::take() {
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Found& a, const Found& b) { return a.place.begin < b.place.begin; });
    std::vector<Diagnostic> result;
    for (Found& found : found_) result.push_back(std::move(found.diagnostic));
    found_.clear();
    return result;
}

void Diagnostics::require_none() {
    if (!empty()) throw ModelError(take());
}

}  // namespace lrvb::bugs
