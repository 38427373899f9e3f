#include "check/reported.hpp"

#include "base/validate.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

namespace lrvb::detail {

namespace {

// "Sigma[1,2,3]" is the base "Sigma" and the rest "[1,2,3]".
struct Name {
    explicit Name(const std::string& name) : base(name.substr(0, name.find('['))), rest(name.substr(base.size())) {}

    // The numbers between the brackets, counted from 0.
    std::vector<Index> indices() const {
        std::vector<Index> result;
        for (const char* at = rest.c_str(); *at != '\0'; ++at) {
            if (*at != '[' && *at != ',') continue;
            result.push_back(static_cast<Index>(std::strtol(at + 1, nullptr, 10)) - 1);
        }
        return result;
    }

    std::string base;
    std::string rest;
};

class Reporter {
  public:
    Reporter(const std::vector<std::string>& names, const Matrix& statistics) : statistics_(statistics) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            position_[names[i]] = static_cast<Index>(i);
            const Name name(names[i]);
            if (name.base == "Lambda") dimension_ = std::max(dimension_, name.indices().back() + 1);
        }
    }

    Vector values(const std::string& variable) {
        const auto known = position_.find(variable);
        if (known != position_.end()) return statistics_.row(known->second);
        const Name name(variable);
        if (name.base == "pi") return statistic("log_pi", name).array().exp();
        if (name.base == "sigma") return (-0.5 * statistic("log_tau", name).array()).exp();
        if (name.base == "Sigma" && name.indices().size() == 3) {
            const std::vector<Index> indices = name.indices();
            return inverse_entries(indices[0]).row(half_of(indices[1], indices[2]));
        }
        throw std::invalid_argument(
            fmt::format("check: variable '{}' is no function of a draw that is known", variable));
    }

  private:
    Vector statistic(const std::string& base, const Name& name) const {
        return statistics_.row(position_.at(base + name.rest));
    }

    Index half_of(Index i, Index j) const { return i * dimension_ + j; }

    // Σ of one component at every draw, entry by entry.
    const Matrix& inverse_entries(Index component) {
        if (component == inverted_) return inverse_;
        inverted_ = component;
        inverse_.resize(dimension_ * dimension_, statistics_.cols());
        Matrix lambda(dimension_, dimension_);
        for (Index n = 0; n < statistics_.cols(); ++n) {
            for (Index i = 0; i < dimension_; ++i) {
                for (Index j = i; j < dimension_; ++j) {
                    const Index at = position_.at(indexed("Lambda", {component, i, j}));
                    lambda(i, j) = lambda(j, i) = statistics_(at, n);
                }
            }
            const Matrix sigma = lambda.llt().solve(Matrix::Identity(dimension_, dimension_));
            inverse_.col(n) = Eigen::Map<const Vector>(sigma.data(), sigma.size());
        }
        return inverse_;
    }

    const Matrix& statistics_;
    std::unordered_map<std::string, Index> position_;
    Index dimension_ = 0;
    Index inverted_ = -1;  // the component whose inverses are at hand: variables come component by component
    Matrix inverse_;
};

}  // namespace

std::vector<std::string> model_statistics(const Posterior& posterior) {
    std::vector<std::string> names;
    for (const std::string& name : posterior.statistics) {
        const std::string base = Name(name).base;
        if (base != "pi" && base != "sigma" && base != "Sigma") names.push_back(name);
    }
    return names;
}

Matrix reported_values(const Posterior& posterior, const std::vector<std::string>& names, const Matrix& statistics) {
    Reporter reporter(names, statistics);
    Matrix values(static_cast<Index>(posterior.variables.size()), statistics.cols());
    for (std::size_t i = 0; i < posterior.variables.size(); ++i) {
        values.row(static_cast<Index>(i)) = reporter.values(posterior.variables[i].name);
    }
    return values;
}

}  // namespace lrvb::detail
