#include "data/rows_digest.hpp"

#include <lrvb/base/interruption.hpp>
#include <lrvb/data/row_team.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace lrvb {

namespace {

constexpr Index kReadRows = 1 << 14;  // at once

// The numbers of rows first … first + count − 1, as far as the share has them.
std::string answer_rows(RowShare& share, std::string_view asked) {
    detail::ByteReader reader(asked);
    const Index first = std::max(reader.index(), share.first());
    const Index end = std::min(reader.index(), share.first() + share.rows());
    if (first >= end) return {};
    const Index width = reader.index();
    std::string bytes(static_cast<std::size_t>((end - first) * width) * sizeof(double), '\0');
    std::vector<double> rows(static_cast<std::size_t>((end - first) * width));
    share.copy(first, end - first, rows.data());
    std::memcpy(bytes.data(), rows.data(), bytes.size());
    return bytes;
}

std::string written(const detail::BlockTree<detail::BlockHash>& tree, const detail::RowNumbers& numbers) {
    detail::ByteWriter writer;
    writer.number(static_cast<Index>(tree.nodes().size()));
    for (const auto& node : tree.nodes()) writer.number(node.block).number(node.size).number(node.value.hash);
    writer.text(numbers.bytes());
    return writer.take();
}

std::pair<detail::BlockTree<detail::BlockHash>, detail::RowNumbers> digest_of(std::string_view bytes) {
    detail::ByteReader reader(bytes);
    std::pair<detail::BlockTree<detail::BlockHash>, detail::RowNumbers> result{{}, detail::RowNumbers(0)};
    const Index count = reader.index();
    for (Index i = 0; i < count; ++i) {
        detail::BlockTree<detail::BlockHash>::Node node;
        node.block = reader.index();
        node.size = reader.index();
        node.value.hash = reader.number<std::uint64_t>();
        result.first.append(node);
    }
    result.second = detail::RowNumbers::of_bytes(reader.text());
    return result;
}

std::string answer_digest(RowShare& share, std::string_view asked) {
    detail::ByteReader reader(asked);
    const Index columns = reader.index();
    RowSource& source = share.source();
    const Index width = source.columns();
    detail::RowsChecksum checksum(width, share.first());
    detail::RowNumbers numbers(columns);
    std::vector<double> chunk(static_cast<std::size_t>(kReadRows * width));
    Index row = share.first();
    source.rewind();
    while (const Index count = source.read(chunk.data(), kReadRows)) {
        interruption_point();
        checksum.add(chunk.data(), count);
        for (Index i = 0; i < count && numbers.any_counts(); ++i)
            numbers.add(chunk.data() + i * width, share.file_row(row + i));
        row += count;
    }
    return written(checksum.take(), numbers);
}

std::string merge_digests(const std::string& left, const std::string& right) {
    auto [tree, numbers] = digest_of(left);
    auto [more, others] = digest_of(right);
    tree.append(std::move(more));
    numbers.add(others);
    return written(tree, numbers);
}

}  // namespace

RowShare::RowShare(std::shared_ptr<RowSource> source, Index first, Index rows, std::vector<Index> file_rows)
    : source_(std::move(source)), first_(first), rows_(rows), file_rows_(std::move(file_rows)) {
    if (first % kShareRows != 0 || rows < 0) {
        throw std::invalid_argument(
            fmt::format("RowShare: {} rows from {} on: a share begins at a multiple of {}", rows, first, kShareRows));
    }
}

RowSource& RowShare::source() {
    next_ = -1;
    return *source_;
}

void RowShare::copy(Index first, Index count, double* to) {
    const Index width = source_->columns();
    if (const double* resident = source_->resident()) {
        std::copy_n(resident + (first - first_) * width, count * width, to);
        return;
    }
    if (next_ < 0 || next_ > first) {
        source_->rewind();
        next_ = first_;
    }
    std::vector<double> skipped(static_cast<std::size_t>(std::min(first - next_, kReadRows) * width));
    while (next_ < first) {
        const Index read = source_->read(skipped.data(), std::min(first - next_, kReadRows));
        if (read == 0) break;
        next_ += read;
    }
    for (Index done = 0; done < count;) {
        const Index read = source_->read(to + done * width, count - done);
        if (read == 0) {
            throw std::runtime_error(
                fmt::format("{}: has fewer rows than it had at first: let nothing change it "
                            "while it is read",
                            source_->name()));
        }
        done += read;
        next_ += read;
    }
}

std::vector<RowQuestion> data_questions() {
    return {{"rows", answer_rows, [](std::string left, const std::string& right) { return left += right; }},
            {"file rows",
             [](RowShare& share, std::string_view) { return detail::ByteWriter().numbers(share.file_rows()).take(); },
             [](std::string left, const std::string& right) { return left += right; }},
            {"digest", answer_digest, merge_digests}};
}

TeamRows::TeamRows(std::shared_ptr<RowTeam> team, std::string name, std::vector<std::string> columns, Index rows)
    : team_(std::move(team)), name_(std::move(name)), names_(std::move(columns)), rows_(rows) {
    if (team_ == nullptr || names_.empty() || rows < 1) {
        throw std::invalid_argument("TeamRows: there is no team, no column or no row");
    }
}

void TeamRows::rewind() {
    next_ = 0;
}

Index TeamRows::read(double* rows, Index capacity) {
    const Index width = columns();
    const Index total = std::min(capacity, rows_ - next_);
    for (Index done = 0; done < total;) {
        const Index held = static_cast<Index>(buffer_.size()) / width;
        if (next_ < buffer_first_ || next_ >= buffer_first_ + held) {
            const Index end = std::min(rows_, next_ + std::max(kReadRows, total - done));
            detail::ByteWriter asked;
            asked.number(next_).number(end).number(width);
            const std::string bytes = team_->ask("rows", asked.take());
            if (bytes.size() != static_cast<std::size_t>((end - next_) * width) * sizeof(double)) {
                throw std::runtime_error(
                    fmt::format("{}: rows are gone: let nothing change it while it is read", name_));
            }
            buffer_.resize(bytes.size() / sizeof(double));
            std::memcpy(buffer_.data(), bytes.data(), bytes.size());
            buffer_first_ = next_;
            continue;
        }
        const Index some = std::min(total - done, buffer_first_ + held - next_);
        std::copy_n(buffer_.data() + (next_ - buffer_first_) * width, some * width, rows + done * width);
        done += some;
        next_ += some;
    }
    return total;
}

namespace detail {

std::string RowsChecksum::text(const BlockTree<BlockHash>& tree) {
    const std::uint64_t hash = tree.empty() ? Checksum().bits() : tree.total().hash;
    return fmt::format("{:016x}", hash ^ (hash >> 32U));
}

RowsDigest ask_digest(RowTeam& team, Index columns) {
    ByteWriter asked;
    asked.number(columns);
    auto [tree, numbers] = digest_of(team.ask("digest", asked.take()));
    return {RowsChecksum::text(tree), std::move(numbers)};
}

}  // namespace detail

}  // namespace lrvb
