#include "kind/model/node_function.hpp"

#include "base/messages.hpp"

#include <Eigen/LU>
#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>
#include <stdexcept>

namespace lrvb::detail {

namespace {

// A value with its derivatives in the statistics.
struct Dual {
    double value = 0.0;
    Vector slope;
};

double normal_cdf(double x) {
    return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

double normal_density(double x) {
    return std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
}

// By Newton's method from a rough start: p is strictly between 0 and 1.
double normal_quantile(double p) {
    if (!(p > 0.0 && p < 1.0)) return p <= 0.0 ? -HUGE_VAL : HUGE_VAL;
    double x = 4.91 * (std::pow(p, 0.14) - std::pow(1.0 - p, 0.14));
    for (int i = 0; i < 50; ++i) {
        const double step = (normal_cdf(x) - p) / std::max(normal_density(x), 1e-300);
        x -= std::clamp(step, -1.0, 1.0);
        if (std::abs(step) < 1e-14 * (1.0 + std::abs(x))) break;
    }
    return x;
}

}  // namespace

NodeFunction::NodeFunction(std::string text) : text_(std::move(text)) {
    constexpr std::array<std::pair<std::string_view, Op>, 18> names{{{"+", Op::add},
                                                                     {"-", Op::subtract},
                                                                     {"*", Op::multiply},
                                                                     {"/", Op::divide},
                                                                     {"^", Op::power},
                                                                     {"neg", Op::negate},
                                                                     {"exp", Op::exp},
                                                                     {"log", Op::log},
                                                                     {"sqrt", Op::sqrt},
                                                                     {"abs", Op::abs},
                                                                     {"logit", Op::logit},
                                                                     {"ilogit", Op::ilogit},
                                                                     {"probit", Op::probit},
                                                                     {"phi", Op::phi},
                                                                     {"step", Op::step},
                                                                     {"unit", Op::unit},
                                                                     {"cloglog", Op::cloglog},
                                                                     {"icloglog", Op::icloglog}}};
    const auto refuse = [&](std::string_view word) {
        throw std::invalid_argument(fmt::format("{} is no part of a function of statistics", shown(std::string(word))));
    };
    std::vector<Index> leaves;  // statistic of each leaf
    int depth = 0;
    for (std::size_t begin = 0; begin < text_.size();) {
        const std::size_t end = std::min(text_.find(' ', begin), text_.size());
        const std::string_view word(text_.data() + begin, end - begin);
        begin = end + 1;
        Instruction instruction;
        const auto named = std::find_if(names.begin(), names.end(), [&](const auto& one) { return one.first == word; });
        if (named != names.end()) {
            instruction.op = named->second;
            depth -= is_binary(instruction.op) ? 1 : 0;
            if (depth < 1) refuse(word);
        } else if (word.starts_with("inverse:")) {
            instruction.op = Op::inverse;
            const char* from = word.data() + 8;
            for (Index* number : {&instruction.size, &instruction.row, &instruction.column}) {
                const auto [next, error] = std::from_chars(from, word.data() + word.size(), *number);
                if (error != std::errc()) refuse(word);
                from = std::min(next + 1, word.data() + word.size());
            }
            const bool fits = instruction.size >= 1 && instruction.size <= 100 && instruction.row >= 0 &&
                              instruction.row < instruction.size && instruction.column >= 0 &&
                              instruction.column < instruction.size;
            if (!fits) refuse(word);
            depth -= static_cast<int>(instruction.size * instruction.size) - 1;
            if (depth < 1) refuse(word);
        } else if (word.starts_with("sd:") || word.starts_with("max:") || word.starts_with("min:")) {
            instruction.op = word[0] == 's' ? Op::sd : word[1] == 'a' ? Op::max : Op::min;
            const char* last = word.data() + word.size();
            const auto [next, error] = std::from_chars(word.data() + word.find(':') + 1, last, instruction.size);
            if (error != std::errc() || next != last || instruction.size < 2 || instruction.size > depth) refuse(word);
            depth -= static_cast<int>(instruction.size) - 1;
        } else if (!word.empty() && std::string_view("xpgieu").find(word[0]) != std::string_view::npos) {
            Index at = 0;
            const auto [next, error] = std::from_chars(word.data() + 1, word.data() + word.size(), at);
            if (error != std::errc() || next != word.data() + word.size() || at < 0) refuse(word);
            const char letter = word[0];
            instruction.op = letter == 'e' || letter == 'u' ? Op::leaf_exp : Op::leaf;
            instruction.leaf = static_cast<Index>(leaves.size());
            instruction.range = letter == 'x'                    ? Range::any
                                : letter == 'u' || letter == 'i' ? Range::probability
                                                                 : Range::positive;
            instruction.has_logarithm = letter == 'p';
            leaves.push_back(at);
            ++depth;
        } else {
            const auto [next, error] =
                fast_float::from_chars(word.data(), word.data() + word.size(), instruction.number);
            if (error != std::errc() || next != word.data() + word.size()) refuse(word);
            ++depth;
        }
        program_.push_back(instruction);
    }
    if (depth != 1) throw std::invalid_argument("a function of statistics does not end with one value");
    statistics_ = leaves;
    std::sort(statistics_.begin(), statistics_.end());
    statistics_.erase(std::unique(statistics_.begin(), statistics_.end()), statistics_.end());
    for (Instruction& instruction : program_) {
        if (instruction.op != Op::leaf && instruction.op != Op::leaf_exp) continue;
        const Index at = leaves[static_cast<std::size_t>(instruction.leaf)];
        instruction.leaf = std::lower_bound(statistics_.begin(), statistics_.end(), at) - statistics_.begin();
    }
    analyse();
}

// The value that the last of these instructions make.
NodeFunction::Span NodeFunction::last_value(const Span& span) {
    std::size_t begin = span.size();
    for (Index wanted = 1; wanted > 0; --wanted) {
        const Instruction& instruction = span[--begin];
        if (takes_many(instruction.op)) {
            wanted += taken(instruction);
        } else if (is_binary(instruction.op)) {
            wanted += 2;
        } else if (instruction.op > Op::leaf_exp) {
            wanted += 1;
        }
    }
    return span.subspan(begin);
}

std::pair<NodeFunction::Span, NodeFunction::Span> NodeFunction::operands(const Span& span) {
    const Span right = last_value(span.first(span.size() - 1));
    return {last_value(span.first(span.size() - 1 - right.size())), right};
}

void NodeFunction::multiply(const Span& span, double power, Product& product) {
    const Op op = span.back().op;
    if (op == Op::multiply || op == Op::divide) {
        const auto [left, right] = operands(span);
        multiply(left, power, product);
        multiply(right, op == Op::multiply ? power : -power, product);
    } else if (op == Op::sqrt) {
        multiply(span.first(span.size() - 1), 0.5 * power, product);
    } else if (op == Op::power && span[span.size() - 2].op == Op::number) {
        multiply(operands(span).first, power * span[span.size() - 2].number, product);
    } else if (op == Op::number && span.back().number > 0.0) {
        product.coefficient *= std::pow(span.back().number, power);
    } else {
        product.factors.emplace_back(span, power);
    }
}

void NodeFunction::add_terms(const Span& span, std::vector<Product>& terms) {
    if (span.back().op == Op::add) {
        const auto [left, right] = operands(span);
        add_terms(left, terms);
        add_terms(right, terms);
        return;
    }
    multiply(span, 1.0, terms.emplace_back());
}

// Whether two products have the same factors, and the first no larger coefficient.
bool NodeFunction::is_at_most(const Product& part, const Product& term) {
    if (part.factors.size() != term.factors.size() || part.coefficient > term.coefficient) return false;
    std::vector<std::pair<Span, double>> left = term.factors;
    return std::ranges::all_of(part.factors, [&](const auto& factor) {
        const auto found = std::ranges::find_if(left, [&](const auto& one) {
            return one.second == factor.second && std::ranges::equal(one.first, factor.first);
        });
        if (found == left.end()) return false;
        left.erase(found);
        return true;
    });
}

// Whether nothing in it can be negative.
bool NodeFunction::is_surely_positive(const Span& span) {
    return std::ranges::all_of(span, [](const Instruction& instruction) {
        if (instruction.op == Op::leaf || instruction.op == Op::leaf_exp) {
            return instruction.op == Op::leaf_exp || instruction.range != Range::any;
        }
        return instruction.op == Op::number || instruction.op == Op::add || instruction.op == Op::multiply ||
               instruction.op == Op::divide || instruction.op == Op::power || instruction.op == Op::sqrt ||
               instruction.op == Op::exp;
    });
}

// Whether it is a/(a + b + …), where all of these are positive.
bool NodeFunction::is_share(const Product& product) {
    for (std::size_t f = 0; f < product.factors.size(); ++f) {
        const auto& [span, power] = product.factors[f];
        if (power != -1.0 || span.back().op != Op::add || !is_surely_positive(span)) continue;
        Product part = product;
        part.factors.erase(part.factors.begin() + static_cast<std::ptrdiff_t>(f));
        std::vector<Product> parts;
        if (part.factors.size() == 1 && part.factors[0].second == 1.0 && part.coefficient <= 1.0) {
            add_terms(part.factors[0].first, parts);
        } else {
            parts.push_back(std::move(part));
        }
        std::vector<Product> terms;
        add_terms(span, terms);
        const bool all = std::ranges::all_of(parts, [&](const Product& own) {
            const auto found = std::ranges::find_if(terms, [&](const Product& term) { return is_at_most(own, term); });
            if (found == terms.end()) return false;
            terms.erase(found);
            return true;
        });
        if (all) return true;
    }
    return false;
}

// Whether it is S_ij S_ii^(−½) S_jj^(−½) of the inverse S of a matrix.
bool NodeFunction::is_correlation(const Product& product) {
    if (product.factors.size() != 3 || product.coefficient != 1.0) return false;
    const auto covariance = std::ranges::find_if(product.factors, [](const auto& factor) {
        const Instruction& last = factor.first.back();
        return factor.second == 1.0 && last.op == Op::inverse && last.row != last.column;
    });
    if (covariance == product.factors.end()) return false;
    const Span& entry = covariance->first;
    const auto has_variance = [&](Index at) {
        return std::ranges::any_of(product.factors, [&](const auto& factor) {
            const Instruction& last = factor.first.back();
            return factor.second == -0.5 && last.op == Op::inverse && last.row == at && last.column == at &&
                   std::ranges::equal(factor.first.first(factor.first.size() - 1), entry.first(entry.size() - 1));
        });
    };
    return has_variance(entry.back().row) && has_variance(entry.back().column);
}

// Of every intermediate value: its range, whether it is linear in the statistics, and whether its logarithm is.
void NodeFunction::analyse() {
    struct Known {
        Range range = Range::any;
        bool is_constant = false;
        double number = 0.0;
        bool linear = false;
        bool multiple = false;                         // a positive number times a statistic that has a logarithm
        std::optional<std::pair<double, Vector>> log;  // constant and powers
    };
    const auto count = static_cast<Index>(statistics_.size());
    std::vector<Known> stack;
    const bool has_inverse =
        std::ranges::any_of(program_, [](const Instruction& one) { return one.op == Op::inverse; });
    const auto is_positive = [](Range range) { return range == Range::positive || range == Range::probability; };
    for (std::size_t place = 0; place < program_.size(); ++place) {
        const Instruction& instruction = program_[place];
        Known result;
        if (instruction.op == Op::number) {
            result.is_constant = result.linear = true;
            result.number = instruction.number;
            if (result.number > 0.0) {
                result.range = result.number < 1.0 ? Range::probability : Range::positive;
                result.log.emplace(std::log(result.number), Vector::Zero(count));
            }
            stack.push_back(std::move(result));
            continue;
        }
        if (instruction.op == Op::leaf || instruction.op == Op::leaf_exp) {
            result.range = instruction.range;
            result.linear = instruction.op == Op::leaf;
            result.multiple = instruction.has_logarithm;
            if (instruction.op == Op::leaf_exp) result.log.emplace(0.0, Vector::Unit(count, instruction.leaf));
            stack.push_back(std::move(result));
            continue;
        }
        if (takes_many(instruction.op)) {
            stack.resize(stack.size() - static_cast<std::size_t>(taken(instruction)));
            const bool is_largest = instruction.op == Op::max || instruction.op == Op::min;
            has_steps_ = has_steps_ || is_largest;
            if (!is_largest && instruction.row == instruction.column) result.range = Range::positive;
            stack.push_back(std::move(result));
            continue;
        }
        Known right = std::move(stack.back());
        stack.pop_back();
        if (!is_binary(instruction.op)) {
            switch (instruction.op) {
                case Op::step:
                    has_steps_ = has_steps_ || !right.is_constant;
                    result.range = Range::probability;
                    break;
                case Op::unit:
                    result.range = Range::probability;
                    result.linear = right.linear;
                    break;
                case Op::negate:
                    result.linear = right.linear;
                    break;
                case Op::exp:
                    result.range = Range::positive;
                    break;
                case Op::sqrt:
                    result.range = right.range == Range::probability ? Range::probability : Range::positive;
                    if (right.log) result.log.emplace(0.5 * right.log->first, 0.5 * right.log->second);
                    break;
                case Op::abs:
                    has_steps_ = has_steps_ || (!right.is_constant && !is_positive(right.range));
                    result.range = right.range == Range::probability ? Range::probability : Range::positive;
                    break;
                case Op::ilogit:
                case Op::phi:
                case Op::icloglog:
                    result.range = Range::probability;
                    break;
                default:
                    break;
            }
            stack.push_back(std::move(result));
            continue;
        }
        Known left = std::move(stack.back());
        stack.pop_back();
        const bool positive = is_positive(left.range) && is_positive(right.range);
        const auto product = [&] {
            constexpr std::size_t kLongest = 100;  // that is looked at closely
            Product result_of;
            const Span own = last_value(Span(program_).first(place + 1));
            if (own.size() <= kLongest) multiply(own, 1.0, result_of);
            return result_of;
        };
        const auto is_number = [](const Known& known, double number) {
            return known.is_constant && known.number == number;
        };
        switch (instruction.op) {
            case Op::add:
                if (positive) result.range = Range::positive;
                if (is_number(left, 0.0)) result.range = right.range;
                if (is_number(right, 0.0)) result.range = left.range;
                result.linear = left.linear && right.linear;
                break;
            case Op::subtract:
                if (is_number(left, 1.0) && right.range == Range::probability) {
                    result.range = Range::probability;
                }
                result.linear = left.linear && right.linear;
                break;
            case Op::multiply:
                if (positive) {
                    const bool both = left.range == Range::probability && right.range == Range::probability;
                    result.range = both || is_share(product()) ? Range::probability : Range::positive;
                }
                if (!positive && has_inverse && is_correlation(product())) result.range = Range::correlation;
                if (is_number(left, 1.0)) result.range = right.range;
                if (is_number(right, 1.0)) result.range = left.range;
                result.linear = (left.linear && right.is_constant) || (left.is_constant && right.linear);
                result.multiple = (left.multiple && right.is_constant && right.number > 0.0) ||
                                  (right.multiple && left.is_constant && left.number > 0.0);
                if (left.log && right.log) {
                    result.log.emplace(left.log->first + right.log->first, left.log->second + right.log->second);
                }
                break;
            case Op::divide:
                if (positive) result.range = is_share(product()) ? Range::probability : Range::positive;
                if (left.range == Range::any && has_inverse && is_correlation(product()))
                    result.range = Range::correlation;
                result.linear = left.linear && right.is_constant;
                result.multiple = left.multiple && right.is_constant && right.number > 0.0;
                if (left.log && right.log) {
                    result.log.emplace(left.log->first - right.log->first, left.log->second - right.log->second);
                }
                break;
            default:  // a power
                if (is_positive(left.range)) {
                    const bool stays = left.range == Range::probability && right.is_constant && right.number > 0.0;
                    result.range = stays ? Range::probability : Range::positive;
                } else if (right.is_constant && std::fmod(right.number, 2.0) == 0.0) {
                    result.range = Range::positive;
                }
                if (left.log && right.is_constant) {
                    result.log.emplace(right.number * left.log->first, right.number * left.log->second);
                }
                break;
        }
        stack.push_back(std::move(result));
    }
    is_inverse_ = program_.back().op == Op::inverse &&
                  std::all_of(program_.begin(), program_.end() - 1,
                              [](const Instruction& instruction) { return instruction.op == Op::leaf; });
    range_ = stack.back().range;
    is_linear_ = stack.back().linear;
    is_multiple_ = stack.back().multiple;
    if (stack.back().log && count > 0) log_linear_ = {true, stack.back().log->first, stack.back().log->second};
}

double NodeFunction::of_one(Op op, double x) {
    switch (op) {
        case Op::unit:
            return x;
        case Op::negate:
            return -x;
        case Op::exp:
            return std::exp(x);
        case Op::log:
            return std::log(x);
        case Op::sqrt:
            return std::sqrt(x);
        case Op::abs:
            return std::abs(x);
        case Op::logit:
            return std::log(x / (1.0 - x));
        case Op::ilogit:
            return 1.0 / (1.0 + std::exp(-x));
        case Op::phi:
            return normal_cdf(x);
        case Op::probit:
            return normal_quantile(x);
        case Op::cloglog:
            return std::log(-std::log1p(-x));
        case Op::icloglog:
            return -std::expm1(-std::exp(x));
        default:  // step
            return x >= 0.0 ? 1.0 : 0.0;
    }
}

double NodeFunction::slope_of_one(Op op, double x, double value) {
    switch (op) {
        case Op::unit:
            return 1.0;
        case Op::negate:
            return -1.0;
        case Op::exp:
            return value;
        case Op::log:
            return 1.0 / x;
        case Op::sqrt:
            return 0.5 / value;
        case Op::abs:
            return x < 0.0 ? -1.0 : 1.0;
        case Op::logit:
            return 1.0 / (x * (1.0 - x));
        case Op::ilogit:
            return value * (1.0 - value);
        case Op::phi:
            return normal_density(x);
        case Op::probit:
            return 1.0 / normal_density(value);
        case Op::cloglog:
            return 1.0 / (-std::log1p(-x) * (1.0 - x));
        case Op::icloglog:
            return std::exp(x - std::exp(x));
        default:  // step
            return 0.0;
    }
}

double NodeFunction::of_two(Op op, double left, double right) {
    switch (op) {
        case Op::add:
            return left + right;
        case Op::subtract:
            return left - right;
        case Op::multiply:
            return left * right;
        case Op::divide:
            return left / right;
        default:
            return std::pow(left, right);
    }
}

double NodeFunction::of_many(const Instruction& instruction, const Vector& values) {
    switch (instruction.op) {
        case Op::inverse: {
            const Matrix matrix = Eigen::Map<const Matrix>(values.data(), instruction.size, instruction.size);
            return matrix.inverse()(instruction.row, instruction.column);
        }
        case Op::max:
            return values.maxCoeff();
        case Op::min:
            return values.minCoeff();
        default: {
            const Vector apart = values.array() - values.mean();
            return apart.norm() / std::sqrt(static_cast<double>(values.size()) - 1.0);
        }
    }
}

Vector NodeFunction::slope_of_many(const Instruction& instruction, const Vector& values, double value) {
    Vector result = Vector::Zero(values.size());
    switch (instruction.op) {
        case Op::inverse: {  // d(A⁻¹) = −A⁻¹ dA A⁻¹
            const Index size = instruction.size;
            const Matrix inverse = Matrix(Eigen::Map<const Matrix>(values.data(), size, size)).inverse();
            for (Index e = 0; e < values.size(); ++e) {
                result[e] = -inverse(instruction.row, e % size) * inverse(e / size, instruction.column);
            }
            return result;
        }
        case Op::max:
        case Op::min:
            for (Index e = 0; e < values.size(); ++e) {
                if (values[e] == value) result[e] = 1.0;
            }
            return result;
        default:
            if (value > 0.0) {
                result = (values.array() - values.mean()) / (value * (static_cast<double>(values.size()) - 1.0));
            }
            return result;
    }
}

double NodeFunction::value(const Vector& statistics) const {
    std::vector<double> stack;
    stack.reserve(program_.size());
    for (const Instruction& instruction : program_) {
        if (instruction.op == Op::number) {
            stack.push_back(instruction.number);
        } else if (instruction.op == Op::leaf) {
            stack.push_back(statistics[instruction.leaf]);
        } else if (instruction.op == Op::leaf_exp) {
            stack.push_back(std::exp(statistics[instruction.leaf]));
        } else if (takes_many(instruction.op)) {
            const std::size_t first = stack.size() - static_cast<std::size_t>(taken(instruction));
            const Vector values = Eigen::Map<const Vector>(stack.data() + first, taken(instruction));
            stack.resize(first);
            stack.push_back(of_many(instruction, values));
        } else if (is_binary(instruction.op)) {
            const double right = stack.back();
            stack.pop_back();
            stack.back() = of_two(instruction.op, stack.back(), right);
        } else {
            stack.back() = of_one(instruction.op, stack.back());
        }
    }
    return stack.back();
}

std::pair<double, Vector> NodeFunction::gradient(const Vector& statistics) const {
    const auto count = static_cast<Index>(statistics_.size());
    std::vector<Dual> stack;
    for (const Instruction& instruction : program_) {
        if (instruction.op == Op::number) {
            stack.push_back({instruction.number, Vector::Zero(count)});
            continue;
        }
        if (instruction.op == Op::leaf || instruction.op == Op::leaf_exp) {
            const double at = statistics[instruction.leaf];
            const double value = instruction.op == Op::leaf ? at : std::exp(at);
            stack.push_back(
                {value, Vector((instruction.op == Op::leaf ? 1.0 : value) * Vector::Unit(count, instruction.leaf))});
            continue;
        }
        if (takes_many(instruction.op)) {
            const std::size_t first = stack.size() - static_cast<std::size_t>(taken(instruction));
            Vector values(taken(instruction));
            for (Index e = 0; e < values.size(); ++e) values[e] = stack[first + static_cast<std::size_t>(e)].value;
            Dual result{of_many(instruction, values), Vector::Zero(count)};
            const Vector slopes = slope_of_many(instruction, values, result.value);
            for (Index e = 0; e < values.size(); ++e) {
                result.slope += slopes[e] * stack[first + static_cast<std::size_t>(e)].slope;
            }
            stack.resize(first);
            stack.push_back(std::move(result));
            continue;
        }
        const Dual right = std::move(stack.back());
        stack.pop_back();
        const double r = right.value;
        if (!is_binary(instruction.op)) {
            const double value = of_one(instruction.op, r);
            stack.push_back({value, Vector(slope_of_one(instruction.op, r, value) * right.slope)});
            continue;
        }
        const Dual left = std::move(stack.back());
        stack.pop_back();
        const double l = left.value;
        const double value = of_two(instruction.op, l, r);
        switch (instruction.op) {
            case Op::add:
                stack.push_back({value, left.slope + right.slope});
                break;
            case Op::subtract:
                stack.push_back({value, left.slope - right.slope});
                break;
            case Op::multiply:
                stack.push_back({value, Vector(r * left.slope + l * right.slope)});
                break;
            case Op::divide:
                stack.push_back({value, Vector(left.slope / r - (l / (r * r)) * right.slope)});
                break;
            default: {
                Vector slope = r * std::pow(l, r - 1.0) * left.slope;
                if (l > 0.0) slope += value * std::log(l) * right.slope;
                stack.push_back({value, std::move(slope)});
            }
        }
    }
    return {stack.back().value, stack.back().slope};
}

Matrix NodeFunction::curvature(const Vector& statistics, const Matrix& directions) const {
    constexpr double step = 1e-4;
    Matrix result(directions.cols(), directions.cols());
    for (Index i = 0; i < directions.cols(); ++i) {
        const Vector move = step * directions.col(i);
        const Vector change = gradient(statistics + move).second - gradient(statistics - move).second;
        result.col(i) = directions.transpose() * change / (2.0 * step);
    }
    return 0.5 * (result + result.transpose());
}

}  // namespace lrvb::detail
