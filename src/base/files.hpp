#pragma once

#include <cstddef>
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

/// Bytes that can be read again from any place: a file, or what came through a pipe, kept in memory.
class ByteStream {
  public:
    /// "-" is standard input.
    explicit ByteStream(const std::string& path);

    const std::string& name() const { return name_; }

    /// The next bytes, at most `capacity`; how many there were, 0 only at the end.
    std::size_t read(char* bytes, std::size_t capacity);
    void seek(std::size_t position) { position_ = position; }

  private:
    std::string name_;
    FileDescriptor file_;
    bool in_memory_ = false;
    std::vector<char> memory_;
    std::size_t start_ = 0;  // where the file stood when it came to us: standard input may have been read from
    std::size_t position_ = 0;
};

/// A whole file, mapped for reading.
class MappedFile {
  public:
    explicit MappedFile(const std::string& path);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    const char* data() const { return data_; }
    std::size_t size() const { return size_; }

    /// Gives back the memory of the pages from that of `begin` up to that of `end`. They come back when read again.
    void release(std::size_t begin, std::size_t end) const;

  private:
    char* data_ = nullptr;
    std::size_t size_ = 0;
};

/// All bytes from where the stream stands to its end.
std::string read_all(ByteStream& stream);

/// A file that appears under its name when it is whole, or not at all: it is written beside its place, then renamed.
/// What is no regular file ("-" for standard output, a device, a pipe) is written to as it is.
class AtomicFile {
  public:
    explicit AtomicFile(const std::string& path);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    void write(const void* bytes, std::size_t size);
    void commit();

  private:
    std::string path_;
    std::string temporary_;  // empty where it is written directly
    FileDescriptor file_;
    bool committed_ = false;
};

/// Refuses a path to which no file can be written, before there is anything to write, and leaves nothing there.
void require_writable(const std::string& path);

/// Writes a whole file at once.
void write_text(const std::string& path, const std::string& text);

}  // namespace lrvb::detail
