#pragma once

#include <lrvb/types.hpp>

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

/// JSON that someone else may have written: every access names what is missing or wrong.
namespace lrvb::detail {

using Json = nlohmann::ordered_json;
/// What is read: it finds a key in logarithmic time, however many there are, where an ordered object looks at all.
using ParsedJson = nlohmann::json;

inline Json to_json(const Vector& values) {
    return std::vector<double>(values.begin(), values.end());
}

/// Row by row.
inline Json to_json(const Matrix& matrix) {
    Json rows = Json::array();
    for (Index i = 0; i < matrix.rows(); ++i) rows.push_back(to_json(Vector(matrix.row(i))));
    return rows;
}

/// A symmetric matrix as the rows of its lower triangle.
inline Json lower_to_json(const Matrix& matrix) {
    Json rows = Json::array();
    for (Index i = 0; i < matrix.rows(); ++i) rows.push_back(to_json(Vector(matrix.row(i).head(i + 1))));
    return rows;
}

/// An object of a JSON file, and where it stands in it.
class Fields {
  public:
    Fields(const ParsedJson& object, std::string file, std::string path = "")
        : object_(object), file_(std::move(file)), path_(std::move(path)) {
        if (!object_.is_object()) refuse(path_.empty() ? "it" : path_, "is no object");
    }

    [[noreturn]] void refuse(const std::string& what, const std::string& reason) const {
        throw std::runtime_error(fmt::format(
            "{} is no fit file of lrvb, or it is damaged: {} {}; make it again with 'lrvb fit'", file_, what, reason));
    }

    bool has(const std::string& key) const { return object_.contains(key) && !object_.at(key).is_null(); }

    const ParsedJson& at(const std::string& key) const {
        if (!object_.contains(key)) refuse(place(key), "is missing");
        return object_.at(key);
    }
    Fields fields(const std::string& key) const { return {at(key), file_, place(key)}; }

    std::string text(const std::string& key) const {
        if (!at(key).is_string()) refuse(place(key), "is no text");
        return at(key).get<std::string>();
    }
    bool flag(const std::string& key) const {
        if (!at(key).is_boolean()) refuse(place(key), "is neither true nor false");
        return at(key).get<bool>();
    }
    double number(const std::string& key) const { return number_of(at(key), place(key)); }
    /// null stands for infinity, which JSON lacks.
    double number_or_infinity(const std::string& key) const {
        return at(key).is_null() ? std::numeric_limits<double>::infinity() : number(key);
    }
    /// A whole number from 0 to `most`.
    std::uint64_t whole(const std::string& key, std::uint64_t most) const {
        const ParsedJson& value = at(key);
        if (!value.is_number_integer() || (!value.is_number_unsigned() && value.get<std::int64_t>() < 0) ||
            value.get<std::uint64_t>() > most) {
            refuse(place(key), fmt::format("is no whole number from 0 to {}", most));
        }
        return value.get<std::uint64_t>();
    }
    Index count(const std::string& key) const { return static_cast<Index>(whole(key, std::uint64_t{1} << 53)); }
    int small(const std::string& key) const { return static_cast<int>(whole(key, std::numeric_limits<int>::max())); }

    const ParsedJson& list(const std::string& key) const {
        if (!at(key).is_array()) refuse(place(key), "is no list");
        return at(key);
    }
    std::vector<std::string> texts(const std::string& key) const {
        std::vector<std::string> result;
        for (const ParsedJson& entry : list(key)) {
            if (!entry.is_string()) refuse(place(key), "holds something that is no text");
            result.push_back(entry.get<std::string>());
        }
        return result;
    }
    Vector vector(const std::string& key) const { return vector_of(list(key), place(key)); }
    Vector vector(const std::string& key, Index size) const {
        Vector result = vector(key);
        if (result.size() != size) refuse(place(key), fmt::format("has {} entries, not {}", result.size(), size));
        return result;
    }
    Matrix matrix(const std::string& key, Index rows, Index columns) const {
        return filled(key, rows, columns, [&](Index) { return columns; });
    }
    Matrix symmetric(const std::string& key, Index size) const {
        const Matrix lower = filled(key, size, size, [](Index row) { return row + 1; });
        return Matrix(lower.selfadjointView<Eigen::Lower>());
    }
    template <class Read>
    void each(const std::string& key, Read read) const {
        std::size_t number = 0;
        for (const ParsedJson& entry : list(key))
            read(Fields(entry, file_, fmt::format("{}[{}]", place(key), ++number)));
    }

  private:
    std::string place(const std::string& key) const { return path_.empty() ? key : fmt::format("{}.{}", path_, key); }

    double number_of(const ParsedJson& value, const std::string& where) const {
        if (!value.is_number()) refuse(where, "holds something that is no number");
        const double result = value.get<double>();
        if (!std::isfinite(result)) refuse(where, "holds a number that is too large");
        return result;
    }
    Vector vector_of(const ParsedJson& values, const std::string& where) const {
        if (!values.is_array()) refuse(where, "is no list of numbers");
        Vector result(static_cast<Index>(values.size()));
        Index i = 0;
        for (const ParsedJson& value : values) result[i++] = number_of(value, where);
        return result;
    }
    template <class Length>
    Matrix filled(const std::string& key, Index rows, Index columns, Length length) const {
        const ParsedJson& content = list(key);
        if (static_cast<Index>(content.size()) != rows) {
            refuse(place(key), fmt::format("has {} rows, not {}", content.size(), rows));
        }
        // Before anything is made of that size: many rows of nothing are a small file.
        Index row = 0;
        for (const ParsedJson& entry : content) {
            if (!entry.is_array()) refuse(place(key), "is no list of lists of numbers");
            const auto count = static_cast<Index>(entry.size());
            if (count != length(row++)) {
                refuse(place(key), fmt::format("has {} numbers in row {}, not {}", count, row, length(row - 1)));
            }
        }
        Matrix result = Matrix::Zero(rows, columns);
        row = 0;
        for (const ParsedJson& entry : content) {
            const Vector values = vector_of(entry, place(key));
            result.row(row++).head(values.size()) = values.transpose();
        }
        return result;
    }

    const ParsedJson& object_;
    std::string file_;
    std::string path_;
};

}  // namespace lrvb::detail
