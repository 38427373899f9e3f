#include "base/picture.hpp"

#include <lrvb/formula/formula.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace lrvb {

FormulaError::FormulaError(const std::string& sentence, std::string_view text, std::size_t place)
    : UsageError(fmt::format("{}\n{}", sentence, detail::picture_of(text, place))),
      sentence_(sentence),
      picture_(detail::picture_of(text, place)),
      place_(std::min(place, text.size())) {}

FormulaDataError::FormulaDataError(const std::string& sentence, std::string_view text, std::size_t place)
    : std::runtime_error(fmt::format("{}\n{}", sentence, detail::picture_of(text, place))),
      sentence_(sentence),
      picture_(detail::picture_of(text, place)),
      place_(std::min(place, text.size())) {}

}  // namespace lrvb
