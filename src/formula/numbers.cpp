#include "formula/numbers.hpp"

#include "base/messages.hpp"
#include "data/csv_record.hpp"
#include "formula/calls.hpp"
#include "formula/dot.hpp"
#include "formula/levels.hpp"

#include <lrvb/formula/formula.hpp>

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace lrvb::detail {

namespace {

// Number by number: functions of several at once have other last digits, and what a row has must not depend on its
// place among those that somebody has.
Vector applied(const std::string& function, const Vector& x) {
    if (function == "log") return x.unaryExpr([](double value) { return std::log(value); });
    if (function == "log2") return x.unaryExpr([](double value) { return std::log2(value); });
    if (function == "log10") return x.unaryExpr([](double value) { return std::log10(value); });
    if (function == "log1p") return x.unaryExpr([](double value) { return std::log1p(value); });
    if (function == "exp") return x.unaryExpr([](double value) { return std::exp(value); });
    if (function == "expm1") return x.unaryExpr([](double value) { return std::expm1(value); });
    if (function == "sqrt") return x.array().sqrt();
    if (function == "abs") return x.array().abs();
    return x;  // I()
}

/// Numbers raised to powers; small whole ones by multiplication, which is exact where the result is.
Vector raised(const Vector& base, const Vector& exponent) {
    Vector result(base.size());
    for (Index n = 0; n < base.size(); ++n) {
        const double x = base[n];
        const double power = exponent[n];
        result[n] = power == 1.0 ? x : power == 2.0 ? x * x : power == 3.0 ? x * x * x : std::pow(x, power);
    }
    return result;
}

void apply(char sign, const Vector& right, Vector& left) {
    switch (sign) {
        case '+':
            left += right;
            break;
        case '-':
            left -= right;
            break;
        case '*':
            left.array() *= right.array();
            break;
        default:
            left.array() /= right.array();
            break;
    }
}

/// Text that is a number in each of these rows, which a column that also groups is read as.
bool numbers_of_text(const FrameColumn& column, Vector& numbers) {
    std::vector<double> values(column.levels.size());
    std::vector<bool> is_number;
    for (std::size_t i = 0; i < values.size(); ++i) {
        is_number.push_back(parse_number(column.levels[i], values[i]) == NumberKind::number);
    }
    numbers.resize(static_cast<Index>(column.codes.size()));
    for (std::size_t n = 0; n < column.codes.size(); ++n) {
        if (!is_number[column.codes[n]]) return false;
        numbers[static_cast<Index>(n)] = values[column.codes[n]];
    }
    return true;
}

/// The row of a column of text that is no number.
Index first_text_row(const FrameColumn& column) {
    for (std::size_t n = 0; n < column.codes.size(); ++n) {
        double number = 0.0;
        if (parse_number(column.levels[column.codes[n]], number) != NumberKind::number) return static_cast<Index>(n);
    }
    return 0;
}

}  // namespace

PolynomialRule PolynomialRule::of(const Vector& numbers, int degree) {
    return {numbers[0], numbers[1], numbers.segment(2, degree), numbers.tail(degree + 1)};
}

Vector PolynomialRule::numbers() const {
    Vector result(2 + a.size() + n.size());
    result << centre, scale, a, n;
    return result;
}

Vector PolynomialRule::scaled(const Vector& x) const {
    return (x.array() - centre) / scale;
}

Vector PolynomialRule::values(const Vector& x, int power) const {
    const Vector t = scaled(x);
    Vector before = Vector::Zero(x.size());
    Vector now = Vector::Ones(x.size());
    for (int k = 0; k < power; ++k) {
        const double ratio = k == 0 ? 0.0 : n[k] / n[k - 1];
        const Vector next = (t.array() - a[k]) * now.array() - ratio * before.array();
        before = now;
        now = next;
    }
    return now;
}

Index polynomial_numbers(int degree) {
    return 2 * Index{degree} + 3;
}

FrameNumbers::FrameNumbers(const DataFrame& frame, const FormulaSyntax& formula, const std::vector<Learnt>& learnt,
                           bool is_fit)
    : frame_(frame), formula_(formula), learnt_(learnt), is_fit_(is_fit) {
    for (const FrameColumn& column : frame.columns) columns_.try_emplace(column.name, &column);
}

const FrameColumn& FrameNumbers::column(const std::string& name, std::size_t place) const {
    const auto found = columns_.find(name);
    if (found != columns_.end()) return *found->second;
    if (is_fit_) refuse_column(formula_, {.name = name, .place = place}, frame_.column_names());
    throw std::invalid_argument(
        fmt::format("{}: there is no column {}, which the regression needs: add it", frame_.name, shown(name)));
}

Vector FrameNumbers::of_column(const std::string& name, std::size_t place) {
    const FrameColumn& found = column(name, place);
    if (!found.is_text()) return found.numbers;
    Vector numbers;
    if (numbers_of_text(found, numbers)) return numbers;
    const Index row = first_text_row(found);
    const std::string sentence =
        fmt::format("{}, column {}: {} is not a number", frame_.row_name(row), shown(name), shown(text_at(found, row)));
    if (!is_fit_) {
        throw std::runtime_error(fmt::format(
            "{}, but the column held numbers in the fit: correct it, or write NA if it is missing", sentence));
    }
    throw FormulaDataError(fmt::format("{}, but must be here: correct it, or write NA if it is missing", sentence),
                           formula_.text, place);
}

Vector FrameNumbers::of(const Expression& expression) {
    using Kind = Expression::Kind;
    switch (expression.kind) {
        case Kind::number:
            return Vector::Constant(frame_.rows, expression.number);
        case Kind::column:
            return of_column(expression.text, expression.begin);
        case Kind::parentheses:
            return of(expression.parts.front());
        case Kind::sign: {
            Vector values = of(expression.parts.front());
            if (expression.operators.front() == '-') values = -values;
            return values;
        }
        case Kind::call:
            return call(expression);
        default:
            return chain(expression);
    }
}

Vector FrameNumbers::call(const Expression& expression) {
    if (expression.text == "scale") return scaled(expression);
    Vector argument = of(expression.parts.front());
    if (expression.text == "I") return argument;
    Vector values = applied(expression.text, argument);
    require_finite(values, expression, &argument);
    return values;
}

Vector FrameNumbers::chain(const Expression& expression) {
    using Kind = Expression::Kind;
    Vector values;
    if (expression.kind == Kind::power) {
        values = of(expression.parts.back());
        for (std::size_t i = expression.parts.size() - 1; i-- > 0;) values = raised(of(expression.parts[i]), values);
    } else {
        const bool is_sum = expression.kind == Kind::sum;
        values = of(expression.parts.front());
        if (is_sum && expression.operators.front() == '-') values = -values;
        for (std::size_t i = 1; i < expression.parts.size(); ++i) {
            apply(expression.operators[is_sum ? i : i - 1], of(expression.parts[i]), values);
        }
    }
    require_finite(values, expression, nullptr);
    return values;
}

void FrameNumbers::require_finite(const Vector& values, const Expression& expression, const Vector* argument) const {
    if (values.allFinite()) return;
    for (Index n = 0; n < values.size(); ++n) {
        if (std::isfinite(values[n])) continue;
        const std::string reason =
            argument == nullptr
                ? ""
                : fmt::format(", as {} is {}", printable(written(expression.parts.front())), (*argument)[n]);
        throw FormulaDataError(
            fmt::format("{}: {} is not a finite number{}: correct the row, leave it out, or take another function",
                        frame_.row_name(n), printable(written(expression)), reason),
            formula_.text, expression.begin);
    }
}

const Vector& FrameNumbers::known(const std::string& name) const {
    for (const Learnt& entry : learnt_) {
        if (entry.name == name) return entry.numbers;
    }
    throw std::logic_error(fmt::format("nothing was learnt of {}", name));
}

Vector FrameNumbers::scaled(const Expression& expression) {
    const Vector& numbers = known(written(expression));
    const Vector values = (of(expression.parts.front()).array() - numbers[0]) / numbers[1];
    require_finite(values, expression, nullptr);
    return values;
}

Matrix FrameNumbers::polynomial(const Expression& call, int degree, bool raw) {
    const Vector x = of(call.parts.front());
    Matrix columns(x.size(), degree);
    if (raw) {
        columns.col(0) = x;
        for (int k = 1; k < degree; ++k) columns.col(k) = columns.col(k - 1).cwiseProduct(x);
        for (int k = 1; k < degree; ++k) require_finite(columns.col(k), call, &x);
        return columns;
    }
    const PolynomialRule rule = PolynomialRule::of(known(written(call)), degree);
    for (int k = 0; k < degree; ++k) columns.col(k) = rule.values(x, k + 1) / std::sqrt(rule.n[k + 1]);
    for (int k = 0; k < degree; ++k) require_finite(columns.col(k), call, &x);
    return columns;
}

}  // namespace lrvb::detail
