#pragma once

#include <lrvb/types.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// A latent term of a formula, such as rw2(t): a function f of one column of numbers,
///
///     f(x) = Σ_k B_k(x) c_k,     c_k ~ Normal(0, sd²) independent,
///
/// which is a Gaussian prior of f in mixed-model form (Wood 2017, §5.8). What its prior leaves free is not part of f:
/// the constant is constrained away, and a line is a fixed effect beside the term. The columns B_k are scaled so that
/// one prior of sd means the same for every term: the geometric mean of Var f(x_i)/sd² over the nodes is 1 (Sørbye &
/// Rue 2014).
///
/// A new term is one file with a LatentTermKind, one line in registry.cpp, one test and one page of docs.
namespace lrvb::detail {

/// A term that has learnt its nodes.
class LatentTerm {
  public:
    virtual ~LatentTerm() = default;
    /// The number of coefficients.
    virtual Index size() const = 0;
    /// B(x): a row for each number.
    virtual Matrix rows(const Vector& x) const = 0;
    /// Var f(x)/sd² beyond that of rows(x): what is not known of f outside of the nodes.
    virtual Vector beyond(const Vector& x) const = 0;
    /// Where f is reported.
    virtual const Vector& nodes() const = 0;
    /// What a fit file keeps: the kind's `read` makes the same term of it.
    virtual Vector numbers() const = 0;
};

class LatentTermKind {
  public:
    virtual ~LatentTermKind() = default;
    /// How it is written: "rw2".
    virtual std::string_view word() const = 0;
    /// Whether its prior leaves a line free, which is then a fixed effect.
    virtual bool has_line() const = 0;
    /// From the different values of the column, ascending. Throws std::runtime_error, with the remedy, for values that
    /// make no such term; `name` is the term as it is written, `column` that of its column.
    virtual std::shared_ptr<const LatentTerm> learn(const Vector& values, const std::string& name,
                                                    const std::string& column) const = 0;
    /// Null for numbers that are those of no term.
    virtual std::shared_ptr<const LatentTerm> read(const Vector& numbers) const = 0;
};

/// All kinds of terms.
const std::vector<const LatentTermKind*>& latent_term_kinds();
/// Null where no term is written so.
const LatentTermKind* find_latent_term(std::string_view word);

/// The kinds, each in its own file.
const LatentTermKind& random_walk_2();

}  // namespace lrvb::detail
