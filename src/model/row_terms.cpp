#include "model/row_terms.hpp"

#include "model/observed.hpp"
#include "model/rows_at_once.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace lrvb::detail {

namespace {

constexpr Index kChunk = 4096;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

RowMajorMatrix table_from(const RowQuestion& question, std::uint32_t first, Index count) {
    RowMajorMatrix table(count, question.directions.cols());
    for (Index i = 0; i < count; ++i) {
        question.polynomials.along(first + static_cast<std::size_t>(i), question.mean, question.directions,
                                   table.row(i));
    }
    return table;
}

RowMajorMatrix values_from(const Polynomials& polynomials, const Matrix& means, std::uint32_t first, Index count) {
    RowMajorMatrix values(count, means.cols());
    for (Index i = 0; i < count; ++i) values.row(i) = polynomials.values(first + static_cast<std::size_t>(i), means);
    return values;
}

/// The part of the changes that speaks of the rows `begin` to `end`.
std::pair<WeightChanges::const_iterator, WeightChanges::const_iterator> changes_of(const WeightChanges& changes,
                                                                                   Index begin, Index end) {
    const auto row_of = [](const std::pair<Index, double>& change) { return change.first; };
    return {std::ranges::lower_bound(changes, begin, {}, row_of), std::ranges::lower_bound(changes, end, {}, row_of)};
}

template <class T>
std::vector<T> permuted(const std::vector<T>& values, const std::vector<std::size_t>& order, std::size_t width = 1) {
    std::vector<T> result;
    result.reserve(values.size());
    for (const std::size_t i : order) {
        const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * width);
        result.insert(result.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
    }
    return result;
}

}  // namespace

ObservedRows::ObservedRows(const AnyObserved& kind, std::vector<std::int32_t> inputs, Index first, const Matrix& values,
                           std::uint32_t polynomial)
    : kind_(kind),
      inputs_(std::move(inputs)),
      width_(values.cols()),
      values_(static_cast<std::size_t>(values.size())),
      first_(first),
      count_(values.rows()),
      polynomials_{polynomial} {
    Eigen::Map<RowMajorMatrix>(values_.data(), values.rows(), values.cols()) = values;
}

void ObservedRows::add(Index row, const Matrix& value, std::uint32_t polynomial) {
    width_ = value.size();
    values_.insert(values_.end(), value.data(), value.data() + value.size());
    rows_.push_back(row);
    polynomials_.push_back(polynomial);
}

void ObservedRows::sort() {
    if (std::ranges::is_sorted(rows_)) return;
    std::vector<std::size_t> order(rows_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return rows_[i]; });
    values_ = permuted(values_, order, static_cast<std::size_t>(width_));
    rows_ = permuted(rows_, order);
    polynomials_ = permuted(polynomials_, order);
}

Index ObservedRows::statistics() const {
    return kind_ ? statistic_count(*kind_) : 0;
}

std::pair<Index, Index> ObservedRows::positions(Index begin, Index end) const {
    if (is_column()) return {std::max(begin, first_) - first_, std::min(end, first_ + count_) - first_};
    const auto position = [&](Index row) { return std::ranges::lower_bound(rows_, row) - rows_.begin(); };
    return {position(begin), position(end)};
}

RowMajorMatrix ObservedRows::table_of(const RowQuestion& question, std::uint32_t polynomial) const {
    return table_from(question, polynomial, statistics() + 1);
}

RowMajorMatrix ObservedRows::table(const RowQuestion& question) const {
    return is_column() ? table_of(question, polynomials_.front()) : RowMajorMatrix();
}

void ObservedRows::answer(const RowQuestion& question, const RowMajorMatrix& table, RowAnswers& chunk) const {
    const auto [begin, end] = positions(chunk.first, chunk.first + chunk.weights.size());
    if (is_column()) {
        if (begin < end) answer_rows(question.change, table, begin, end, first_ + begin - chunk.first, chunk);
        return;
    }
    for (Index i = begin; i < end; ++i) {
        const auto position = static_cast<std::size_t>(i);
        answer_rows(question.change, table_of(question, polynomials_[position]), i, i + 1,
                    rows_[position] - chunk.first, chunk);
    }
}

