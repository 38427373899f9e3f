#include "kind/mixture/means.hpp"

#include <fmt/format.h>

#include <unordered_map>

namespace lrvb::detail {

MixtureMeans mixture_means(const FitFile& fit) {
    const auto& mixture = std::get<MixtureRecord>(fit.model);
    std::unordered_map<std::string, double> means;
    for (const PosteriorVariable& variable : fit.posterior.variables) means[variable.name] = variable.mean;
    const Index columns = mixture.centre.size();
    const bool full = columns > 1 && mixture.covariance == MixtureCovariance::full;
    // Components and columns are counted from 1 here, as in names.
    const auto of_column = [&](const char* name, Index k, Index p) {
        return means.at(columns == 1 ? fmt::format("{}[{}]", name, k) : fmt::format("{}[{},{}]", name, k, p));
    };
    MixtureMeans result;
    result.weights = Vector::Ones(mixture.components);
    result.locations.resize(mixture.components, columns);
    for (Index k = 1; k <= mixture.components; ++k) {
        if (mixture.components > 1) result.weights[k - 1] = means.at(fmt::format("pi[{}]", k));
        Matrix covariance = Matrix::Zero(columns, columns);
        for (Index p = 1; p <= columns; ++p) {
            result.locations(k - 1, p - 1) = of_column("mu", k, p);
            if (!full) covariance(p - 1, p - 1) = 1.0 / of_column("tau", k, p);
            for (Index q = p; q <= columns && full; ++q) {
                covariance(p - 1, q - 1) = covariance(q - 1, p - 1) = means.at(fmt::format("Sigma[{},{},{}]", k, p, q));
            }
        }
        result.covariances.push_back(std::move(covariance));
    }
    return result;
}

}  // namespace lrvb::detail
