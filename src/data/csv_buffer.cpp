#include "data/csv_buffer.hpp"

#include "data/decimal.hpp"

#include <algorithm>
#include <cstring>

namespace lrvb::detail {
namespace {

constexpr std::size_t room_behind = 1 + decimal_padding;  // a line feed, and what is looked at behind it

}  // namespace

CsvBuffer::CsvBuffer(const std::string& path, std::size_t block, std::size_t kept)
    : stream_(path, kept), block_(std::max<std::size_t>(block, 1)), storage_(block_ + room_behind) {}

void CsvBuffer::fill() {
    const std::size_t kept = size();
    if (begin_ > 0) {
        std::memmove(storage_.data(), begin(), kept);
        storage_place_ += begin_;
        begin_ = 0;
        end_ = kept;
    }
    // A record longer than a block is scanned anew with every fill: the window doubles, so that this stays linear.
    const std::size_t wanted = std::min(std::max(block_, kept), limit_ - std::min(limit_, storage_place_ + end_));
    if (storage_.size() < kept + wanted + room_behind) storage_.resize(kept + wanted + room_behind);
    const std::size_t count = wanted == 0 ? 0 : stream_.read(storage_.data() + end_, wanted);
    end_ += count;
    if (count == 0) {
        is_last_ = true;
        if (end_ > 0 && storage_[end_ - 1] != '\n') storage_[end_++] = '\n';
    }
    lines_end_ = end_;
    while (lines_end_ > 0 && storage_[lines_end_ - 1] != '\n') --lines_end_;
}

void CsvBuffer::rewind() {
    if (storage_place_ <= mark_ && mark_ <= storage_place_ + end_) {  // still in sight
        begin_ = mark_ - storage_place_;
        return;
    }
    stream_.seek(mark_);
    storage_place_ = mark_;
    begin_ = 0;
    end_ = 0;
    lines_end_ = 0;
    is_last_ = false;
}

void CsvBuffer::restrict_to(std::size_t begin, std::size_t end) {
    mark_ = std::max(mark_, begin);
    limit_ = std::max(mark_, end);
    stream_.seek(mark_);
    storage_place_ = mark_;
    begin_ = 0;
    end_ = 0;
    lines_end_ = 0;
    is_last_ = false;
}

}  // namespace lrvb::detail
