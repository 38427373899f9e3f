#include "kind/mixture/questions.hpp"

#include "base/bytes.hpp"
#include "kind/mixture/data.hpp"
#include "kind/mixture/rows.hpp"
#include "model/tally_tree.hpp"

#include <iterator>
#include <utility>

namespace lrvb::detail {

namespace {

void write(ByteWriter& writer, const RowFormat& format) {
    writer.number(format.columns).number(format.weighted).number(format.full).vector(format.centre);
    writer.vector(format.inverse_scale);
}

RowFormat read_format(ByteReader& reader) {
    RowFormat format;
    format.columns = reader.index();
    format.weighted = reader.number<bool>();
    format.full = reader.number<bool>();
    format.centre = reader.vector();
    format.inverse_scale = reader.vector();
    return format;
}

void write(ByteWriter& writer, const MixtureScores& scores) {
    writer.matrix(scores.origins).vector(scores.constants).matrix(scores.squares);
}

MixtureScores read_scores(ByteReader& reader) {
    MixtureScores scores;
    scores.origins = reader.matrix();
    scores.constants = reader.vector();
    scores.squares = reader.matrix();
    return scores;
}

std::string answer_log_sums(RowShare& share, std::string_view asked) {
    ByteReader reader(asked);
    const RowFormat format = read_format(reader);
    const auto threads = reader.number<int>();
    std::vector<MixtureScores> scores(static_cast<std::size_t>(reader.index()));
    for (MixtureScores& one : scores) one = read_scores(reader);
    auto result = std::make_unique<MixtureSums::Implementation>();
    result->tree = block_log_sums(share.source(), share.first(), share.rows(), format, scores, threads);
    return MixtureSums(std::move(result)).bytes();
}

std::string answer_tally(RowShare& share, std::string_view asked) {
    ByteReader reader(asked);
    const RowFormat format = read_format(reader);
    const MixtureScores scores = read_scores(reader);
    std::vector<Matrix> polynomials(static_cast<std::size_t>(reader.index()));
    for (Matrix& polynomial : polynomials) polynomial = reader.matrix();
    const auto change = static_cast<RowChange>(reader.number<int>());
    const auto threads = reader.number<int>();
    const RowTally& tally = find_row_tally(reader.text());
    const std::string wanted = reader.text();
    static_assert(kSuperBlock % kAnsweredRows == 0);
    BlockTree<Tallied> tree;
    ask_mixture_rows(share.source(), share.rows(), format, scores, polynomials, change, threads,
                     [&](const RowAnswers& rows) {
                         RowAnswers numbered = rows;  // among all
                         numbered.first += share.first();
                         tree.append(numbered.first / kAnsweredRows, Tallied{tally.keep(wanted, numbered), &tally});
                     });
    return written(tree, tally);
}

std::string merge_tallies(const std::string& left, const std::string& right) {
    BlockTree<Tallied> tree = tallied_of(left);
    tree.append(tallied_of(right));
    ByteReader name(left);
    return written(tree, find_row_tally(name.text()));
}

std::string merge_sums(const std::string& left, const std::string& right) {
    return (MixtureSums::from_bytes(left) + MixtureSums::from_bytes(right)).bytes();
}

}  // namespace

std::string sums_question(const RowFormat& format, const MixtureScores& scores, const Matrix& pair_origins,
                          const PassOptions& options) {
    ByteWriter writer;
    write(writer, format);
    write(writer, scores);
    return writer.matrix(pair_origins).number(options.threads).number(options.skip_below).take();
}

std::string log_sums_question(const RowFormat& format, const std::vector<MixtureScores>& scores, int threads) {
    ByteWriter writer;
    write(writer, format);
    writer.number(threads).number(static_cast<Index>(scores.size()));
    for (const MixtureScores& one : scores) write(writer, one);
    return writer.take();
}

std::string ask_tally(RowTeam& team, const RowFormat& format, const MixtureScores& scores,
                      const std::vector<Matrix>& polynomials, RowChange change, int threads, const RowTally& tally,
                      const std::string& asked) {
    ByteWriter writer;
    write(writer, format);
    write(writer, scores);
    writer.number(static_cast<Index>(polynomials.size()));
    for (const Matrix& polynomial : polynomials) writer.matrix(polynomial);
    writer.number(static_cast<int>(change)).number(threads).text(tally.name).text(asked);
    return tallied_of(team.ask("mixture.tally", writer.take())).take().bytes;
}

std::vector<RowQuestion> mixture_questions() {
    std::vector<RowQuestion> questions = data_questions_of_mixtures();
    questions.push_back({"mixture.sums",
                         [](RowShare& share, std::string_view asked) { return mixture_sums(share, asked).bytes(); },
                         merge_sums});
    questions.push_back({"mixture.log_sums", answer_log_sums, merge_sums});
    questions.push_back({"mixture.tally", answer_tally, merge_tallies});
    return questions;
}

}  // namespace lrvb::detail

namespace lrvb {

MixtureSums mixture_sums(RowShare& share, std::string_view question) {
    detail::ByteReader reader(question);
    const detail::RowFormat format = detail::read_format(reader);
    const detail::MixtureScores scores = detail::read_scores(reader);
    const Matrix pair_origins = reader.matrix();
    const auto threads = reader.number<int>();
    const auto skip_below = reader.number<double>();
    return detail::share_sums(share, format, scores, pair_origins, {threads, skip_below});
}

}  // namespace lrvb
