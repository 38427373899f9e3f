#pragma once

#include <lrvb/export.hpp>
#include <lrvb/family/any_family.hpp>
#include <lrvb/family/symmetric.hpp>
#include <lrvb/types.hpp>

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// What a model is written in: variables, hyperparameters and polynomials of them.
///
///     2.0 * x + y * z - 1.0          a mean that is affine in x and bilinear in y and z
///     b0 * tau                       a precision: a positive constant times Gamma variables
///     0.3 * spin[0] * spin[1]        a raw term, for ModelBuilder::add_term
///     log(tau), log_det(lambda)      the statistics that are not values
///
/// Expressions only record; what they mean in a slot, and whether it is conjugate there, the builder decides.
namespace lrvb {

/// A number that may depend on hyperparameters: its value and its derivatives, so that coefficients know how they move.
class LRVB_EXPORT Constant {
  public:
    using Derivative = std::pair<std::uint32_t, double>;  // hyperparameter, ∂value/∂hyperparameter

    Constant(double value = 0.0) : value_(value) {}
    Constant(double value, std::vector<Derivative> derivatives) : value_(value), derivatives_(std::move(derivatives)) {}

    double value() const { return value_; }
    const std::vector<Derivative>& derivatives() const { return derivatives_; }

    Constant& operator+=(const Constant& other);
    friend LRVB_EXPORT Constant operator*(const Constant& a, const Constant& b);

    /// f(this), given f and f' at the value.
    Constant mapped(double function_value, double function_derivative) const;

  private:
    double value_;
    std::vector<Derivative> derivatives_;  // sorted by hyperparameter
};

class Hyperparameter;
template <class F>
class Variable;

/// One statistic of one variable; or, with a negative number, a value that is not among its statistics (a probability).
struct Atom {
    std::int32_t variable = 0;
    std::int32_t statistic = 0;

    static constexpr std::int32_t not_a_statistic = -1;
    friend bool operator==(const Atom&, const Atom&) = default;
    friend auto operator<=>(const Atom&, const Atom&) = default;
};

/// Σ constant × Π atoms.
class LRVB_EXPORT Expression {
  public:
    struct Term {
        Constant coefficient;
        std::vector<Atom> atoms;
    };

    Expression(double constant = 0.0);
    Expression(const Constant& constant);
    Expression(const Hyperparameter& hyperparameter);
    Expression(Atom atom, std::uint32_t model);
    Expression(std::vector<Term> terms, std::uint32_t model) : terms_(std::move(terms)), model_(model) {}

    const std::vector<Term>& terms() const { return terms_; }
    /// Tag of the builder that its variables belong to; 0 for a plain number.
    std::uint32_t model() const { return model_; }

    Expression& operator+=(const Expression& other);
    Expression& operator-=(const Expression& other);

  private:
    std::vector<Term> terms_;
    std::uint32_t model_ = 0;
};

// Free functions of the namespace, not friends, so that a Variable or a Hyperparameter on either side converts.
LRVB_EXPORT Expression operator+(const Expression& a, const Expression& b);
LRVB_EXPORT Expression operator-(const Expression& a, const Expression& b);
LRVB_EXPORT Expression operator-(const Expression& a);
LRVB_EXPORT Expression operator*(const Expression& a, const Expression& b);

/// A named constant whose influence on the answer can be asked for.
class LRVB_EXPORT Hyperparameter {
  public:
    Hyperparameter(double value, std::uint32_t index, std::uint32_t model)
        : value_(value), index_(index), model_(model) {}

    double value() const { return value_; }
    std::uint32_t index() const { return index_; }
    std::uint32_t model() const { return model_; }

  private:
    double value_;
    std::uint32_t index_;
    std::uint32_t model_;
};

/// A variable of any family: its number in the model's layout.
class AnyVariable {
  public:
    AnyVariable(Index index, std::uint32_t model) : index_(index), model_(model) {}

    Index index() const { return index_; }
    std::uint32_t model() const { return model_; }

  protected:
    Expression atom(Index statistic) const {
        return {Atom{static_cast<std::int32_t>(index_), static_cast<std::int32_t>(statistic)}, model_};
    }

  private:
    Index index_;
    std::uint32_t model_;
};

LRVB_EXPORT void require_entry(std::string_view family, Index i, Index size);

/// A handle on a declared variable, typed by its family. In an expression it stands for its value: the number (Normal,
/// TruncatedNormal, Gamma, Scale, Beta, Bernoulli), or with [i] or (i, j), counted from 0, an entry of the vector
/// (MvNormal), the simplex (Dirichlet), the indicators (Categorical) or the matrix (Wishart).
template <class F>
class Variable : public AnyVariable {
  public:
    Variable(Index index, std::uint32_t model, F family) : AnyVariable(index, model), family_(std::move(family)) {}

    const F& family() const { return family_; }

