#include "base/validate.hpp"

#include <lrvb/model/expression.hpp>

#include <cmath>
#include <stdexcept>

namespace lrvb {

namespace {

std::uint32_t common_model(const Expression& a, const Expression& b) {
    if (a.model() == 0) return b.model();
    if (b.model() == 0 || a.model() == b.model()) return a.model();
    throw std::invalid_argument("an expression mixes variables of two models; build each model from its own variables");
}

// Derivatives of a + factor·b, both sorted by hyperparameter.
std::vector<Constant::Derivative> merged(const std::vector<Constant::Derivative>& a, double factor_a,
                                         const std::vector<Constant::Derivative>& b, double factor_b) {
    std::vector<Constant::Derivative> sum;
    sum.reserve(a.size() + b.size());
    auto left = a.begin();
    auto right = b.begin();
    while (left != a.end() || right != b.end()) {
        if (right == b.end() || (left != a.end() && left->first < right->first)) {
            sum.emplace_back(left->first, factor_a * left->second);
            ++left;
        } else if (left == a.end() || right->first < left->first) {
            sum.emplace_back(right->first, factor_b * right->second);
            ++right;
        } else {
            sum.emplace_back(left->first, factor_a * left->second + factor_b * right->second);
            ++left;
            ++right;
        }
    }
    return sum;
}

}  // namespace

Constant& Constant::operator+=(const Constant& other) {
    if (!other.derivatives_.empty()) derivatives_ = merged(derivatives_, 1.0, other.derivatives_, 1.0);
    value_ += other.value_;
    return *this;
}

Constant operator*(const Constant& a, const Constant& b) {
    if (a.derivatives_.empty() && b.derivatives_.empty()) return {a.value_ * b.value_};
    return {a.value_ * b.value_, merged(a.derivatives_, b.value_, b.derivatives_, a.value_)};
}

Constant Constant::mapped(double function_value, double function_derivative) const {
    return {function_value, merged(derivatives_, function_derivative, {}, 0.0)};
}

Expression::Expression(double constant) {
    if (constant != 0.0) terms_.push_back({constant, {}});
}

Expression::Expression(const Constant& constant) : terms_{{constant, {}}} {}

Expression::Expression(const Hyperparameter& hyperparameter)
    : terms_{{Constant(hyperparameter.value(), {{hyperparameter.index(), 1.0}}), {}}}, model_(hyperparameter.model()) {}

Expression::Expression(Atom atom, std::uint32_t model) : terms_{{1.0, {atom}}}, model_(model) {}

Expression& Expression::operator+=(const Expression& other) {
    model_ = common_model(*this, other);
    terms_.insert(terms_.end(), other.terms_.begin(), other.terms_.end());
    return *this;
}

Expression& Expression::operator-=(const Expression& other) {
    return *this += -other;
}

Expression operator+(const Expression& a, const Expression& b) {
    Expression sum = a;
    sum += b;
    return sum;
}

Expression operator-(const Expression& a, const Expression& b) {
    return a + (-b);
}

Expression operator-(const Expression& a) {
    return Expression(-1.0) * a;
}

Expression operator*(const Expression& a, const Expression& b) {
    const std::uint32_t model = common_model(a, b);
    std::vector<Expression::Term> terms;
    terms.reserve(a.terms().size() * b.terms().size());
    for (const Expression::Term& left : a.terms()) {
        for (const Expression::Term& right : b.terms()) {
            std::vector<Atom> atoms;
            atoms.reserve(left.atoms.size() + right.atoms.size());
            atoms.insert(atoms.end(), left.atoms.begin(), left.atoms.end());
            atoms.insert(atoms.end(), right.atoms.begin(), right.atoms.end());
            terms.push_back({left.coefficient * right.coefficient, std::move(atoms)});
        }
    }
    return {std::move(terms), model};
}

void require_entry(std::string_view family, Index i, Index size) {
    if (i >= 0 && i < size) return;
    throw std::invalid_argument(fmt::format("{}: index {} is outside 0 to {}", family, i, size - 1));
}

VectorParameter::VectorParameter(const Vector& constants) {
    detail::require_finite("a vector parameter", "entry", constants);
    entries_.assign(constants.begin(), constants.end());
}

VectorParameter::VectorParameter(const Variable<family::MvNormal>& variable) {
    for (Index i = 0; i < variable.family().dimension(); ++i) entries_.push_back(variable[i]);
}

VectorParameter::VectorParameter(const std::vector<Variable<family::Normal>>& variables)
    : entries_(variables.begin(), variables.end()) {}

MatrixParameter::MatrixParameter(const Matrix& constant) : dimension_(constant.rows()), constant_(constant) {
    if (constant.size() == 0) throw std::invalid_argument("a matrix parameter is empty");
    if (constant.rows() != constant.cols()) {
        throw std::invalid_argument(
            fmt::format("a matrix parameter is {} x {}, but must be square", constant.rows(), constant.cols()));
    }
    if (!constant.allFinite()) throw std::invalid_argument("a matrix parameter has an entry that is not finite");
    Index row = 0;
    Index column = 0;
    const double asymmetry = (constant - constant.transpose()).cwiseAbs().maxCoeff(&row, &column);
    if (asymmetry > 1e-12 * constant.cwiseAbs().maxCoeff()) {
        throw std::invalid_argument(
            fmt::format("a matrix parameter is not symmetric: entry ({0}, {1}) is {2}, but entry ({1}, {0}) is {3}",
                        column + 1, row + 1, constant(column, row), constant(row, column)));
    }
}

MatrixParameter::MatrixParameter(const Variable<family::Wishart>& variable)
    : dimension_(variable.family().dimension()), is_variable_(true) {
    for (Index i = 0; i < variable.family().size(); ++i) entries_.push_back(variable.statistic(i));
}

MatrixParameter scaled(const Expression& scale, const MatrixParameter& matrix) {
    MatrixParameter result = matrix;
    result.scale_ = scale * matrix.scale_;
    return result;
}

SimplexParameter::SimplexParameter(const Vector& constants)
    : SimplexParameter(std::vector<Expression>(constants.begin(), constants.end())) {}

SimplexParameter::SimplexParameter(const std::vector<Expression>& constants) {
    double total = 0.0;
    for (std::size_t k = 0; k < constants.size(); ++k) {
        Constant p = 0.0;
        for (const Expression::Term& term : constants[k].terms()) {
            if (!term.atoms.empty()) {
                throw std::invalid_argument(fmt::format(
                    "probabilities: p[{}] depends on a variable, but must be a constant; use a Dirichlet variable "
                    "for all of them instead",
                    k + 1));
            }
            p += term.coefficient;
        }
        detail::require_positive("probabilities", fmt::format("p[{}]", k + 1), p.value());
        total += p.value();
        const Constant logarithm = p.mapped(std::log(p.value()), 1.0 / p.value());
        logs_.emplace_back(std::vector<Expression::Term>{{logarithm, {}}}, constants[k].model());
    }
    if (!(std::abs(total - 1.0) <= 1e-9)) {
        throw std::invalid_argument(
            fmt::format("probabilities add up to {}, but must add up to one; divide them by their sum", total));
    }
}

SimplexParameter::SimplexParameter(std::initializer_list<double> constants)
    : SimplexParameter(Vector(Eigen::Map<const Vector>(constants.begin(), static_cast<Index>(constants.size())))) {}

SimplexParameter::SimplexParameter(const Variable<family::Dirichlet>& variable) {
    for (Index k = 0; k < variable.family().size(); ++k) logs_.push_back(variable.statistic(k));
}

}  // namespace lrvb
