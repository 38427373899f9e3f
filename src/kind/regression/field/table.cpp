#include "kind/regression/field/table.hpp"

#include "base/messages.hpp"
#include "data/kept_rows.hpp"
#include "data/part_frames.hpp"
#include "data/rows_digest.hpp"
#include "formula/row_questions.hpp"

#include <lrvb/base/interruption.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>

namespace lrvb::detail {

namespace {

constexpr const char* kQuestion = "regression";

enum class Question : char {
    open,
    weights,
    facts,
    weightless,
    formula,
    design,
    columns,
    data,
    field,
    response,
    moments,
    checksum,
    file_rows
};

char byte(Question question) {
    return static_cast<char>(question);
}

/// A question, or an answer to it, which knows so how it is merged.
std::string about(Question question, const std::string& bytes) {
    return byte(question) + bytes;
}

Question question_of(std::string_view bytes) {
    return static_cast<Question>(bytes[0]);
}

constexpr std::size_t kFewResponses = 20;

// The rows that are kept, with the levels that they had.
void keep_rows_and_levels(DataFrame& frame, const std::vector<Index>& kept) {
    const std::vector<FrameColumn> before = frame.columns;
    keep_rows(frame, kept);
    for (std::size_t j = 0; j < frame.columns.size(); ++j) {
        if (!before[j].is_text()) continue;
        FrameColumn& column = frame.columns[j];
        column.levels = before[j].levels;
        column.codes.clear();
        for (const Index n : kept) column.codes.push_back(before[j].codes[static_cast<std::size_t>(n)]);
    }
}

// A table of no rows.
DataFrame without_rows(DataFrame frame) {
    for (FrameColumn& column : frame.columns) {
        column.codes.clear();
        column.numbers.resize(0);
    }
    frame.rows = 0;
    frame.file_rows.clear();
    return frame;
}

// The different values of each column in the order in which they come; levels that no row has are gone, from both.
void take_values(DataFrame& outline, TableFacts& facts) {
    for (std::size_t j = 0; j < outline.columns.size(); ++j) {
        FrameColumn& column = outline.columns[j];
        ColumnFacts& own = facts[j];
        if (!column.is_text()) {
            column.numbers = Eigen::Map<const Vector>(own.values.data(), static_cast<Index>(own.values.size()));
            continue;
        }
        ColumnFacts found;
        std::vector<std::string> levels;
        for (std::size_t i = 0; i < column.levels.size(); ++i) {
            if (own.counts[i] == 0) continue;
            levels.push_back(std::move(column.levels[i]));
            found.counts.push_back(own.counts[i]);
            found.firsts.push_back(own.firsts[i]);
        }
        column.levels = std::move(levels);
        own = std::move(found);
        column.codes.resize(column.levels.size());
        std::iota(column.codes.begin(), column.codes.end(), 0U);
        std::sort(column.codes.begin(), column.codes.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return own.firsts[a] < own.firsts[b]; });
    }
}

std::string bytes_of(const DesignEnds& ends) {
    return ByteWriter().vector(ends.low).vector(ends.high).numbers(ends.responses).take();
}

DesignEnds ends_of(std::string_view bytes) {
    ByteReader reader(bytes);
    DesignEnds ends;
    ends.low = reader.vector();
    ends.high = reader.vector();
    ends.responses = reader.numbers<double>();
    return ends;
}

std::vector<double> few(const std::set<double>& values) {
    std::vector<double> result(values.begin(), values.end());
    if (result.size() > kFewResponses + 1) result.resize(kFewResponses + 1);
    return result;
}

DesignEnds ends_of(const FormulaDesign& own) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    std::vector<double> low;
    std::vector<double> high;
    const auto add = [&](const auto& values) {
        low.push_back(values.size() > 0 ? values.minCoeff() : infinite);
        high.push_back(values.size() > 0 ? values.maxCoeff() : -infinite);
    };
    add(own.y);
    for (Index j = 0; j < own.columns.cols(); ++j) add(own.columns.col(j));
    for (const RandomTerm& term : own.random) {
        for (Index e = 0; e < term.values.cols(); ++e) add(term.values.col(e));
    }
    add(own.offset);
    std::set<double> responses;
    for (Index n = 0; n < own.y.size() && responses.size() <= kFewResponses; ++n) responses.insert(own.y[n]);
    return {Eigen::Map<const Vector>(low.data(), static_cast<Index>(low.size())),
            Eigen::Map<const Vector>(high.data(), static_cast<Index>(high.size())), few(responses)};
}

