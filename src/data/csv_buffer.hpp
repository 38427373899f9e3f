#pragma once

#include "data/unpacked_stream.hpp"

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace lrvb::detail {

/// A window of a text file, which may be packed by gzip, that moves forward: what has been read and not yet consumed.
/// The file ends in a line feed here, whether or not it does on the disk, and `decimal_padding` bytes behind the
/// window's end can be read.
class CsvBuffer {
  public:
    /// `kept` is that of ByteStream.
    CsvBuffer(const std::string& path, std::size_t block, std::size_t kept);

    const std::string& name() const { return stream_.name(); }

    const char* begin() const { return storage_.data() + begin_; }
    const char* end() const { return storage_.data() + end_; }
    std::size_t size() const { return end_ - begin_; }

    /// One past the last line feed in the window; its beginning if there is none.
    const char* lines_end() const { return storage_.data() + lines_end_; }

    /// Whether the window reaches to the end of the file.
    bool is_last() const { return is_last_; }

    /// Pointers into the window stay good until `fill` or `rewind`.
    void consume(const char* to) { begin_ = static_cast<std::size_t>(to - storage_.data()); }

    /// Reads on: at least one byte more, or is_last().
    void fill();

    /// Whether `rewind` works once the window has left the mark.
    bool can_go_back() const { return stream_.can_go_back(); }

    std::size_t kept_bytes() const { return stream_.kept_bytes(); }
    bool is_packed() const { return stream_.is_packed(); }

    /// `rewind` will come back to the present beginning.
    void mark() { mark_ = storage_place_ + begin_; }
    void rewind();
    /// From now on there is nothing but the bytes from `begin` on, or from the mark if that is later, up to `end`.
    void restrict_to(std::size_t begin, std::size_t end);

  private:
    UnpackedStream stream_;
    std::size_t block_;
    std::vector<char> storage_;
    std::size_t storage_place_ = 0;  // of the storage's first byte, in the file
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t lines_end_ = 0;
    bool is_last_ = false;
    std::size_t mark_ = 0;
    std::size_t limit_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace lrvb::detail
