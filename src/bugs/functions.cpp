#include "bugs/functions.hpp"

#include "bugs/matrix_functions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <unordered_map>

namespace lrvb::bugs {

namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

double normal_cdf(double x) {
    return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

/// A rational start that is good to three digits, then Halley's steps on the tail that does not cancel.
double normal_quantile(double p) {
    if (!(p > 0.0 && p < 1.0)) return p == 0.0 ? -HUGE_VAL : p == 1.0 ? HUGE_VAL : kNoValue;
    const double tail = std::min(p, 1.0 - p);
    const double r = std::sqrt(-2.0 * std::log(tail));
    double x = r - (2.515517 + r * (0.802853 + r * 0.010328)) /
                       (1.0 + r * (1.432788 + r * (0.189269 + r * 0.001308)));  // of the upper tail
    for (int i = 0; i < 4; ++i) {
        const double excess = 0.5 * std::erfc(x / std::numbers::sqrt2) - tail;
        const double density = std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
        const double step = -excess / density;
        x -= step / (1.0 + 0.5 * x * step);
    }
    return p < 0.5 ? -x : x;
}

double logistic(double x) {
    return x >= 0.0 ? 1.0 / (1.0 + std::exp(-x)) : std::exp(x) / (1.0 + std::exp(x));
}

double truth(bool holds) {
    return holds ? 1.0 : 0.0;
}

/// What is said of numbers that are none is no number.
template <class... Numbers>
double truth_of(bool holds, Numbers... numbers) {
    return (std::isnan(numbers) || ...) ? kNoValue : truth(holds);
}

using Unary = double (*)(double);
using Binary = double (*)(double, double);

const std::unordered_map<std::string_view, Unary>& unary_functions() {
    static const std::unordered_map<std::string_view, Unary> functions{
        {"-", [](double x) { return -x; }},
        {"!", [](double x) { return truth_of(x == 0.0, x); }},
        {"abs", [](double x) { return std::abs(x); }},
        {"acos", [](double x) { return std::acos(x); }},
        {"acosh", [](double x) { return std::acosh(x); }},
        {"asin", [](double x) { return std::asin(x); }},
        {"asinh", [](double x) { return std::asinh(x); }},
        {"atan", [](double x) { return std::atan(x); }},
        {"atanh", [](double x) { return std::atanh(x); }},
        {"cloglog", [](double x) { return std::log(-std::log1p(-x)); }},
        {"cos", [](double x) { return std::cos(x); }},
        {"cosh", [](double x) { return std::cosh(x); }},
        {"exp", [](double x) { return std::exp(x); }},
        {"icloglog", [](double x) { return -std::expm1(-std::exp(x)); }},
        {"ilogit", logistic},
        {"log", [](double x) { return std::log(x); }},
        {"logfact", [](double x) { return x < 0.0 ? kNoValue : std::lgamma(x + 1.0); }},
        {"loggam", [](double x) { return x <= 0.0 ? kNoValue : std::lgamma(x); }},
        {"logit", [](double x) { return std::log(x) - std::log1p(-x); }},
        {"phi", normal_cdf},
        {"probit", normal_quantile},
        {"round", [](double x) { return std::floor(x + 0.5); }},
        {"sin", [](double x) { return std::sin(x); }},
        {"sinh", [](double x) { return std::sinh(x); }},
        {"sqrt", [](double x) { return std::sqrt(x); }},
        {"step", [](double x) { return truth_of(x >= 0.0, x); }},
        {"tan", [](double x) { return std::tan(x); }},
        {"tanh", [](double x) { return std::tanh(x); }},
        {"trunc", [](double x) { return std::trunc(x); }},
    };
    return functions;
}

const std::unordered_map<std::string_view, Binary>& binary_functions() {
    static const std::unordered_map<std::string_view, Binary> functions{
        {"+", [](double a, double b) { return a + b; }},
        {"-", [](double a, double b) { return a - b; }},
        {"*", [](double a, double b) { return a * b; }},
        {"/", [](double a, double b) { return a / b; }},
        {"^", [](double a, double b) { return b == 2.0 ? a * a : std::pow(a, b); }},
        {"%%", [](double a, double b) { return a - b * std::floor(a / b); }},
        {"%/%", [](double a, double b) { return std::floor(a / b); }},
        {">", [](double a, double b) { return truth_of(a > b, a, b); }},
        {">=", [](double a, double b) { return truth_of(a >= b, a, b); }},
        {"<", [](double a, double b) { return truth_of(a < b, a, b); }},
        {"<=", [](double a, double b) { return truth_of(a <= b, a, b); }},
        {"==", [](double a, double b) { return truth_of(a == b, a, b); }},
        {"!=", [](double a, double b) { return truth_of(a != b, a, b); }},
        {"&&", [](double a, double b) { return truth_of(a != 0.0 && b != 0.0, a, b); }},
        {"||", [](double a, double b) { return truth_of(a != 0.0 || b != 0.0, a, b); }},
    };
    return functions;
}

/// A single line, or a single column, stands for all of them.
class Spread {
  public:
    explicit Spread(const Columns& columns)
        : values_(columns.values), by_line_(columns.values.rows() > 1), by_column_(columns.values.cols() > 1) {}

    double operator()(Index line, Index column) const { return values_(by_line_ ? line : 0, by_column_ ? column : 0); }

  private:
    const Matrix& values_;
    bool by_line_;
    bool by_column_;
};

Index most_lines(const std::vector<Columns>& arguments) {
    Index lines = 1;
    for (const Columns& argument : arguments) lines = std::max(lines, argument.values.rows());
    return lines;
}

std::vector<Index> without_extents_of_one(std::vector<Index> dims) {
    std::erase(dims, Index{1});
    return dims;
}

std::vector<Index> elementwise_extents(const std::string& name, const std::vector<std::vector<Index>>& arguments) {
    std::vector<Index> result;
    for (const std::vector<Index>& dims : arguments) {
        if (size_of(dims) == 1 && !(result.empty() && dims.size() > 1)) continue;
        if (size_of(result) == 1) {
            result = dims;
        } else if (size_of(dims) != size_of(result)) {
            throw FunctionProblem{
                fmt::format("'{}' is asked of arrays with {} and {} elements: they must be of one size", name,
                            size_of(result), size_of(dims))};
        } else if (without_extents_of_one(dims) != without_extents_of_one(result)) {
            throw FunctionProblem{fmt::format("'{}' is asked of arrays of {} and {}: they must be of one shape", name,
                                              extents_text(result), extents_text(dims))};
        }
    }
    return result;
}

Columns elementwise(const std::string& name, const std::vector<Columns>& arguments) {
    std::vector<std::vector<Index>> dims;
    dims.reserve(arguments.size());
    for (const Columns& argument : arguments) dims.push_back(argument.dims);
    Columns result;
    result.dims = elementwise_extents(name, dims);
    const Index lines = most_lines(arguments);
    result.values.resize(lines, size_of(result.dims));
    const Spread first(arguments[0]);
    if (arguments.size() == 1) {
        const Unary function = unary_functions().at(name);
        for (Index j = 0; j < result.values.cols(); ++j) {
            for (Index i = 0; i < lines; ++i) result.values(i, j) = function(first(i, j));
        }
        return result;
    }
    const Spread second(arguments[1]);
    if (arguments.size() == 2) {
        const Binary function = binary_functions().at(name);
        for (Index j = 0; j < result.values.cols(); ++j) {
            for (Index i = 0; i < lines; ++i) result.values(i, j) = function(first(i, j), second(i, j));
        }
        return result;
    }
    const Spread third(arguments[2]);  // ifelse
    for (Index j = 0; j < result.values.cols(); ++j) {
        for (Index i = 0; i < lines; ++i) {
            const double chosen = first(i, j) != 0.0 ? second(i, j) : third(i, j);
            result.values(i, j) = std::isnan(first(i, j)) ? kNoValue : chosen;
        }
    }
    return result;
}

double sample_variance(const Eigen::Ref<const Vector>& values) {
    if (values.size() < 2) return kNoValue;
    const double mean = values.mean();
    return (values.array() - mean).square().sum() / static_cast<double>(values.size() - 1);
}

/// Of all numbers of a row.
double reduced(const std::string& name, const Vector& all) {
    if (name == "sum") return all.sum();
    if (name == "prod") return all.prod();
    if (all.size() == 0 || all.hasNaN()) return kNoValue;
    if (name == "mean") return all.mean();
    if (name == "min") return all.minCoeff();
    if (name == "max") return all.maxCoeff();
    return name == "sd" ? std::sqrt(sample_variance(all)) : sample_variance(all);
}

std::vector<Index> order_of(const Vector& values) {
    std::vector<Index> order(static_cast<std::size_t>(values.size()));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return values[a] < values[b]; });
    return order;
}

