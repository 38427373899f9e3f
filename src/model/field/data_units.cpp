#include "base/messages.hpp"
#include "base/validate.hpp"
#include "model/field/core.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace lrvb {

namespace {

using detail::EffectCovariance;
using detail::FieldCore;

std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
}

/// weightsᵀ T + constant, in the data's units, for one functional after the other.
class Door {
  public:
    Door(const FieldCore& core, Index count) : core_(core), constants_(Vector::Zero(count)) {}

    void add_coefficient(Index functional, Index coefficient, double times) {
        if (core_.shape().intercept && coefficient == 0) {
            constants_[functional] += times * core_.design->units().response_centre;
        }
        add(functional, core_.variance_count() + coefficient, times * unit(coefficient));
    }
    void add_intercept(Index functional) {
        add_coefficient(functional, 0, 1.0);
        const Vector& centre = core_.design->units().centre;
        for (Index j = 0; j < centre.size(); ++j) add_coefficient(functional, j + 1, -centre[j]);
    }
    /// The intercept of a group's effects, which begin there, at zero.
    void add_effect_intercept(Index functional, std::size_t f, Index first) {
        const Vector& centre = core_.design->units().effect_centre[f];
        for (Index e = 0; e < centre.size(); ++e) {
            const double times = e == core_.design->data().factors[f].intercept ? 1.0 : -centre[e];
            if (times != 0.0) add_coefficient(functional, first + e, times);
        }
    }
    void add_psi(Index functional, Index psi, double shift) {
        constants_[functional] += shift;
        add(functional, psi, 1.0);
    }

    Functionals functionals() const {
        SparseMatrix weights(core_.layout.size(), constants_.size());
        weights.setFromTriplets(triplets_.begin(), triplets_.end());
        return {weights, constants_};
    }

  private:
    double unit(Index coefficient) const {
        if (coefficient < core_.shape().fixed) return core_.fixed_unit[coefficient];
        std::size_t f = core_.shape().factors.size() - 1;
        while (core_.shape().factors[f].offset > coefficient) --f;
        const detail::FieldShape::Factor& factor = core_.shape().factors[f];
        return core_.design->units().effect_unit(f, (coefficient - factor.offset) % factor.effects);
    }
    void add(Index functional, Index position, double weight) { triplets_.emplace_back(position, functional, weight); }

    const FieldCore& core_;
    Vector constants_;
    std::vector<Eigen::Triplet<double, Index>> triplets_;
};

/// How a ψ, by its place in its part, is counted in the data's units: shifted by this; nothing for one that is bounded.
double shift_of(const FieldCore& core, std::size_t part, Index place) {
    const detail::EffectParameters& own = core.parts[part];
    if (place >= own.effects()) return 0.0;
    if (own.prior().sd[at(place)].kind == ScalePrior::Kind::uniform) return 0.0;
    return part == core.sigma_part() ? std::log(core.design->units().response_scale)
                                     : std::log(core.part_unit(part, place));
}

}  // namespace

Functionals FieldModel::in_data_units(const std::vector<std::string>& names) const {
    const FieldCore& core = *core_;
    Door door(core, static_cast<Index>(names.size()));
    for (std::size_t i = 0; i < names.size(); ++i) {
        const Index functional = static_cast<Index>(i);
        if (names[i] == "intercept" && core.shape().intercept) {
            door.add_intercept(functional);
            continue;
        }
        // "u[Subject,308,intercept]" of effects that are at the means.
        const std::string at_means =
            names[i].ends_with(']') ? detail::effect_name(names[i].substr(0, names[i].size() - 1), true) + "]" : "";
        Index variable = -1;
        bool is_at_zero = false;
        try {
            is_at_zero = names[i].starts_with("u[") && core.layout.has_variable(at_means);
            variable = core.layout.variable(is_at_zero ? at_means : names[i]);
        } catch (const std::invalid_argument&) {
            throw std::invalid_argument(
                fmt::format("the field has no variable {}: ask for {}'beta[column]', 'u[factor,level,effect]', "
                            "'log_sd[factor,effect]' "
                            "or 'log_sigma'",
                            detail::shown(names[i]), core.shape().intercept ? "'intercept', " : ""));
        }
        if (is_at_zero) {
            std::size_t f = core.shape().factors.size() - 1;
            while (core.shape().factors[f].offset > variable - core.variance_count()) --f;
            const Index intercept = core.design->data().factors[f].intercept;
            door.add_effect_intercept(functional, f, variable - core.variance_count() - intercept);
            continue;
        }
        if (variable >= core.variance_count()) {
            door.add_coefficient(functional, variable - core.variance_count(), 1.0);
            continue;
        }
        if (variable >= core.parameter_offset(0)) {
            door.add_psi(functional, variable, 0.0);
            continue;
        }
        std::size_t part = core.parts.size() - 1;
        while (core.part_offset(part) > variable) --part;
        door.add_psi(functional, variable, shift_of(core, part, variable - core.part_offset(part)));
    }
    return door.functionals();
}

