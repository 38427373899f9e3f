#include "formula/row_questions.hpp"

#include <lrvb/base/interruption.hpp>
#include <lrvb/formula/design.hpp>

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lrvb {

namespace {

using detail::ByteReader;
using detail::ByteWriter;

constexpr double kCollinear = 1e-9;  // what is left of a column, beside all of it
constexpr double kSuspected = 1e-5;  // the square of what products can tell

enum class Question : int { ends, sums, squares, products, rest };

// How an answer is merged, in its first byte.
constexpr char kEnds = 'e';
constexpr char kSums = 's';

/// Columns about their means and of length one, where they have one; zero where `largest` is.
struct Standard {
    Vector largest;
    Vector mean;
    Vector correction;  // of the mean, which is not known to its last digit
    Vector length;

    Matrix of(const Matrix& columns, Index begin, Index end) const {
        Matrix unit(end - begin, columns.cols());
        for (Index j = 0; j < columns.cols(); ++j) {
            if (!(largest[j] > 0.0)) {
                unit.col(j).setZero();
                continue;
            }
            unit.col(j) = columns.col(j).segment(begin, end - begin) / largest[j];
            unit.col(j).array() -= mean[j];
            unit.col(j).array() -= correction[j];
            unit.col(j) /= length[j];
        }
        return unit;
    }
    void write(ByteWriter& writer) const { writer.vector(largest).vector(mean).vector(correction).vector(length); }
    static Standard read(ByteReader& reader) {
        Standard result;
        result.largest = reader.vector();
        result.mean = reader.vector();
        result.correction = reader.vector();
        result.length = reader.vector();
        return result;
    }
};

/// Of each column the largest number by size, the smallest and the largest.
struct Ends {
    Vector size;
    Vector low;
    Vector high;

    static Ends of(std::string_view bytes) {
        ByteReader reader(bytes);
        Ends ends;
        ends.size = reader.vector();
        ends.low = reader.vector();
        ends.high = reader.vector();
        return ends;
    }
    std::string bytes() const { return kEnds + ByteWriter().vector(size).vector(low).vector(high).take(); }
};

Ends ends_of(const Matrix& columns) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    Ends ends{Vector::Zero(columns.cols()), Vector::Constant(columns.cols(), infinite),
              Vector::Constant(columns.cols(), -infinite)};
    for (Index j = 0; j < columns.cols() && columns.rows() > 0; ++j) {
        ends.size[j] = columns.col(j).cwiseAbs().maxCoeff();
        ends.low[j] = columns.col(j).minCoeff();
        ends.high[j] = columns.col(j).maxCoeff();
    }
    return ends;
}

// XᵀX, some columns at a time, between which it can be interrupted.
Matrix products_of(const Matrix& x) {
    constexpr Index kWork = Index{1} << 28;  // multiplications of some hundredths of a second
    const Index at_once = std::clamp<Index>(kWork / std::max<Index>(1, x.size()), 8, 64);
    Matrix products(x.cols(), x.cols());
    for (Index first = 0; first < x.cols(); first += at_once) {
        interruption_point();
        const Index count = std::min(at_once, x.cols() - first);
        products.block(first, first, x.cols() - first, count).noalias() =
            x.rightCols(x.cols() - first).transpose() * x.middleCols(first, count);
    }
    products.triangularView<Eigen::StrictlyUpper>() = products.transpose();
    return products;
}

class Asking {
  public:
    Asking(const AskRows& ask, Index count) : ask_(ask), count_(count) {}

    Ends ends() const { return Ends::of(ask_(ByteWriter().number(static_cast<int>(Question::ends)).take()).substr(1)); }
    Vector sums(Question question, const Standard& standard) const {
        ByteWriter writer;
        writer.number(static_cast<int>(question));
        standard.write(writer);
        const std::string answer = ask_(writer.take());
        interruption_point();
        return detail::total_of(std::string_view(answer).substr(1));
    }
    /// How much of a column no combination of the kept ones gives, in several rounds: what one leaves is computed anew
    /// from the rows, so that nothing cancels.
    double remainder(const Standard& standard, const std::vector<Index>& kept, Index column,
                     const Matrix& products) const {
        const auto size = static_cast<Index>(kept.size());
        const Eigen::LDLT<Matrix> factored(products(kept, kept));
        Matrix coefficients(size, 0);
        for (int round = 0;; ++round) {
            ByteWriter writer;
            writer.number(static_cast<int>(Question::rest));
            standard.write(writer);
            writer.numbers(kept).number(column).matrix(coefficients);
            const Vector rest = detail::total_of(ask_(writer.take()).substr(1));
            if (round == 4) return std::sqrt(rest[size]);
            coefficients.conservativeResize(size, round + 1);
            coefficients.col(round) = factored.solve(rest.head(size));
        }
    }
    Index count() const { return count_; }

  private:
    const AskRows& ask_;
    Index count_;
};

Standard standard_of(const Asking& ask, bool intercept, const Ends& ends) {
    const Index count = ask.count();
    Standard result{ends.size, Vector::Zero(count), Vector::Zero(count), Vector::Ones(count)};
    for (Index j = 0; j < count; ++j) {
        if (intercept && ends.low[j] == ends.high[j]) result.largest[j] = 0.0;
    }
    if (intercept) {
        const Vector sums = ask.sums(Question::sums, result);  // the last is the number of rows
        const double rows = sums[count];
        result.mean = sums.head(count) / rows;
        result.correction = ask.sums(Question::sums, result).head(count) / rows;
    }
    const Vector squares = ask.sums(Question::squares, result);
    for (Index j = 0; j < count; ++j) {
        if (squares[j] > 0.0) result.length[j] = std::sqrt(squares[j]);
    }
    return result;
}

}  // namespace

