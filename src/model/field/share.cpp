#include "model/field/share.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace lrvb::detail {

namespace {

enum class Question : int {
    first,
    sums,
    squares,
    copies,
    meetings,
    structure,
    fold,
    residuals,
    block_rows,
    block,
    asked,
    answers,
    tally
};

// How an answer is merged, in its first byte.
constexpr char kFirst = 'f';
constexpr char kSums = 's';
constexpr char kCopies = 'c';
constexpr char kMeetings = 'm';
constexpr char kList = 'l';   // one behind the other
constexpr char kTally = 't';  // what a tally kept
constexpr char kNothing = 'n';

ByteWriter writer_of(Question question) {
    ByteWriter writer;
    writer.number(static_cast<int>(question));
    return writer;
}

Index value_count(const FieldData& data) {
    Index count = 1 + data.columns.cols();
    for (const FieldFactor& factor : data.factors) count += factor.values.cols();
    return count;
}

// visit(place, value of a row), in the order of FieldScales.
template <class Visit>
void for_each_value(const FieldData& data, const Visit& visit) {
    visit(Index{0}, [&](Index n) { return data.y[n] - data.offset_of(n); });
    for (Index j = 0; j < data.columns.cols(); ++j) {
        visit(FieldScales::column(j), [&, j](Index n) { return data.columns(n, j); });
    }
    for (std::size_t f = 0; f < data.factors.size(); ++f) {
        const Matrix& values = data.factors[f].values;
        for (Index e = 0; e < values.cols(); ++e) {
            visit(FieldScales::effect(data, f, e), [&, e](Index n) { return values(n, e); });
        }
    }
}

// Of the first row that counts.
Vector first_values(const FieldData& data) {
    Index first = 0;
    while (first < data.y.size() && !(data.weight(first) > 0.0)) ++first;
    if (first == data.y.size()) return {};
    Vector result(value_count(data));
    for_each_value(data, [&](Index place, const auto& value) { result[place] = value(first); });
    return result;
}

// Σ w (v − reference), and Σ w and Σ log precision behind them.
Vector sums_about(const FieldData& data, const Vector& reference, Index begin, Index end) {
    const Index count = value_count(data);
    Vector result(count + 2);
    for_each_value(data, [&](Index place, const auto& value) {
        double sum = 0.0;
        for (Index n = begin; n < end; ++n) {
            if (data.count(n) > 0.0) sum += data.count(n) * (value(n) - reference[place]);
        }
        result[place] = sum;
    });
    result.tail(2).setZero();
    for (Index n = begin; n < end; ++n) {
        result[count] += data.count(n);
        result[count + 1] += std::log(data.precision(n));
    }
    return result;
}

// Σ w (v − centre)².
Vector squares_about(const FieldData& data, const Vector& centre, Index begin, Index end) {
    Vector result(value_count(data));
    for_each_value(data, [&](Index place, const auto& value) {
        double sum = 0.0;
        for (Index n = begin; n < end; ++n) {
            const double difference = value(n) - centre[place];
            if (data.count(n) > 0.0) sum += data.count(n) * difference * difference;
        }
        result[place] = sum;
    });
    return result;
}

void write(ByteWriter& writer, const FieldCopies& copies) {
    for (std::size_t f = 0; f < copies.ones.size(); ++f) {
        writer.numbers(copies.ones[f]);
        for (const std::vector<char>& own : copies.of_column[f]) writer.numbers(own);
    }
}

FieldCopies read_copies(ByteReader& reader, std::size_t factors) {
    FieldCopies result;
    for (std::size_t f = 0; f < factors; ++f) {
        result.ones.push_back(reader.numbers<char>());
        std::vector<std::vector<char>>& own = result.of_column.emplace_back();
        for (std::size_t e = 0; e < result.ones[f].size(); ++e) own.push_back(reader.numbers<char>());
    }
    return result;
}

void write(ByteWriter& writer, const std::vector<Meetings>& meetings) {
    writer.number(static_cast<Index>(meetings.size()));
    for (const Meetings& own : meetings) writer.numbers(own);
}

std::vector<Meetings> read_meetings(ByteReader& reader) {
    std::vector<Meetings> result(static_cast<std::size_t>(reader.index()));
    for (Meetings& own : result) own = reader.numbers<std::int64_t>();
    return result;
}

void write(ByteWriter& writer, const FieldUnits& units) {
    writer.number(units.response_centre).number(units.response_scale).vector(units.centre).vector(units.scale);
    for (const Vector& own : units.effect_centre) writer.vector(own);
    for (const Vector& own : units.effect_scale) writer.vector(own);
}

FieldUnits read_units(ByteReader& reader, std::size_t factors) {
    FieldUnits units;
    units.response_centre = reader.number<double>();
    units.response_scale = reader.number<double>();
    units.centre = reader.vector();
    units.scale = reader.vector();
    for (std::size_t f = 0; f < factors; ++f) units.effect_centre.push_back(reader.vector());
    for (std::size_t f = 0; f < factors; ++f) units.effect_scale.push_back(reader.vector());
    return units;
}

std::string merged_copies(std::string_view left, std::string_view right) {
    ByteReader one(left);
    ByteReader other(right);
    const Index factors = one.index();
    static_cast<void>(other.index());
    FieldCopies copies = read_copies(one, static_cast<std::size_t>(factors));
    copies.add(read_copies(other, static_cast<std::size_t>(factors)));
    ByteWriter writer;
    writer.number(factors);
    write(writer, copies);
    return writer.take();
}

std::string merged_meetings(std::string_view left, std::string_view right) {
    ByteReader one(left);
    ByteReader other(right);
    const std::vector<Meetings> own = read_meetings(one);
    const std::vector<Meetings> more = read_meetings(other);
    std::vector<Meetings> all(own.size());
    for (std::size_t k = 0; k < own.size(); ++k) {
        std::set_union(own[k].begin(), own[k].end(), more[k].begin(), more[k].end(), std::back_inserter(all[k]));
    }
    ByteWriter writer;
    write(writer, all);
    return writer.take();
}

std::string merged_tallies(std::string_view left, std::string_view right) {
    BlockTree<Tallied> tree = tallied_of(left);
    tree.append(tallied_of(right));
    return written(tree, find_row_tally(ByteReader(left).text()));
}

// Rows of a field as numbers.
std::string rows_bytes(const FieldData& data, Index begin, Index end) {
    ByteWriter writer;
    const Index count = end - begin;
    for (const Vector* numbers : {&data.y, &data.trials, &data.offset, &data.weights}) {
        writer.vector(numbers->size() > 0 ? Vector(numbers->segment(begin, count)) : Vector());
    }
    writer.matrix(data.columns.middleRows(begin, count));
    for (const FieldFactor& factor : data.factors) {
        writer.numbers(std::vector<int>(factor.level.begin() + begin, factor.level.begin() + end));
        writer.matrix(factor.values.middleRows(begin, count));
    }
    return writer.take();
}

// The same into data that have room for all rows.
void put_rows(std::string_view bytes, Index begin, FieldData& data) {
    ByteReader reader(bytes);
    const Index rows = data.y.size();
    for (Vector* numbers : {&data.y, &data.trials, &data.offset, &data.weights}) {
        const Vector own = reader.vector();
        if (own.size() == 0) continue;
        numbers->conservativeResize(rows);
        numbers->segment(begin, own.size()) = own;
    }
    const auto put = [&](Matrix& numbers) {
        const Matrix own = reader.matrix();
        numbers.middleRows(begin, own.rows()) = own;
    };
    put(data.columns);
    for (FieldFactor& factor : data.factors) {
        const std::vector<int> levels = reader.numbers<int>();
        std::copy(levels.begin(), levels.end(), factor.level.begin() + begin);
        put(factor.values);
    }
}

// How many rows each super-block has, over all.
std::vector<Index> ask_block_rows(const FieldRows& rows) {
    const std::string answer = rows.ask(writer_of(Question::block_rows).take());
    std::vector<Index> result;
    for (ByteReader reader(std::string_view(answer).substr(1)); !reader.at_end();) result.push_back(reader.index());
    return result;
}

Vector ask_sums(const FieldRows& rows, ByteWriter& writer) {
    return total_of(rows.ask(writer.take()).substr(1));
}

}  // namespace

