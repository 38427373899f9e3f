#pragma once

#include <lrvb/data/row_source.hpp>

#include <memory>
#include <string>
#include <vector>

namespace lrvb {

/// The rows of a NumPy file (.npy, format 1.0 to 3.0), mapped into memory and never read as a whole: float64 or float32
/// ('<f8', '<f4'), in C or Fortran order, of two dimensions, or of one, which makes one column.
///
/// A file that cannot be opened, is damaged, truncated, empty or of another type is refused by the constructor,
/// std::runtime_error with the file and the remedy; `read` refuses numbers that are not finite, with their row and
/// column. The file must stay as it is while it is read: one that shrinks ends the program, as with any mapped file.
class LRVB_EXPORT NpySource final : public RowSource {
  public:
    /// `columns` are numbers from 1, in any order, as CsvOptions::columns takes them; none means all.
    explicit NpySource(const std::string& path, const std::vector<std::string>& columns = {});
    ~NpySource() override;
    NpySource(NpySource&&) noexcept;
    NpySource& operator=(NpySource&&) noexcept;

    Index columns() const override;
    std::string name() const override;
    void rewind() override;

    /// Gives back the pages that it has passed, so that resident memory does not grow with the file.
    Index read(double* rows, Index capacity) override;

    Index rows() const;

    /// The mapped numbers where the file holds just what `read` gives: float64, C order, all columns. Otherwise null.
    /// Only `read` looks whether they are finite, and only `read` gives pages back.
    const double* resident() const override;

  private:
    class Implementation;

    std::unique_ptr<Implementation> implementation_;
};

/// Writes rows × columns numbers that lie row by row as a float64 NumPy file of two dimensions. The file appears under
/// its name when it is whole: whoever interrupts the writing finds the old one, or none. Throws std::runtime_error if
/// the system refuses.
LRVB_EXPORT void write_npy(const std::string& path, Index rows, Index columns, const double* values);

}  // namespace lrvb