DesignEnds merged(DesignEnds left, const DesignEnds& right) {
    left.low = left.low.cwiseMin(right.low);
    left.high = left.high.cwiseMax(right.high);
    std::set<double> responses(left.responses.begin(), left.responses.end());
    responses.insert(right.responses.begin(), right.responses.end());
    left.responses = few(responses);
    return left;
}

/// Of each factor and effect: whether it varies within a group, and while it does not, the value of each group (NaN of
/// one that has no row).
struct EffectValues {
    EffectsVary vary;
    std::vector<std::vector<std::vector<double>>> firsts;

    explicit EffectValues(const FieldData& data) {
        for (const FieldFactor& factor : data.factors) {
            std::vector<char>& own = vary.emplace_back();
            std::vector<std::vector<double>>& values = firsts.emplace_back();
            for (Index e = 0; e < factor.values.cols(); ++e) {
                std::vector<double> first(factor.levels.size(), std::nan(""));
                bool varies = false;
                for (std::size_t n = 0; n < factor.level.size() && !varies; ++n) {
                    varies = differs(first[static_cast<std::size_t>(factor.level[n])],
                                     factor.values(static_cast<Index>(n), e));
                }
                own.push_back(varies);
                values.push_back(varies ? std::vector<double>() : std::move(first));
            }
        }
    }
    explicit EffectValues(std::string_view bytes) {
        ByteReader reader(bytes);
        vary.resize(static_cast<std::size_t>(reader.index()));
        for (std::vector<char>& own : vary) {
            own = reader.numbers<char>();
            std::vector<std::vector<double>>& values = firsts.emplace_back();
            for (std::size_t e = 0; e < own.size(); ++e) values.push_back(reader.numbers<double>());
        }
    }

    void add(const EffectValues& next) {
        for (std::size_t f = 0; f < vary.size(); ++f) {
            for (std::size_t e = 0; e < vary[f].size(); ++e) {
                bool varies = vary[f][e] || next.vary[f][e];
                for (std::size_t l = 0; !varies && l < firsts[f][e].size(); ++l) {
                    const double other = next.firsts[f][e][l];
                    varies = !std::isnan(other) && differs(firsts[f][e][l], other);
                }
                vary[f][e] = varies;
                if (varies) firsts[f][e].clear();
            }
        }
    }

    std::string bytes() const {
        ByteWriter writer;
        writer.number(static_cast<Index>(vary.size()));
        for (std::size_t f = 0; f < vary.size(); ++f) {
            writer.numbers(vary[f]);
            for (const std::vector<double>& values : firsts[f]) writer.numbers(values);
        }
        return writer.take();
    }

  private:
    static bool differs(double& first, double value) {
        if (std::isnan(first)) first = value;
        return first != value;
    }
};

std::string bytes_of(const BlockTree<BlockHash>& tree) {
    ByteWriter writer;
    for (const auto& node : tree.nodes()) writer.number(node.block).number(node.size).number(node.value.hash);
    return writer.take();
}

BlockTree<BlockHash> hashes_of(std::string_view bytes) {
    BlockTree<BlockHash> tree;
    for (ByteReader reader(bytes); !reader.at_end();) {
        BlockTree<BlockHash>::Node node;
        node.block = reader.index();
        node.size = reader.index();
        node.value.hash = reader.number<std::uint64_t>();
        tree.append(node);
    }
    return tree;
}

/// Rows that a team has.
class TeamField final : public FieldRows {
  public:
    TeamField(std::shared_ptr<RowTeam> team, std::shared_ptr<const FieldData> outline)
        : team_(std::move(team)), outline_(std::move(outline)) {}

    std::shared_ptr<const FieldData> outline() const override { return outline_; }
    std::string ask(const std::string& asked) const override {
        return team_->ask(kQuestion, about(Question::field, asked)).substr(1);
    }

