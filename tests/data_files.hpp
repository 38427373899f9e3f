#pragma once

#include <lrvb/data/row_source.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <vector>

/// What the tests of the readers share: files that go when the test ends, and sources read to their end.
namespace lrvb {

/// A directory of the test's own, gone with all it holds when the test ends.
class TemporaryDirectory {
  public:
    TemporaryDirectory() {
        std::string pattern = ::testing::TempDir() + "lrvb-data-XXXXXX";
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make " + pattern);
        path_ = pattern;
    }
    ~TemporaryDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    std::string path(std::string_view name) const { return path_ / name; }

    std::string write(std::string_view name, std::string_view bytes) const {
        std::ofstream(path(name), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        return path(name);
    }

    /// The names of the files in it.
    std::vector<std::string> list() const {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(path_)) names.push_back(entry.path().filename());
        return names;
    }

  private:
    std::filesystem::path path_;
};

/// Blocks so small that everything lies across a border, and the usual one.
inline constexpr std::array<std::size_t, 5> kBlocks = {1, 2, 3, 7, std::size_t{1} << 20};

/// The rest of a source. Expects that all calls but the last give `capacity` rows, and that the end stays the end.
inline std::vector<double> read_all(RowSource& source, Index capacity = 1000) {
    std::vector<double> numbers;
    std::vector<double> chunk(static_cast<std::size_t>(capacity * source.columns()));
    for (Index count = capacity; count == capacity;) {
        count = source.read(chunk.data(), capacity);
        EXPECT_LE(count, capacity);
        numbers.insert(numbers.end(), chunk.begin(), chunk.begin() + count * source.columns());
    }
    EXPECT_EQ(source.read(chunk.data(), capacity), 0);
    return numbers;
}

template <class Exception, class Call>
std::string message_of(Call call) {
    try {
        call();
    } catch (const Exception& error) {
        return error.what();
    } catch (const std::exception& error) {
        return std::string("an exception of another type: ") + error.what();
    }
    return "no exception";
}

}  // namespace lrvb
