#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lrvb::detail {

/// A text on one line and, on the next, a mark under the bytes from `begin` to `end`: ^, or ^~~~ where they are several
/// characters. White space is shown as spaces, and what would be obeyed or overlooked is written out (messages.hpp). Of
/// a long text, the part around the place.
std::string picture_of(std::string_view text, std::size_t begin, std::size_t end = 0);

}  // namespace lrvb::detail
