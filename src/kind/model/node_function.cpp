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

bool is_one(double value) {
    return value == 1.0;
}

}  // namespace

NodeFunction::NodeFunction(std::string text) : text_(std::move(text)) {
    constexpr std::array<std::pair<std::string_view, Op>, 17> names{{{"+", Op::add},
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
                                                                     {"cloglog", Op::cloglog},
                                                                     {"icloglog", Op::icloglog}}};
    const auto refuse = [&](std::string_view word) {
        throw std::invalid_argument(fmt::format("{} is no part of a function of statistics", shown(std::string(word))));
    };
    std::vector<Index> leaves;  // statistic of each leaf
    std::vector<Range> ranges;
    int depth = 0;
    for (std::size_t begin = 0; begin < text_.size();) {
        const std::size_t end = std::min(text_.find(' ', begin), text_.size());
        const std::string_view word(text_.data() + begin, end - begin);
        begin = end + 1;
        Instruction instruction;
        const auto named = std::find_if(names.begin(), names.end(), [&](const auto& one) { return one.first == word; });
        if (named != names.end()) {
            instruction.op = named->second;
            const bool is_binary = instruction.op >= Op::add && instruction.op <= Op::power;
            depth -= is_binary ? 1 : 0;
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
        } else if (!word.empty() && (word[0] == 'x' || word[0] == 'p' || word[0] == 'e' || word[0] == 'u')) {
            Index at = 0;
            const auto [next, error] = std::from_chars(word.data() + 1, word.data() + word.size(), at);
            if (error != std::errc() || next != word.data() + word.size() || at < 0) refuse(word);
            instruction.op = word[0] == 'x' || word[0] == 'p' ? Op::leaf : Op::leaf_exp;
            instruction.leaf = static_cast<Index>(leaves.size());
            leaves.push_back(at);
            ranges.push_back(word[0] == 'x' ? Range::any : word[0] == 'u' ? Range::probability : Range::positive);
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
        instruction.number = static_cast<double>(ranges[static_cast<std::size_t>(instruction.leaf)]);
        instruction.leaf = std::lower_bound(statistics_.begin(), statistics_.end(), at) - statistics_.begin();
    }
    analyse(ranges);
}

// Of every intermediate value: its range, whether it is linear in the statistics, and whether its logarithm is.
void NodeFunction::analyse(const std::vector<Range>&) {
    struct Known {
        Range range = Range::any;
        bool is_constant = false;
        double number = 0.0;
        bool linear = false;
        std::optional<std::pair<double, Vector>> log;  // constant and powers
    };
    const auto count = static_cast<Index>(statistics_.size());
    std::vector<Known> stack;
    for (const Instruction& instruction : program_) {
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
            result.range = static_cast<Range>(static_cast<int>(instruction.number));
            result.linear = instruction.op == Op::leaf;
            if (instruction.op == Op::leaf_exp) result.log.emplace(0.0, Vector::Unit(count, instruction.leaf));
            stack.push_back(std::move(result));
            continue;
        }
        if (instruction.op == Op::inverse) {
            stack.resize(stack.size() - static_cast<std::size_t>(instruction.size * instruction.size));
            if (instruction.row == instruction.column) result.range = Range::positive;
            stack.push_back(std::move(result));
            continue;
        }
        const bool is_binary = instruction.op >= Op::add && instruction.op <= Op::power;
        Known right = std::move(stack.back());
        stack.pop_back();
        if (!is_binary) {
            switch (instruction.op) {
                case Op::negate:
                    result.linear = right.linear;
                    break;
                case Op::exp:
                    result.range = Range::positive;
                    break;
                case Op::sqrt:
                    result.range = right.range;
                    if (right.log) result.log.emplace(0.5 * right.log->first, 0.5 * right.log->second);
                    break;
                case Op::abs:
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
        const bool positive = left.range != Range::any && right.range != Range::any;
        switch (instruction.op) {
            case Op::add:
                if (positive) result.range = Range::positive;
                result.linear = left.linear && right.linear;
                break;
            case Op::subtract:
                if (left.is_constant && is_one(left.number) && right.range == Range::probability) {
                    result.range = Range::probability;
                }
                result.linear = left.linear && right.linear;
                break;
            case Op::multiply:
                if (positive) {
                    const bool both = left.range == Range::probability && right.range == Range::probability;
                    result.range = both ? Range::probability : Range::positive;
                }
                result.linear = (left.linear && right.is_constant) || (left.is_constant && right.linear);
                if (left.log && right.log) {
                    result.log.emplace(left.log->first + right.log->first, left.log->second + right.log->second);
                }
                break;
            case Op::divide:
                if (positive) result.range = Range::positive;
                result.linear = left.linear && right.is_constant;
                if (left.log && right.log) {
                    result.log.emplace(left.log->first - right.log->first, left.log->second - right.log->second);
                }
                break;
            default:  // a power
                if (left.range != Range::any) result.range = Range::positive;
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
    if (stack.back().log && count > 0) log_linear_ = {true, stack.back().log->first, stack.back().log->second};
}

double NodeFunction::value(const Vector& statistics) const {
    return gradient(statistics).first;
}

std::pair<double, Vector> NodeFunction::gradient(const Vector& statistics) const {
    const auto count = static_cast<Index>(statistics_.size());
    std::vector<Dual> stack;
    const auto mapped = [](const Dual& of, double value, double derivative) {
        return Dual{value, Vector(derivative * of.slope)};
    };
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
        if (instruction.op == Op::inverse) {  // d(A⁻¹) = −A⁻¹ dA A⁻¹
            const Index size = instruction.size;
            const std::size_t first = stack.size() - static_cast<std::size_t>(size * size);
            Matrix matrix(size, size);
            for (Index e = 0; e < matrix.size(); ++e) {
                matrix(e % size, e / size) = stack[first + static_cast<std::size_t>(e)].value;
            }
            const Matrix inverse = matrix.inverse();
            Dual result{inverse(instruction.row, instruction.column), Vector::Zero(count)};
            for (Index e = 0; e < matrix.size(); ++e) {
                const double weight = inverse(instruction.row, e % size) * inverse(e / size, instruction.column);
                result.slope -= weight * stack[first + static_cast<std::size_t>(e)].slope;
            }
            stack.resize(first);
            stack.push_back(std::move(result));
            continue;
        }
        const Dual right = std::move(stack.back());
        stack.pop_back();
        const double r = right.value;
        if (!(instruction.op >= Op::add && instruction.op <= Op::power)) {
            const double logistic = 1.0 / (1.0 + std::exp(-r));
            switch (instruction.op) {
                case Op::negate:
                    stack.push_back(mapped(right, -r, -1.0));
                    break;
                case Op::exp:
                    stack.push_back(mapped(right, std::exp(r), std::exp(r)));
                    break;
                case Op::log:
                    stack.push_back(mapped(right, std::log(r), 1.0 / r));
                    break;
                case Op::sqrt:
                    stack.push_back(mapped(right, std::sqrt(r), 0.5 / std::sqrt(r)));
                    break;
                case Op::abs:
                    stack.push_back(mapped(right, std::abs(r), r < 0.0 ? -1.0 : 1.0));
                    break;
                case Op::logit:
                    stack.push_back(mapped(right, std::log(r / (1.0 - r)), 1.0 / (r * (1.0 - r))));
                    break;
                case Op::ilogit:
                    stack.push_back(mapped(right, logistic, logistic * (1.0 - logistic)));
                    break;
                case Op::phi:
                    stack.push_back(mapped(right, normal_cdf(r), normal_density(r)));
                    break;
                case Op::probit: {
                    const double x = normal_quantile(r);
                    stack.push_back(mapped(right, x, 1.0 / normal_density(x)));
                    break;
                }
                case Op::cloglog: {
                    const double hazard = -std::log1p(-r);
                    stack.push_back(mapped(right, std::log(hazard), 1.0 / (hazard * (1.0 - r))));
                    break;
                }
                case Op::icloglog:
                    stack.push_back(mapped(right, -std::expm1(-std::exp(r)), std::exp(r - std::exp(r))));
                    break;
                default:  // step
                    stack.push_back(mapped(right, r >= 0.0 ? 1.0 : 0.0, 0.0));
                    break;
            }
            continue;
        }
        const Dual left = std::move(stack.back());
        stack.pop_back();
        const double l = left.value;
        switch (instruction.op) {
            case Op::add:
                stack.push_back({l + r, left.slope + right.slope});
                break;
            case Op::subtract:
                stack.push_back({l - r, left.slope - right.slope});
                break;
            case Op::multiply:
                stack.push_back({l * r, Vector(r * left.slope + l * right.slope)});
                break;
            case Op::divide:
                stack.push_back({l / r, Vector(left.slope / r - (l / (r * r)) * right.slope)});
                break;
            default: {
                const double value = std::pow(l, r);
                Vector slope = r * std::pow(l, r - 1.0) * left.slope;
                if (l > 0.0) slope += value * std::log(l) * right.slope;
                stack.push_back({value, std::move(slope)});
            }
        }
    }
    return {stack.back().value, stack.back().slope};
}

Matrix NodeFunction::hessian(const Vector& statistics) const {
    const Index count = statistics.size();
    Matrix result(count, count);
    for (Index i = 0; i < count; ++i) {
        const double step = 1e-5 * (1.0 + std::abs(statistics[i]));
        Vector ahead = statistics;
        Vector behind = statistics;
        ahead[i] += step;
        behind[i] -= step;
        result.col(i) = (gradient(ahead).second - gradient(behind).second) / (2.0 * step);
    }
    return 0.5 * (result + result.transpose());
}

}  // namespace lrvb::detail
