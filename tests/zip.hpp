#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

/// The files in a ZIP file that are stored as they are, by name, from the format's description (APPNOTE.TXT): every
/// mark, size and checksum must be right, and nothing may lie between them.
namespace lrvb::testing {

class StoredZip {
  public:
    explicit StoredZip(std::string bytes) : bytes_(std::move(bytes)) {
        require(bytes_.size() >= kEnd, "it is too short");
        const std::size_t end = bytes_.size() - kEnd;
        require(number(end, 4) == 0x06054B50, "no end of the directory");
        const std::size_t count = number(end + 10, 2);
        require(number(end + 4, 4) == 0 && number(end + 8, 2) == count && number(end + 20, 2) == 0, "its end");
        std::size_t entry = number(end + 16, 4);
        std::size_t file = 0;
        for (std::size_t i = 0; i < count; ++i) {
            require(number(entry, 4) == 0x02014B50, "no entry of the directory");
            require(number(entry + 42, 4) == file && number(file, 4) == 0x04034B50, "no file where there should be");
            // What both say: version, flags, method, date, checksum, sizes, length of the name.
            require(bytes_.substr(entry + 6, 24) == bytes_.substr(file + 4, 24), "file and directory differ");
            require(number(entry + 10, 2) == 0 && number(entry + 8, 2) == 0x0800, "it is packed, or not in UTF-8");
            require(number(file + 28, 2) == 0 && number(entry + 30, 4) == 0, "extra fields");
            const std::size_t size = number(file + 22, 4);
            const std::size_t length = number(file + 26, 2);
            require(number(file + 18, 4) == size, "two sizes");
            const std::string name = bytes_.substr(file + 30, length);
            require(bytes_.substr(entry + 46, length) == name, "two names");
            std::string content = bytes_.substr(file + 30 + length, size);
            require(content.size() == size && checksum(content) == number(file + 14, 4), "a checksum");
            require(files_.emplace(name, std::move(content)).second, "a name twice");
            file += 30 + length + size;
            entry += 46 + length;
        }
        require(file == number(end + 16, 4) && entry == end && entry - file == number(end + 12, 4), "a gap");
    }

    const std::map<std::string, std::string>& files() const { return files_; }

  private:
    static constexpr std::size_t kEnd = 22;

    static void require(bool holds, const std::string& what) {
        if (!holds) throw std::runtime_error("no ZIP file as expected: " + what);
    }

    std::size_t number(std::size_t place, std::size_t size) const {
        require(place + size <= bytes_.size(), "it is cut short");
        std::size_t value = 0;
        for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes_[place + i]);
        return value;
    }

    // CRC-32, bit by bit.
    static std::uint32_t checksum(const std::string& bytes) {
        std::uint32_t rest = 0xFFFFFFFF;
        for (const char byte : bytes) {
            rest ^= static_cast<unsigned char>(byte);
            for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ ((rest & 1U) != 0 ? 0xEDB88320U : 0U);
        }
        return ~rest;
    }

    std::string bytes_;
    std::map<std::string, std::string> files_;
};

}  // namespace lrvb::testing
