#pragma once

#include "model/field/precision.hpp"

/// Where the entries of R stand, for who finds its pattern and for who fills it.
namespace lrvb::detail {

template <class Visit>
void PrecisionPlan::visit_rest(const Visit& visit) const {
    const FieldShape& shape = this->shape();
    const Index p = shape.fixed;
    const Index last = rest_ - p;
    for (std::size_t f = 0; f < shape.factors.size(); ++f) {
        if (static_cast<std::ptrdiff_t>(f) == leading_) continue;
        const auto [offset, levels, q] = shape.factors[f];
        for (Index i = 0; i < levels * q; ++i) {
            const Index row = rest_offset_[f] + i;
            for (Index b = 0; b <= i % q; ++b) visit(row, row - i % q + b, 0, f, i * q + b);
            for (Index j = 0; j < p; ++j) visit(last + j, row, 1, f, i * p + j);
        }
    }
    for (std::size_t k = 0; k < structure_->pairs().size(); ++k) {
        const FieldStructure::Pair& pair = structure_->pairs()[k];
        if (static_cast<std::ptrdiff_t>(pair.f) == leading_ || static_cast<std::ptrdiff_t>(pair.g) == leading_)
            continue;
        const Index qf = shape.factors[pair.f].effects;
        const Index qg = shape.factors[pair.g].effects;
        for (std::size_t l = 0; l + 1 < pair.starts.size(); ++l) {
            for (int m = pair.starts[l]; m < pair.starts[l + 1]; ++m) {
                for (Index a = 0; a < qf; ++a) {
                    for (Index b = 0; b < qg; ++b) {
                        visit(rest_offset_[pair.f] + static_cast<Index>(l) * qf + a,
                              rest_offset_[pair.g] + pair.levels[static_cast<std::size_t>(m)] * qg + b, 2, k,
                              (m * qf + a) * qg + b);
                    }
                }
            }
        }
    }
    for (Index i = 0; i < p; ++i) {
        for (Index j = 0; j <= i; ++j) visit(last + i, last + j, 3, 0, i * p + j);
    }
}

}  // namespace lrvb::detail
