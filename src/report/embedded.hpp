#pragma once

#include <string_view>

/// The page without its contents: web/, bundled when the program is built (CMakeLists.txt).
namespace lrvb::report {

extern const std::string_view kPage;    // page.html, with places to fill
extern const std::string_view kStyle;   // style.css
extern const std::string_view kScript;  // main.js and all that it imports

}  // namespace lrvb::report
