#include "data.hpp"

#include <lrvb/bugs/data.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <pybind11/eigen.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <stdexcept>
#include <utility>

namespace lrvb::python {

namespace {

NumberType type_of(const py::array& array, const std::string& column) {
    const py::dtype type = array.dtype();
    const auto refuse = [&] {
        throw std::invalid_argument(
            fmt::format("column '{}' has the type {}: give numbers of 8 to 64 bits, in the machine's order of bytes",
                        column, py::cast<std::string>(py::str(py::object(type)))));
    };
    const py::ssize_t size = type.itemsize();
    if (!py::cast<bool>(type.attr("isnative"))) refuse();
    if (type.kind() == 'f' && size == 8) return NumberType::float64;
    if (type.kind() == 'f' && size == 4) return NumberType::float32;
    if (type.kind() != 'i' && type.kind() != 'u' && type.kind() != 'b') refuse();
    constexpr std::array<std::pair<NumberType, NumberType>, 4> whole{
        std::pair{NumberType::int8, NumberType::uint8}, std::pair{NumberType::int16, NumberType::uint16},
        std::pair{NumberType::int32, NumberType::uint32}, std::pair{NumberType::int64, NumberType::uint64}};
    const auto at = static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(size)));
    if (at >= whole.size()) refuse();
    return type.kind() == 'i' ? whole[at].first : whole[at].second;
}

MemoryColumn number_column(const std::string& name, const py::array& array) {
    if (array.ndim() != 1) {
        throw std::invalid_argument(
            fmt::format("column '{}' has {} dimensions, but must have one", name, array.ndim()));
    }
    MemoryColumn column;
    column.name = name;
    column.first = array.data();
    column.stride = array.strides(0);
    column.type = type_of(array, name);
    return column;
}

MemoryColumn text_column(const std::string& name, const py::object& levels, const py::object& codes) {
    MemoryColumn column;
    column.name = name;
    column.levels = py::cast<std::vector<std::string>>(levels);
    using Codes = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;
    const auto numbers = py::cast<Codes>(codes);
    const auto view = numbers.unchecked<1>();
    column.codes.reserve(static_cast<std::size_t>(view.shape(0)));
    for (py::ssize_t i = 0; i < view.shape(0); ++i) {
        column.codes.push_back(view(i) < 0 ? MemoryColumn::kMissing : static_cast<std::uint32_t>(view(i)));
    }
    return column;
}

constexpr const char* kInMemory = "data in memory";

DataFrame frame_of(Index rows, const py::list& columns) {
    DataFrame frame;
    frame.name = kInMemory;
    frame.rows = rows;
    for (const py::handle& handle : columns) {
        const auto entry = py::cast<py::tuple>(handle);
        FrameColumn& column = frame.columns.emplace_back();
        column.name = py::cast<std::string>(entry[0]);
        if (entry.size() == 2) {
            column.numbers = py::cast<Vector>(entry[1]);
        } else {
            MemoryColumn text = text_column(column.name, entry[1], entry[2]);
            column.levels = std::move(text.levels);
            for (const std::uint32_t code : text.codes) {
                column.codes.push_back(code == MemoryColumn::kMissing ? FrameColumn::kMissing : code);
            }
        }
    }
    return frame;
}

DataArray array_of(const py::tuple& entry) {
    using Doubles = py::array_t<double, py::array::f_style | py::array::forcecast>;
    const auto numbers = py::cast<Doubles>(entry[1]);
    DataArray array;
    array.name = py::cast<std::string>(entry[0]);
    for (py::ssize_t d = 0; d < numbers.ndim(); ++d) array.dims.push_back(numbers.shape(d));
    array.values.assign(numbers.data(), numbers.data() + numbers.size());
    array.file = kInMemory;
    return array;
}

void copy(const MemoryColumn& column, Index begin, Index count, double* out) {
    if (column.type != NumberType::float64) {
        for (Index i = 0; i < count; ++i) out[i] = column.number(begin + i);
        return;
    }
    const char* address = static_cast<const char*>(column.first) + begin * column.stride;
    for (Index i = 0; i < count; ++i, address += column.stride) std::memcpy(out + i, address, sizeof(double));
}

// Arrays that Python gives, one after the other.
class Chunks final : public RowSource {
  public:
    Chunks(const py::function& chunks, std::vector<std::string> names, bool is_repeatable)
        : chunks_(kept(chunks)), names_(std::move(names)), is_repeatable_(is_repeatable) {}

    Index columns() const override { return static_cast<Index>(names_.size()); }
    std::string name() const override { return "rows in chunks"; }
    std::string column_name(Index column) const override { return names_[static_cast<std::size_t>(column)]; }

    void rewind() override {
        if (begun_ && !is_repeatable_) {
            throw std::runtime_error(
                "rows in chunks: an iterator can be read only once, and holds more than is kept in memory: give a "
                "function that returns the chunks anew, or allow more memory");
        }
        const py::gil_scoped_acquire gil;
        const auto& make = *static_cast<const py::object*>(chunks_.get());
        iterator_ = kept(py::iter(make()));
        chunk_ = nullptr;
        rows_ = next_ = 0;
        begun_ = true;
    }

