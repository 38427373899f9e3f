#include "kind/mixture/optima.hpp"

#include "fit/places.hpp"

#include <cmath>
#include <limits>

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

std::vector<Optimum> rivals(const MixtureModel& sample, const State& best, std::vector<Optimum> found) {
    Optimum reference;
    reference.state = best;
    std::vector<Optimum> others =
        other_places(sample, reference, std::move(found), std::numeric_limits<double>::infinity(), kMostRivals);
    std::erase_if(others, [&](const Optimum& other) { return is_ruled_out(sample, best, other.state); });
    return others;
}

}  // namespace lrvb::detail
