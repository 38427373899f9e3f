#include "model/field/row_answers.hpp"

#include "model/field/core.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace lrvb::detail {

namespace {

constexpr Index kChunk = 4096;

std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
}

}  // namespace

std::string RowsAsked::bytes() const {
    ByteWriter writer;
    writer.number(static_cast<int>(change)).matrix(directions).vector(x);
    writer.number(tau).number(tau_by_psi).number(log_determinant_by_psi).number(sigma);
    writer.number(static_cast<Index>(precisions.size()));
    for (const Precision& precision : precisions) {
        writer.number(precision.scale).number(static_cast<Index>(precision.factors.size()));
        for (const Matrix& factor : precision.factors) writer.matrix(factor);
        writer.vector(precision.fixed);
    }
    return writer.vector(blocks.numbers()).take();
}

RowsAsked RowsAsked::of(std::string_view bytes, FieldBlocks empty) {
    ByteReader reader(bytes);
    RowsAsked result;
    result.change = static_cast<RowChange>(reader.number<int>());
    result.directions = reader.matrix();
    result.x = reader.vector();
    result.tau = reader.number<double>();
    result.tau_by_psi = reader.number<double>();
    result.log_determinant_by_psi = reader.number<double>();
    result.sigma = reader.index();
    result.precisions.resize(at(reader.index()));
    for (Precision& precision : result.precisions) {
        precision.scale = reader.number<double>();
        precision.factors.resize(at(reader.index()));
        for (Matrix& factor : precision.factors) factor = reader.matrix();
        precision.fixed = reader.vector();
    }
    result.blocks = std::move(empty);
    result.blocks.set(reader.vector());
    return result;
}

NormalRowAnswers::NormalRowAnswers(RowsAsked asked, std::shared_ptr<const PrecisionPlan> plan)
    : asked_(std::move(asked)), plan_(std::move(plan)) {
    for (const RowsAsked::Precision& precision : asked_.precisions) {
        auto own = std::make_unique<InverseAt>(InverseAt{PrecisionFactor(plan_), nullptr});
        if (!own->factor.factorise(asked_.blocks, precision.scale, precision.fixed, precision.factors)) {
            throw std::domain_error("the precision of the field cannot be factored at these sds");
        }
        own->inverse = std::make_unique<PrecisionInverse>(own->factor);
        inverses_.push_back(std::move(own));
    }
}

void NormalRowAnswers::visit(Index begin, Index end, Index first, const RowVisitor& visit) const {
    const FieldDesign& design = plan_->structure().design();
    const FieldShape& shape = design.shape();
    const Index k = asked_.directions.rows() - shape.size;
    const auto variance = [&](Index inverse, Index n) { return inverses_[at(inverse)]->inverse->row_variance(n); };
    Vector by_psi(k);
    std::vector<double> entries(at(std::max<Index>(shape.fixed, 64)));
    for (const FieldShape::Factor& factor : shape.factors) {
        entries.resize(std::max(entries.size(), at(factor.effects)));
    }
    RowAnswers answers;
    for (Index chunk = begin; chunk < end; chunk += kChunk) {
        const Index size = std::min(kChunk, end - chunk);
        answers.first = first + chunk - begin;
        answers.inputs = design.data().y.segment(chunk, size);
        answers.weights = row_weights(design.data(), chunk, size);
        answers.answers.resize(size, asked_.directions.cols());
        const Vector predictor = design.predictor(asked_.x, chunk, size);
        for (Index i = 0; i < size; ++i) {
            const Index n = chunk + i;
            const double residual = design.response(n) - predictor[i];
            const double precision = design.data().precision(n);
            const double tau = precision * asked_.tau;
            const double tau_by_psi = precision * asked_.tau_by_psi;
            double along = tau * residual;  // of the row's entries, in the coefficients
            by_psi.setZero();
            if (asked_.change == RowChange::value) {
                const double unit = design.units().response_scale;
                along = answers.weights[i] * tau / unit;
                by_psi[asked_.sigma] = -answers.weights[i] * tau_by_psi * residual / unit;
            } else {
                for (Index j = 0; j < k; ++j) {
                    const double difference = variance(1 + 2 * j, n) - variance(2 + 2 * j, n);
                    by_psi[j] = -0.5 * tau * difference / (2.0 * kPsiStep);
                }
                by_psi[asked_.sigma] -=
                    0.5 * (asked_.log_determinant_by_psi + tau_by_psi * (residual * residual + variance(0, n)));
            }
            Eigen::RowVectorXd answer = by_psi.transpose() * asked_.directions.topRows(k);
            design.fixed_row(n, entries.data());
            for (Index j = 0; j < shape.fixed; ++j) answer += along * entries[at(j)] * asked_.directions.row(k + j);
            for (std::size_t f = 0; f < shape.factors.size(); ++f) {
                design.effect_row(n, f, entries.data());
                const Index position = k + design.level_position(n, f);
                for (Index e = 0; e < shape.factors[f].effects; ++e) {
                    answer += along * entries[at(e)] * asked_.directions.row(position + e);
                }
            }
            answers.answers.row(i) = answer;
        }
        visit(answers);
    }
}

BlockTree<Tallied> NormalRowAnswers::tallied(const RowBlocks& blocks, Index first, const RowTally& tally,
                                             std::string_view wanted) const {
    BlockTree<Tallied> result;
    for (Index b = 0; b < blocks.count(); ++b) {
        BlockTree<Tallied> own;
        Index some = 0;
        visit(blocks.begin(b), blocks.end(b), first + blocks.begin(b), [&](const RowAnswers& rows) {
            own.append(some++, Tallied{tally.keep(wanted, rows), &tally});
        });
        result.append(blocks.first + b, own.empty() ? Tallied{{}, &tally} : own.take());
    }
    return result;
}

Vector row_weights(const FieldData& data, Index first, Index count) {
    if (data.weights.size() == 0) return Vector::Ones(count);
    Vector result(count);
    for (Index i = 0; i < count; ++i) result[i] = data.count(first + i);
    return result;
}

std::string bytes_of(const RowAnswers& rows) {
    return ByteWriter().number(rows.first).matrix(rows.inputs).vector(rows.weights).matrix(rows.answers).take();
}

RowAnswers row_answers_of(ByteReader& reader) {
    RowAnswers rows;
    rows.first = reader.index();
    rows.inputs = reader.matrix();
    rows.weights = reader.vector();
    rows.answers = reader.matrix();
    return rows;
}

}  // namespace lrvb::detail
