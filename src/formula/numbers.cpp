#include "formula/numbers.hpp"

#include "base/messages.hpp"
#include "data/csv_record.hpp"
#include "formula/calls.hpp"
#include "formula/dot.hpp"
#include "formula/levels.hpp"

#include <lrvb/formula/formula.hpp>

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <stdexcept>

namespace lrvb::detail {

namespace {

Vector applied(const std::string& function, const Vector& x) {
    if (function == "log") return x.array().log();
    if (function == "log2") return x.unaryExpr([](double value) { return std::log2(value); });
    if (function == "log10") return x.array().log10();
    if (function == "log1p") return x.array().log1p();
    if (function == "exp") return x.array().exp();
    if (function == "expm1") return x.unaryExpr([](double value) { return std::expm1(value); });
    if (function == "sqrt") return x.array().sqrt();
    if (function == "abs") return x.array().abs();
    return x;  // I()
}

/// Numbers raised to powers; small whole ones by multiplication, which is exact where the result is.
Vector raised(const Vector& base, const Vector& exponent) {
    const double first = exponent.size() > 0 ? exponent[0] : 1.0;
    const bool is_constant = (exponent.array() == first).all();
    if (is_constant && first == 1.0) return base;
    if (is_constant && first == 2.0) return base.array().square();
    if (is_constant && first == 3.0) return base.array().cube();
    Vector result(base.size());
    for (Index n = 0; n < base.size(); ++n) result[n] = std::pow(base[n], exponent[n]);
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

/// Whether there are more than so many different values.
bool has_more_values(const Vector& values, int count) {
    std::set<double> seen;
    for (const double value : values) {
        seen.insert(value);
        if (static_cast<int>(seen.size()) > count) return true;
    }
    return false;
}

/// Text whose every level is a number, which a column that also groups is read as.
bool numbers_of_text(const FrameColumn& column, Vector& numbers) {
    std::vector<double> values(column.levels.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (parse_number(column.levels[i], values[i]) != NumberKind::number) return false;
    }
    numbers.resize(static_cast<Index>(column.codes.size()));
    for (std::size_t n = 0; n < column.codes.size(); ++n) numbers[static_cast<Index>(n)] = values[column.codes[n]];
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

struct Recurrence {
    double centre;
    double scale;
    Vector a;  // 0 … d − 1
    Vector n;  // 0 … d
};

Recurrence recurrence_of(const Vector& numbers, int degree) {
    return {numbers[0], numbers[1], numbers.segment(2, degree), numbers.tail(degree + 1)};
}

}  // namespace

Index polynomial_numbers(int degree) {
    return 2 * Index{degree} + 3;
}

FrameNumbers::FrameNumbers(const DataFrame& frame, const FormulaSyntax& formula, std::vector<Learnt>& learnt,
                           bool is_fit)
    : frame_(frame), formula_(formula), learnt_(learnt), is_fit_(is_fit) {
    for (const FrameColumn& column : frame.columns) columns_.try_emplace(column.name, &column);
}

void FrameNumbers::refuse(const std::string& sentence, std::size_t place) const {
    throw FormulaDataError(fmt::format("{}: {}", frame_.name, sentence), formula_.text, place);
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
    const std::string sentence = fmt::format("row {}, column {}: {} is not a number", frame_.file_row(row), shown(name),
                                             shown(text_at(found, row)));
    if (!is_fit_) {
        throw std::runtime_error(
            fmt::format("{}: {}, but the column held numbers in the fit: correct it, or write NA if it is missing",
                        frame_.name, sentence));
    }
    refuse(fmt::format("{}, but must be here: correct it, or write NA if it is missing", sentence), place);
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
        refuse(
            fmt::format("row {}: {} is not a finite number{}: correct the row, leave it out, or take another function",
                        frame_.file_row(n), printable(written(expression)), reason),
            expression.begin);
    }
}

const Vector* FrameNumbers::known(const std::string& name) const {
    for (const Learnt& entry : learnt_) {
        if (entry.name == name) return &entry.numbers;
    }
    return nullptr;
}

const Vector& FrameNumbers::learn(const std::string& name, Vector numbers) {
    return learnt_.emplace_back(Learnt{name, std::move(numbers)}).numbers;
}

Vector FrameNumbers::scaled(const Expression& expression) {
    const std::string name = written(expression);
    Vector values = of(expression.parts.front());
    const Vector* numbers = known(name);
    if (numbers == nullptr) {
        const ScaleCall how = scale_call(formula_, expression);
        const double mean = values.mean();
        const double centre = how.centres ? mean : 0.0;
        double scale = 1.0;
        if (how.scales) {
            // Without a centre R takes the root mean square, with N − 1.
            scale = std::sqrt((values.array() - centre).square().sum() / static_cast<double>(values.size() - 1));
            if (!(scale > 0.0) || !std::isfinite(scale)) {
                refuse(fmt::format("{} has one value in every row, so that it has no scale: leave it out",
                                   printable(written(expression.parts.front()))),
                       expression.begin);
            }
        }
        numbers = &learn(name, Vector{{centre, scale}});
    }
    values = (values.array() - (*numbers)[0]) / (*numbers)[1];
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
    const std::string name = written(call);
    const Vector* numbers = known(name);
    const bool is_new = numbers == nullptr;
    Recurrence rule{0.0, 1.0, Vector::Zero(degree), Vector::Zero(degree + 1)};
    if (is_new) {
        if (!has_more_values(x, degree)) {
            refuse(fmt::format("{} has no more than {} different values, too few for a polynomial of degree {}",
                               printable(written(call.parts.front())), degree, degree),
                   call.begin);
        }
        rule.centre = x.mean();
        rule.scale = (x.array() - rule.centre).abs().maxCoeff();
    } else {
        rule = recurrence_of(*numbers, degree);
    }
    const Vector t = (x.array() - rule.centre) / rule.scale;
    Vector before = Vector::Zero(x.size());
    Vector now = Vector::Ones(x.size());
    if (is_new) rule.n[0] = static_cast<double>(x.size());
    for (int k = 0; k < degree; ++k) {
        if (is_new) rule.a[k] = t.dot(now.cwiseAbs2()) / rule.n[k];
        const double ratio = k == 0 ? 0.0 : rule.n[k] / rule.n[k - 1];
        const Vector next = (t.array() - rule.a[k]) * now.array() - ratio * before.array();
        if (is_new) rule.n[k + 1] = next.squaredNorm();
        columns.col(k) = next / std::sqrt(rule.n[k + 1]);
        before = now;
        now = next;
    }
    if (is_new) {
        Vector kept(polynomial_numbers(degree));
        kept << rule.centre, rule.scale, rule.a, rule.n;
        learn(name, std::move(kept));
    }
    for (int k = 0; k < degree; ++k) require_finite(columns.col(k), call, &x);
    return columns;
}

}  // namespace lrvb::detail
