#include "model/labelled/features.hpp"

#include "linalg/block_kernels.hpp"
#include "model/observed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace lrvb::detail {

namespace {

// Whether a row has the column: all of its numbers, or none.
bool is_observed(const Matrix& values, Index row) {
    const auto missing = values.row(row).array().isNaN().count();
    if (missing != 0 && missing != values.cols()) {
        throw BadRow(row, fmt::format("{} of its {} numbers are missing; a column has all numbers of a row or none",
                                      missing, values.cols()));
    }
    return missing == 0;
}

bool holds_values(const AnyObserved& kind) {
    return std::holds_alternative<family::Normal>(kind) || std::holds_alternative<family::MvNormal>(kind);
}

// Where the numbers of a value are among its statistics, which need not be kept twice.
bool begins_with_values(const AnyObserved& kind) {
    return std::holds_alternative<family::Gamma>(kind) || std::holds_alternative<family::Wishart>(kind);
}

}  // namespace

Index Features::add_base(Vector values) {
    bases_.push_back(std::move(values));
    return static_cast<Index>(bases_.size()) - 1;
}

Index Features::feature(Index a, Index b) {
    const std::pair<Index, Index> key = std::minmax(a, b);
    const auto [place, is_new] = known_.emplace(key, count());
    if (is_new) features_.push_back(key);
    return place->second;
}

Features::Places Features::add(const AnyObserved& kind, const Matrix& values) {
    const bool plain = holds_values(kind);
    const Index statistics = statistic_count(kind);
    if (plain &&
        values.cols() !=
            (std::holds_alternative<family::Normal>(kind) ? 1 : std::get<family::MvNormal>(kind).dimension())) {
        throw BadRow(0, fmt::format("it has {} numbers, but its distribution is one of another number", values.cols()));
    }
    Matrix kept = Matrix::Zero(rows_, plain ? values.cols() : statistics);
    Vector present = Vector::Ones(rows_);
    Vector log_bases = Vector::Zero(rows_);
    for (Index n = 0; n < rows_; ++n) {
        if (!is_observed(values, n)) {
            present[n] = 0.0;
            continue;
        }
        if (plain) {
            if (!values.row(n).allFinite())
                throw BadRow(n, "a number is infinite; it must be finite, or NaN where it is missing");
            kept.row(n) = values.row(n);
            continue;
        }
        const Vector value = values.row(n);
        try {
            kept.row(n) = statistic(kind, value);
        } catch (const std::invalid_argument& error) {
            throw BadRow(n, error.what());
        }
        log_bases[n] = detail::log_base(kind, value);
    }

    Column column;
    column.kind = kind;
    if ((present.array() == 0.0).any()) column.present = add_base(std::move(present));
    std::vector<Index> bases;
    for (Index i = 0; i < kept.cols(); ++i) bases.push_back(add_base(kept.col(i)));
    if (plain || begins_with_values(kind)) {
        column.numbers.assign(bases.begin(), bases.begin() + values.cols());
    } else if (detail::can_move(kind)) {
        for (Index i = 0; i < values.cols(); ++i) {
            column.numbers.push_back(add_base(values.col(i).array().isNaN().select(0.0, values.col(i))));
        }
    }
    for (const Index base : bases) column.places.statistics.push_back(feature(kOne, base));
    if (plain) {
        for (std::size_t i = 0; i < bases.size(); ++i) {
            for (std::size_t j = i; j < bases.size(); ++j)
                column.places.statistics.push_back(feature(bases[i], bases[j]));
        }
    }
    column.places.constant = feature(kOne, column.present);
    columns_.push_back(column);
    if ((log_bases.array() != 0.0).any()) {
        if (log_base_.size() == 0) log_base_ = Vector::Zero(rows_);
        log_base_ += log_bases;
    }
    return column.places;
}

Features::Places Features::add_linear(const Vector& y, const Matrix& design) {
    Column column;
    column.kind = family::Normal{};
    column.is_linear = true;
    Vector kept = y;
    Vector present = Vector::Ones(rows_);
    for (Index n = 0; n < rows_; ++n) {
        if (std::isnan(y[n])) {
            kept[n] = present[n] = 0.0;
        } else if (!std::isfinite(y[n])) {
            throw BadRow(n, "a number is infinite; it must be finite, or NaN where it is missing");
        } else if (!design.row(n).allFinite()) {
            throw BadRow(n, "its design is not finite; give numbers wherever the response is observed");
        }
    }
    const bool has_missing = (present.array() == 0.0).any();
    std::vector<Index> columns;
    for (Index j = 0; j < design.cols(); ++j) {
        const Vector values = (present.array() == 0.0).select(0.0, design.col(j));
        // A column of ones is the feature that says whether the row is there.
        if (values == present) {
            columns.push_back(kOne);
        } else {
            columns.push_back(add_base(values));
        }
    }
    if (has_missing) column.present = add_base(std::move(present));
    std::replace(columns.begin(), columns.end(), kOne, column.present);
    const Index response = add_base(std::move(kept));
    column.numbers = {response};
    column.design = columns;
    // What is there times what is there is what is there.
    const auto product = [&](Index a, Index b) {
        if (a == column.present) return feature(kOne, b);
        return b == column.present ? feature(kOne, a) : feature(a, b);
    };
    column.places.statistics.push_back(feature(response, response));
    for (const Index base : columns) column.places.statistics.push_back(product(response, base));
    for (std::size_t j = 0; j < columns.size(); ++j) {
        for (std::size_t i = j; i < columns.size(); ++i) {
            column.places.statistics.push_back(product(columns[i], columns[j]));
        }
    }
    column.places.constant = feature(kOne, column.present);
    columns_.push_back(column);
    return column.places;
}

