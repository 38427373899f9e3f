#include "base/files.hpp"
#include "base/messages.hpp"
#include "base/validate.hpp"
#include "data/columns.hpp"
#include "data/npy_header.hpp"

#include <lrvb/data/npy.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

namespace lrvb {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the numbers of NumPy files are read as they are, in little-endian order");

using detail::NpyHeader;

std::size_t item_size(const std::string& file, const std::string& type) {
    if (type == "<f8") return sizeof(double);
    if (type == "<f4") return sizeof(float);
    throw std::runtime_error(
        fmt::format("{}: holds numbers of type {}, but must hold '<f8' or '<f4': save array.astype('<f8')", file,
                    detail::shown(type)));
}

void require_shape(const std::string& file, const NpyHeader& header) {
    if (header.shape.empty() || header.shape.size() > 2) {
        throw std::runtime_error(
            fmt::format("{}: has {} dimensions, but must have one or two: save array.reshape(rows, columns)", file,
                        header.shape.size()));
    }
    for (const Index size : header.shape) {
        if (size > 0) continue;
        throw std::runtime_error(fmt::format("{}: has no {}: save an array with at least one number", file,
                                             header.shape.front() == 0 ? "rows" : "columns"));
    }
}

/// The bytes of all numbers; nothing if there are more than can be counted.
std::optional<std::size_t> bytes_needed(const NpyHeader& header, std::size_t item) {
    std::size_t total = item;
    for (const Index size : header.shape) {
        if (__builtin_mul_overflow(total, static_cast<std::size_t>(size), &total)) return std::nullopt;
    }
    return total;
}

std::vector<std::string> numbers_up_to(Index count) {
    std::vector<std::string> names;
    for (Index i = 1; i <= count; ++i) names.push_back(std::to_string(i));
    return names;
}

}  // namespace

class NpySource::Implementation {
  public:
    Implementation(const std::string& path, const NpyOptions& options)
        : name_(path), file_(path), header_(read_header()) {
        item_ = item_size(name_, header_.type);
        require_shape(name_, header_);
        const std::optional<std::size_t> needed = bytes_needed(header_, item_);
        const std::size_t available = file_.size() - header_.data_offset;
        if (!needed || *needed > available) {
            throw std::runtime_error(fmt::format(
                "{}: is truncated: {} bytes follow its header, too few for {} numbers of {} bytes: write it "
                "again with numpy.save",
                name_, available, fmt::join(header_.shape, " × "), item_));
        }
        rows_ = header_.shape.front();
        file_columns_ = header_.shape.size() == 2 ? header_.shape.back() : 1;
        by_column_ = header_.fortran_order && file_columns_ > 1;
        if (options.columns.empty() && options.last.empty()) {
            for (Index i = 0; i < file_columns_; ++i) columns_.push_back(i);
        } else {
            for (const std::size_t place : detail::select_columns(name_, numbers_up_to(file_columns_), options.columns,
                                                                  options.ranges, options.last)) {
                columns_.push_back(static_cast<Index>(place));
            }
        }
    }

    const std::string& name() const { return name_; }
    Index rows() const { return rows_; }
    Index columns() const { return static_cast<Index>(columns_.size()); }
    std::vector<std::string> column_names() const {
        std::vector<std::string> names;
        for (const Index column : columns_) names.push_back(std::to_string(column + 1));
        return names;
    }

    void rewind() { next_ = 0; }

    Index read(double* rows, Index capacity) {
        detail::require_at_least("NpySource", "capacity", capacity, 1);
        const Index total = std::min(capacity, rows_ - next_);
        if (item_ == sizeof(double) && !by_column_ && has_all_columns_in_order()) {
            file_.read(place(next_, 0), rows, static_cast<std::size_t>(total * columns()) * sizeof(double));
        } else {
            for (Index done = 0; done < total;) done += copy(rows + done * columns(), next_ + done, total - done);
        }
        require_finite(rows, total);
        next_ += total;
        return total;
    }

  private:
    NpyHeader read_header() const {
        constexpr std::size_t most = std::size_t{1} << 20;  // bytes: headers are shorter
        std::string bytes(std::min(file_.size(), most), '\0');
        file_.read(0, bytes.data(), bytes.size());
        return detail::parse_npy_header(name_, bytes);
    }

