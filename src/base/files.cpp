#include "base/files.hpp"

#include "base/output_guard.hpp"
#include "base/unfinished.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace lrvb::detail {
namespace {

/// Call at once after the failure: it reads errno.
[[noreturn]] void refuse(const std::string& file, const char* what) {
    const int error = errno;
    const char* remedy = "";
    if (error == ENOENT || error == ENOTDIR) remedy = "; check the path";
    if (error == EACCES || error == EPERM || error == EROFS)
        remedy = "; check the permissions, or choose another place";
    if (error == ENOSPC || error == EDQUOT) remedy = "; make room, or choose another place";
    throw std::runtime_error(
        fmt::format("{}: cannot {}: {}{}", file, what, std::generic_category().message(error), remedy));
}

/// A system call, until no signal interrupts it.
template <class Call>
std::size_t uninterrupted(const std::string& file, const char* what, Call call) {
    for (;;) {
        const ssize_t result = call();
        if (result >= 0) return static_cast<std::size_t>(result);
        if (errno != EINTR) refuse(file, what);
    }
}

struct stat status_of(const FileDescriptor& file, const std::string& name) {
    struct stat status = {};
    if (::fstat(file.number(), &status) != 0) refuse(name, "read");
    return status;
}

FileDescriptor duplicate_of(int standard_stream, const std::string& name) {
    const int copy = ::dup(standard_stream);
    if (copy < 0) refuse(name, "use it");
    return FileDescriptor(copy);
}

constexpr std::size_t kPipeBlock = std::size_t{1} << 20;

std::string in_words(std::size_t bytes) {
    constexpr std::size_t kilo = 1024;
    if (bytes % (kilo * kilo) == 0) return fmt::format("{} MB", bytes / (kilo * kilo));
    return fmt::format("{} bytes", bytes);
}

}  // namespace

FileDescriptor::~FileDescriptor() {
    if (number_ >= 0) ::close(number_);
}

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
}

FileDescriptor FileDescriptor::open(const std::string& path) {
    FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.number() < 0) refuse(path, "open the file");
    const struct stat status = status_of(file, path);
    if (S_ISDIR(status.st_mode)) {
        throw std::runtime_error(fmt::format("{}: is a directory: give the path of a file", path));
    }
    note_input(path, status);
    return file;
}

void refuse_long_pipe(const std::string& name, std::size_t kept) {
    throw std::runtime_error(
        fmt::format("{}: is a pipe, which cannot be read twice, and holds more than the {} that may be kept of it in "
                    "memory: save it to a file and give that, or allow more (--memory)",
                    name, in_words(kept)));
}

void refuse_large_unpacked(const std::string& name, std::size_t kept) {
    throw std::runtime_error(
        fmt::format("{}: holds more, when it is unpacked, than the {} that may be kept of it in memory: unpack it to a "
                    "file and give that, or allow more (--memory)",
                    name, in_words(kept)));
}

ByteStream::ByteStream(const std::string& path, std::size_t kept)
    : name_(path == "-" ? "standard input" : path),
      file_(path == "-" ? duplicate_of(STDIN_FILENO, "standard input") : FileDescriptor::open(path)),
      kept_(kept) {
    if (path == "-") note_input(path);
    const off_t start = ::lseek(file_.number(), 0, SEEK_CUR);
    is_pipe_ = start < 0;
    if (!is_pipe_) start_ = static_cast<std::size_t>(start);
}

std::size_t ByteStream::read(char* bytes, std::size_t capacity) {
    std::size_t count = 0;
    if (is_pipe_) {
        count = read_pipe(bytes, capacity);
    } else {
        const off_t place = static_cast<off_t>(start_ + position_);
        count = uninterrupted(name_, "read", [&] { return ::pread(file_.number(), bytes, capacity, place); });
    }
    position_ += count;
    return count;
}

void ByteStream::seek(std::size_t position) {
    if (position != position_ && !can_go_back()) {
        throw std::runtime_error(fmt::format("{}: can be read only once: save it to a file, and give that", name_));
    }
    position_ = position;
}

std::size_t ByteStream::read_pipe(char* bytes, std::size_t capacity) {
    if (position_ < passed_) {
        const std::vector<char>& block = blocks_[position_ / kPipeBlock];
        const std::size_t at = position_ % kPipeBlock;
        const std::size_t count = std::min(capacity, block.size() - at);
        std::memcpy(bytes, block.data() + at, count);
        return count;
    }
    const std::size_t count = uninterrupted(name_, "read", [&] { return ::read(file_.number(), bytes, capacity); });
    if (kept_ > 0) keep(bytes, count);
    passed_ += count;
    return count;
}

void ByteStream::keep(const char* bytes, std::size_t size) {
    if (size > kept_ - passed_) refuse_long_pipe(name_, kept_);
    while (size > 0) {
        if (blocks_.empty() || blocks_.back().size() == kPipeBlock) blocks_.emplace_back().reserve(kPipeBlock);
        std::vector<char>& block = blocks_.back();
        const std::size_t count = std::min(size, kPipeBlock - block.size());
        block.insert(block.end(), bytes, bytes + count);
        bytes += count;
        size -= count;
    }
}

