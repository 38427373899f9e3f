#include "base/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <sys/mman.h>
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

// Links to links to nothing: what the last of them points to is made. A path without links, or to something, is itself.
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
    if (S_ISDIR(status_of(file, path).st_mode)) {
        throw std::runtime_error(fmt::format("{}: is a directory: give the path of a file", path));
    }
    return file;
}

ByteStream::ByteStream(const std::string& path)
    : name_(path == "-" ? "standard input" : path),
      file_(path == "-" ? duplicate_of(STDIN_FILENO, "standard input") : FileDescriptor::open(path)) {
    const off_t start = ::lseek(file_.number(), 0, SEEK_CUR);
    if (start >= 0) {
        start_ = static_cast<std::size_t>(start);
        return;
    }
    in_memory_ = true;
    constexpr std::size_t block = std::size_t{1} << 20;
    for (std::size_t size = 0;;) {
        memory_.resize(size + block);
        const std::size_t count =
            uninterrupted(name_, "read", [&] { return ::read(file_.number(), memory_.data() + size, block); });
        size += count;
        if (count == 0) {
            memory_.resize(size);
            return;
        }
    }
}

std::size_t ByteStream::read(char* bytes, std::size_t capacity) {
    std::size_t count = 0;
    if (in_memory_) {
        count = std::min(capacity, memory_.size() - std::min(position_, memory_.size()));
        if (count > 0) std::memcpy(bytes, memory_.data() + position_, count);
    } else {
        const off_t place = static_cast<off_t>(start_ + position_);
        count = uninterrupted(name_, "read", [&] { return ::pread(file_.number(), bytes, capacity, place); });
    }
    position_ += count;
    return count;
}

MappedFile::MappedFile(const std::string& path) {
    const FileDescriptor file = FileDescriptor::open(path);
    const struct stat status = status_of(file, path);
    if (!S_ISREG(status.st_mode)) {
        throw std::runtime_error(
            fmt::format("{}: is not a regular file, so it cannot be mapped: save it to disk first", path));
    }
    size_ = static_cast<std::size_t>(status.st_size);
    if (size_ == 0) return;  // which mmap refuses
    void* const address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number(), 0);
    if (address == MAP_FAILED) refuse(path, "map the file");
    data_ = static_cast<char*>(address);
}

MappedFile::~MappedFile() {
    if (data_ != nullptr) ::munmap(data_, size_);
}

void MappedFile::release(std::size_t begin, std::size_t end) const {
    const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t first = begin / page * page;
    const std::size_t last = end / page * page;
    // Only advice: nothing depends on its being taken.
    if (first < last) ::madvise(data_ + first, last - first, MADV_DONTNEED);
}

std::string read_all(ByteStream& stream) {
    constexpr std::size_t block = std::size_t{1} << 16;
    std::string text;
    for (std::size_t size = 0;;) {
        text.resize(size + block);
        const std::size_t count = stream.read(text.data() + size, block);
        size += count;
        if (count == 0) {
            text.resize(size);
            return text;
        }
    }
}

AtomicFile::AtomicFile(const std::string& path) : path_(path), file_(-1) {
    if (path == "-") {
        path_ = "standard output";
        file_ = duplicate_of(STDOUT_FILENO, path_);
        return;
    }
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
    static std::atomic<unsigned> counter = 0;
    do {
        temporary_ = fmt::format("{}.{}.{}.tmp", path_, ::getpid(), counter++);
        file_ = FileDescriptor(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    } while (file_.number() < 0 && errno == EEXIST);
    if (file_.number() < 0) refuse(path_, "write the file");
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

void AtomicFile::commit() {
    if (temporary_.empty()) return;
    // First the bytes, then the name: a crash between them must not leave a name without its bytes.
    if (::fsync(file_.number()) != 0) refuse(path_, "write the file");
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) refuse(path_, "write the file");
    committed_ = true;
}

void write_text(const std::string& path, const std::string& text) {
    AtomicFile file(path);
    file.write(text.data(), text.size());
    file.commit();
}

}  // namespace lrvb::detail