    bool has_all_columns_in_order() const {
        if (columns() != file_columns_) return false;
        return std::is_sorted(columns_.begin(), columns_.end());
    }

    /// Where the number lies in the file, in bytes.
    std::size_t place(Index row, Index column) const {
        const Index item = by_column_ ? column * rows_ + row : row * file_columns_ + column;
        return header_.data_offset + static_cast<std::size_t>(item) * item_;
    }

    /// The chosen columns of some rows from `first` on, at most `most`, through a buffer of bounded size; how many.
    Index copy(double* rows, Index first, Index most) {
        constexpr Index bytes = Index{1} << 18;
        const Index width = by_column_ ? 1 : file_columns_;
        const Index count = std::clamp(bytes / (static_cast<Index>(item_) * width), Index{1}, most);
        buffer_.resize(static_cast<std::size_t>(count * width) * item_);
        if (!by_column_) file_.read(place(first, 0), buffer_.data(), buffer_.size());
        for (Index i = 0; i < columns(); ++i) {
            const Index column = columns_[static_cast<std::size_t>(i)];
            if (by_column_) file_.read(place(first, column), buffer_.data(), buffer_.size());
            const char* const from = buffer_.data() + (by_column_ ? 0 : static_cast<std::size_t>(column) * item_);
            if (item_ == sizeof(double)) {
                spread<double>(from, width, count, rows + i);
            } else {
                spread<float>(from, width, count, rows + i);
            }
        }
        return count;
    }

    /// Every `width`-th number to every columns()-th place.
    template <class Number>
    void spread(const char* from, Index width, Index count, double* to) const {
        for (Index n = 0; n < count; ++n) {
            Number number = 0;
            std::memcpy(&number, from + n * width * static_cast<Index>(sizeof number), sizeof number);
            to[n * columns()] = static_cast<double>(number);
        }
    }

    void require_finite(const double* rows, Index count) const {
        // First without a branch, as this is done on every pass.
        bool all_finite = true;
        for (Index i = 0; i < count * columns(); ++i) {
            all_finite &= std::abs(rows[i]) <= std::numeric_limits<double>::max();
        }
        if (all_finite) return;
        for (Index i = 0; i < count * columns(); ++i) {
            if (std::isfinite(rows[i])) continue;
            throw std::runtime_error(fmt::format(
                "{}: row {}, column {}: the value is {}, but must be a finite number: correct it, or leave "
                "the row out",
                name_, next_ + i / columns() + 1, columns_[static_cast<std::size_t>(i % columns())] + 1, rows[i]));
        }
    }

    std::string name_;
    detail::PlacedFile file_;
    NpyHeader header_;
    std::size_t item_ = 0;  // bytes a number
    Index rows_ = 0;
    Index file_columns_ = 0;
    bool by_column_ = false;
    std::vector<Index> columns_;
    Index next_ = 0;
    std::vector<char> buffer_;
};

NpySource::NpySource(const std::string& path, const NpyOptions& options)
    : implementation_(std::make_unique<Implementation>(path, options)) {}
NpySource::~NpySource() = default;
NpySource::NpySource(NpySource&&) noexcept = default;
NpySource& NpySource::operator=(NpySource&&) noexcept = default;

Index NpySource::columns() const {
    return implementation_->columns();
}

std::string NpySource::name() const {
    return implementation_->name();
}

void NpySource::rewind() {
    implementation_->rewind();
}

Index NpySource::read(double* rows, Index capacity) {
    return implementation_->read(rows, capacity);
}

Index NpySource::rows() const {
    return implementation_->rows();
}

std::vector<std::string> NpySource::column_names() const {
    return implementation_->column_names();
}

void write_npy(const std::string& path, Index rows, Index columns, const double* values) {
    detail::require_at_least("write_npy", "rows", rows, 1);
    detail::require_at_least("write_npy", "columns", columns, 1);
    const std::string header = detail::make_npy_header(rows, columns);
    detail::AtomicFile file(path);
    file.write(header.data(), header.size());
    file.write(values, static_cast<std::size_t>(rows * columns) * sizeof(double));
    file.commit();
}

}  // namespace lrvb
