#pragma once

#include <lrvb/kind/regression/design.hpp>

#include <limits>
#include <string>
#include <vector>

/// The columns and the response of a regression in units of their own: centred, where there is an intercept, and
/// scaled.
namespace lrvb::detail {

constexpr double kRounding = std::numeric_limits<double>::epsilon();

/// With the name of the data.
[[noreturn]] void refuse_design(const RegressionDesign& design, const std::string& sentence);

/// x' = (x − centre)/scale, and how far the numbers of the column may be from what they stand for, in its own scale.
struct Standardisation {
    double centre = 0.0;
    double scale = 0.0;
    double rounded_by = 0.0;
};

struct Standardised {
    std::vector<Standardisation> columns;
    Standardisation response;
};

/// The rows that count: those of the design, or a copy of those that have weight.
class Counted {
  public:
    /// Throws std::runtime_error, with the remedy, where they are too few, or a weight is none.
    explicit Counted(const RegressionDesign& design);
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

    const RegressionDesign& rows() const { return *design_; }

  private:
    void leave_out(const RegressionDesign& design);

    const RegressionDesign* design_;
    RegressionDesign fewer_;
};

/// Of rows that all have weight. Throws std::runtime_error, with the columns and the remedy, for columns and responses
/// that are constant, not finite, or too far from 1.
Standardised standardise(const RegressionDesign& design);

}  // namespace lrvb::detail
