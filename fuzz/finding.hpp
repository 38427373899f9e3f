#pragma once

#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>

/// What the checks share.
namespace lrvb::fuzz {

/// A promise of the library that some input breaks. No library exception: no handler takes it for one.
class Finding : public std::exception {
  public:
    explicit Finding(std::string what) : what_(std::move(what)) {}
    const char* what() const noexcept override { return what_.c_str(); }

  private:
    std::string what_;
};

inline void require(bool holds, const char* promise) {
    if (!holds) throw Finding(promise);
}

/// Runs the call. Why it was refused, in the one line that is promised; empty if it was not.
template <class Call>
std::string refusal_of(Call call) {
    std::string message;
    try {
        call();
        return message;
    } catch (const std::runtime_error& error) {
        message = error.what();
    } catch (const std::invalid_argument& error) {
        message = error.what();
    } catch (const Finding&) {
        throw;
    } catch (const std::exception& error) {
        throw Finding(std::string("an exception that is not promised: ") + error.what());
    }
    require(!message.empty(), "a refusal says why");
    require(message.find_first_of("\r\n") == std::string::npos, "a refusal is one line");
    return message;
}

/// A file in memory, where there is such a place, gone with its directory when the program ends.
class ScratchFile {
  public:
    explicit ScratchFile(std::string_view name) : path_(directory() / name) {}

    std::string path() const { return path_; }

    void write(std::string_view bytes) const {
        std::ofstream file(path_, std::ios::binary);
        file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        if (!file.flush()) throw std::system_error(errno, std::generic_category(), path_);
    }

    std::string read() const {
        std::ifstream file(path_, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

  private:
    class Directory {
      public:
        Directory() {
            const std::filesystem::path memory = "/dev/shm";
            const bool has_memory = ::access(memory.c_str(), W_OK) == 0;
            std::string pattern = (has_memory ? memory : std::filesystem::temp_directory_path()) / "lrvb-fuzz-XXXXXX";
            if (::mkdtemp(pattern.data()) == nullptr) throw std::system_error(errno, std::generic_category(), pattern);
            path_ = pattern;
        }
        ~Directory() {
            std::error_code ignored;
            std::filesystem::remove_all(path_, ignored);
        }
        Directory(const Directory&) = delete;
        Directory& operator=(const Directory&) = delete;

        const std::filesystem::path& path() const { return path_; }

      private:
        std::filesystem::path path_;
    };

    static const std::filesystem::path& directory() {
        static const Directory own;
        return own.path();
    }

    std::filesystem::path path_;
};

}  // namespace lrvb::fuzz
