#pragma once

#include <lrvb/data/frame.hpp>
#include <lrvb/data/row_source.hpp>
#include <lrvb/kind/fit_file.hpp>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// The argument DATA and the options that say how it is read.
namespace lrvb::cli {

/// What is read of a file.
struct DataSelection {
    std::string path;
    std::vector<std::string> columns;  // none: all
    std::string weights;               // none: every row counts once
    bool drop_missing = false;
};

struct DataOptions {
    std::string path;
    std::string columns;
    std::string weights;
    bool drop_missing = false;

    /// DATA, -c and --drop-missing.
    void add_to(CLI::App& command);
    DataSelection selection() const;
};

/// A checksum over the bits of numbers, in order, so that a table has one whatever file it is in.
class Checksum {
  public:
    void add(const double* values, Index count);
    std::string text() const;

  private:
    std::uint64_t hash_ = 0x2545F4914F6CDD1DU;
};

/// Of the response and the columns of a design.
std::string checksum_of(const RegressionDesign& design);

struct Data {
    std::shared_ptr<RowSource> source;  // the columns, then the weights if there are any
    DataRecord record;
    /// The file's row, from 1, of each row; empty where none was left out.
    std::vector<Index> file_rows;
};

/// Throws UsageError where the output, of this option, would replace one of the inputs, and where two inputs are
/// standard input.
void require_other_file(const std::string& output, const std::vector<std::string>& inputs,
                        const std::string& option = "-o");

/// Whether two outputs, which need not exist, are one; "-" is one as well.
bool same_file(const std::string& left, const std::string& right);

/// Reads the data once: up to a gigabyte of numbers stays in memory, more is streamed from the file whenever it is
/// needed. Throws std::runtime_error for data that cannot be read.
Data open_data(const DataSelection& selection);

/// Visits all rows in order.
void for_each_row(RowSource& source, const std::function<void(const double*)>& visit);

/// How the columns of a regression's terms are read again: factors as text, whatever they look like.
FrameOptions columns_of(const std::vector<RegressionTerm>& terms, bool drop_missing);

/// New rows, streamed as they are.
struct NewRows {
    std::shared_ptr<RowSource> source;
    /// Rows left out so far.
    std::function<Index()> dropped;
};

/// These columns of a file.
NewRows open_columns(const std::string& path, const std::vector<std::string>& columns, bool drop_missing);

}  // namespace lrvb::cli
