#pragma once

#include <lrvb/types.hpp>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A deterministic node as a function of the posterior's statistics: what a fit file keeps of `sigma <- 1 / sqrt(tau)`.
/// It is written in postfix notation, words separated by spaces, and read back from that:
///
///     1 e3 sqrt /        one over the root of exp(statistic 3), which is log tau
///
/// Words are numbers, functions (+ - * / ^ neg exp log sqrt abs logit ilogit probit phi cloglog icloglog step;
/// unit, of what is between 0 and 1, is the same) and
/// statistics, counted from 0 over those of the posterior: x3 the statistic itself, p3 the same where it is positive
/// and statistic 4 is its logarithm, g3 where it is positive and no statistic is its logarithm, i3 where it is between
/// 0 and 1; e3 its exponential, u3 its exponential where that is a probability. inverse:2:0:1 takes the four entries of
/// a matrix, and is entry (0, 1) of its inverse; sd:5, max:5 and min:5 take five numbers.
namespace lrvb::detail {

class NodeFunction {
  public:
    enum class Range { any, positive, probability, correlation };

    /// Throws std::invalid_argument for what is no such function.
    explicit NodeFunction(std::string text);

    const std::string& text() const { return text_; }
    /// Positions of the statistics that it looks at, each once, in ascending order.
    const std::vector<Index>& statistics() const { return statistics_; }
    Range range() const { return range_; }

    /// At values of these statistics, in their order.
    double value(const Vector& statistics) const;
    std::pair<double, Vector> gradient(const Vector& statistics) const;
    /// Dᵀ∇²f D, by central differences of the gradient along the columns of D. With those of a factor of a covariance,
    /// no step is large where statistics are nearly collinear.
    Matrix curvature(const Vector& statistics, const Matrix& directions) const;

    /// Whether it is linear in its statistics.
    bool is_linear() const { return is_linear_; }
    /// Whether it is a positive multiple of one statistic whose logarithm is the next one.
    bool is_multiple() const { return is_multiple_; }
    /// Whether it jumps, or has a kink: derivatives say nothing of it.
    bool has_steps() const { return has_steps_; }

    /// Whether it is an entry of the inverse of a matrix whose entries are statistics, and nothing else.
    bool is_inverse() const { return is_inverse_; }

    /// c Π exp(p_s T_s): log c and the powers. `is` where it has this form.
    struct LogLinear {
        bool is = false;
        double constant = 0.0;
        Vector powers;  // of the statistics
    };
    const LogLinear& log_linear() const { return log_linear_; }

  private:
    enum class Op {
        number,
        leaf,
        leaf_exp,
        add,
        subtract,
        multiply,
        divide,
        power,
        negate,
        exp,
        log,
        sqrt,
        abs,
        logit,
        ilogit,
        probit,
        phi,
        cloglog,
        icloglog,
        step,
        unit,
        inverse,
        sd,
        max,
        min
    };
    struct Instruction {
        Op op = Op::number;
        double number = 0.0;
        Index leaf = 0;              // among statistics_
        Range range = Range::any;    // of a leaf
        bool has_logarithm = false;  // which is the next statistic
        Index size = 0;              // of a matrix to invert, and the entry; or how many numbers are taken
        Index row = 0;
        Index column = 0;

        bool operator==(const Instruction&) const = default;
    };
    /// The instructions of an intermediate value.
    using Span = std::span<const Instruction>;

    static bool takes_many(Op op) { return op >= Op::inverse; }
    static Index taken(const Instruction& instruction) {
        return instruction.op == Op::inverse ? instruction.size * instruction.size : instruction.size;
    }
    static bool is_binary(Op op) { return op >= Op::add && op <= Op::power; }
    static double of_one(Op op, double x);
    static double slope_of_one(Op op, double x, double value);
    static double of_two(Op op, double left, double right);
    static double of_many(const Instruction& instruction, const Vector& values);
    static Vector slope_of_many(const Instruction& instruction, const Vector& values, double value);
    void analyse();
    /// c Π base^power, of bases that are no products.
    struct Product {
        double coefficient = 1.0;
        std::vector<std::pair<Span, double>> factors = {};
    };
    static std::pair<Span, Span> operands(const Span& span);
    static Span last_value(const Span& span);
    static void multiply(const Span& span, double power, Product& product);
    static void add_terms(const Span& span, std::vector<Product>& terms);
    static bool is_at_most(const Product& part, const Product& term);
    static bool is_surely_positive(const Span& span);
    static bool is_share(const Product& product);
    static bool is_correlation(const Product& product);

    std::string text_;
    std::vector<Instruction> program_;
    std::vector<Index> statistics_;
    Range range_ = Range::any;
    bool is_linear_ = false;
    bool is_multiple_ = false;
    bool has_steps_ = false;
    bool is_inverse_ = false;
    LogLinear log_linear_;
};

}  // namespace lrvb::detail
