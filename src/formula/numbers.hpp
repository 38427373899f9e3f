#pragma once

#include "formula/expansion.hpp"

#include <lrvb/data/frame.hpp>
#include <lrvb/types.hpp>

#include <string>
#include <unordered_map>
#include <vector>

/// Arithmetic of a frame's columns, and what scale() and poly() learn of them.
///
///     scale(x):    (x − mean) / sd, the sd with N − 1
///     poly(x, d):  p_0 = 1, p_1 = x − a_0, p_{k+1} = (x − a_k) p_k − (n_k / n_{k−1}) p_{k−1}, with n_k = Σ p_k² and
///                  a_k = Σ x p_k² / n_k over the rows of the fit; the columns are p_k / √n_k, k = 1 … d: those of R
namespace lrvb::detail {

struct Learnt {
    std::string name;  // "scale(x)", "poly(x,2)"
    Vector numbers;

    bool operator==(const Learnt&) const = default;
};

/// poly() of x, in the units of t = (x − centre)/scale.
struct PolynomialRule {
    double centre = 0.0;
    double scale = 1.0;
    Vector a;  // 0 … d − 1
    Vector n;  // 0 … d

    static PolynomialRule of(const Vector& numbers, int degree);
    /// As they are kept.
    Vector numbers() const;
    Vector scaled(const Vector& x) const;
    /// p_power, for which a and n must be known below it.
    Vector values(const Vector& x, int power) const;
};

class FrameNumbers {
  public:
    /// `is_fit`: the rows are those of the fit; otherwise new ones. What scale() and poly() are is known.
    FrameNumbers(const DataFrame& frame, const FormulaSyntax& formula, const std::vector<Learnt>& learnt, bool is_fit);

    /// Throws FormulaDataError for what is no finite number, with the row.
    Vector of(const Expression& expression);
    Vector of_column(const std::string& name, std::size_t place);
    /// A column each power; `call` is that of poly().
    Matrix polynomial(const Expression& call, int degree, bool raw);

    /// Throws FormulaError, or std::invalid_argument for other rows.
    const FrameColumn& column(const std::string& name, std::size_t place) const;

    const DataFrame& frame() const { return frame_; }

  private:
    Vector call(const Expression& expression);
    Vector scaled(const Expression& expression);
    Vector chain(const Expression& expression);
    void require_finite(const Vector& values, const Expression& expression, const Vector* argument) const;
    const Vector& known(const std::string& name) const;

    const DataFrame& frame_;
    const FormulaSyntax& formula_;
    const std::vector<Learnt>& learnt_;
    bool is_fit_;
    std::unordered_map<std::string, const FrameColumn*> columns_;
};

/// How many numbers poly() learns.
Index polynomial_numbers(int degree);

}  // namespace lrvb::detail