Vector sorted_as(const std::string& name, const Vector& values) {
    if (values.hasNaN()) return Vector::Constant(values.size(), kNoValue);
    const std::vector<Index> order = order_of(values);
    Vector result(values.size());
    for (Index i = 0; i < values.size(); ++i) {
        const Index place = order[static_cast<std::size_t>(i)];
        if (name == "sort") result[i] = values[place];
        if (name == "order") result[i] = static_cast<double>(place + 1);
        if (name == "rank") result[place] = static_cast<double>(i + 1);
    }
    return result;
}

double interpolated(double at, const Vector& x, const Vector& y) {
    if (x.size() == 0 || x.size() != y.size() || std::isnan(at)) return kNoValue;
    for (Index i = 1; i < x.size(); ++i) {
        if (!(x[i] > x[i - 1])) return kNoValue;  // as in JAGS: the points ascend
    }
    if (at <= x[0]) return y[0];
    for (Index i = 1; i < x.size(); ++i) {
        if (at <= x[i]) return y[i - 1] + (y[i] - y[i - 1]) * (at - x[i - 1]) / (x[i] - x[i - 1]);
    }
    return y[y.size() - 1];
}

Vector line_of(const Columns& columns, Index line) {
    return columns.values.row(columns.values.rows() == 1 ? 0 : line).transpose();
}