// The rows at the positions `begin` to `end` of the block, whose first is row `at` of the chunk.
void ObservedRows::answer_rows(RowChange change, const RowMajorMatrix& table, Index begin, Index end, Index at,
                               RowAnswers& chunk) const {
    const Index size = end - begin;
    const Index own_statistics = statistics();
    for (Index i = 0; i < size; ++i) copy_inputs(begin + i, at + i, chunk);
    if (change == RowChange::weight) {
        RowMajorMatrix coefficients = RowMajorMatrix::Ones(size, own_statistics + 1);
        for (Index i = 0; i < size && kind_; ++i) {
            coefficients.row(i).head(own_statistics) = statistic(*kind_, value(begin + i)).transpose();
        }
        chunk.answers.middleRows(at, size).noalias() += coefficients * table;
        return;
    }
    if (inputs_.empty()) return;
    const Index all_inputs = chunk.inputs.cols();
    for (Index i = 0; i < size; ++i) {
        const Matrix moved = statistic_derivative(*kind_, value(begin + i)).transpose() * table.topRows(own_statistics);
        for (Index d = 0; d < table.cols(); ++d) {
            for (Index p = 0; p < width_; ++p) {
                chunk.answers(at + i, d * all_inputs + inputs_[static_cast<std::size_t>(p)]) += moved(p, d);
            }
        }
    }
}

void ObservedRows::copy_inputs(Index position, Index at, RowAnswers& chunk) const {
    for (std::size_t p = 0; p < inputs_.size(); ++p) {
        chunk.inputs(at, inputs_[p]) = value(position)[static_cast<Index>(p)];
    }
}

RowMajorMatrix ObservedRows::values(const Polynomials& polynomials, const Matrix& means) const {
    return is_column() ? values_from(polynomials, means, polynomials_.front(), statistics() + 1) : RowMajorMatrix();
}

void ObservedRows::evaluate(const Polynomials& polynomials, const Matrix& means, const RowMajorMatrix& shared,
                            RowAnswers& chunk) const {
    const auto [begin, end] = positions(chunk.first, chunk.first + chunk.weights.size());
    RowMajorMatrix own;
    for (Index i = begin; i < end; ++i) {
        const auto position = static_cast<std::size_t>(i);
        const Index at = (is_column() ? first_ + i : rows_[position]) - chunk.first;
        if (!is_column()) own = values_from(polynomials, means, polynomials_[position], statistics() + 1);
        Vector coefficients = Vector::Zero(statistics() + 1);
        double base = 0.0;
        add_coefficients(i, 1.0, coefficients, base);
        copy_inputs(i, at, chunk);
        chunk.answers.row(at) += coefficients.transpose() * (is_column() ? shared : own);
        chunk.answers.row(at).array() += base;
    }
}

void ObservedRows::add_coefficients(Index position, double factor, Vector& coefficients, double& base) const {
    coefficients[coefficients.size() - 1] += factor;
    if (!kind_) return;
    coefficients.head(coefficients.size() - 1) += factor * statistic(*kind_, value(position));
    base += factor * log_base(*kind_, value(position));
}

void ObservedRows::fold(const WeightChanges& changes, RowFold& fold) const {
    Vector coefficients = Vector::Zero(statistics() + 1);
    double base = 0.0;
    const auto flush = [&](std::uint32_t polynomial) {
        for (Index s = 0; s < coefficients.size(); ++s) {
            fold.add(polynomial + static_cast<std::size_t>(s), coefficients[s]);
        }
        fold.add_constant(base);
        coefficients.setZero();
        base = 0.0;
    };
    if (is_column()) {
        const auto [begin, end] = changes_of(changes, first_, first_ + count_);
        for (auto change = begin; change != end; ++change) {
            add_coefficients(change->first - first_, change->second, coefficients, base);
        }
        if (begin != end) flush(polynomials_.front());
        return;
    }
    for (const auto& [row, factor] : changes) {
        const auto [begin, end] = positions(row, row + 1);
        for (Index i = begin; i < end; ++i) {
            add_coefficients(i, factor, coefficients, base);
            flush(polynomials_[static_cast<std::size_t>(i)]);
        }
    }
}