    Index read(double* rows, Index capacity) override {
        interruption_point();
        if (!iterator_) rewind();
        Index count = 0;
        while (count < capacity && (next_ < rows_ || fetch())) {
            const Index taken = std::min(capacity - count, rows_ - next_);
            std::copy_n(numbers_ + next_ * columns(), taken * columns(), rows + count * columns());
            next_ += taken;
            count += taken;
        }
        return count;
    }

  private:
    bool fetch() {
        const py::gil_scoped_acquire gil;
        const auto& iterator = *static_cast<const py::object*>(iterator_.get());
        do {
            PyObject* const next = PyIter_Next(iterator.ptr());
            if (next == nullptr) {
                if (PyErr_Occurred() != nullptr) throw py::error_already_set();
                return false;
            }
            const auto chunk = py::reinterpret_steal<py::object>(next);
            using Doubles = py::array_t<double, py::array::c_style>;
            if (!py::isinstance<Doubles>(chunk) || py::cast<Doubles>(chunk).ndim() != 2 ||
                py::cast<Doubles>(chunk).shape(1) != columns()) {
                throw std::invalid_argument(fmt::format(
                    "rows in chunks: every chunk must be an array of {} columns, as the first was", columns()));
            }
            const auto array = py::cast<Doubles>(chunk);
            numbers_ = array.data();
            rows_ = array.shape(0);
            next_ = 0;
            chunk_ = kept(array);
        } while (rows_ == 0);
        return true;
    }

    std::shared_ptr<const void> chunks_;
    std::vector<std::string> names_;
    bool is_repeatable_;
    bool begun_ = false;
    std::shared_ptr<const void> iterator_;
    std::shared_ptr<const void> chunk_;
    const double* numbers_ = nullptr;
    Index rows_ = 0;
    Index next_ = 0;
};

}  // namespace

Data Data::from_path(const std::string& path, std::size_t memory, const std::vector<std::string>& na) {
    Data data(Dataset(path, DataOptions{memory, na}));
    data.is_file_ = true;
    return data;
}

Data Data::from_columns(const std::string& name, const py::list& columns, const std::vector<std::string>& na) {
    MemoryTable table;
    table.name = name;
    std::optional<Index> rows;
    for (const py::handle& handle : columns) {
        const auto entry = py::cast<py::tuple>(handle);
        const auto column = py::cast<std::string>(entry[0]);
        Index count = 0;
        if (entry.size() == 2) {
            const auto array = py::cast<py::array>(entry[1]);
            table.columns.push_back(number_column(column, array));
            count = array.shape(0);
        } else {
            table.columns.push_back(text_column(column, entry[1], entry[2]));
            count = static_cast<Index>(table.columns.back().codes.size());
        }
        if (rows && *rows != count) {
            throw std::invalid_argument(
                fmt::format("column '{}' has {} rows, but those before it have {}", column, count, *rows));
        }
        rows = count;
    }
    table.rows = rows.value_or(0);
    table.owner = kept(columns);
    auto shared = std::make_shared<const MemoryTable>(table);
    Data data(Dataset(std::move(table)).with_na(na));
    data.table_ = std::move(shared);
    return data;
}

Data Data::from_chunks(const py::function& chunks, const std::vector<std::string>& names, bool is_repeatable,
                       std::size_t memory, const std::vector<std::string>& na) {
    return Data(Dataset(std::make_shared<Chunks>(chunks, names, is_repeatable), DataOptions{memory, na}));
}

Data Data::from_paths(const std::vector<std::string>& paths, const std::vector<std::string>& na) {
    Data data{Dataset(paths).with_na(na)};
    data.is_file_ = true;
    return data;
}

Data Data::from_parts(const py::list& parts, const std::vector<std::string>& na) {
    bugs::Data all = bugs::Data::read({}, na);
    for (const py::handle& part : parts) {
        if (py::isinstance<py::str>(part)) {
            all.add_file(py::cast<std::string>(part));
        } else if (py::isinstance<py::tuple>(part)) {
            const auto table = py::cast<py::tuple>(part);
            all.add_frame(frame_of(py::cast<Index>(table[0]), py::cast<py::list>(table[1])));
        } else {
            for (const py::handle& entry : py::cast<py::list>(part)) all.add(array_of(py::cast<py::tuple>(entry)));
        }
    }
    return Data(Dataset::of_arrays(kInMemory, all.arrays()).with_na(na));
}

Data Data::from_source(std::shared_ptr<RowSource> source) {
    return Data(Dataset(std::move(source)));
}

std::optional<Index> Data::rows() const {
    if (!table_) return std::nullopt;
    return table_->rows;
}

std::string Data::fingerprint() const {
    if (!table_) return {};
    constexpr Index kAtATime = 4096;
    Checksum checksum;
    Vector block(kAtATime);
    for (const MemoryColumn& column : table_->columns) {
        if (column.is_text()) continue;
        for (Index begin = 0; begin < table_->rows; begin += kAtATime) {
            interruption_point();
            const Index count = std::min(kAtATime, table_->rows - begin);
            copy(column, begin, count, block.data());
            checksum.add(block.data(), count);
        }
    }
    return checksum.text();
}

std::vector<std::pair<std::string, Vector>> Data::numbers() const {
    std::vector<std::pair<std::string, Vector>> result;
    FrameOptions options;
    options.missing = Missing::drop;
    for (FrameColumn& column : dataset_.frame(options).columns) {
        if (!column.is_text()) result.emplace_back(column.name, std::move(column.numbers));
    }
    return result;
}

}  // namespace lrvb::python