  private:
    std::shared_ptr<RowTeam> team_;
    std::shared_ptr<const FieldData> outline_;
};

std::string merged(Question question, const std::string& left, const std::string& right) {
    ByteReader one(left);
    ByteReader other(right);
    switch (question) {
        case Question::weights:
            return ByteWriter().number(std::max(one.number<double>(), other.number<double>())).take();
        case Question::facts: {
            const std::vector<char> every = one.numbers<char>();
            static_cast<void>(other.numbers<char>());
            TableFacts all = table_facts_of(one.text());
            const TableFacts more = table_facts_of(other.text());
            for (std::size_t j = 0; j < all.size(); ++j) all[j].add(more[j], every[j] != 0);
            return ByteWriter().numbers(every).text(bytes_of(all)).take();
        }
        case Question::weightless:
            return ByteWriter().number(one.index() + other.index()).take();
        case Question::formula:
            return merge_formula_answers(left, right);
        case Question::design:
            return bytes_of(merged(ends_of(left), ends_of(right)));
        case Question::columns:
            return merge_column_answers(left, right);
        case Question::data: {
            EffectValues values(left);
            values.add(EffectValues(right));
            return values.bytes();
        }
        case Question::field:
            return FieldShare::merge(left, right);
        case Question::response:
        case Question::moments:
            return merged_block_sums(left, right);
        case Question::checksum: {
            BlockTree<BlockHash> tree = hashes_of(left);
            tree.append(hashes_of(right));
            return bytes_of(tree);
        }
        case Question::file_rows:
            return left + right;
        case Question::open:
            break;
    }
    return {};
}

std::string answer_share(RowShare& share, std::string_view asked) {
    if (question_of(asked) == Question::open) {
        share.kept() = std::make_shared<TableShare>(frame_of(share, outline_of(asked.substr(1))),
                                                    RowBlocks(share.rows(), share.first()));
        return about(Question::open, {});
    }
    return std::static_pointer_cast<TableShare>(share.kept())->answer(asked);
}

}  // namespace

std::vector<RowQuestion> field_questions() {
    return {{kQuestion, answer_share, TableShare::merge}};
}

std::string TableShare::answer(std::string_view asked) {
    const Question question = question_of(asked);
    const std::string_view rest = asked.substr(1);
    ByteReader reader(rest);
    std::string own;
    switch (question) {
        case Question::weights: {
            const Index place = reader.index();
            meaning_ = static_cast<WeightMeaning>(reader.number<int>());
            weights_ = taken_weights(frame_, place, meaning_);
            own = ByteWriter().number(weights_.size() > 0 ? weights_.maxCoeff() : 0.0).take();
            break;
        }
        case Question::facts: {
            const std::vector<char> every = reader.numbers<char>();
            own = ByteWriter()
                      .numbers(every)
                      .text(bytes_of(facts_of(frame_, std::vector<bool>(every.begin(), every.end()))))
                      .take();
            break;
        }
        case Question::weightless:
            own = leave_out_weightless(reader.number<bool>());
            break;
        case Question::formula:
            own = answer_formula(frame_, blocks_, rest);
            break;
        case Question::design: {
            const Document coding = Document::parse(rest);
            make_design(FormulaCoding::read(Fields(coding, "the formula")));
            own = bytes_of(ends_of(design_));
            break;
        }
        case Question::columns:
            own = answer_columns(design_.columns, blocks_, rest);
            break;
        case Question::data:
            own = make_data(rest);
            break;
        case Question::field:
            own = field_->answer(rest);
            break;
        case Question::response: {
            const auto squared = reader.number<bool>();
            own = response_sums(reader.number<double>(), squared);
            break;
        }
        case Question::moments:
            own = answer_moments(*data_, blocks_, rest);
            break;
        case Question::checksum:
            own = checksum();
            break;
        case Question::file_rows: {
            ByteWriter writer;
            for (Index n = 0; n < frame_.rows; ++n) writer.number(frame_.file_row(n));
            own = writer.take();
            break;
        }
        case Question::open:
            break;
    }
    return about(question, own);
}

std::string TableShare::merge(const std::string& left, const std::string& right) {
    return about(question_of(left), merged(question_of(left), left.substr(1), right.substr(1)));
}

