#include "kind/mixture/replicates.hpp"

#include "base/parallel.hpp"
#include "linalg/positive_definite.hpp"
#include "model/rows_at_once.hpp"

#include <lrvb/family/symmetric.hpp>

#include <cmath>

namespace lrvb::detail {

namespace {

constexpr Index kReadRows = 4096;  // at once

// Rows as often as they count, some at a time.
class Repeated {
  public:
    Repeated(const RowFormat& format, const std::vector<DrawnMixture>& mixtures, std::uint64_t seed, int threads,
             const ReplicateVisitor& visit)
        : format_(format),
          mixtures_(mixtures),
          seed_(seed),
          threads_(threads),
          visit_(visit),
          most_(rows_at_once(static_cast<Index>(mixtures.size()) * format.columns)) {
        replicates_.observed.resize(most_, format.columns);
    }

    void add(const double* row, Index number) {
        double times = format_.weighted ? row[format_.columns] : 1.0;
        if (times != std::floor(times)) throw FractionalWeight(number, times);
        for (; times > 0.0; times -= 1.0) {
            for (Index p = 0; p < format_.columns; ++p) replicates_.observed(count_, p) = row[p];
            if (++count_ == most_) flush();
        }
    }

    void flush() {
        if (count_ == 0) return;
        replicates_.observed.conservativeResize(count_, Eigen::NoChange);
        replicates_.replicated.resize(count_, static_cast<Index>(mixtures_.size()) * format_.columns);
        in_parallel(threads_, count_, [&](Index n) {
            Random random(seed_, static_cast<std::uint64_t>(replicates_.first + n));
            double* out = replicates_.replicated.data() + n;
            for (const DrawnMixture& mixture : mixtures_) {
                mixture.draw(random, out, count_);
                out += format_.columns * count_;
            }
        });
        visit_(replicates_);
        replicates_.first += count_;
        replicates_.observed.resize(most_, format_.columns);
        count_ = 0;
    }

  private:
    const RowFormat& format_;
    const std::vector<DrawnMixture>& mixtures_;
    std::uint64_t seed_;
    int threads_;
    const ReplicateVisitor& visit_;
    Index most_;
    Index count_ = 0;
    RowReplicates replicates_;
};

}  // namespace

DrawnMixture::DrawnMixture(const MixtureComponents::Point& point, const RowFormat& format) : full_(format.full) {
    const auto components = static_cast<Index>(point.size());
    const Vector scale = format.inverse_scale.cwiseInverse();
    until_.resize(components);
    locations_.resize(format.columns, components);
    double until = 0.0;
    for (Index k = 0; k < components; ++k) {
        const MixtureComponents::Component& component = point[static_cast<std::size_t>(k)];
        until += components > 1 ? std::exp(component.log_weight) : 1.0;
        until_[k] = until;
        locations_.col(k) = format.centre + scale.cwiseProduct(component.location);
        if (full_) {
            const Matrix factor = PositiveDefinite(symmetric_from_half(component.precision, format.columns)).factor();
            const Matrix inverse =
                factor.triangularView<Eigen::Lower>().solve(Matrix::Identity(format.columns, format.columns));
            roots_.emplace_back(scale.asDiagonal() * inverse.transpose());
        } else {
            roots_.emplace_back(scale.cwiseQuotient(component.precision.cwiseSqrt()));
        }
    }
}

void DrawnMixture::draw(Random& random, double* out, Index stride) const {
    // The last component takes what rounding left of one.
    Index k = 0;
    if (until_.size() > 1) {
        const double u = random.uniform();
        while (k + 1 < until_.size() && u > until_[k]) ++k;
    }
    const Matrix& root = roots_[static_cast<std::size_t>(k)];
    const Index columns = locations_.rows();
    for (Index p = 0; p < columns; ++p) out[p * stride] = locations_(p, k);
    for (Index q = 0; q < columns; ++q) {
        const double z = random.normal();
        if (!full_) {
            out[q * stride] += root(q, 0) * z;
            continue;
        }
        for (Index p = 0; p <= q; ++p) out[p * stride] += root(p, q) * z;  // upper triangular
    }
}

void replicate_mixture_rows(RowSource& source, Index rows, const RowFormat& format,
                            const std::vector<DrawnMixture>& mixtures, std::uint64_t seed, int threads,
                            const ReplicateVisitor& visit) {
    Repeated repeated(format, mixtures, seed, threads, visit);
    Index number = 0;
    for_each_chunk(source, format.width(), rows, kReadRows, [&](const double* first, Index count) {
        for (Index i = 0; i < count; ++i) repeated.add(first + i * format.width(), number++);
    });
    repeated.flush();
}

}  // namespace lrvb::detail