/// Everything that is no function of single numbers, a row after the other.
Vector of_row(const std::string& name, const std::vector<Columns>& arguments, Index line) {
    const Vector first = line_of(arguments[0], line);
    if (name == "sort" || name == "order" || name == "rank") return sorted_as(name, first);
    if (name == "inprod") return Vector::Constant(1, first.dot(line_of(arguments[1], line)));
    if (name == "interp.lin") {
        return Vector::Constant(1, interpolated(first[0], line_of(arguments[1], line), line_of(arguments[2], line)));
    }
    Index size = 0;
    for (const Columns& argument : arguments) size += argument.values.cols();
    Vector all(size);
    Index done = 0;
    for (const Columns& argument : arguments) {
        all.segment(done, argument.values.cols()) = line_of(argument, line);
        done += argument.values.cols();
    }
    if (name == "c") return all;
    return Vector::Constant(1, reduced(name, all));
}

/// rep(x, times): times of one number, or one for each of x.
Columns repeated(const std::vector<Columns>& arguments) {
    const Columns& times = arguments[1];
    if (times.values.rows() > 1) {
        for (Index i = 1; i < times.values.rows(); ++i) {
            if (times.values.row(i) != times.values.row(0)) {
                throw FunctionProblem{"'rep' is asked for different numbers of times in different rounds of a loop"};
            }
        }
    }
    const Index count = arguments[0].values.cols();
    if (times.values.cols() != 1 && times.values.cols() != count) {
        throw FunctionProblem{"'rep' takes one number of times, or one for each number"};
    }
    std::vector<Index> places;
    for (Index j = 0; j < count; ++j) {
        const double often = times.values(0, times.values.cols() == 1 ? 0 : j);
        if (!(often >= 0.0) || often != std::floor(often)) {
            throw FunctionProblem{fmt::format("'rep' cannot repeat {} times", often)};
        }
        if (times.values.cols() > 1) places.insert(places.end(), static_cast<std::size_t>(often), j);
    }
    if (times.values.cols() == 1) {
        for (double i = 0.0; i < times.values(0, 0); ++i) {
            for (Index j = 0; j < count; ++j) places.push_back(j);
        }
    }
    Columns result;
    result.dims = {static_cast<Index>(places.size())};
    result.values.resize(arguments[0].values.rows(), static_cast<Index>(places.size()));
    for (std::size_t j = 0; j < places.size(); ++j) {
        result.values.col(static_cast<Index>(j)) = arguments[0].values.col(places[j]);
    }
    return result;
}

}  // namespace

