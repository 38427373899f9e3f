#include "base/validate.hpp"
#include "model/builder_implementation.hpp"
#include "model/distribution_node.hpp"
#include "model/observed.hpp"

#include <lrvb/family/symmetric.hpp>
#include <lrvb/model/builder.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lrvb {

namespace {

std::string subject_of(std::string_view family) {
    return fmt::format("an observation ~ {}", family);
}

// Constants of an observed expression must be numbers: a missing value is an error of the data, not of the model.
void require_observed(const Expression& value, const detail::Lowering& lowering) {
    for (const Expression::Term& term : value.terms()) {
        if (!std::isfinite(term.coefficient.value())) {
            lowering.refuse(fmt::format("the value is {}, but must be a finite number", term.coefficient.value()));
        }
    }
}

bool is_plain_number(const Expression& value) {
    return std::ranges::all_of(value.terms(), [](const Expression::Term& term) {
        return term.atoms.empty() && term.coefficient.derivatives().empty();
    });
}

double plain_number(const Expression& value) {
    double sum = 0.0;
    for (const Expression::Term& term : value.terms()) sum += term.coefficient.value();
    return sum;
}

void require_finite_design(Index row, Index column, double value) {
    if (std::isfinite(value)) return;
    throw std::invalid_argument(
        fmt::format("observe_linear: design({}, {}) is {}, but must be a finite number", row + 1, column + 1, value));
}

// Σ_s statistics_s natural_s + count · log_normaliser + log_base.
Expression log_density_of(const Vector& statistics, double log_base, double count,
                          const detail::ConditionalForm& form) {
    Expression log_density = log_base + count * form.log_normaliser;
    for (Index s = 0; s < statistics.size(); ++s) {
        log_density += statistics[s] * form.natural[static_cast<std::size_t>(s)];
    }
    return log_density;
}

/// A vector of which some entries are plain numbers, as an observation of these numbers alone: the others are folded
/// into the conditional form.
struct PartlyPlain {
    std::vector<Index> entries;
    Vector numbers;
    detail::ConditionalForm form;
};

PartlyPlain partly_plain(const VectorParameter& value, const detail::ConditionalForm& form,
                         const detail::Lowering& lowering) {
    PartlyPlain result;
    std::vector<bool> is_plain;
    for (Index i = 0; i < value.size(); ++i) {
        is_plain.push_back(is_plain_number(value.entries()[static_cast<std::size_t>(i)]));
        if (is_plain.back()) result.entries.push_back(i);
    }
    const auto natural = [&](Index i, Index j) -> const Expression& {
        return form.natural[static_cast<std::size_t>(value.size() + half_index(i, j, value.size()))];
    };
    const Index count = static_cast<Index>(result.entries.size());
    result.numbers.resize(count);
    for (Index a = 0; a < count; ++a) {
        const Index i = result.entries[static_cast<std::size_t>(a)];
        result.numbers[a] = plain_number(value.entries()[static_cast<std::size_t>(i)]);
        Expression linear = form.natural[static_cast<std::size_t>(i)];
        for (Index j = 0; j < value.size(); ++j) {
            const auto other = static_cast<std::size_t>(j);
            if (!is_plain[other]) linear += natural(i, j) * value.entries()[other];
        }
        result.form.natural.push_back(lowering.lower(linear));
    }
    for (Index a = 0; a < count; ++a) {
        for (Index b = a; b < count; ++b) {
            result.form.natural.push_back(
                natural(result.entries[static_cast<std::size_t>(a)], result.entries[static_cast<std::size_t>(b)]));
        }
    }
    Expression rest = form.log_normaliser;
    for (Index i = 0; i < value.size(); ++i) {
        const auto left = static_cast<std::size_t>(i);
        if (is_plain[left]) continue;
        rest += form.natural[left] * value.entries()[left];
        for (Index j = i; j < value.size(); ++j) {
            const auto right = static_cast<std::size_t>(j);
            if (!is_plain[right]) rest += natural(i, j) * value.entries()[left] * value.entries()[right];
        }
    }
    result.form.log_normaliser = lowering.lower(rest);
    return result;
}

}  // namespace

void ModelBuilder::observe(const Expression& value, const Distribution<family::Normal>& distribution, const Row& row) {
    if (row.is_named() && is_plain_number(value)) {
        observe<family::Normal>(plain_number(value), distribution, row);
        return;
    }
    Implementation& self = implementation();
    if (row.is_named()) self.require_rows("observe", row, 1);
    const detail::Lowering lowering = self.lowering(subject_of(family::Normal::name));
    require_observed(value, lowering);
    const detail::ConditionalForm form = distribution.node().lower(lowering);
    const Expression log_density = form.natural[0] * value + form.natural[1] * value * value + form.log_normaliser;
    const Expression lowered = lowering.lower(log_density);
    self.accumulate(lowered, lowering, row);
    if (row.is_named()) self.record({}, Matrix(), {{}, lowered}, {}, row);
}

