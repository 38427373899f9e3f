#include "formula/row_questions.hpp"

#include "base/messages.hpp"
#include "formula/calls.hpp"

#include <lrvb/formula/formula.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>

namespace lrvb::detail {

namespace {

// What an answer is, in its first byte: how it is merged.
constexpr char kSums = 's';
constexpr char kLargest = 'l';  // of each number
constexpr char kValues = 'v';   // different numbers, ascending, or too many of them
constexpr char kCells = 'c';

enum class Question : int { cells, values, sum, squares, largest, projection, square };

Vector largest_of(std::string_view bytes) {
    return ByteReader(bytes).vector();
}

std::vector<double> united(const std::vector<double>& left, const std::vector<double>& right) {
    std::vector<double> result;
    std::set_union(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(result));
    return result;
}

std::string cells_bytes(const std::vector<std::vector<int>>& cells, std::size_t width) {
    ByteWriter writer;
    writer.number(static_cast<Index>(width));
    std::vector<int> all;
    for (const std::vector<int>& cell : cells) all.insert(all.end(), cell.begin(), cell.end());
    return writer.numbers(all).take();
}

std::vector<std::vector<int>> cells_of_bytes(std::string_view bytes) {
    ByteReader reader(bytes);
    const auto width = static_cast<std::size_t>(reader.index());
    const std::vector<int> all = reader.numbers<int>();
    std::vector<std::vector<int>> cells;
    for (auto next = all.begin(); next != all.end(); next += static_cast<std::ptrdiff_t>(width)) {
        cells.emplace_back(next, next + static_cast<std::ptrdiff_t>(width));
    }
    return cells;
}

// A call is named by what is written; where that stands twice both are the same.
const Expression* find_call(const Expression& expression, const std::string& name) {
    if (expression.kind == Expression::Kind::call && written(expression) == name) return &expression;
    for (const Expression& part : expression.parts) {
        if (const Expression* found = find_call(part, name)) return found;
    }
    return nullptr;
}

Vector piece(const Vector& values, Index begin, Index end) {
    return values.segment(begin, end - begin);
}

std::string answer_cells(const DataFrame& frame, ByteReader& reader) {
    RandomGroup group;
    group.columns = reader.texts();
    for (std::size_t i = 0; i < group.columns.size(); ++i) group.column_levels.push_back(reader.texts());
    return kCells + cells_bytes(cells_of(group, frame), group.columns.size());
}

std::string answer_values(const Vector& x, std::size_t most) {
    std::set<double> values;
    for (const double value : x) {
        values.insert(value);
        if (values.size() > most) break;
    }
    return kValues + ByteWriter().numbers(std::vector<double>(values.begin(), values.end())).take();
}

Vector one(double number) {
    return Vector::Constant(1, number);
}

/// What is asked about the numbers that a call is of.
class CallQuestion {
  public:
    CallQuestion(const AskRows& ask, const FormulaSyntax& formula, const std::vector<Learnt>& learnt,
                 const Expression& call)
        : ask_(ask) {
        ByteWriter writer;
        writer.text(formula.text).text(written(call)).number(static_cast<Index>(learnt.size()));
        for (const Learnt& entry : learnt) writer.text(entry.name).vector(entry.numbers);
        about_ = writer.take();
    }

    std::string operator()(Question question, const Vector& numbers, int degree = 0) const {
        ByteWriter writer;
        writer.number(static_cast<int>(question)).text(about_).vector(numbers).number(degree);
        return ask_(writer.take()).substr(1);
    }
    double sum(Question question, const Vector& numbers, int degree = 0) const {
        return total_of((*this)(question, numbers, degree))[0];
    }