Functionals FieldModel::coefficients() const {
    Door door(*core_, core_->size());
    for (Index i = 0; i < core_->size(); ++i) door.add_coefficient(i, i, 1.0);
    return door.functionals();
}

Vector FieldModel::psi_shift() const {
    Vector result = Vector::Zero(core_->variance_count());
    for (std::size_t part = 0; part < core_->parts.size(); ++part) {
        for (Index j = 0; j < core_->parts[part].size(); ++j) {
            result[core_->part_offset(part) + j] = shift_of(*core_, part, j);
        }
    }
    return result;
}

const Vector& FieldModel::centre() const {
    return core_->design->units().centre;
}

Index FieldModel::effect_position(Index factor, Index level, Index effect) const {
    const detail::FieldShape::Factor& own = core_->shape().factors.at(at(factor));
    return core_->variance_count() + own.offset + level * own.effects + effect;
}

const std::vector<FieldVariance>& FieldModel::variances() const {
    return core_->variances;
}

Vector FieldModel::variance_values(const VectorView& psi) const {
    const FieldCore& core = *core_;
    detail::require_size("variance_values", "psi", psi.size(), core.variance_count());
    std::vector<Matrix> covariances;
    for (std::size_t i = 0; i < core.parts.size(); ++i) {
        const Matrix root = core.parts[i].root_at_zero(psi.segment(core.part_offset(i), core.parts[i].size()));
        covariances.push_back(root * root.transpose());
    }
    Vector values(static_cast<Index>(core.variances.size()));
    for (std::size_t v = 0; v < core.variances.size(); ++v) {
        const FieldVariance& own = core.variances[v];
        double& value = values[static_cast<Index>(v)];
        if (own.kind == FieldVariance::Kind::sigma) {
            value = std::sqrt(covariances.back()(0, 0)) * core.design->units().response_scale;
            continue;
        }
        if (own.kind == FieldVariance::Kind::parameter) {
            value = core.likelihood().parameters()[at(own.factor)].value(psi[core.parameter_offset(at(own.factor))]);
            continue;
        }
        const Matrix& covariance = covariances[at(own.factor)];
        if (own.kind == FieldVariance::Kind::sd) {
            value = std::sqrt(covariance(own.row, own.row)) * core.part_unit(at(own.factor), own.row);
        } else {
            value = covariance(own.row, own.column) /
                    std::sqrt(covariance(own.row, own.row) * covariance(own.column, own.column));
        }
    }
    return values;
}

// dΣ = −Σ dΛ Σ, and both at zero.
Matrix FieldModel::variance_jacobian(const VectorView& psi) const {
    const FieldCore& core = *core_;
    detail::require_size("variance_jacobian", "psi", psi.size(), core.variance_count());
    Matrix result = Matrix::Zero(static_cast<Index>(core.variances.size()), psi.size());
    std::vector<EffectCovariance> parts;
    for (std::size_t i = 0; i < core.parts.size(); ++i) {
        parts.push_back(core.parts[i].covariance(psi.segment(core.part_offset(i), core.parts[i].size())));
    }
    for (std::size_t v = 0; v < core.variances.size(); ++v) {
        const FieldVariance& own = core.variances[v];
        if (own.kind == FieldVariance::Kind::parameter) {
            const Index place = core.parameter_offset(at(own.factor));
            result(static_cast<Index>(v), place) = std::exp(psi[place]);
            continue;
        }
        const bool is_sigma = own.kind == FieldVariance::Kind::sigma;
        const std::size_t part = is_sigma ? core.sigma_part() : at(own.factor);
        const Index row = is_sigma ? 0 : own.row;
        const Index column = is_sigma ? 0 : own.column;
        const Matrix& to_zero = core.parts[part].to_zero();
        const Matrix at_means = parts[part].covariance();
        const Matrix covariance = to_zero * at_means * to_zero.transpose();
        for (Index j = 0; j < core.parts[part].size(); ++j) {
            const Matrix change = -(to_zero * at_means * parts[part].by_psi[at(j)] * at_means * to_zero.transpose());
            double& entry = result(static_cast<Index>(v), core.part_offset(part) + j);
            const double row_sd = std::sqrt(covariance(row, row));
            if (own.kind != FieldVariance::Kind::correlation) {
                const double unit = is_sigma ? core.design->units().response_scale : core.part_unit(part, row);
                entry = 0.5 * change(row, row) / row_sd * unit;
                continue;
            }
            const double column_sd = std::sqrt(covariance(column, column));
            const double correlation = covariance(row, column) / (row_sd * column_sd);
            entry = change(row, column) / (row_sd * column_sd) -
                    0.5 * correlation *
                        (change(row, row) / covariance(row, row) + change(column, column) / covariance(column, column));
        }
    }
    return result;
}

}  // namespace lrvb