void ModelBuilder::observe(const VectorParameter& value, const Distribution<family::MvNormal>& distribution,
                           const Row& row) {
    Implementation& self = implementation();
    if (row.is_named()) self.require_rows("observe", row, 1);
    const detail::Lowering lowering = self.lowering(subject_of(family::MvNormal::name));
    const Index dimension = distribution.family().dimension();
    if (value.size() != dimension) {
        lowering.refuse(fmt::format("the value has {} entries, but the distribution has {}", value.size(), dimension));
    }
    for (const Expression& entry : value.entries()) require_observed(entry, lowering);

    const detail::ConditionalForm form = distribution.node().lower(lowering);
    Expression log_density = form.log_normaliser;
    for (Index i = 0; i < dimension; ++i) {
        const Expression& left = value.entries()[static_cast<std::size_t>(i)];
        log_density += form.natural[static_cast<std::size_t>(i)] * left;
        for (Index j = i; j < dimension; ++j) {
            const Expression& right = value.entries()[static_cast<std::size_t>(j)];
            const Index second = dimension + half_index(i, j, dimension);
            log_density += form.natural[static_cast<std::size_t>(second)] * left * right;
        }
    }
    const Expression lowered = lowering.lower(log_density);
    if (!row.is_named()) {
        self.accumulate(lowered, lowering);
        return;
    }
    const PartlyPlain plain = partly_plain(value, form, lowering);
    std::vector<std::string> names;
    if (!plain.entries.empty()) {
        const std::vector<std::string> all = self.free_inputs(distribution.family(), row);
        for (const Index i : plain.entries) names.push_back(all[static_cast<std::size_t>(i)]);
    }
    self.accumulate(lowered, lowering, row);
    std::optional<AnyObserved> kind;
    if (!plain.entries.empty()) kind = family::MvNormal(static_cast<Index>(plain.entries.size()));
    self.record(kind, plain.numbers.transpose(), plain.form, names, row);
}

void ModelBuilder::observe_statistics(std::string_view family, const Sums& sums, const detail::DistributionNode& node) {
    const detail::Lowering lowering = implementation().lowering(subject_of(family));
    implementation().accumulate(
        lowering.lower(log_density_of(sums.statistics, sums.log_base, sums.count, node.lower(lowering))), lowering);
}

void ModelBuilder::observe_named(const AnyObserved& kind, const Matrix& values, const Sums& sums,
                                 const detail::DistributionNode& node, const RowRange& rows) {
    Implementation& self = implementation();
    self.require_rows("observe", rows, values.rows());
    const std::string_view family =
        std::visit([](const auto& f) { return std::remove_cvref_t<decltype(f)>::name; }, kind);
    const detail::Lowering lowering = self.lowering(subject_of(family));
    const detail::ConditionalForm form = node.lower(lowering);
    std::vector<std::string> names;
    if (detail::can_move(kind)) names = self.free_inputs(kind, rows);
    self.accumulate(lowering.lower(log_density_of(sums.statistics, sums.log_base, sums.count, form)), lowering, rows);
    self.record(kind, values, form, names, rows);
}

void ModelBuilder::observe_counts(const Vector& counts, const Vector& exposures, const Expression& rate,
                                  const Rows& rows) {
    detail::require_size("observe_counts", "exposures", exposures.size(), counts.size());
    if (rows.is_named()) implementation().require_rows("observe_counts", rows, counts.size());
    const likelihood::Poisson family;
    double total = 0.0;
    double base = 0.0;
    for (Index n = 0; n < counts.size(); ++n) {
        detail::require_positive("observe_counts", fmt::format("exposure of row {}", n + 1), exposures[n]);
        const Vector count = counts.segment(n, 1);
        try {
            total += family.statistic(count)[0];
        } catch (const std::invalid_argument& error) {
            refuse_row(n, error.what());
        }
        base += family.log_base(count) + count[0] * std::log(exposures[n]);
    }
    // Σ [y log(λe) − λe − log y!]: one Poisson with the exposures' sum, but for the constants above.
    const detail::Lowering lowering = implementation().lowering(subject_of(family.name));
    const Expression log_rate = lowering.log_of(rate, "rate");
    const Expression log_density = total * log_rate - exposures.sum() * rate + base;
    implementation().accumulate(lowering.lower(log_density), lowering, rows);
    if (!rows.is_named()) return;
    Matrix values(counts.size(), 2);
    values << counts, exposures;
    implementation().record(likelihood::ExposedPoisson{}, values, {{log_rate, lowering.lower(rate)}, {}}, {}, rows);
}

