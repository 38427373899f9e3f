#include "data/unpacked_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <string_view>
#include <zlib.h>

namespace lrvb::detail {
namespace {

constexpr std::string_view gzip_mark = "\x1F\x8B";

[[noreturn]] void refuse_packed(const std::string& name, const std::string& reason) {
    throw std::runtime_error(fmt::format("{}: {}: copy or write it again", name, reason));
}

}  // namespace

/// Unpacks what `stream` gives, member by member.
class UnpackedStream::Inflater {
  public:
    Inflater(ByteStream& stream, std::string_view first) : stream_(&stream) {
        if (::inflateInit2(&state_, window_bits) != Z_OK) throw std::bad_alloc();
        std::copy(first.begin(), first.end(), packed_.begin());
        give(first.size());
    }
    ~Inflater() { ::inflateEnd(&state_); }
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;

    void follow(ByteStream& stream) { stream_ = &stream; }

    void begin_again() {
        stream_->seek(0);
        ::inflateReset(&state_);
        give(0);
        is_between_members_ = false;
        is_padded_ = false;
        has_ended_ = false;
    }

    std::size_t read(char* bytes, std::size_t capacity) {
        const auto room = static_cast<uInt>(std::min<std::size_t>(capacity, std::numeric_limits<uInt>::max()));
        state_.next_out = reinterpret_cast<Bytef*>(bytes);
        state_.avail_out = room;
        while (state_.avail_out == room && !has_ended_) unpack_some();
        return room - state_.avail_out;
    }

  private:
    static constexpr int window_bits = 15 + 16;  // the largest window, in a gzip wrapper

    void give(std::size_t count) {
        state_.next_in = reinterpret_cast<Bytef*>(packed_.data());
        state_.avail_in = static_cast<uInt>(count);
    }

    void unpack_some() {
        if (state_.avail_in == 0) give(stream_->read(packed_.data(), packed_.size()));
        if (is_between_members_) {
            begin_member();
            return;
        }
        if (state_.avail_in == 0) refuse_packed(stream_->name(), "is a gzip file that is cut short");
        const int result = ::inflate(&state_, Z_NO_FLUSH);
        if (result == Z_STREAM_END) {
            is_between_members_ = true;
        } else if (result == Z_MEM_ERROR) {
            throw std::bad_alloc();
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
            refuse_packed(stream_->name(),
                          fmt::format("is a damaged gzip file ({})", state_.msg == nullptr ? "no end" : state_.msg));
        }
    }

    /// Behind a member there is another one, or nothing but zeros, as tapes are filled up with.
    void begin_member() {
        if (state_.avail_in == 0) {
            has_ended_ = true;
        } else if (*state_.next_in == 0) {
            is_padded_ = true;
            ++state_.next_in;
            --state_.avail_in;
        } else if (is_padded_ || *state_.next_in != static_cast<Bytef>(gzip_mark[0])) {
            refuse_packed(stream_->name(), "is a damaged gzip file (something else follows it)");
        } else {
            ::inflateReset(&state_);
            is_between_members_ = false;
        }
    }

    ByteStream* stream_;
    z_stream state_ = {};
    std::array<char, std::size_t{1} << 16> packed_ = {};
    bool is_between_members_ = false;
    bool is_padded_ = false;
    bool has_ended_ = false;
};

UnpackedStream::UnpackedStream(const std::string& path, std::size_t kept) : stream_(path, kept) {
    std::array<char, gzip_mark.size()> bytes = {};
    while (first_.size() < bytes.size()) {
        const std::size_t count = stream_.read(bytes.data(), bytes.size() - first_.size());
        if (count == 0) break;
        first_.append(bytes.data(), count);
    }
    if (first_ == gzip_mark) inflater_ = std::make_unique<Inflater>(stream_, first_);
}
UnpackedStream::~UnpackedStream() = default;
UnpackedStream::UnpackedStream(UnpackedStream&& other) noexcept
    : stream_(std::move(other.stream_)),
      first_(std::move(other.first_)),
      position_(other.position_),
      inflater_(std::move(other.inflater_)) {
    if (inflater_) inflater_->follow(stream_);
}
UnpackedStream& UnpackedStream::operator=(UnpackedStream&& other) noexcept {
    stream_ = std::move(other.stream_);
    first_ = std::move(other.first_);
    position_ = other.position_;
    inflater_ = std::move(other.inflater_);
    if (inflater_) inflater_->follow(stream_);
    return *this;
}

std::size_t UnpackedStream::read(char* bytes, std::size_t capacity) {
    std::size_t count = 0;
    if (inflater_) {
        count = inflater_->read(bytes, capacity);
    } else if (position_ < first_.size()) {
        count = std::min(capacity, first_.size() - position_);
        std::memcpy(bytes, first_.data() + position_, count);
    } else {
        count = stream_.read(bytes, capacity);
    }
    position_ += count;
    return count;
}

void UnpackedStream::seek(std::size_t position) {
    if (!inflater_) {
        stream_.seek(std::max(position, first_.size()));
        position_ = position;
        return;
    }
    if (position < position_) {
        inflater_->begin_again();
        position_ = 0;
    }
    std::array<char, std::size_t{1} << 12> passed = {};
    while (position_ < position && read(passed.data(), std::min(passed.size(), position - position_)) > 0) continue;
}

}  // namespace lrvb::detail
