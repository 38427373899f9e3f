#pragma once

#include "base/unfinished.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

/// What the readers and writers ask of the system. Every refusal is std::runtime_error with the file and the reason.
namespace lrvb::detail {

/// Closes what it holds.
class FileDescriptor {
  public:
    explicit FileDescriptor(int number) : number_(number) {}
    ~FileDescriptor();
    FileDescriptor(FileDescriptor&& other) noexcept;
    FileDescriptor& operator=(FileDescriptor&& other) noexcept;

    int number() const { return number_; }

    /// Opens a file, but not a directory, for reading.
    static FileDescriptor open(const std::string& path);

  private:
    int number_;
};

/// Says that more came through a pipe than the `kept` bytes that may be kept of it.
[[noreturn]] void refuse_long_pipe(const std::string& name, std::size_t kept);

/// Says that a packed file unpacks to more than the `kept` bytes that may be kept of it.
[[noreturn]] void refuse_large_unpacked(const std::string& name, std::size_t kept);

/// The bytes of a file, or of a pipe, read when they are asked for. A file can be read again from any place; of a pipe,
/// which gives its bytes only once, they are kept in memory where that is asked for.
class ByteStream {
  public:
    /// "-" is standard input. Of a pipe, `kept` bytes at most are kept, and one that holds more is refused when that
    /// is seen; 0 keeps nothing, for those who never go back.
    explicit ByteStream(const std::string& path, std::size_t kept = 0);

    const std::string& name() const { return name_; }

    /// Whether what was read can be read again.
    bool can_go_back() const { return !is_pipe_ || kept_ > 0; }

    /// What is kept of a pipe by now.
    std::size_t kept_bytes() const { return can_go_back() ? passed_ : 0; }

    /// The next bytes, at most `capacity`; how many there were, 0 only at the end.
    std::size_t read(char* bytes, std::size_t capacity);
    /// Only to where the stream stands, unless it can go back.
    void seek(std::size_t position);

  private:
    std::size_t read_pipe(char* bytes, std::size_t capacity);
    void keep(const char* bytes, std::size_t size);

    std::string name_;
    FileDescriptor file_;
    bool is_pipe_ = false;
    std::size_t kept_ = 0;
    std::vector<std::vector<char>> blocks_;  // what is kept, in blocks: none is ever copied to a larger one
    std::size_t passed_ = 0;                 // bytes that came through the pipe
    std::size_t start_ = 0;  // where the file stood when it came to us: standard input may have been read from
    std::size_t position_ = 0;
};

/// A regular file, of which any part can be read: nothing else is asked of memory, and a file that shrinks meanwhile is
/// refused instead of ending the program, as one that is mapped would.
class PlacedFile {
  public:
    explicit PlacedFile(const std::string& path);

    /// In bytes, when it was opened.
    std::size_t size() const { return size_; }

    /// The bytes from `place` on, all of them.
    void read(std::size_t place, void* bytes, std::size_t size) const;

  private:
    std::string name_;
    FileDescriptor file_;
    std::size_t size_ = 0;
};

/// All bytes of a JSON file. What does not begin as an object does is not read to its end, which may never come: its
/// beginning is enough to refuse it.
std::string read_json(ByteStream& stream);

/// Where a link to nothing leads, also by other links; any other path is itself.
std::string end_of_links(const std::string& path);

/// A file that appears under its name when it is whole, or not at all: it is written beside its place, then renamed.
/// What an earlier process left there, killed while it wrote the same file, is removed on the way.
/// What is no regular file ("-" for standard output, a device, a pipe) is written to as it is.
class AtomicFile {
  public:
    explicit AtomicFile(const std::string& path);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    void write(const void* bytes, std::size_t size);
    void commit();

    /// Whether somebody is looking.
    bool is_terminal() const;

  private:
    std::string path_;
    std::string temporary_;  // empty where it is written directly
    std::optional<UnfinishedFile> unfinished_;
    FileDescriptor file_;
    bool committed_ = false;
};

/// Refuses a path to which no file can be written, before there is anything to write, and leaves nothing there.
void require_writable(const std::string& path);

/// Writes a whole file at once.
void write_text(const std::string& path, const std::string& text);

}  // namespace lrvb::detail
