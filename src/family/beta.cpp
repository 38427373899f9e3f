#include "base/validate.hpp"

#include <lrvb/family/beta.hpp>
#include <lrvb/family/dirichlet.hpp>

#include <cmath>

namespace lrvb::family {

namespace {

const Dirichlet& two_parts() {
    static const Dirichlet dirichlet(2);
    return dirichlet;
}

}  // namespace

std::vector<std::string> Beta::statistic_names(const std::string& variable) const {
    return {"log_" + variable, "log1m_" + variable};
}

std::vector<std::string> Beta::standard_names() const {
    return {"a", "b"};
}

std::string Beta::domain_error(const VectorView& natural) const {
    return two_parts().domain_error(natural);
}

Vector Beta::mean(const VectorView& natural) const {
    return two_parts().mean(natural);
}

Vector Beta::natural_from_mean(const VectorView& mean) const {
    detail::require_size(name, "mean parameter", mean.size(), size());
    detail::require_means_of_log_parts(name, mean);
    return two_parts().natural_from_mean(mean);
}

Vector Beta::natural_from_standard(const VectorView& standard) const {
    detail::require_size(name, "standard parameter", standard.size(), size());
    detail::require_positive(name, "a", standard[0]);
    detail::require_positive(name, "b", standard[1]);
    return two_parts().natural_from_standard(standard);
}

Vector Beta::standard(const VectorView& natural) const {
    return two_parts().standard(natural);
}

double Beta::log_partition(const VectorView& natural) const {
    return two_parts().log_partition(natural);
}

double Beta::entropy(const VectorView& natural) const {
    return two_parts().entropy(natural);
}

Matrix Beta::covariance(const VectorView& natural) const {
    return two_parts().covariance(natural);
}

Matrix Beta::covariance_factor(const VectorView& natural) const {
    return two_parts().covariance_factor(natural);
}

Vector Beta::sample(const VectorView& natural, Random& random) const {
    return two_parts().sample(natural, random);
}

Vector Beta::statistic(const VectorView& value) const {
    detail::require_size(name, "value", value.size(), 1);
    if (!(value[0] > 0.0 && value[0] < 1.0)) {
        throw std::invalid_argument(
            fmt::format("{}: value is {}, but must lie strictly between 0 and 1", name, value[0]));
    }
    return Vector{{std::log(value[0]), std::log1p(-value[0])}};
}

StatisticProduct Beta::product(Index, Index) const {
    return StatisticProduct::none();
}

Vector Beta::reference_natural() const {
    return Vector::Zero(2);
}

}  // namespace lrvb::family