FieldShare::FieldShare(std::shared_ptr<const FieldData> data, RowBlocks blocks)
    : data_(std::move(data)), blocks_(std::move(blocks)) {}

Vector FieldShare::weights() const {
    return data_->weights.size() > 0 ? data_->weights : Vector(Vector::Ones(data_->y.size()));
}

std::string FieldShare::answer(std::string_view asked) {
    ByteReader reader(asked);
    const auto question = static_cast<Question>(reader.number<int>());
    switch (question) {
        case Question::first:
            return kFirst + ByteWriter().vector(first_values(*data_)).take();
        case Question::sums:
        case Question::squares: {
            const Vector about = reader.vector();
            return kSums + block_sums(blocks_, [&](Index begin, Index end) {
                       return question == Question::sums ? sums_about(*data_, about, begin, end)
                                                         : squares_about(*data_, about, begin, end);
                   });
        }
        case Question::copies: {
            ByteWriter writer;
            writer.number(static_cast<Index>(data_->factors.size()));
            write(writer, FieldCopies::of(*data_));
            return kCopies + writer.take();
        }
        case Question::meetings: {
            // Those of the rows do not depend on units.
            const FieldScales any{1.0, Vector::Zero(value_count(*data_)), Vector::Ones(value_count(*data_)),
                                  Vector::Ones(value_count(*data_)), 0.0};
            const FieldStructure own(std::make_shared<const FieldDesign>(data_, FieldUnits(*data_, any)));
            ByteWriter writer;
            write(writer, own.meetings());
            return kMeetings + writer.take();
        }
        case Question::structure: {
            FieldUnits units = read_units(reader, data_->factors.size());
            const std::vector<Meetings> meetings = read_meetings(reader);
            FieldCopies copies = read_copies(reader, data_->factors.size());
            structure_ = std::make_shared<const FieldStructure>(
                std::make_shared<const FieldDesign>(data_, std::move(units)), meetings, std::move(copies));
            plan_.reset();
            answers_.reset();
            return std::string(1, kNothing);
        }
        case Question::fold: {
            const Vector own = weights();
            return kSums + block_sums(blocks_, [&](Index begin, Index end) {
                       return structure_->fold(own, begin, end).numbers();
                   });
        }
        case Question::block_rows: {
            ByteWriter writer;
            for (Index b = 0; b < blocks_.count(); ++b) writer.number(blocks_.end(b) - blocks_.begin(b));
            return kList + writer.take();
        }
        case Question::block: {
            const Index block = reader.index();
            if (!has_block(block)) return std::string(1, kList);
            return kList + rows_bytes(*data_, blocks_.begin(block - blocks_.first), blocks_.end(block - blocks_.first));
        }
        case Question::asked:
            take_asked(reader);
            return std::string(1, kNothing);
        case Question::answers: {
            const Index block = reader.index();
            std::string all(1, kList);
            if (!has_block(block)) return all;
            const Index begin = blocks_.begin(block - blocks_.first);
            answers_->visit(begin, blocks_.end(block - blocks_.first), first_row_ + begin,
                            [&](const RowAnswers& rows) { all += bytes_of(rows); });
            return all;
        }
        case Question::tally: {
            const RowTally& tally = find_row_tally(reader.text());
            return kTally + written(answers_->tallied(blocks_, first_row_, tally, reader.rest()), tally);
        }
        case Question::residuals:
            break;
    }
    const Vector origin = reader.vector();
    const FieldDesign& design = structure_->design();
    return kSums + block_sums(blocks_, [&](Index begin, Index end) {
               Vector residuals = design.predictor(origin, begin, end - begin);
               double squared = 0.0;
               for (Index i = 0; i < residuals.size(); ++i) {
                   const double residual = design.response(begin + i) - residuals[i];
                   residuals[i] = data_->weight(begin + i) * residual;
                   squared += residuals[i] * residual;
               }
               Vector result(1 + origin.size());
               result << squared, design.transposed(residuals, begin);
               return result;
           });
}

