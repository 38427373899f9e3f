#pragma once

#include "base/files.hpp"

#include <lrvb/types.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace lrvb::detail {

/// A NumPy archive (.npz, as numpy.load reads it): a ZIP file with an .npy file for each array, stored as it is. The
/// same arrays make the same bytes, without a date. It appears when it is whole, or not at all.
class NpzFile {
  public:
    /// Throws std::runtime_error where so many arrays of so many numbers would be more than the 4 GB that the format
    /// holds without its extensions.
    NpzFile(const std::string& path, std::size_t arrays, Index numbers);

    /// Numbers row by row. Throws std::runtime_error where the name is too long.
    void add(const std::string& name, Index rows, Index columns, const double* values);
    void commit();

  private:
    struct Entry {
        std::string name;
        std::uint32_t checksum = 0;
        std::uint32_t size = 0;
        std::uint32_t place = 0;
    };

    void write(const std::string& bytes);

    std::string path_;
    AtomicFile file_;
    std::size_t written_ = 0;
    std::vector<Entry> entries_;
};

}  // namespace lrvb::detail
