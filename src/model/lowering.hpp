#pragma once

#include <lrvb/model/expression.hpp>
#include <lrvb/model/layout.hpp>

#include <string>
#include <utility>
#include <vector>

/// From what the user wrote to multilinear terms. "Lowering" an expression sorts the atoms of every term and multiplies
/// out those of one variable by its family's product table (x · x = x², z_1 · z_2 = 0), so that each term touches a
/// variable at most once; a product that the family has no statistic for is where the model stops being conditionally
/// conjugate, and is refused.
namespace lrvb::detail {

/// A distribution as the exponential family of its argument: log p(x) = Σ_s natural_s T_s(x) + log_normaliser, with the
/// parameters' expressions, lowered, as coefficients.
struct ConditionalForm {
    std::vector<Expression> natural;
    Expression log_normaliser;
    /// How the numbers that the family itself holds (those of a prior, bounds) depend on hyperparameters.
    std::vector<Constant> numbers = {};
};

class Lowering {
  public:
    /// `subject` opens every message, "variable 'x' ~ Normal"; `way_out` closes those about what is no statistic.
    Lowering(const Layout& layout, std::uint32_t model, std::string subject, std::string way_out = kNotConjugate)
        : layout_(layout), model_(model), subject_(std::move(subject)), way_out_(std::move(way_out)) {}

    Expression lower(const Expression& expression) const;

    /// log of a positive constant times Gamma variables.
    Expression log_of(const Expression& positive, const std::string& role) const;

    /// log p and log(1 − p) of a constant or a Beta variable.
    std::pair<Expression, Expression> log_odds_parts(const Expression& probability, const std::string& role) const;

    /// The number that an expression without variables is.
    Constant constant(const Expression& expression, const std::string& role) const;
    Constant positive_constant(const Expression& expression, const std::string& role) const;

    /// Entries of a positive definite matrix parameter as a half-vector, lowered, and its log determinant.
    std::pair<std::vector<Expression>, Expression> matrix(const MatrixParameter& parameter,
                                                          const std::string& role) const;

    [[noreturn]] void refuse(const std::string& reason) const;
    std::string name_of(const Atom& atom) const;

  private:
    static constexpr const char* kNotConjugate =
        "so the model is not conditionally conjugate in it; put a constant or another variable in its place";

    void require_own(const Expression& expression) const;
    std::string describe(const Atom& atom) const;

    const Layout& layout_;
    std::uint32_t model_;
    std::string subject_;
    std::string way_out_;
};

}  // namespace lrvb::detail