// With the rows of all super-blocks, which tell what the first one here is called.
void FieldShare::take_asked(ByteReader& reader) {
    const std::vector<Index> rows = reader.numbers<Index>();
    first_row_ = std::accumulate(rows.begin(), rows.begin() + blocks_.first, Index{0});
    if (!plan_) plan_ = std::make_shared<const PrecisionPlan>(structure_);
    answers_.reset();
    answers_ =
        std::make_unique<const NormalRowAnswers>(RowsAsked::of(reader.rest(), structure_->empty_blocks()), plan_);
}

std::string FieldShare::merge(const std::string& left, const std::string& right) {
    const std::string_view one = std::string_view(left).substr(1);
    const std::string_view other = std::string_view(right).substr(1);
    switch (left[0]) {
        case kSums:
            return kSums + merged_block_sums(one, other);
        case kCopies:
            return kCopies + merged_copies(one, other);
        case kMeetings:
            return kMeetings + merged_meetings(one, other);
        case kTally:
            return kTally + merged_tallies(one, other);
        case kList:
            return left + std::string(other);
        case kFirst:
            return ByteReader(one).vector().size() > 0 ? left : right;
        default:
            return left;
    }
}

FieldScales scales_of(const FieldRows& rows) {
    FieldScales scales;
    const Vector first = ByteReader(std::string_view(rows.ask(writer_of(Question::first).take())).substr(1)).vector();
    if (first.size() == 0) throw std::runtime_error("there are no rows with weight: nothing can be fitted");
    const Vector sums = ask_sums(rows, writer_of(Question::sums).vector(first));
    const Index count = first.size();
    scales.total = sums[count];
    scales.log_precisions = sums[count + 1];
    scales.mean = first + sums.head(count) / scales.total;
    scales.about_mean = ask_sums(rows, writer_of(Question::squares).vector(scales.mean));
    scales.about_zero = ask_sums(rows, writer_of(Question::squares).vector(Vector::Zero(count)));
    return scales;
}

