#pragma once

#include "calls.hpp"

#include <lrvb/data/dataset.hpp>

#include <optional>
#include <string>
#include <vector>

namespace lrvb::python {

/// What Python gives as data: a file, columns that lie in arrays, or chunks of rows. It keeps the arrays.
class Data {
  public:
    static Data from_path(const std::string& path, std::size_t memory, const std::vector<std::string>& na);
    /// Each column is (name, array of one dimension), or (name, levels, codes) for text.
    static Data from_columns(const std::string& name, const py::list& columns, const std::vector<std::string>& na);
    /// `chunks()` gives an iterator of arrays of two dimensions, doubles that lie row by row; `is_repeatable` says
    /// whether it can be called more than once.
    static Data from_chunks(const py::function& chunks, const std::vector<std::string>& names, bool is_repeatable,
                            std::size_t memory, const std::vector<std::string>& na);

    /// For models in text: files together, as the program reads them.
    static Data from_paths(const std::vector<std::string>& paths, const std::vector<std::string>& na);
    /// The same of what lies in memory, and of files beside it. Each part is a path, a tuple (rows, columns as above)
    /// for a table, or a list of (name, array of any dimensions). All is copied.
    static Data from_parts(const py::list& parts, const std::vector<std::string>& na);
    /// Rows that are with others.
    static Data from_source(std::shared_ptr<RowSource> source);

    const Dataset& dataset() const { return dataset_; }
    std::string name() const { return dataset_.name(); }
    std::vector<std::string> column_names() const { return dataset_.column_names(); }
    bool is_file() const { return is_file_; }
    /// Rows that are known without reading: of columns in memory.
    std::optional<Index> rows() const;

    /// The bits of all numbers that are read where they are; the same until somebody changes them.
    std::string fingerprint() const;

    /// Columns of numbers, one a column of the result: what a fit observed.
    std::vector<std::pair<std::string, Vector>> numbers() const;

  private:
    explicit Data(Dataset dataset) : dataset_(std::move(dataset)) {}

    Dataset dataset_;
    std::shared_ptr<const MemoryTable> table_;
    bool is_file_ = false;
};

}  // namespace lrvb::python
