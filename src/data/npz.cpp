#include "data/npz.hpp"

#include "data/npy_header.hpp"

#include <fmt/format.h>

#include <limits>
#include <stdexcept>
#include <zlib.h>

namespace lrvb::detail {
namespace {

// Room for headers is left below 2³² bytes.
constexpr double kMostBytes = 4.2e9;
constexpr std::size_t kMostEntries = 0xFFFE;
constexpr std::size_t kMostName = 0x7FFF;

constexpr std::uint32_t kLocalMark = 0x04034B50;
constexpr std::uint32_t kCentralMark = 0x02014B50;
constexpr std::uint32_t kEndMark = 0x06054B50;
constexpr std::uint16_t kVersion = 20;
constexpr std::uint16_t kNamesAreUtf8 = 0x0800;
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kTime = 0;
constexpr std::uint16_t kDate = 0x0021;  // 1 January 1980, the first there is

// Lowest byte first.
class Bytes {
  public:
    Bytes& two(std::size_t number) { return some(number, 2); }
    Bytes& four(std::size_t number) { return some(number, 4); }
    Bytes& text(const std::string& text) {
        bytes_ += text;
        return *this;
    }
    const std::string& done() const { return bytes_; }

  private:
    Bytes& some(std::size_t number, int count) {
        for (int i = 0; i < count; ++i) bytes_ += static_cast<char>(number >> (8 * i) & 0xFF);
        return *this;
    }
    std::string bytes_;
};

}  // namespace

NpzFile::NpzFile(const std::string& path, std::size_t arrays, Index numbers) : path_(path), file_(path) {
    const double bytes = static_cast<double>(arrays) * (8.0 * static_cast<double>(numbers) + 1000.0);
    if (bytes <= kMostBytes && arrays <= kMostEntries) return;
    throw std::runtime_error(
        fmt::format("{}: {} arrays of {} numbers are more than a NumPy archive holds here, 4.2 GB: save fewer "
                    "variables or draws, or CSV",
                    path, arrays, numbers));
}

void NpzFile::write(const std::string& bytes) {
    file_.write(bytes.data(), bytes.size());
    written_ += bytes.size();
}

void NpzFile::add(const std::string& name, Index rows, Index columns, const double* values) {
    const std::string header = make_npy_header(rows, columns);
    const std::size_t size = static_cast<std::size_t>(rows * columns) * sizeof(double);
    Entry entry;
    entry.name = name + ".npy";
    if (entry.name.size() > kMostName || written_ + header.size() + size > std::numeric_limits<std::uint32_t>::max()) {
        throw std::runtime_error(fmt::format(
            "{}: an array has a name of {} bytes, or is too large, for a NumPy archive", path_, name.size()));
    }
    entry.size = static_cast<std::uint32_t>(header.size() + size);
    entry.place = static_cast<std::uint32_t>(written_);
    uLong checksum = ::crc32_z(0, reinterpret_cast<const Bytef*>(header.data()), header.size());
    checksum = ::crc32_z(checksum, reinterpret_cast<const Bytef*>(values), size);
    entry.checksum = static_cast<std::uint32_t>(checksum);
    Bytes local;
    local.four(kLocalMark).two(kVersion).two(kNamesAreUtf8).two(kStored).two(kTime).two(kDate);
    local.four(entry.checksum).four(entry.size).four(entry.size).two(entry.name.size()).two(0).text(entry.name);
    write(local.done());
    write(header);
    file_.write(values, size);
    written_ += size;
    entries_.push_back(std::move(entry));
}

void NpzFile::commit() {
    Bytes central;
    for (const Entry& entry : entries_) {
        central.four(kCentralMark).two(kVersion).two(kVersion).two(kNamesAreUtf8).two(kStored).two(kTime).two(kDate);
        central.four(entry.checksum).four(entry.size).four(entry.size).two(entry.name.size());
        // No extra field, comment, other disk or attributes.
        central.two(0).two(0).two(0).two(0).four(0).four(entry.place).text(entry.name);
    }
    Bytes end;
    end.four(kEndMark).two(0).two(0).two(entries_.size()).two(entries_.size());
    end.four(central.done().size()).four(written_).two(0);
    write(central.done());
    write(end.done());
    file_.commit();
}

}  // namespace lrvb::detail
