#pragma once

#include <cstddef>

/// The inner loops of expectations under normals, vectorised for the machine they run on.
namespace lrvb::detail {

constexpr std::size_t kFieldBlock = 256;  // rows; a multiple of every vector length
constexpr std::size_t kOrders = 5;        // a function and its first four derivatives

/// E g(x) and E of its first four derivatives for g(x) = log(1 + eˣ), x ~ N(mean, sd²), by a rule for the standard
/// normal. Arrays are readable up to kFieldBlock; `out` has the orders one after the other, kFieldBlock apart.
void expect_softplus(const double* means, const double* sds, std::size_t rows, const double* nodes,
                     const double* weights, std::size_t count, double* out);

/// Σ_k exp(−½ (first + k step − mean)² precision) table[order][k], k < count, for the orders, `stride` apart.
void expect_table(const double* table, std::size_t stride, std::size_t count, double first, double step, double mean,
                  double precision, double* out);

}  // namespace lrvb::detail
