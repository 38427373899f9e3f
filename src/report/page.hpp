#pragma once

#include <lrvb/base/document.hpp>

#include <string>

namespace lrvb::report {

/// The page that shows the contents: one file that needs no other. Whatever text the contents hold, none of it becomes
/// markup or code: characters that HTML knows are escaped, and what is no UTF-8 is replaced.
std::string page(const std::string& title, const Document& contents);

}  // namespace lrvb::report