void ModelBuilder::observe_linear(const Vector& y, const Matrix& design, const VectorParameter& coefficients,
                                  const Expression& precision, const Rows& rows) {
    detail::require_size("observe_linear", "y", y.size(), design.rows());
    for (Index j = 0; j < design.cols(); ++j) {
        for (Index i = 0; i < design.rows(); ++i) require_finite_design(i, j, design(i, j));
    }
    const auto lower_gram = [](const Matrix& columns) -> SparseMatrix {
        Matrix gram = Matrix::Zero(columns.cols(), columns.cols());
        gram.selfadjointView<Eigen::Lower>().rankUpdate(columns.transpose());
        return gram.triangularView<Eigen::Lower>().toDenseMatrix().sparseView();
    };
    // Which columns meet in a row: they may be orthogonal and yet meet.
    SparseMatrix pairs;
    if (rows.is_named()) pairs = lower_gram((design.array() != 0.0).cast<double>().matrix());
    observe_design(y, design, lower_gram(design), pairs, coefficients, precision, rows);
}

void ModelBuilder::observe_linear(const Vector& y, const SparseMatrix& design, const VectorParameter& coefficients,
                                  const Expression& precision, const Rows& rows) {
    detail::require_size("observe_linear", "y", y.size(), design.rows());
    for (Index j = 0; j < design.cols(); ++j) {
        for (SparseMatrix::InnerIterator entry(design, j); entry; ++entry) {
            require_finite_design(entry.row(), j, entry.value());
        }
    }
    const auto lower_gram = [](const SparseMatrix& columns) -> SparseMatrix {
        const SparseMatrix gram = SparseMatrix(columns.transpose()) * columns;
        return gram.triangularView<Eigen::Lower>();
    };
    SparseMatrix pairs;
    if (rows.is_named()) pairs = lower_gram(design.cwiseAbs());
    observe_design(y, design, lower_gram(design), pairs, coefficients, precision, rows);
}

// −½τ [yᵀy − 2 (Xᵀy)ᵀβ + βᵀXᵀXβ] + (N/2)(log τ − log 2π), from the lower triangle of XᵀX. `pairs` holds the pairs of
// columns that meet in a row, where rows are named.
template <class Design>
void ModelBuilder::observe_design(const Vector& y, const Design& design, const SparseMatrix& gram,
                                  const SparseMatrix& pairs, const VectorParameter& coefficients,
                                  const Expression& precision, const Rows& named) {
    detail::require_finite("observe_linear", "y", y);
    detail::require_size("observe_linear", "coefficients", coefficients.size(), gram.cols());
    Implementation& self = implementation();
    if (named.is_named()) self.require_rows("observe_linear", named, y.size());
    const detail::Lowering lowering = self.lowering(subject_of(family::Normal::name));
    const double rows = static_cast<double>(y.size());
    const Vector projection = design.transpose() * y;
    const Expression log_precision = lowering.log_of(precision, "precision");
    const Expression minus_half_precision = -0.5 * precision;

    Expression log_density = 0.5 * rows * (log_precision - std::log(2.0 * std::numbers::pi));
    log_density += y.squaredNorm() * minus_half_precision;
    for (Index j = 0; j < gram.cols(); ++j) {
        const Expression& column = coefficients.entries()[static_cast<std::size_t>(j)];
        const Expression weighted = minus_half_precision * column;
        log_density += -2.0 * projection[j] * weighted;
        for (SparseMatrix::InnerIterator entry(gram, j); entry; ++entry) {
            const Expression& row = coefficients.entries()[static_cast<std::size_t>(entry.row())];
            log_density += (entry.row() == j ? 1.0 : 2.0) * entry.value() * weighted * row;
        }
    }
    if (!named.is_named()) {
        self.accumulate(lowering.lower(log_density), lowering);
        return;
    }

    // In the order that LinearRows wants.
    std::vector<Expression> shared{lowering.lower(minus_half_precision),
                                   lowering.lower(0.5 * (log_precision - std::log(2.0 * std::numbers::pi)))};
    for (const Expression& column : coefficients.entries()) shared.push_back(lowering.lower(precision * column));
    for (Index j = 0; j < pairs.cols(); ++j) {
        const Expression weighted = minus_half_precision * coefficients.entries()[static_cast<std::size_t>(j)];
        for (SparseMatrix::InnerIterator entry(pairs, j); entry; ++entry) {
            const Expression& row = coefficients.entries()[static_cast<std::size_t>(entry.row())];
            shared.push_back(lowering.lower((entry.row() == j ? 1.0 : 2.0) * weighted * row));
        }
    }
    const std::vector<std::string> names = self.free_inputs(family::Normal{}, named);
    self.accumulate(lowering.lower(log_density), lowering, named);
    const auto first = static_cast<std::uint32_t>(self.rows.polynomials.size());
    for (const Expression& polynomial : shared) self.rows.polynomials.add(polynomial, self.layout);
    using ByRows = std::conditional_t<std::is_same_v<Design, Matrix>, detail::RowMajorMatrix,
                                      Eigen::SparseMatrix<double, Eigen::RowMajor>>;
    self.rows.blocks.push_back(std::make_shared<const detail::LinearRows>(
        self.claim(names, named).front(), named.first(), y, detail::LinearRows::Design(ByRows(design)), pairs, first));
}

void ModelBuilder::refuse_row(Index row, const std::string& reason) {
    throw std::invalid_argument(fmt::format("row {}: {}", row + 1, reason));
}

}  // namespace lrvb
