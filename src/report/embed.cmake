# Writes the parts of the page as C++ text:
#   cmake -D PAGE=page.html -D STYLE=style.css -D SCRIPT=script.js -D OUTPUT=embedded.cpp -P embed.cmake

# Refuses a part with text that would end what it stands in.
function(refuse part end)
  string(TOLOWER "${${part}_TEXT}" lower)
  string(FIND "${lower}" "${end}" place)
  if(NOT place EQUAL -1)
    message(FATAL_ERROR "${${part}} holds '${end}', which cannot stand in the page: write it another way")
  endif()
endfunction()

foreach(part PAGE STYLE SCRIPT)
  file(READ "${${part}}" ${part}_TEXT)
  refuse(${part} ")lrvb\"")
endforeach()
refuse(STYLE "</style")
refuse(SCRIPT "</script")
refuse(SCRIPT "<!--")

file(WRITE "${OUTPUT}" "// Made by embed.cmake from web/.
#include \"report/embedded.hpp\"

namespace lrvb::report {

const std::string_view kPage = R\"lrvb(${PAGE_TEXT})lrvb\";
const std::string_view kStyle = R\"lrvb(${STYLE_TEXT})lrvb\";
const std::string_view kScript = R\"lrvb(${SCRIPT_TEXT})lrvb\";

}  // namespace lrvb::report
")