Index size_of(const std::vector<Index>& dims) {
    Index size = 1;
    for (const Index extent : dims) size *= extent;
    return size;
}

std::string extents_text(const std::vector<Index>& dims) {
    if (dims.empty()) return "one number";
    if (dims.size() == 1) return fmt::format("{} element{}", dims[0], dims[0] == 1 ? "" : "s");
    return fmt::format("{}", fmt::join(dims, " × "));
}

double inverse_link(const std::string& link, double x) {
    if (link.empty()) return x;
    if (link == "log") return std::exp(x);
    if (link == "logit") return logistic(x);
    return link == "probit" ? normal_cdf(x) : -std::expm1(-std::exp(x));
}

std::vector<Index> extents_of(const std::string& name, const std::vector<std::vector<Index>>& arguments) {
    if (is_matrix_function(name)) return matrix_extents(name, arguments);
    if (name == "sort" || name == "order" || name == "rank") return {size_of(arguments[0])};
    if (name == "c") {
        Index size = 0;
        for (const std::vector<Index>& dims : arguments) size += size_of(dims);
        return {size};
    }
    const bool is_elementwise = unary_functions().contains(name) || binary_functions().contains(name);
    if (is_elementwise || name == "ifelse") return elementwise_extents(name, arguments);
    if (name == "inprod" && size_of(arguments[0]) != size_of(arguments[1])) {
        throw FunctionProblem{fmt::format("'inprod' is asked of {} and {} elements: they must be of one size",
                                          size_of(arguments[0]), size_of(arguments[1]))};
    }
    if (name == "interp.lin" && size_of(arguments[0]) != 1) {
        throw FunctionProblem{
            fmt::format("'interp.lin' is asked at {} places: it takes one number there", size_of(arguments[0]))};
    }
    if (name == "interp.lin" && size_of(arguments[1]) != size_of(arguments[2])) {
        throw FunctionProblem{"'interp.lin' needs as many points as values"};
    }
    return {};
}

Columns apply_function(const std::string& name, const std::vector<Columns>& arguments) {
    if (name == "rep") return repeated(arguments);
    if (is_matrix_function(name)) return apply_matrix_function(name, arguments);
    const bool is_unary = arguments.size() == 1 && unary_functions().contains(name);
    const bool is_binary = arguments.size() == 2 && binary_functions().contains(name);
    if (is_unary || is_binary || name == "ifelse") return elementwise(name, arguments);
    std::vector<std::vector<Index>> dims;
    dims.reserve(arguments.size());
    for (const Columns& argument : arguments) dims.push_back(argument.dims);
    Columns result;
    result.dims = extents_of(name, dims);
    const Index lines = most_lines(arguments);
    result.values.resize(lines, size_of(result.dims));
    // The commonest, over columns.
    if ((name == "sum" || name == "mean") && arguments.size() == 1 && arguments[0].values.cols() > 0) {
        result.values.col(0) = arguments[0].values.rowwise().sum();
        if (name == "mean") result.values /= static_cast<double>(arguments[0].values.cols());
        return result;
    }
    for (Index line = 0; line < lines; ++line) result.values.row(line) = of_row(name, arguments, line).transpose();
    return result;
}

}  // namespace lrvb::bugs
