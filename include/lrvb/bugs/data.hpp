#pragma once

#include <lrvb/data/data_array.hpp>
#include <lrvb/data/frame.hpp>
#include <lrvb/export.hpp>
#include <lrvb/types.hpp>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

/// The data of a model: arrays of numbers by name.
///
/// One convention: the first index changes fastest (column-major), as in R and JAGS, whatever the file's format. Of
/// JSON, whose arrays are nested, x[i][j] is x[i+1, j+1] of the model.
namespace lrvb::bugs {

using lrvb::DataArray;

/// Failures: std::runtime_error with the file and the place for what a file cannot mean, and for a name that comes
/// twice, with both files.
class LRVB_EXPORT Data {
  public:
    /// No more than `longest` numbers are made of a range such as 1:30.
    explicit Data(std::size_t longest = 10'000'000) : longest_range_(longest) {}

    /// Several files together. "-" is standard input. The texts of `na` mean a missing value besides those that always
    /// do; one that is a number means this number in every format.
    static Data read(const std::vector<std::string>& paths, const std::vector<std::string>& na = {});

    /// By the end of its name a file is JSON (.json) or a table (.csv, .tsv, and packed .csv.gz); of any other, its
    /// text tells which of the three it is.
    void add_file(const std::string& path);
    /// JSON as Stan and posteriordb write it: an object of numbers and nested arrays; null and "NA" are missing.
    void add_json(std::string_view text, const std::string& file);
    /// R's dump format, as JAGS reads it, and the list(…) of WinBUGS, whose structure(.Data = …) has its last index
    /// fastest.
    void add_dump(std::string_view text, const std::string& file);
    /// A CSV file: each column a vector, and N the number of rows, unless there is an N in this or another file, or
    /// files differ in it. Text becomes 1, 2, … in the order of its bytes.
    void add_csv(const std::string& path);
    /// The same of a table in memory; a number that is NaN, and a code FrameColumn::kMissing, are missing.
    void add_frame(const DataFrame& frame);

    /// Throws std::runtime_error for a name that is there, std::invalid_argument where size and dimensions differ.
    void add(DataArray array);

    /// Null where there is none.
    const DataArray* find(std::string_view name) const;
    const std::vector<DataArray>& arrays() const { return arrays_; }

  private:
    void add_rows(Index rows, const std::string& file);
    void leave_out_missing(DataArray& array) const;
    void remove(const std::string& name);

    std::size_t longest_range_;
    std::vector<std::string> na_;
    std::vector<double> na_numbers_;
    std::vector<DataArray> arrays_;
    std::unordered_map<std::string, std::size_t> places_;
    bool has_implied_rows_ = false;  // N is the number of rows of a table
    bool has_different_rows_ = false;
};

}  // namespace lrvb::bugs
