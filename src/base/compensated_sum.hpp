#pragma once

#include <cmath>

namespace lrvb::detail {

/// A sum that keeps what rounding drops (Neumaier's form of Kahan's).
class CompensatedSum {
  public:
    void add(double term) {
        const double after = sum_ + term;
        lost_ += std::abs(sum_) >= std::abs(term) ? (sum_ - after) + term : (term - after) + sum_;
        sum_ = after;
    }
    double value() const { return sum_ + lost_; }

  private:
    double sum_ = 0.0;
    double lost_ = 0.0;
};

}  // namespace lrvb::detail
