#include "base/files.hpp"
#include "base/messages.hpp"
#include "base/validate.hpp"
#include "data/columns.hpp"
#include "data/npy_header.hpp"

#include <lrvb/data/npy.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

namespace lrvb {
namespace {

static_assert(std::endian::native == std::endian::little, "'<' is taken to be the machine's own order of bytes");

using detail::NpyHeader;

/// A float of two bytes: sign, five bits of exponent, ten of fraction.
struct Half {
    std::uint16_t bits = 0;

    explicit operator double() const {
        const int exponent = bits >> 10 & 0x1F;
        const int fraction = bits & 0x3FF;
        double value = std::ldexp(fraction, -24);
        if (exponent == 0x1F) {
            value = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
        } else if (exponent > 0) {
            value = std::ldexp(fraction + 0x400, exponent - 25);
        }
        return (bits >> 15) != 0 ? -value : value;
    }
};

/// NaN for a whole number that a double may not hold.
template <class Number>
double converted(Number number) {
    if constexpr (std::is_integral_v<Number> && sizeof(Number) == 8) {
        constexpr Number most = Number{1} << 53;
        bool is_exact = number <= most;
        if constexpr (std::is_signed_v<Number>) is_exact = is_exact && number >= -most;
        if (!is_exact) return std::numeric_limits<double>::quiet_NaN();
    }
    return static_cast<double>(number);
}

/// Numbers `from_step` bytes apart to places `to_step` apart.
template <class Number, bool swapped>
void spread(const char* from, Index from_step, Index count, double* to, Index to_step) {
    for (Index n = 0; n < count; ++n) {
        std::array<char, sizeof(Number)> bytes = {};
        std::memcpy(bytes.data(), from + n * from_step, sizeof(Number));
        if constexpr (swapped) std::reverse(bytes.begin(), bytes.end());
        if constexpr (std::is_same_v<Number, bool>) {
            to[n * to_step] = bytes[0] != 0 ? 1.0 : 0.0;
        } else {
            to[n * to_step] = converted(std::bit_cast<Number>(bytes));
        }
    }
}

using Spread = void (*)(const char*, Index, Index, double*, Index);

/// What a type of number needs: how long it is, and how it becomes a double.
struct ItemType {
    std::string_view name;  // without the order of its bytes
    std::size_t size;
    Spread native;
    Spread swapped;
};

template <class Number>
constexpr ItemType item_type(std::string_view name) {
    return {name, sizeof(Number), spread<Number, false>, spread<Number, true>};
}

constexpr std::array kItemTypes{
    item_type<double>("f8"),        item_type<float>("f4"),         item_type<Half>("f2"),
    item_type<std::int8_t>("i1"),   item_type<std::int16_t>("i2"),  item_type<std::int32_t>("i4"),
    item_type<std::int64_t>("i8"),  item_type<std::uint8_t>("u1"),  item_type<std::uint16_t>("u2"),
    item_type<std::uint32_t>("u4"), item_type<std::uint64_t>("u8"), item_type<bool>("b1")};

/// '<' is our own order of bytes, '>' the other one, and '|' that of single bytes.
const ItemType& find_type(const std::string& file, const std::string& type) {
    for (const ItemType& known : kItemTypes) {
        const std::string_view orders = known.size == 1 ? "<>|" : "<>";
        if (type.size() == 3 && type.ends_with(known.name) && orders.find(type[0]) != std::string_view::npos) {
            return known;
        }
    }
    throw std::runtime_error(
        fmt::format("{}: holds numbers of type {}, but must hold floats, integers or booleans: save "
                    "array.astype('<f8')",
                    file, detail::shown(type)));
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
        const ItemType& type = find_type(name_, header_.type);
        item_ = type.size;
        is_plain_ = header_.type == "<f8";
        is_whole_ = type.name == "i8" || type.name == "u8";
        spread_ = header_.type[0] == '>' ? type.swapped : type.native;
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
        first_ = std::clamp(options.first_row, Index{0}, rows_);
        end_ = first_ + std::min(options.most_rows, rows_ - first_);
        next_ = first_;
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
    Index rows() const { return end_ - first_; }
    std::size_t data_offset() const { return header_.data_offset; }
    std::size_t row_bytes() const { return by_column_ ? 0 : static_cast<std::size_t>(file_columns_) * item_; }
    Index columns() const { return static_cast<Index>(columns_.size()); }
    std::vector<std::string> column_names() const {
        std::vector<std::string> names;
        for (const Index column : columns_) names.push_back(std::to_string(column + 1));
        return names;
    }

    void rewind() { next_ = first_; }

    Index read(double* rows, Index capacity) {
        detail::require_at_least("NpySource", "capacity", capacity, 1);
        const Index total = std::min(capacity, end_ - next_);
        if (is_plain_ && !by_column_ && has_all_columns_in_order()) {
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
            spread_(from, width * static_cast<Index>(item_), count, rows + i, columns());
        }
        return count;
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
            const std::string reason =
                is_whole_
                    ? "the whole number is beyond 2^53, where a double does not hold all of them: save "
                      "array.astype('<f8') if it may be rounded"
                    : fmt::format("the value is {}, but must be a finite number: correct it, or leave the row out",
                                  rows[i]);
            throw std::runtime_error(fmt::format("{}: row {}, column {}: {}", name_, next_ + i / columns() + 1,
                                                 columns_[static_cast<std::size_t>(i % columns())] + 1, reason));
        }
    }

    std::string name_;
    detail::PlacedFile file_;
    NpyHeader header_;
    std::size_t item_ = 0;   // bytes a number
    bool is_plain_ = false;  // doubles as they are
    bool is_whole_ = false;  // may be beyond what doubles hold
    Spread spread_ = nullptr;
    Index rows_ = 0;   // of the file
    Index first_ = 0;  // of those that are read
    Index end_ = 0;
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

std::size_t NpySource::data_offset() const {
    return implementation_->data_offset();
}

std::size_t NpySource::row_bytes() const {
    return implementation_->row_bytes();
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