LinearRows::LinearRows(std::int32_t input, Index first, Vector y, Design design, const SparseMatrix& pairs,
                       std::uint32_t polynomial)
    : input_(input),
      first_(first),
      y_(std::move(y)),
      design_(std::move(design)),
      pairs_(pairs),
      polynomial_(polynomial) {}

void LinearRows::read_row(Index n, Entries& entries) const {
    entries.clear();
    if (const auto* dense = std::get_if<RowMajorMatrix>(&design_)) {
        for (Index j = 0; j < dense->cols(); ++j) {
            if ((*dense)(n, j) != 0.0) entries.emplace_back(j, (*dense)(n, j));
        }
        return;
    }
    using Sparse = Eigen::SparseMatrix<double, Eigen::RowMajor>;
    for (Sparse::InnerIterator entry(std::get<Sparse>(design_), n); entry; ++entry) {
        if (entry.value() != 0.0) entries.emplace_back(entry.col(), entry.value());
    }
}

// The number of a pair, row ≥ column. In a design without zeros all pairs are there, and the first guess is right.
Index LinearRows::pair(Index row, Index column) const {
    const int* begin = pairs_.innerIndexPtr() + pairs_.outerIndexPtr()[column];
    const int* end = pairs_.innerIndexPtr() + pairs_.outerIndexPtr()[column + 1];
    const Index guess = row - column;
    if (guess < end - begin && begin[guess] == row) return begin + guess - pairs_.innerIndexPtr();
    return std::lower_bound(begin, end, static_cast<int>(row)) - pairs_.innerIndexPtr();
}

template <class Visit>
void LinearRows::visit_coefficients(double y, const Entries& entries, Visit visit) const {
    visit(Index{0}, y * y);
    visit(Index{1}, 1.0);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto& [row, x] = entries[i];
        visit(2 + row, y * x);
        for (std::size_t k = 0; k <= i; ++k) {
            const auto& [column, other] = entries[k];
            visit(2 + pairs_.cols() + pair(row, column), x * other);
        }
    }
}

RowMajorMatrix LinearRows::table(const RowQuestion& question) const {
    // The pairs do not move with y.
    const Index needed = question.change == RowChange::value ? 2 + pairs_.cols() : polynomial_count();
    return table_from(question, polynomial_, needed);
}

void LinearRows::answer(const RowQuestion& question, const RowMajorMatrix& table, RowAnswers& chunk) const {
    const Index begin = std::max(chunk.first, first_);
    const Index end = std::min(chunk.first + chunk.weights.size(), first_ + y_.size());
    const Index inputs = chunk.inputs.cols();
    Entries entries;
    Eigen::RowVectorXd sum(table.cols());
    for (Index row = begin; row < end; ++row) {
        const double y = y_[row - first_];
        const Index at = row - chunk.first;
        chunk.inputs(at, input_) = y;
        read_row(row - first_, entries);
        if (question.change == RowChange::weight) {
            sum.setZero();
            visit_coefficients(y, entries, [&](Index i, double coefficient) { sum += coefficient * table.row(i); });
            chunk.answers.row(at) += sum;
            continue;
        }
        sum = 2.0 * y * table.row(0);
        for (const auto& [column, x] : entries) sum += x * table.row(2 + column);
        for (Index d = 0; d < sum.size(); ++d) chunk.answers(at, d * inputs + input_) += sum[d];
    }
}

RowMajorMatrix LinearRows::values(const Polynomials& polynomials, const Matrix& means) const {
    return values_from(polynomials, means, polynomial_, polynomial_count());
}

void LinearRows::evaluate(const Polynomials&, const Matrix&, const RowMajorMatrix& values, RowAnswers& chunk) const {
    const Index begin = std::max(chunk.first, first_);
    const Index end = std::min(chunk.first + chunk.weights.size(), first_ + y_.size());
    Entries entries;
    for (Index row = begin; row < end; ++row) {
        const double y = y_[row - first_];
        const Index at = row - chunk.first;
        chunk.inputs(at, input_) = y;
        read_row(row - first_, entries);
        visit_coefficients(y, entries,
                           [&](Index i, double coefficient) { chunk.answers.row(at) += coefficient * values.row(i); });
    }
}

