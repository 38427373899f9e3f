#include "base/unfinished.hpp"

#include "base/files.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace lrvb::detail {
namespace {

constexpr std::string_view kMark = ".lrvb-";  // then the process, a hyphen and a count
constexpr std::string_view kEnding = ".tmp";

// Names where a handler of signals finds them: they stay where they are.
struct NotedName {
    std::atomic<bool> is_taken = false;
    std::atomic<bool> is_whole = false;
    std::array<char, PATH_MAX> text = {};
};

std::array<NotedName, 16> noted;  // files beyond these are written all the same

bool take_number(std::string_view& text, long& number) {
    const std::from_chars_result result = std::from_chars(text.data(), text.data() + text.size(), number);
    if (result.ec != std::errc() || number < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
    return true;
}

// The process that gave a file this name; 0 where none of ours did.
pid_t writer_of(std::string_view name, std::string_view finished) {
    if (!name.starts_with(finished)) return 0;
    name.remove_prefix(finished.size());
    if (!name.starts_with(kMark) || !name.ends_with(kEnding)) return 0;
    name.remove_prefix(kMark.size());
    name.remove_suffix(kEnding.size());
    long process = 0;
    long count = 0;
    if (!take_number(name, process) || !name.starts_with('-')) return 0;
    name.remove_prefix(1);
    return take_number(name, count) && name.empty() && process <= INT_MAX ? static_cast<pid_t>(process) : 0;
}

// A process of another machine, or of another container, does not show by its number: but it holds its file's lock.
bool is_abandoned(const std::string& path, pid_t writer) {
    if (::kill(writer, 0) == 0 || errno != ESRCH) return false;
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status = {};
    return file.number() >= 0 && ::fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode) &&
           status.st_uid == ::geteuid() && ::flock(file.number(), LOCK_EX | LOCK_NB) == 0;
}

}  // namespace

std::string unfinished_name(const std::string& path) {
    static std::atomic<unsigned> count = 0;
    return fmt::format("{}{}{}-{}{}", path, kMark, ::getpid(), count++, kEnding);
}

UnfinishedFile::UnfinishedFile(const std::string& name) {
    if (name.size() >= PATH_MAX) return;
    for (std::size_t i = 0; i < noted.size(); ++i) {
        if (noted[i].is_taken.exchange(true)) continue;
        std::memcpy(noted[i].text.data(), name.c_str(), name.size() + 1);
        noted[i].is_whole = true;
        place_ = static_cast<int>(i);
        return;
    }
}

UnfinishedFile::~UnfinishedFile() {
    if (place_ < 0) return;
    NotedName& own = noted[static_cast<std::size_t>(place_)];
    own.is_whole = false;
    own.is_taken = false;
}

void remove_unfinished_files() noexcept {
    for (const NotedName& name : noted) {
        if (name.is_whole) ::unlink(name.text.data());
    }
}

void remove_abandoned_files(const std::string& path) noexcept {
    try {
        const std::filesystem::path finished(path);
        const std::filesystem::path folder = finished.has_parent_path() ? finished.parent_path() : ".";
        std::error_code error;
        for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
             entry.increment(error)) {
            const pid_t writer = writer_of(entry->path().filename().string(), finished.filename().string());
            if (writer > 0 && is_abandoned(entry->path().string(), writer)) ::unlink(entry->path().c_str());
        }
    } catch (const std::exception&) {  // no memory for a name: they stay
    }
}

}  // namespace lrvb::detail