  private:
    const AskRows& ask_;
    std::string about_;
};

Vector scale_numbers(const CallQuestion& ask, const DataFrame& frame, const FormulaSyntax& formula,
                     const Expression& call) {
    const ScaleCall how = scale_call(formula, call);
    const auto rows = static_cast<double>(frame.rows);
    const double centre = how.centres ? ask.sum(Question::sum, {}) / rows : 0.0;
    double scale = 1.0;
    if (how.scales) {
        // Without a centre R takes the root mean square, with N − 1.
        scale = std::sqrt(ask.sum(Question::squares, one(centre)) / (rows - 1.0));
        if (!(scale > 0.0) || !std::isfinite(scale)) {
            throw FormulaDataError(
                fmt::format("{}: {} has one value in every row, so that it has no scale: leave it out", frame.name,
                            printable(written(call.parts.front()))),
                formula.text, call.begin);
        }
    }
    return Vector{{centre, scale}};
}

Vector polynomial_numbers(const CallQuestion& ask, const DataFrame& frame, const FormulaSyntax& formula,
                          const Expression& call) {
    const int degree = polynomial_call(formula, call).degree;
    const std::string answer = ask(Question::values, {}, degree);
    if (ByteReader(answer).numbers<double>().size() <= static_cast<std::size_t>(degree)) {
        throw FormulaDataError(
            fmt::format("{}: {} has no more than {} different values, too few for a polynomial of degree {}",
                        frame.name, printable(written(call.parts.front())), degree, degree),
            formula.text, call.begin);
    }
    const auto rows = static_cast<double>(frame.rows);
    PolynomialRule rule{0.0, 1.0, Vector::Zero(degree), Vector::Zero(degree + 1)};
    rule.centre = ask.sum(Question::sum, {}) / rows;
    rule.scale = largest_of(ask(Question::largest, one(rule.centre)))[0];
    rule.n[0] = rows;
    for (int k = 0; k < degree; ++k) {
        rule.a[k] = ask.sum(Question::projection, rule.numbers(), k) / rule.n[k];
        rule.n[k + 1] = ask.sum(Question::square, rule.numbers(), k + 1);
    }
    return rule.numbers();
}

}  // namespace

std::string answer_formula(const DataFrame& frame, const RowBlocks& blocks, std::string_view asked) {
    ByteReader reader(asked);
    const auto question = static_cast<Question>(reader.number<int>());
    if (question == Question::cells) return answer_cells(frame, reader);
    const std::string about = reader.text();
    const Vector numbers = reader.vector();
    const auto degree = reader.number<int>();
    ByteReader call_reader(about);
    const Formula formula = Formula::parse(call_reader.text());
    const std::string name = call_reader.text();
    std::vector<Learnt> learnt(static_cast<std::size_t>(call_reader.index()));
    for (Learnt& entry : learnt) {
        entry.name = call_reader.text();
        entry.numbers = call_reader.vector();
    }
    const FormulaSyntax& syntax = formula.syntax();
    const Expression* call = find_call(syntax.response, name);
    if (call == nullptr) call = find_call(syntax.right, name);
    if (call == nullptr) throw std::logic_error(fmt::format("the formula has no {}", name));
    const Vector x = FrameNumbers(frame, syntax, learnt, true).of(call->parts.front());
    const auto sums = [&](const auto& sum) {
        return kSums + block_sums(blocks, [&](Index begin, Index end) { return one(sum(piece(x, begin, end))); });
    };
    const auto rule = [&] { return PolynomialRule::of(numbers, static_cast<int>(numbers.size() - 3) / 2); };
    switch (question) {
        case Question::values:
            return answer_values(x, static_cast<std::size_t>(degree));
        case Question::sum:
            return sums([](const Vector& own) { return own.sum(); });
        case Question::squares:
            return sums([&](const Vector& own) { return (own.array() - numbers[0]).square().sum(); });
        case Question::largest:
            return kLargest +
                   ByteWriter().vector(one(x.size() > 0 ? (x.array() - numbers[0]).abs().maxCoeff() : 0.0)).take();
        case Question::projection:
            return sums([&](const Vector& own) {
                return rule().scaled(own).dot(Vector(rule().values(own, degree).cwiseAbs2()));
            });
        default:
            return sums([&](const Vector& own) { return rule().values(own, degree).squaredNorm(); });
    }
}

std::string merge_formula_answers(const std::string& left, const std::string& right) {
    const std::string_view one_side = std::string_view(left).substr(1);
    const std::string_view other = std::string_view(right).substr(1);
    switch (left[0]) {
        case kSums:
            return kSums + merged_block_sums(one_side, other);
        case kLargest:
            return kLargest + ByteWriter().vector(largest_of(one_side).cwiseMax(largest_of(other))).take();
        case kValues:
            return kValues +
                   ByteWriter()
                       .numbers(united(ByteReader(one_side).numbers<double>(), ByteReader(other).numbers<double>()))
                       .take();
        default: {
            const std::vector<std::vector<int>> cells = cells_of_bytes(one_side);
            const std::vector<std::vector<int>> more = cells_of_bytes(other);
            std::vector<std::vector<int>> all;
            std::set_union(cells.begin(), cells.end(), more.begin(), more.end(), std::back_inserter(all));
            return kCells + cells_bytes(all, static_cast<std::size_t>(ByteReader(one_side).index()));
        }
    }
}

std::vector<std::vector<int>> ask_cells(const AskRows& ask, const RandomGroup& group) {
    ByteWriter writer;
    writer.number(static_cast<int>(Question::cells)).texts(group.columns);
    for (const std::vector<std::string>& levels : group.column_levels) writer.texts(levels);
    return cells_of_bytes(ask(writer.take()).substr(1));
}

Vector ask_numbers(const AskRows& ask, const DataFrame& frame, const FormulaSyntax& formula,
                   const std::vector<Learnt>& learnt, const Expression& call) {
    const CallQuestion question(ask, formula, learnt, call);
    return call.text == "scale" ? scale_numbers(question, frame, formula, call)
                                : polynomial_numbers(question, frame, formula, call);
}

}  // namespace lrvb::detail
