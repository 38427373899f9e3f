#include "family/base_numbers.hpp"

#include <stdexcept>

namespace lrvb::detail {

Matrix mean_by_numbers(const AnyFamily& family, const VectorView& natural) {
    if (const auto* scale = std::get_if<family::Scale>(&family)) return scale->mean_by_prior(natural);
    if (const auto* normal = std::get_if<family::TruncatedNormal>(&family)) return normal->mean_by_bounds(natural);
    return Matrix::Zero(natural.size(), 2);
}

AnyFamily with_number_moved(const AnyFamily& family, Index number, double by) {
    const double first = number == 0 ? by : 0.0;
    const double second = number == 0 ? 0.0 : by;
    if (const auto* scale = std::get_if<family::Scale>(&family)) {
        return scale->with_numbers(scale->prior().first + first, scale->prior().second + second);
    }
    if (const auto* normal = std::get_if<family::TruncatedNormal>(&family)) {
        return family::TruncatedNormal(normal->lower() + first, normal->upper() + second);
    }
    return family;
}

}  // namespace lrvb::detail
