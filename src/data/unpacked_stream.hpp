#pragma once

#include "base/files.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace lrvb::detail {

/// The bytes of a file or a pipe, as ByteStream reads them; those of a gzip file, which its first bytes tell and not
/// its name, are unpacked while they stream by, so that memory does not grow with what is in it. It may have several
/// members, one behind the other. To go back is to unpack again from the beginning: of a pipe, the packed bytes are
/// kept.
///
/// A gzip file that is damaged or cut short is refused by `read`, std::runtime_error with the name of the file.
class UnpackedStream {
  public:
    /// `path` and `kept` are those of ByteStream.
    explicit UnpackedStream(const std::string& path, std::size_t kept = 0);
    ~UnpackedStream();
    UnpackedStream(UnpackedStream&&) noexcept;
    UnpackedStream& operator=(UnpackedStream&&) noexcept;

    const std::string& name() const { return stream_.name(); }
    bool is_packed() const { return inflater_ != nullptr; }
    bool can_go_back() const { return stream_.can_go_back(); }
    std::size_t kept_bytes() const { return stream_.kept_bytes(); }

    /// The next bytes, at most `capacity`; how many there were, 0 only at the end.
    std::size_t read(char* bytes, std::size_t capacity);
    /// Only to where the stream stands, unless it can go back.
    void seek(std::size_t position);

  private:
    class Inflater;

    ByteStream stream_;
    std::string first_;  // what was read to see what it is
    std::size_t position_ = 0;
    std::unique_ptr<Inflater> inflater_;
};

}  // namespace lrvb::detail