PlacedFile::PlacedFile(const std::string& path) : name_(path), file_(FileDescriptor::open(path)) {
    const struct stat status = status_of(file_, path);
    if (!S_ISREG(status.st_mode)) {
        throw std::runtime_error(
            fmt::format("{}: is not a regular file, so it cannot be read more than once: save it to disk first", path));
    }
    size_ = static_cast<std::size_t>(status.st_size);
}

void PlacedFile::read(std::size_t place, void* bytes, std::size_t size) const {
    char* next = static_cast<char*>(bytes);
    while (size > 0) {
        const std::size_t count = uninterrupted(
            name_, "read", [&] { return ::pread(file_.number(), next, size, static_cast<off_t>(place)); });
        if (count == 0) {
            throw std::runtime_error(fmt::format(
                "{}: ends at byte {}, but had {} when it was opened: let nothing change the file while it is read",
                name_, status_of(file_, name_).st_size, size_));
        }
        next += count;
        place += count;
        size -= count;
    }
}

std::string read_json(ByteStream& stream) {
    constexpr std::size_t block = std::size_t{1} << 16;
    constexpr std::size_t longest = std::size_t{1} << 30;
    std::string text;
    for (std::size_t size = 0;;) {
        text.resize(size + block);
        const std::size_t count = stream.read(text.data() + size, block);
        size += count;
        // Behind spaces and a byte order mark.
        const std::size_t first = std::string_view(text).substr(0, size).find_first_not_of(" \t\r\n\xEF\xBB\xBF");
        if (count == 0 || (first < size && text[first] != '{')) {
            text.resize(size);
            return text;
        }
        if (size > longest) {
            throw std::runtime_error(fmt::format("{}: is longer than any fit file: check the path", stream.name()));
        }
    }
}

std::string end_of_links(const std::string& path) {
    constexpr int kMost = 40;  // as many as Linux follows
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return path;
    std::filesystem::path end = path;
    for (int i = 0; std::filesystem::is_symlink(end, ignored); ++i) {
        if (i == kMost) {
            throw std::runtime_error(fmt::format("{}: is a link that leads in a circle: choose another path", path));
        }
        end = end.parent_path() / std::filesystem::read_symlink(end, ignored);  // an absolute target replaces it
    }
    return end.string();
}

AtomicFile::AtomicFile(const std::string& path) : path_(path), file_(-1) {
    if (path == "-") {
        path_ = "standard output";
        file_ = duplicate_of(STDOUT_FILENO, path_);
        return;
    }
    note_output(path, {});
    path_ = end_of_links(path);
    struct stat status {};
    const bool exists = ::stat(path.c_str(), &status) == 0;
    if (exists) {
        if (S_ISDIR(status.st_mode)) {
            throw std::runtime_error(fmt::format("{}: is a directory: give the path of a file", path));
        }
        if (S_ISREG(status.st_mode) && ::access(path.c_str(), W_OK) != 0) refuse(path_, "write the file");
        if (!S_ISREG(status.st_mode)) {
            file_ = FileDescriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
            if (file_.number() < 0) refuse(path_, "write the file");
            return;
        }
        // The file that a link points to is replaced, not the link.
        const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr), &std::free);
        if (resolved) path_ = resolved.get();
    }
    remove_abandoned_files(path_);
    do {
        temporary_ = unfinished_name(path_);
        unfinished_.emplace(temporary_);  // before it is there, so that no signal finds it unknown
        file_ = FileDescriptor(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    } while (file_.number() < 0 && errno == EEXIST);
    if (file_.number() < 0) refuse(path_, "write the file");
    ::flock(file_.number(), LOCK_EX | LOCK_NB);  // for remove_abandoned_files; where there are no locks it goes without
    // Who could read the old file can read the new one, and nobody else.
    if (exists) ::fchmod(file_.number(), status.st_mode & 07777U);
}

AtomicFile::~AtomicFile() {
    if (!committed_ && !temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* bytes, std::size_t size) {
    const char* next = static_cast<const char*>(bytes);
    while (size > 0) {
        const std::size_t count =
            uninterrupted(path_, "write the file", [&] { return ::write(file_.number(), next, size); });
        next += count;
        size -= count;
    }
}

bool AtomicFile::is_terminal() const {
    return ::isatty(file_.number()) == 1;
}

void AtomicFile::commit() {
    if (temporary_.empty()) return;
    // First the bytes, then the name: a crash between them must not leave a name without its bytes.
    if (::fsync(file_.number()) != 0) refuse(path_, "write the file");
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) refuse(path_, "write the file");
    committed_ = true;
}

void require_writable(const std::string& path) {
    if (path == "-") return;
    struct stat status {};
    const bool is_special = ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
    // Whoever reads a pipe would take its opening and closing for the end.
    if (is_special) {
        if (::access(path.c_str(), W_OK) != 0) refuse(path, "write the file");
        return;
    }
    const AtomicFile never_committed(path);
}

void write_text(const std::string& path, const std::string& text) {
    AtomicFile file(path);
    file.write(text.data(), text.size());
    file.commit();
}

}  // namespace lrvb::detail
