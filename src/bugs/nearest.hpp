#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lrvb::bugs {

/// The name that somebody may have meant: the nearest one, if it is near (letters left out, added, changed or swapped;
/// case). Empty if none is.
std::string nearest_name(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace lrvb::bugs
