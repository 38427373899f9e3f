#include "data/csv_reader.hpp"
#include "data/parts.hpp"

#include <lrvb/data/dataset.hpp>
#include <lrvb/data/npy.hpp>

#include <fmt/format.h>

#include <cmath>

namespace lrvb {

namespace {

class CsvTextRows final : public TextRows {
  public:
    explicit CsvTextRows(const std::string& path) : reader_(path) {
        if (!reader_.buffer().can_go_back()) {
            reader_.refuse("is a pipe, which cannot be read twice: save it to a file, and give that");
        }
    }

    const std::vector<std::string>& names() const override { return reader_.names(); }
    Index row() const override { return reader_.row() - waiting_; }

    // Blank lines, which the reader counts with the record behind them, are rows of a file with a single column.
    bool next(std::vector<TextField>& fields) override {
        if (waiting_ > 0) {
            --waiting_;
        } else {
            if (!reader_.next()) return false;
            reader_.require_whole();
            waiting_ = reader_.blank_rows();
        }
        fields.clear();
        if (waiting_ > 0) {
            fields.emplace_back();
            return true;
        }
        for (const detail::CsvField& field : reader_.record().fields) {
            fields.push_back({detail::unquoted(field), field.quoted});
        }
        return true;
    }

  private:
    detail::CsvReader reader_;
    Index waiting_ = 0;  // rows that come after this one and were read already
};

class NpyTextRows final : public TextRows {
  public:
    explicit NpyTextRows(const std::string& path) : source_(path) {
        for (Index p = 1; p <= source_.columns(); ++p) names_.push_back(fmt::format("{}", p));
        numbers_.resize(names_.size());
    }

    const std::vector<std::string>& names() const override { return names_; }
    Index row() const override { return row_; }

    bool next(std::vector<TextField>& fields) override {
        if (source_.read(numbers_.data(), 1) == 0) return false;
        ++row_;
        fields.clear();
        for (const double number : numbers_) fields.push_back({fmt::format("{}", number), false});
        return true;
    }

  private:
    NpySource source_;
    std::vector<std::string> names_;
    std::vector<double> numbers_;
    Index row_ = 0;
};

class FrameTextRows final : public TextRows {
  public:
    explicit FrameTextRows(std::shared_ptr<const DataFrame> frame) : frame_(std::move(frame)) {
        for (const FrameColumn& column : frame_->columns) names_.push_back(column.name);
    }

    const std::vector<std::string>& names() const override { return names_; }
    Index row() const override { return frame_->file_row(next_ - 1); }

    bool next(std::vector<TextField>& fields) override {
        if (next_ == frame_->rows) return false;
        fields.clear();
        for (const FrameColumn& column : frame_->columns) {
            if (column.is_text()) {
                fields.push_back({column.levels[column.codes[static_cast<std::size_t>(next_)]], true});
            } else {
                const double number = column.numbers[next_];
                fields.push_back({std::isnan(number) ? "NA" : fmt::format("{}", number), false});
            }
        }
        ++next_;
        return true;
    }

  private:
    std::shared_ptr<const DataFrame> frame_;
    std::vector<std::string> names_;
    Index next_ = 0;
};

class MemoryTextRows final : public TextRows {
  public:
    explicit MemoryTextRows(std::shared_ptr<const MemoryTable> table) : table_(std::move(table)) {
        for (const MemoryColumn& column : table_->columns) names_.push_back(column.name);
    }

    const std::vector<std::string>& names() const override { return names_; }
    Index row() const override { return next_; }

    bool next(std::vector<TextField>& fields) override {
        if (next_ == table_->rows) return false;
        fields.clear();
        for (const MemoryColumn& column : table_->columns) {
            if (column.is_text()) {
                const std::uint32_t code = column.codes[static_cast<std::size_t>(next_)];
                const bool is_missing = code == MemoryColumn::kMissing;
                fields.push_back({is_missing ? "NA" : column.levels[code], !is_missing});
            } else {
                const double number = column.number(next_);
                fields.push_back({std::isnan(number) ? "NA" : fmt::format("{}", number), false});
            }
        }
        ++next_;
        return true;
    }

  private:
    std::shared_ptr<const MemoryTable> table_;
    std::vector<std::string> names_;
    Index next_ = 0;
};

}  // namespace

std::unique_ptr<TextRows> Dataset::text_rows() const {
    if (frame_) return std::make_unique<FrameTextRows>(frame_);
    if (table_) return std::make_unique<MemoryTextRows>(table_);
    if (source_) {
        throw std::runtime_error(source_->name() +
                                 ": rows that come in chunks cannot be read beside others: give a table or a file");
    }
    if (detail::names_parts(path())) detail::refuse_parts(path());
    if (path().ends_with(".npy")) return std::make_unique<NpyTextRows>(path());
    return std::make_unique<CsvTextRows>(path());
}

}  // namespace lrvb
