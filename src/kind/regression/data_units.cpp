#include "base/messages.hpp"
#include "base/validate.hpp"

#include <lrvb/kind/regression/model.hpp>

#include <cmath>
#include <stdexcept>
#include <unordered_map>

namespace lrvb {

/// weightsᵀ T + constant, in the data's units, for one functional after the other.
class RegressionModel::Door {
  public:
    Door(const RegressionModel& model, Index count)
        : model_(model), result_{SparseMatrix(model.layout().size(), count), Vector::Zero(count)} {}

    /// times × α.
    void add_centre_intercept(Index functional, double times) {
        const double unit = times * model_.response_scale_;
        result_.constants[functional] += times * model_.response_centre_ + unit * model_.origin_[0];
        add(functional, 0, 0, unit);
    }
    /// times × β_j.
    void add_slope(Index functional, Index j, double times) {
        const Index variable = model_.slope(j);
        const double unit = times * model_.response_scale_ / model_.scale_[j];
        result_.constants[functional] += unit * model_.origin_[variable];
        add(functional, variable, 0, unit);
    }
    void add_intercept(Index functional) {
        add_centre_intercept(functional, 1.0);
        for (Index j = 0; j < model_.scale_.size(); ++j) add_slope(functional, j, -model_.centre_[j]);
    }
    void add_precision(Index functional) {
        add(functional, precision(), 0, 1.0 / (model_.response_scale_ * model_.response_scale_));
    }
    void add_log_precision(Index functional) {
        result_.constants[functional] -= 2.0 * std::log(model_.response_scale_);
        add(functional, precision(), 1, 1.0);
    }

    Functionals functionals() {
        result_.weights.setFromTriplets(triplets_.begin(), triplets_.end());
        return {result_.weights, result_.constants};
    }

  private:
    Index precision() const { return model_.origin_.size(); }

    void add(Index functional, Index variable, Index statistic, double weight) {
        triplets_.emplace_back(model_.layout()[variable].offset + statistic, functional, weight);
    }

    const RegressionModel& model_;
    Functionals::Resolved result_;
    std::vector<Eigen::Triplet<double, Index>> triplets_;
};

Functionals RegressionModel::in_data_units(const std::vector<std::string>& names) const {
    std::unordered_map<std::string, Index> slopes;
    for (std::size_t j = 0; j < names_.size(); ++j) {
        slopes.emplace(fmt::format("beta[{}]", names_[j]), static_cast<Index>(j));
    }
    Door door(*this, static_cast<Index>(names.size()));
    for (std::size_t i = 0; i < names.size(); ++i) {
        const Index functional = static_cast<Index>(i);
        const auto known = slopes.find(names[i]);
        if (known != slopes.end()) {
            door.add_slope(functional, known->second, 1.0);
        } else if (names[i] == "intercept" && intercept_) {
            door.add_intercept(functional);
        } else if (names[i] == "tau") {
            door.add_precision(functional);
        } else if (names[i] == "log_tau") {
            door.add_log_precision(functional);
        } else {
            throw std::invalid_argument(
                fmt::format("the regression has no variable {}: ask for {}'beta[column]', 'tau' or 'log_tau', with the "
                            "columns {}",
                            detail::shown(names[i]), intercept_ ? "'intercept', " : "", detail::shown(names_)));
        }
    }
    return door.functionals();
}

Functionals RegressionModel::coefficients() const {
    Door door(*this, origin_.size());
    if (intercept_) door.add_centre_intercept(0, 1.0);
    for (Index j = 0; j < scale_.size(); ++j) door.add_slope(slope(j), j, 1.0);
    return door.functionals();
}

double RegressionModel::noise_variance(const State& state) const {
    detail::require_size("noise_variance", "state", state.natural.size(), layout().size());
    const Vector natural = layout().segment(state.natural, origin_.size());
    const Vector standard = family::Gamma{}.standard(natural);  // shape, which two rows make more than one, and rate
    return standard[1] / (standard[0] - 1.0) * response_scale_ * response_scale_;
}

}  // namespace lrvb
