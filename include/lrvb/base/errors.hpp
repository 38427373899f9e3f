#pragma once

#include <lrvb/export.hpp>

#include <stdexcept>

namespace lrvb {

/// A request that cannot be meant: an option that is missing, contradicts another, or has a value that it cannot have.
/// Other bad input is std::runtime_error (files, data) or std::invalid_argument (a caller's mistake).
class LRVB_EXPORT UsageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace lrvb
