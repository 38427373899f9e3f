#pragma once

#include <lrvb/data/row_source.hpp>

#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace lrvb {

/// The columns to read, numbers from 1, as CsvOptions and FrameOptions have them; none means all.
struct NpyOptions {
    std::vector<std::string> columns = {};
    bool ranges = false;
    std::vector<std::string> last = {};
    /// The rows to read, from the first-th on (counted from 0), and as many as there are of these at most.
    Index first_row = 0;
    Index most_rows = std::numeric_limits<Index>::max();
};

/// The rows of a NumPy file (.npy, format 1.0 to 3.0), read from the file whenever they are asked for, so that memory
/// does not grow with it: floats of 2, 4 or 8 bytes, integers of 1, 2, 4 or 8, with or without sign, and booleans, in
/// either order of bytes, in C or Fortran order, of two dimensions, or of one, which makes one column.
///
/// A file that cannot be opened, is damaged, truncated, empty or of another type is refused by the constructor,
/// std::runtime_error with the file and the remedy; `read` refuses numbers that are not finite, and whole numbers
/// beyond ±2⁵³, of which a double does not hold all, with their row and column, and a file that has been cut short
/// meanwhile.
class LRVB_EXPORT NpySource final : public RowSource {
  public:
    explicit NpySource(const std::string& path, const NpyOptions& options);
    /// `columns` are numbers from 1, in any order; none means all.
    explicit NpySource(const std::string& path, const std::vector<std::string>& columns = {})
        : NpySource(path, NpyOptions{columns, false, {}, 0, std::numeric_limits<Index>::max()}) {}
    ~NpySource() override;
    NpySource(NpySource&&) noexcept;
    NpySource& operator=(NpySource&&) noexcept;

    Index columns() const override;
    std::string name() const override;
    void rewind() override;
    Index read(double* rows, Index capacity) override;

    /// That are read.
    Index rows() const;
    /// The bytes before the first row of the file, and those of a row, where rows lie one behind the other; 0 where
    /// the columns do.
    std::size_t data_offset() const;
    std::size_t row_bytes() const;
    /// The numbers, from 1, of the columns that are read.
    std::vector<std::string> column_names() const;

  private:
    class Implementation;

    std::unique_ptr<Implementation> implementation_;
};

/// Writes rows × columns numbers that lie row by row as a float64 NumPy file of two dimensions. The file appears under
/// its name when it is whole: whoever interrupts the writing finds the old one, or none. Throws std::runtime_error if
/// the system refuses.
LRVB_EXPORT void write_npy(const std::string& path, Index rows, Index columns, const double* values);

}  // namespace lrvb
