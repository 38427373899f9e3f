#pragma once

#include "formula/factors.hpp"
#include "formula/term_columns.hpp"

#include <optional>
#include <vector>

namespace lrvb::detail {

/// What each part of a formula is in the rows of a frame, found once.
class FrameParts {
  public:
    FrameParts(FrameNumbers& numbers, const std::vector<TermPart>& parts, const PartLevels& levels)
        : numbers_(numbers), parts_(parts), levels_(levels), values_(parts.size()) {}

    const PartValues& operator()(std::size_t place) {
        std::optional<PartValues>& known = values_[place];
        if (known) return *known;
        known.emplace();
        const TermPart& part = parts_[place];
        if (part.kind == TermPart::Kind::factor) {
            known->codes = factor_codes(numbers_, part, levels_(part));
        } else if (part.kind == TermPart::Kind::polynomial) {
            known->numbers = numbers_.polynomial(*part.expression, part.degree, part.raw);
        } else if (part.is_column) {
            known->numbers = numbers_.of_column(part.name, part.place);
        } else {
            known->numbers = numbers_.of(*part.expression);
        }
        return *known;
    }

  private:
    FrameNumbers& numbers_;
    const std::vector<TermPart>& parts_;
    const PartLevels& levels_;
    std::vector<std::optional<PartValues>> values_;
};

}  // namespace lrvb::detail
