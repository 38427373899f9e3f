#include "model/polynomials.hpp"

#include <algorithm>

namespace lrvb::detail {

void Polynomials::add_term(double coefficient, std::span<const std::uint32_t> statistics) {
    coefficients_.push_back(coefficient);
    pool_.insert(pool_.end(), statistics.begin(), statistics.end());
    starts_.push_back(static_cast<std::uint32_t>(pool_.size()));
}

std::uint32_t Polynomials::add(const MonomialSum& sum) {
    for (std::size_t t = 0; t < sum.size(); ++t) add_term(sum.coefficient(t), sum.statistics(t));
    first_terms_.push_back(static_cast<std::uint32_t>(coefficients_.size()));
    return static_cast<std::uint32_t>(size() - 1);
}

std::uint32_t Polynomials::add(const Expression& lowered, const Layout& layout) {
    std::vector<std::uint32_t> factors;
    for (const Expression::Term& term : lowered.terms()) {
        factors.clear();
        for (const Atom& atom : term.atoms) {
            factors.push_back(static_cast<std::uint32_t>(layout[atom.variable].offset + atom.statistic));
        }
        const auto number = static_cast<std::uint32_t>(coefficients_.size());
        for (const auto& [hyperparameter, value] : term.coefficient.derivatives()) {
            derivatives_.push_back({number, hyperparameter, value});
        }
        add_term(term.coefficient.value(), factors);
    }
    first_terms_.push_back(static_cast<std::uint32_t>(coefficients_.size()));
    return static_cast<std::uint32_t>(size() - 1);
}

template <class Visit>
void Polynomials::visit_gradient(std::size_t i, const Vector& mean, Visit visit) const {
    for (std::uint32_t term = first_terms_[i]; term < first_terms_[i + 1]; ++term) {
        const std::span<const std::uint32_t> factors = statistics(term);
        for (std::size_t own = 0; own < factors.size(); ++own) {
            double product = coefficients_[term];
            for (std::size_t other = 0; other < factors.size(); ++other) {
                if (other != own) product *= mean[factors[other]];
            }
            visit(static_cast<Index>(factors[own]), product);
        }
    }
}

void Polynomials::add_gradient(std::size_t i, const Vector& mean, Vector& gradient) const {
    visit_gradient(i, mean, [&](Index statistic, double derivative) { gradient[statistic] += derivative; });
}

void Polynomials::along(std::size_t i, const Vector& mean, const Matrix& directions,
                        Eigen::Ref<Eigen::RowVectorXd> result) const {
    result.setZero();
    visit_gradient(i, mean,
                   [&](Index statistic, double derivative) { result += derivative * directions.row(statistic); });
}

Eigen::RowVectorXd Polynomials::values(std::size_t i, const Matrix& means) const {
    Eigen::RowVectorXd result = Eigen::RowVectorXd::Zero(means.cols());
    for (std::uint32_t term = first_terms_[i]; term < first_terms_[i + 1]; ++term) {
        Eigen::RowVectorXd product = Eigen::RowVectorXd::Constant(means.cols(), coefficients_[term]);
        for (const std::uint32_t factor : statistics(term)) {
            product = product.cwiseProduct(means.row(static_cast<Index>(factor)));
        }
        result += product;
    }
    return result;
}

template <class Visit>
void Polynomials::visit_terms(std::size_t i, Visit visit) const {
    const std::uint32_t begin = first_terms_[i];
    auto moving = std::ranges::lower_bound(derivatives_, begin, {}, &Derivative::term);
    for (std::uint32_t term = begin; term < first_terms_[i + 1]; ++term) {
        const auto first = moving;
        while (moving != derivatives_.end() && moving->term == term) ++moving;
        visit(term, std::span<const Derivative>(first, moving));
    }
}

void Polynomials::add_to(MonomialSum& sum, std::vector<MonomialSum>& derivatives, std::size_t i, double factor) const {
    visit_terms(i, [&](std::uint32_t term, std::span<const Derivative> moving) {
        sum.add(factor * coefficients_[term], statistics(term));
        for (const Derivative& one : moving) derivatives[one.hyperparameter].add(factor * one.value, statistics(term));
    });
}

void Polynomials::add_times(std::uint32_t statistic, MonomialSum& sum, std::vector<MonomialSum>& derivatives,
                            std::size_t i) const {
    std::vector<std::uint32_t> factors;
    visit_terms(i, [&](std::uint32_t term, std::span<const Derivative> moving) {
        const std::span<const std::uint32_t> own = statistics(term);
        factors.assign(own.begin(), own.end());
        factors.push_back(statistic);
        sum.add(coefficients_[term], factors);
        for (const Derivative& one : moving) derivatives[one.hyperparameter].add(one.value, factors);
    });
}

}  // namespace lrvb::detail
