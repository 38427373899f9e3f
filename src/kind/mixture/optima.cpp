#include "kind/mixture/optima.hpp"

#include <cmath>

namespace lrvb::detail {

namespace {

constexpr double kErrors = 3.0;

}  // namespace

bool is_ruled_out(const MixtureModel& sample, const State& best, const State& other) {
    double sum = 0.0;
    double squares = 0.0;
    const Matrix nothing = Matrix::Zero(sample.layout().size(), 1);
    sample.ask_rows(best, nothing, RowChange::weight, [&](const RowAnswers& some) {
        const Vector there = sample.predict(other, some.inputs).log_density;
        const Vector here = sample.predict(best, some.inputs).log_density;
        const Vector gains = some.weights.cwiseProduct(there - here);
        sum += gains.sum();
        squares += gains.squaredNorm();
    });
    return sum + kErrors * std::sqrt(squares) < -kOtherOptimum;
}

}  // namespace lrvb::detail