Vector Features::square_sums() const {
    Vector sums(count());
    for (Index f = 0; f < count(); ++f) {
        const auto [a, b] = features_[static_cast<std::size_t>(f)];
        double sum = 0.0;
        for (Index n = 0; n < rows_; ++n) {
            const double value = base(a, n) * base(b, n);
            sum += value * value;
        }
        sums[f] = sum;
    }
    return sums;
}

void Features::load(Index begin, std::size_t size, double* block) const {
    for (const auto& [a, b] : features_) {
        if (b == kOne) {
            std::fill_n(block, size, 1.0);
        } else {
            const double* right = bases_[static_cast<std::size_t>(b)].data() + begin;
            if (a == kOne) {
                std::copy_n(right, size, block);
            } else {
                const double* left = bases_[static_cast<std::size_t>(a)].data() + begin;
                for (std::size_t i = 0; i < size; ++i) block[i] = left[i] * right[i];
            }
        }
        std::fill(block + size, block + kBlockRows, 0.0);
        block += kBlockRows;
    }
}

Matrix Features::block(Index begin, Index size) const {
    Matrix result(size, count());
    for (Index f = 0; f < count(); ++f) {
        const auto [a, b] = features_[static_cast<std::size_t>(f)];
        for (Index i = 0; i < size; ++i) result(i, f) = base(a, begin + i) * base(b, begin + i);
    }
    return result;
}

Matrix Features::places() const {
    std::vector<std::pair<Index, Index>> used;  // base, and the one that says whether it is there
    for (const Column& column : columns_) {
        for (const Index number : column.numbers) used.emplace_back(number, column.present);
        if (!column.numbers.empty()) continue;
        for (const Index f : column.places.statistics) {
            used.emplace_back(features_[static_cast<std::size_t>(f)].second, column.present);
        }
    }
    Matrix result(rows_, static_cast<Index>(used.size()));
    for (std::size_t u = 0; u < used.size(); ++u) {
        const auto [number, present] = used[u];
        for (Index n = 0; n < rows_; ++n) {
            const bool is_there = base(present, n) != 0.0;
            result(n, static_cast<Index>(u)) = is_there ? base(number, n) : std::numeric_limits<double>::quiet_NaN();
        }
    }
    return result;
}

Features Features::selected(const std::vector<Index>& rows) const {
    Features result(static_cast<Index>(rows.size()));
    result.features_ = features_;
    result.known_ = known_;
    result.columns_ = columns_;
    const auto pick = [&](const Vector& all) {
        Vector some(result.rows_);
        for (Index i = 0; i < result.rows_; ++i) some[i] = all[rows[static_cast<std::size_t>(i)]];
        return some;
    };
    for (const Vector& values : bases_) result.bases_.push_back(pick(values));
    if (log_base_.size() > 0) result.log_base_ = pick(log_base_);
    return result;
}

bool Features::can_move() const {
    return std::ranges::any_of(columns_, [](const Column& column) { return !column.inputs.empty(); });
}

void Features::copy_inputs(Index row, Index at, RowAnswers& chunk) const {
    for (const Column& column : columns_) {
        if (!is_present(column, row)) continue;
        for (std::size_t p = 0; p < column.inputs.size(); ++p)
            chunk.inputs(at, column.inputs[p]) = base(column.numbers[p], row);
    }
}

Matrix Features::derivatives(const Column& column, Index row) const {
    if (column.is_linear) {
        Matrix moved = Matrix::Zero(static_cast<Index>(column.places.statistics.size()), 1);
        moved(0, 0) = 2.0 * base(column.numbers.front(), row);
        for (std::size_t j = 0; j < column.design.size(); ++j) {
            moved(1 + static_cast<Index>(j), 0) = base(column.design[j], row);
        }
        return moved;
    }
    Vector value(static_cast<Index>(column.numbers.size()));
    for (Index p = 0; p < value.size(); ++p) value[p] = base(column.numbers[static_cast<std::size_t>(p)], row);
    return statistic_derivative(column.kind, value);
}

}  // namespace lrvb::detail