FieldScales scales_of(const FieldData& data) {
    // Not to be deleted by who holds it here.
    return scales_of(RowsHere(std::shared_ptr<const FieldData>(std::shared_ptr<void>(), &data)));
}

std::shared_ptr<const FieldStructure> ask_structure(const FieldRows& rows,
                                                    const std::shared_ptr<const FieldDesign>& design) {
    const std::string met = rows.ask(writer_of(Question::meetings).take());
    ByteReader meetings_reader(std::string_view(met).substr(1));
    const std::vector<Meetings> meetings = read_meetings(meetings_reader);
    const std::string same = rows.ask(writer_of(Question::copies).take());
    ByteReader copies_reader(std::string_view(same).substr(1));
    const Index factors = copies_reader.index();
    FieldCopies copies = read_copies(copies_reader, static_cast<std::size_t>(factors));
    ByteWriter writer = writer_of(Question::structure);
    write(writer, design->units());
    write(writer, meetings);
    write(writer, copies);
    rows.ask(writer.take());
    return std::make_shared<const FieldStructure>(design, meetings, std::move(copies));
}

FieldBlocks ask_fold(const FieldRows& rows, const FieldStructure& structure) {
    FieldBlocks blocks = structure.empty_blocks();
    ByteWriter writer = writer_of(Question::fold);
    blocks.set(ask_sums(rows, writer));
    return blocks;
}

FieldResiduals ask_residuals(const FieldRows& rows, const Vector& origin) {
    ByteWriter writer = writer_of(Question::residuals);
    const Vector sums = ask_sums(rows, writer.vector(origin));
    return {sums[0], sums.tail(origin.size())};
}

AskedRows::AskedRows(const FieldRows& rows, const RowsAsked& asked) : rows_(rows) {
    const std::vector<Index> block_rows = ask_block_rows(rows);
    blocks_ = static_cast<Index>(block_rows.size());
    rows_.ask(writer_of(Question::asked).numbers(block_rows).take() + asked.bytes());
}

void AskedRows::visit(const RowVisitor& visit) const {
    for (Index block = 0; block < blocks_; ++block) {
        const std::string answer = rows_.ask(writer_of(Question::answers).number(block).take());
        for (ByteReader reader(std::string_view(answer).substr(1)); !reader.at_end();) visit(row_answers_of(reader));
    }
}

std::string AskedRows::tally(const RowTally& tally, const std::string& wanted) const {
    const std::string answer = rows_.ask(writer_of(Question::tally).text(tally.name).take() + wanted);
    return tallied_of(std::string_view(answer).substr(1)).take().bytes;
}

FieldData bring_rows(const FieldRows& rows) {
    const std::vector<Index> block_rows = ask_block_rows(rows);
    const Index count = std::accumulate(block_rows.begin(), block_rows.end(), Index{0});
    FieldData data = *rows.outline();
    data.y.resize(count);
    data.columns.resize(count, data.columns.cols());
    for (FieldFactor& factor : data.factors) {
        factor.level.resize(static_cast<std::size_t>(count));
        factor.values.resize(count, factor.values.cols());
    }
    Index begin = 0;
    for (std::size_t block = 0; block < block_rows.size(); ++block) {
        const std::string answer = rows.ask(writer_of(Question::block).number(static_cast<Index>(block)).take());
        put_rows(std::string_view(answer).substr(1), begin, data);
        begin += block_rows[block];
    }
    return data;
}

}  // namespace lrvb::detail