    operator Expression() const requires std::is_same_v<F, family::Normal> || std::is_same_v<F, family::Gamma> ||
        std::is_same_v<F, family::Bernoulli> || std::is_same_v<F, family::Scale> ||
        std::is_same_v<F, family::TruncatedNormal> {
        return atom(0);
    }
    operator Expression() const requires std::is_same_v<F, family::Beta> { return atom(Atom::not_a_statistic); }
    Expression operator[](Index i) const requires std::is_same_v<F, family::MvNormal> {
        require_entry(F::name, i, family_.dimension());
        return atom(i);
    }
    Expression operator[](Index i) const requires std::is_same_v<F, family::Categorical> {
        require_entry(F::name, i, family_.size());
        return atom(i);
    }
    Expression operator[](Index i) const requires std::is_same_v<F, family::Dirichlet> {
        require_entry(F::name, i, family_.size());
        return atom(Atom::not_a_statistic - i);
    }
    Expression operator()(Index i, Index j) const requires std::is_same_v<F, family::Wishart> {
        require_entry(F::name, i, family_.dimension());
        require_entry(F::name, j, family_.dimension());
        return atom(half_index(i, j, family_.dimension()));
    }

    /// Its i-th statistic, in the order of the family's header.
    Expression statistic(Index i) const {
        require_entry(F::name, i, family_.size());
        return atom(i);
    }

  private:
    F family_;
};

/// The logarithms that are statistics.
inline Expression log(const Variable<family::Gamma>& x) {
    return x.statistic(1);
}
inline Expression log(const Variable<family::Scale>& x) {
    return x.statistic(1);
}
inline Expression log(const Variable<family::Beta>& p) {
    return p.statistic(0);
}
inline Expression log1m(const Variable<family::Beta>& p) {
    return p.statistic(1);
}
inline Expression log(const Variable<family::Dirichlet>& p, Index part) {
    return p.statistic(part);
}
inline Expression log_det(const Variable<family::Wishart>& x) {
    return x.statistic(x.family().size() - 1);
}

/// A vector in a parameter slot: numbers, expressions, or a multivariate normal variable.
class LRVB_EXPORT VectorParameter {
  public:
    VectorParameter(const Vector& constants);
    template <class Derived>
    VectorParameter(const Eigen::MatrixBase<Derived>& constants) : VectorParameter(Vector(constants)) {}
    VectorParameter(std::vector<Expression> entries) : entries_(std::move(entries)) {}
    VectorParameter(std::initializer_list<Expression> entries) : entries_(entries) {}
    VectorParameter(const Variable<family::MvNormal>& variable);
    VectorParameter(const std::vector<Variable<family::Normal>>& variables);

    const std::vector<Expression>& entries() const { return entries_; }
    Index size() const { return static_cast<Index>(entries_.size()); }

  private:
    std::vector<Expression> entries_;
};

/// A positive definite matrix in a parameter slot: scale × constant matrix, or scale × Wishart variable, with the scale
/// a positive constant times Gamma variables (one unless `scaled` says otherwise).
class LRVB_EXPORT MatrixParameter {
  public:
    MatrixParameter(const Matrix& constant);
    template <class Derived>
    MatrixParameter(const Eigen::MatrixBase<Derived>& constant) : MatrixParameter(Matrix(constant)) {}
    MatrixParameter(const Variable<family::Wishart>& variable);

    Index dimension() const { return dimension_; }
    const Expression& scale() const { return scale_; }
    const Matrix& constant() const { return constant_; }
    bool is_variable() const { return is_variable_; }
    /// The variable's entries and its log determinant.
    const std::vector<Expression>& entries() const { return entries_; }

    friend LRVB_EXPORT MatrixParameter scaled(const Expression& scale, const MatrixParameter& matrix);

  private:
    Index dimension_;
    Expression scale_ = 1.0;
    Matrix constant_;
    bool is_variable_ = false;
    std::vector<Expression> entries_;
};

LRVB_EXPORT MatrixParameter scaled(const Expression& scale, const MatrixParameter& matrix);

/// Probabilities of labels in a parameter slot: positive constants or hyperparameters that add up to one, or a
/// Dirichlet variable.
class LRVB_EXPORT SimplexParameter {
  public:
    SimplexParameter(const Vector& constants);
    template <class Derived>
    SimplexParameter(const Eigen::MatrixBase<Derived>& constants) : SimplexParameter(Vector(constants)) {}
    SimplexParameter(std::initializer_list<double> constants);
    SimplexParameter(const std::vector<Expression>& constants);
    SimplexParameter(const Variable<family::Dirichlet>& variable);

    Index size() const { return static_cast<Index>(logs_.size()); }
    /// The logarithm of each probability.
    const std::vector<Expression>& logs() const { return logs_; }

  private:
    std::vector<Expression> logs_;
};

}  // namespace lrvb
