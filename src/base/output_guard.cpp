#include "base/output_guard.hpp"

#include <lrvb/base/errors.hpp>

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <optional>
#include <unistd.h>
#include <utility>
#include <vector>

namespace lrvb::detail {
namespace {

using FileId = std::pair<dev_t, ino_t>;

struct Output {
    std::string path;
    std::string option;
};

struct GuardedFiles {
    std::vector<Output> outputs;
    std::map<FileId, std::string> inputs;
    std::optional<FileId> standard_output;  // where it is a file: program >> d.csv
};

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): files are of the process
std::mutex guard_mutex;
std::optional<GuardedFiles> guarded;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

std::optional<FileId> id_of(const struct stat& status) {
    return S_ISREG(status.st_mode) ? std::optional(FileId(status.st_dev, status.st_ino)) : std::nullopt;
}

std::optional<FileId> id_of(const std::string& path) {
    struct stat status = {};
    return ::stat(path.c_str(), &status) == 0 ? id_of(status) : std::nullopt;
}

}  // namespace

OutputGuard::OutputGuard() {
    const std::lock_guard lock(guard_mutex);
    guarded.emplace();
    struct stat status = {};
    if (::fstat(STDOUT_FILENO, &status) == 0) guarded->standard_output = id_of(status);
}

OutputGuard::~OutputGuard() {
    const std::lock_guard lock(guard_mutex);
    guarded.reset();
}

void note_output(const std::string& path, const std::string& option) {
    const std::lock_guard lock(guard_mutex);
    if (!guarded || path.empty() || path == "-") return;
    if (const std::optional<FileId> id = id_of(path)) {
        const auto found = guarded->inputs.find(*id);
        if (found != guarded->inputs.end()) refuse_output(path, option, found->second);
    }
    if (!option.empty()) guarded->outputs.push_back({path, option});
}

void note_input(const std::string& path, const struct stat& status) {
    const std::lock_guard lock(guard_mutex);
    const std::optional<FileId> id = id_of(status);
    if (!guarded || !id) return;
    guarded->inputs.emplace(*id, path);
    if (guarded->standard_output == id) {
        if (path == "-") throw UsageError("standard input and standard output are the same file: choose another file");
        throw UsageError(fmt::format("standard output goes to the input, {}: choose another file", path));
    }
    for (const Output& output : guarded->outputs) {
        if (id_of(output.path) == id) refuse_output(output.path, output.option, path);
    }
}

void note_input(const std::string& path) {
    struct stat status = {};
    const int result = path == "-" ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status);
    if (result == 0) note_input(path, status);
}

bool leads_to_same_file(const std::string& left, const std::string& right) {
    const std::optional<FileId> id = id_of(left);
    return id && id == id_of(right);
}

void refuse_output(const std::string& output, const std::string& option, const std::string& input) {
    const std::string asked = option.empty() ? output : fmt::format("{} {}", option, output);
    const std::string name = input == output ? "" : input == "-" ? ", which is standard input" : ", " + input;
    throw UsageError(fmt::format("{} would replace the input{}: choose another name", asked, name));
}

}  // namespace lrvb::detail
