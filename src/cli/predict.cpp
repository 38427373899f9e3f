#include "cli/command.hpp"
#include "cli/data.hpp"
#include "cli/output.hpp"
#include "data/files.hpp"

#include <fmt/format.h>

#include <memory>

namespace lrvb::cli {

void add_predict(CLI::App&, Run&) {}

}  // namespace lrvb::cli