namespace detail {

std::string answer_columns(const Matrix& columns, const RowBlocks& blocks, std::string_view asked) {
    ByteReader reader(asked);
    const auto question = static_cast<Question>(reader.number<int>());
    if (question == Question::ends) return ends_of(columns).bytes();
    const Standard standard = Standard::read(reader);
    if (question == Question::rest) {
        const std::vector<Index> kept = reader.numbers<Index>();
        const Index column = reader.index();
        const Matrix coefficients = reader.matrix();
        return kSums + block_sums(blocks, [&](Index begin, Index end) {
                   const Matrix unit = standard.of(columns, begin, end);
                   const Matrix before = unit(Eigen::all, kept);
                   Vector rest = unit.col(column);
                   for (Index round = 0; round < coefficients.cols(); ++round) rest -= before * coefficients.col(round);
                   Vector sums(before.cols() + 1);
                   sums << before.transpose() * rest, rest.squaredNorm();
                   return sums;
               });
    }
    return kSums + block_sums(blocks, [&](Index begin, Index end) {
               const Matrix unit = standard.of(columns, begin, end);
               if (question == Question::squares) return Vector(unit.colwise().squaredNorm().transpose());
               if (question == Question::products) return Vector(products_of(unit).reshaped());
               Vector sums(unit.cols() + 1);
               sums << unit.colwise().sum().transpose(), static_cast<double>(end - begin);
               return sums;
           });
}

std::string merge_column_answers(const std::string& left, const std::string& right) {
    const std::string_view one = std::string_view(left).substr(1);
    const std::string_view other = std::string_view(right).substr(1);
    if (left[0] == kSums) return kSums + merged_block_sums(one, other);
    Ends ends = Ends::of(one);
    const Ends more = Ends::of(other);
    ends.size = ends.size.cwiseMax(more.size);
    ends.low = ends.low.cwiseMin(more.low);
    ends.high = ends.high.cwiseMax(more.high);
    return ends.bytes();
}

}  // namespace detail

std::vector<Index> IdleColumns::all() const {
    std::vector<Index> result = zero;
    result.insert(result.end(), constant.begin(), constant.end());
    result.insert(result.end(), collinear.begin(), collinear.end());
    std::sort(result.begin(), result.end());
    return result;
}

IdleColumns idle_columns(const Matrix& columns, bool intercept) {
    return idle_columns(columns.cols(), intercept, [&](const std::string& asked) {
        return detail::answer_columns(columns, detail::RowBlocks(columns.rows()), asked);
    });
}

IdleColumns idle_columns(Index count, bool intercept, const AskRows& ask) {
    IdleColumns result;
    if (count == 0) return result;
    const Asking asking(ask, count);
    const Ends ends = asking.ends();
    const Standard standard = standard_of(asking, intercept, ends);
    // Cholesky's method in the order of the columns, leaving out those of which nothing is left.
    const Matrix products = asking.sums(Question::products, standard).reshaped(count, count);
    Matrix factor = Matrix::Zero(count, count);
    std::vector<Index> kept;
    for (Index j = 0; j < count; ++j) {
        interruption_point();
        if (!(ends.size[j] > 0.0)) {
            result.zero.push_back(j);
            continue;
        }
        if (!(standard.largest[j] > 0.0)) {
            result.constant.push_back(j);
            continue;
        }
        const auto size = static_cast<Index>(kept.size());
        Vector row = products.col(j)(kept);
        factor.topLeftCorner(size, size).triangularView<Eigen::Lower>().solveInPlace(row);
        double square = 1.0 - row.squaredNorm();
        if (square < kSuspected) {
            const double rest = asking.remainder(standard, kept, j, products);
            if (!(rest > kCollinear)) {
                result.collinear.push_back(j);
                continue;
            }
            square = rest * rest;
        }
        factor.row(size).head(size) = row.transpose();
        factor(size, size) = std::sqrt(square);
        kept.push_back(j);
    }
    return result;
}

}  // namespace lrvb