void LinearRows::fold(const WeightChanges& changes, RowFold& fold) const {
    const auto [begin, end] = changes_of(changes, first_, first_ + y_.size());
    if (begin == end) return;
    Vector coefficients = Vector::Zero(polynomial_count());
    Entries entries;
    for (auto change = begin; change != end; ++change) {
        read_row(change->first - first_, entries);
        visit_coefficients(y_[change->first - first_], entries,
                           [&](Index i, double coefficient) { coefficients[i] += change->second * coefficient; });
    }
    for (Index i = 0; i < coefficients.size(); ++i) {
        fold.add(polynomial_ + static_cast<std::size_t>(i), coefficients[i]);
    }
}

void RowTerms::ask(const Layout& layout, const Vector& mean, const Matrix& directions, RowChange change,
                   const Vector& weights, const RowVisitor& visit) const {
    // The entropy of a row's own variables counts with the row, so at the optimum its weight does not pull on them.
    Matrix shared;
    const bool has_own = change == RowChange::weight && !own.empty();
    if (has_own) {
        shared = directions;
        for (const auto& [row, variable] : own) {
            shared.middleRows(layout[variable].offset, layout[variable].size).setZero();
        }
    }
    const RowQuestion question{polynomials, mean, has_own ? shared : directions, change, weights};
    std::vector<RowMajorMatrix> tables;
    tables.reserve(blocks.size());
    for (const std::shared_ptr<const RowBlock>& block : blocks) tables.push_back(block->table(question));

    const Index input_count = static_cast<Index>(inputs.size());
    const Index width = directions.cols() * (change == RowChange::value ? input_count : 1);
    RowAnswers chunk;
    for (; chunk.first < count; chunk.first += kChunk) {
        const Index size = std::min(kChunk, count - chunk.first);
        chunk.inputs = Matrix::Constant(size, input_count, kNone);
        chunk.weights = weights.size() == 0 ? Vector::Ones(size) : Vector(weights.segment(chunk.first, size));
        chunk.answers = Matrix::Zero(size, width);
        for (std::size_t b = 0; b < blocks.size(); ++b) blocks[b]->answer(question, tables[b], chunk);
        if (change == RowChange::value) {
            chunk.answers.array().colwise() *= chunk.weights.array();
        } else if (has_own && weights.size() != 0) {
            for (const auto& [row, variable] : own) {
                const Index at = row - chunk.first;
                if (at >= 0 && at < size && chunk.weights[at] == 0.0) chunk.answers.row(at).setConstant(kNone);
            }
        }
        visit(chunk);
    }
}

void RowTerms::evaluate(const Matrix& means, const Vector& weights, const RowVisitor& visit) const {
    std::vector<RowMajorMatrix> values;
    values.reserve(blocks.size());
    for (const std::shared_ptr<const RowBlock>& block : blocks) values.push_back(block->values(polynomials, means));
    RowAnswers chunk;
    const Index most = rows_at_once(means.cols());
    for (; chunk.first < count; chunk.first += most) {
        const Index size = std::min(most, count - chunk.first);
        chunk.inputs = Matrix::Constant(size, static_cast<Index>(inputs.size()), kNone);
        chunk.weights = weights.size() == 0 ? Vector::Ones(size) : Vector(weights.segment(chunk.first, size));
        chunk.answers = Matrix::Zero(size, means.cols());
        for (std::size_t b = 0; b < blocks.size(); ++b) blocks[b]->evaluate(polynomials, means, values[b], chunk);
        visit(chunk);
    }
}

void RowTerms::fold(const WeightChanges& changes, MonomialSum& sum, std::vector<MonomialSum>& derivatives) const {
    RowFold into{polynomials, sum, derivatives};
    for (const std::shared_ptr<const RowBlock>& block : blocks) block->fold(changes, into);
}

std::string RowTerms::describe(Index row) const {
    Index first = 0;
    for (const auto& [name, size] : sets) {
        if (row < first + size) return fmt::format("row {} of '{}'", row - first + 1, name);
        first += size;
    }
    return fmt::format("row {}", row + 1);
}

}  // namespace lrvb::detail
