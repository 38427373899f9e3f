#pragma once

#include "cli/output.hpp"

#include <string>
#include <vector>

namespace lrvb::cli {

/// Predictions as a file of CSV or JSON that appears when it is whole: with the number of each row, or beside the rows
/// themselves. A row that was left out has no numbers: nothing in CSV, null in JSON. What the rows hold is written as
/// it is, but to a terminal.
class PredictionFile final : public TableSink, public BesideSink {
  public:
    /// Anything but JSON is CSV.
    PredictionFile(const std::string& path, Format format) : file_(path), is_json_(format == Format::json) {}

    void header(const std::vector<std::string>& names) override;
    void row(Index row, const Vector& numbers) override;
    void header(const std::vector<std::string>& columns, const std::vector<std::string>& beside) override;
    void row(const std::vector<TextField>& fields, const Vector* beside) override;
    void commit();

  private:
    void begin(const std::vector<std::string>& names);
    std::string field_text(const TextField& field) const;
    /// Fields as they are to be written.
    void write(const std::vector<std::string>& fields);
    void add_numbers(std::vector<std::string>& fields, const Vector* numbers) const;

    LineFile file_;
    bool is_json_;
    bool has_rows_ = false;
    std::size_t predicted_ = 0;      // numbers of a row
    std::vector<std::string> keys_;  // of JSON, as they are written
};

}  // namespace lrvb::cli