std::string TableShare::leave_out_weightless(bool keeps_levels) {
    std::vector<Index> kept;
    for (Index n = 0; n < weights_.size(); ++n) {
        if (weights_[n] > 0.0) kept.push_back(n);
    }
    const Index left_out = weights_.size() - static_cast<Index>(kept.size());
    if (left_out > 0) {
        if (keeps_levels) {
            keep_rows_and_levels(frame_, kept);
        } else {
            keep_rows(frame_, kept);
        }
        weights_ = Vector(weights_(kept));
        blocks_ = blocks_.kept(kept);
    }
    return ByteWriter().number(left_out).take();
}

void TableShare::make_design(const FormulaCoding& coding) {
    design_ = coding.design(frame_);
    if (meaning_ == WeightMeaning::trials) take_shares();
}

void TableShare::take_shares() {
    constexpr double rounding = 1e-6;  // of a share that was written with few digits
    design_.trials = weights_;
    for (Index n = 0; n < design_.y.size(); ++n) {
        const double trials = weights_[n];
        const double share = design_.y[n];
        const double successes = std::round(share * trials);
        if (trials != std::floor(trials)) {
            throw std::runtime_error(fmt::format("{}: the number of trials is {}, but must be whole: correct it",
                                                 frame_.row_name(n), trials));
        }
        if (!(share >= 0.0 && share <= 1.0) ||
            std::abs(share * trials - successes) > rounding * std::max(1.0, trials)) {
            throw std::runtime_error(
                fmt::format("{}: the response {} is {}, which is no share of {} trial{}: correct it",
                            frame_.row_name(n), shown(design_.response), share, trials, trials == 1.0 ? "" : "s"));
        }
        design_.y[n] = successes;
    }
}

std::string TableShare::make_data(std::string_view asked) {
    ByteReader reader(asked);
    const std::vector<Index> kept = reader.numbers<Index>();
    const std::string family = reader.text();
    const std::string link = reader.text();
    FieldData data = field_data(std::move(design_), kept, Likelihood::named(family, link),
                                meaning_ == WeightMeaning::trials ? Vector() : weights_);
    data.precision_weights = meaning_ == WeightMeaning::precision;
    data_ = std::make_shared<const FieldData>(std::move(data));
    design_ = {};
    field_.emplace(data_, blocks_);
    return EffectValues(*data_).bytes();
}

std::string TableShare::response_sums(double about, bool squared) const {
    return block_sums(blocks_, [&](Index begin, Index end) {
        const Vector y = data_->y.segment(begin, end - begin);
        return Vector(Vector::Constant(1, squared ? (y.array() - about).square().sum() : y.sum()));
    });
}

// Of all numbers that were used, block by block.
std::string TableShare::checksum() const {
    BlockTree<BlockHash> tree;
    for (Index b = 0; b < blocks_.count(); ++b) {
        const Index begin = blocks_.begin(b);
        const Index rows = blocks_.end(b) - begin;
        const auto piece = [&](const Vector& numbers) {
            return numbers.size() > 0 ? Vector(numbers.segment(begin, rows)) : Vector();
        };
        Checksum own;
        own.add(piece(data_->y));
        own.add(piece(data_->trials));
        own.add(piece(data_->offset));
        own.add(Matrix(data_->columns.block(begin, 0, rows, data_->slopes())));
        own.add(piece(data_->weights));
        for (const FieldFactor& factor : data_->factors) {
            Vector levels(rows);
            for (Index n = 0; n < rows; ++n) levels[n] = factor.level[static_cast<std::size_t>(begin + n)];
            own.add(levels);
            own.add(Matrix(factor.values.middleRows(begin, rows)));
        }
        tree.append(blocks_.first + b, BlockHash{own.bits()});
    }
    return bytes_of(tree);
}

FieldTable::FieldTable(const Dataset& data, const FrameOptions& options, const Likelihood& likelihood) {
    FrameRows rows = likelihood.is_normal() ? data.frame_rows(options) : FrameRows{data.frame(options), nullptr};
    team_ = std::move(rows.team);
    if (is_here()) {
        const Index count = rows.frame.rows;
        here_ = std::make_unique<TableShare>(std::move(rows.frame), RowBlocks(count));
        return;
    }
    outline_ = std::move(rows.frame);
    ask(byte(Question::open), outline_bytes(outline_));
}

