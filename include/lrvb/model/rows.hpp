#pragma once

#include <lrvb/export.hpp>
#include <lrvb/types.hpp>

#include <cstdint>
#include <string>
#include <utility>

/// Names for the rows of the data, so that a model can be asked what each of them does.
///
///     Rows schools = builder.rows("schools", 8);
///     for (Index i = 0; i < 8; ++i) builder.observe(y[i], normal(theta[i], precision[i]), schools[i]);
///
/// A model that names rows is L(m) = … + Σ_n w_n ℓ_n(m, x_n), with w_n = 1: all that is observed of row n is in ℓ_n.
/// Several calls may speak of the same rows, two measurements of each person, and a row's weight then multiplies both.
/// Rows are numbered from 0 over all sets, in the order in which these were declared.
namespace lrvb {

class ModelBuilder;

/// Rows that an observation speaks of; none where it names no rows.
class LRVB_EXPORT RowRange {
  public:
    RowRange() = default;

    bool is_named() const { return model_ != 0; }
    /// The tag of the builder whose rows these are.
    std::uint32_t model() const { return model_; }
    /// Of the set that they are of.
    const std::string& name() const { return name_; }
    /// The number of the first, over all sets of the model.
    Index first() const { return first_; }
    Index count() const { return count_; }
    /// What the observed numbers are called among the inputs of the model; empty: the builder finds a name.
    const std::string& input() const { return input_; }
    /// The same rows, with this name for what is observed.
    RowRange called(const std::string& input) const { return {model_, name_, first_, count_, input}; }

  protected:
    RowRange(std::uint32_t model, std::string name, Index first, Index count, std::string input)
        : model_(model), name_(std::move(name)), first_(first), count_(count), input_(std::move(input)) {}

  private:
    std::uint32_t model_ = 0;
    std::string name_;
    Index first_ = 0;
    Index count_ = 0;
    std::string input_;
};

/// One row.
class LRVB_EXPORT Row : public RowRange {
  public:
    Row() = default;

  private:
    friend class Rows;
    Row(std::uint32_t model, std::string name, Index number, std::string input)
        : RowRange(model, std::move(name), number, 1, std::move(input)) {}
};

/// A set of rows, made by ModelBuilder::rows.
class LRVB_EXPORT Rows : public RowRange {
  public:
    Rows() = default;

    /// Row i, counted from 0.
    Row operator[](Index i) const;

    /// The same rows, with a name for the numbers that are observed of them: people.as("height").
    Rows as(const std::string& input) const;

  private:
    friend class ModelBuilder;
    Rows(std::uint32_t model, std::string name, Index first, Index count, std::string input)
        : RowRange(model, std::move(name), first, count, std::move(input)) {}
};

}  // namespace lrvb