std::string FieldTable::ask(char question, const std::string& asked) const {
    const std::string whole = question + asked;
    std::string answer = is_here() ? here_->answer(whole) : team_->ask(kQuestion, whole);
    interruption_point();
    answer.erase(0, 1);
    return answer;
}

void FieldTable::find_facts(const std::vector<std::string>& every) {
    std::vector<char> marks;
    for (const FrameColumn& column : frame().columns) {
        marks.push_back(std::find(every.begin(), every.end(), column.name) != every.end());
    }
    const std::string answer = ask(byte(Question::facts), ByteWriter().numbers(marks).take());
    ByteReader reader(answer);
    static_cast<void>(reader.numbers<char>());
    facts_ = table_facts_of(reader.text());
    if (!is_here()) take_values(outline_, facts_);
}

void FieldTable::take_weights(Index place, WeightMeaning meaning) {
    meaning_ = meaning;
    const std::string answer =
        ask(byte(Question::weights), ByteWriter().number(place).number(static_cast<int>(meaning)).take());
    largest_weight_ = ByteReader(answer).number<double>();
    if (!is_here()) outline_.columns.erase(outline_.columns.begin() + place);
}

Index FieldTable::leave_out_weightless() {
    const std::string answer = ask(byte(Question::weightless), ByteWriter().number(!is_here()).take());
    const Index count = ByteReader(answer).index();
    left_out_ += count;
    if (!is_here()) outline_.rows -= count;
    return count;
}

std::vector<Index> FieldTable::file_rows() const {
    if (is_here()) return frame().file_rows;
    std::vector<Index> result;
    if (outline_.dropped + left_out_ == 0) return result;
    const std::string answer = ask(byte(Question::file_rows), {});
    for (ByteReader reader(answer); !reader.at_end();) result.push_back(reader.index());
    return result;
}

AskRows FieldTable::ask_formula() const {
    return [this](const std::string& asked) { return ask(byte(Question::formula), asked); };
}

AskRows FieldTable::ask_columns() const {
    return [this](const std::string& asked) { return ask(byte(Question::columns), asked); };
}

DesignEnds FieldTable::make_design(const FormulaCoding& coding) {
    if (!is_here()) return ends_of(ask(byte(Question::design), coding.document().json()));
    here_->make_design(coding);
    return ends_of(here_->design());
}

EffectsVary FieldTable::make_data(const FormulaCoding& coding, const std::vector<Index>& kept,
                                  const std::shared_ptr<const Likelihood>& likelihood) {
    ByteWriter writer;
    writer.numbers(kept).text(likelihood->name()).text(likelihood->link().name);
    const EffectValues values(ask(byte(Question::data), writer.take()));
    if (is_here()) {
        data_ = here_->data();
        return values.vary;
    }
    FieldData outline = field_data(coding.design(without_rows(outline_)), kept, likelihood, {});
    outline.precision_weights = meaning_ == WeightMeaning::precision;
    data_ = std::make_shared<const FieldData>(std::move(outline));
    return values.vary;
}

std::shared_ptr<const FieldRows> FieldTable::rows() const {
    if (is_here()) return std::make_shared<const RowsHere>(data_, here_->blocks());
    return std::make_shared<const TeamField>(team_, data_);
}

FieldMoments FieldTable::moments() const {
    return moments_of(*data_, [this](const std::string& asked) { return ask(byte(Question::moments), asked); });
}

std::string FieldTable::checksum() const {
    return RowsChecksum::text(hashes_of(ask(byte(Question::checksum), {})));
}

double FieldTable::mean() const {
    const Vector sum = total_of(ask(byte(Question::response), ByteWriter().number(false).number(0.0).take()));
    return sum[0] / static_cast<double>(frame().rows);
}

double FieldTable::sd() const {
    const Vector sum = total_of(ask(byte(Question::response), ByteWriter().number(true).number(mean()).take()));
    return std::sqrt(sum[0] / static_cast<double>(frame().rows));
}

}  // namespace lrvb::detail
