#include "kind/mixture/data.hpp"

#include "base/block_tree.hpp"
#include "base/bytes.hpp"
#include "base/messages.hpp"
#include "base/parallel.hpp"
#include "base/validate.hpp"

#include <lrvb/data/row_team.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lrvb::detail {

namespace {

constexpr Index kSampleRows = 4096;
constexpr Index kBlock = 256;
constexpr Index kTaskRows = 16 * kBlock;
constexpr Index kReadRows = 16 * kTaskRows;
static_assert(kReadRows == kSuperBlock);
constexpr int kLloydRounds = 10;
constexpr double kSmallestSd = 1e-70;  // of a column; its fourth power is still a number

[[noreturn]] void refuse(const RowSource& source, const std::string& reason) {
    throw std::runtime_error(fmt::format("{}: {}", source.name(), reason));
}

// Weighted moments of each column. Parts are merged by Chan's formula, so that neither the order of the rows nor an
// offset costs digits.
struct Moments {
    explicit Moments(Index columns)
        : mean(Vector::Zero(columns)),
          squares(Vector::Zero(columns)),
          smallest(Vector::Constant(columns, std::numeric_limits<double>::infinity())),
          largest(-smallest) {}

    void add(const Moments& other) {
        used += other.used;
        is_bad = is_bad || other.is_bad;
        if (!(other.weight > 0.0)) return;
        const double total = weight + other.weight;
        const Vector off = other.mean - mean;
        mean += other.weight / total * off;
        squares += other.squares + weight * (other.weight / total) * off.cwiseAbs2();
        weight = total;
        smallest = smallest.cwiseMin(other.smallest);
        largest = largest.cwiseMax(other.largest);
    }

    void write(ByteWriter& writer) const {
        writer.number(used).number(weight).vector(mean).vector(squares).vector(smallest).vector(largest);
    }
    static Moments read(ByteReader& reader) {
        Moments moments(0);
        moments.used = reader.index();
        moments.weight = reader.number<double>();
        moments.mean = reader.vector();
        moments.squares = reader.vector();
        moments.smallest = reader.vector();
        moments.largest = reader.vector();
        return moments;
    }

    Index used = 0;  // rows that have weight
    double weight = 0.0;
    Vector mean;
    Vector squares;  // Σ w (x − mean)²
    Vector smallest;
    Vector largest;
    bool is_bad = false;  // a value that is no number, or a weight that is none
};

// Which rows a uniform sample of kSampleRows of them takes, of those that have weight, by their number among these:
// Li's algorithm L. After the reservoir is full the next row to enter it is drawn, and those before it are passed by.
class Reservoir {
  public:
    /// The number, from 1, of the next row to be taken.
    Index next() const { return next_; }

    /// Takes it: its place in the sample.
    Index take() {
        Index place = next_ - 1;
        if (next_ > kSampleRows) {
            place = std::min(kSampleRows - 1, static_cast<Index>(random_.uniform() * static_cast<double>(kSampleRows)));
        }
        if (next_ < kSampleRows) {
            ++next_;
            return place;
        }
        log_threshold_ += std::log(random_.uniform()) / static_cast<double>(kSampleRows);
        const double skipped = std::log(random_.uniform()) / std::log1p(-std::exp(log_threshold_));
        next_ = skipped < 1e15 ? next_ + 1 + static_cast<Index>(skipped) : std::numeric_limits<Index>::max();
        return place;
    }

  private:
    Random random_{0x6d697874757265};
    double log_threshold_ = 0.0;
    Index next_ = 1;
};

// Reads rows: their moments, and a uniform sample of those that have weight.
class Summary {
  public:
    /// `first_row` of all is the first that is added.
    Summary(const RowSource& source, Index columns, bool weighted, int threads, Index first_row = 0)
        : source_(source),
          columns_(columns),
          weighted_(weighted),
          threads_(threads),
          rows_(first_row),
          moments_(columns) {}

    /// A super-block of rows, or the last of them.
    void add(const double* rows, Index count) {
        const Index tasks = (count + kTaskRows - 1) / kTaskRows;
        std::vector<Moments> parts(static_cast<std::size_t>(tasks), Moments(columns_));
        in_parallel(threads_, tasks, [&](Index t) {
            const Index end = std::min(count, (t + 1) * kTaskRows);
            for (Index begin = t * kTaskRows; begin < end; begin += kBlock) {
                parts[static_cast<std::size_t>(t)].add(
                    moments_of(rows + begin * width(), std::min(kBlock, end - begin)));
            }
        });
        Moments block(columns_);
        for (const Moments& part : parts) block.add(part);
        if (block.is_bad) refuse_first_bad(rows, count);
        tree_.append(rows_ / kSuperBlock, std::move(block));
        rows_ += count;
    }

    const BlockTree<Moments>& tree() const { return tree_; }

    void set_moments(BlockTree<Moments> tree, Index rows) {
        if (!tree.empty()) moments_ = tree.take();
        rows_ = rows;
    }

    /// One that the sample takes.
    void keep(const double* row, Index place) {
        if (place >= static_cast<Index>(sample_weights_.size())) {
            sample_.resize(static_cast<std::size_t>((place + 1) * columns_));
            sample_weights_.resize(static_cast<std::size_t>(place + 1));
        }
        std::copy(row, row + columns_, sample_.begin() + place * columns_);
        sample_weights_[static_cast<std::size_t>(place)] = weighted_ ? row[columns_] : 1.0;
    }

    /// Those of these rows that the sample takes.
    void sample(const double* rows, Index count) {
        for (Index i = 0; i < count; ++i) {
            if (!weighted_) {
                const Index skipped = std::min(reservoir_.next() - sampled_ - 1, count - i);
                sampled_ += skipped;
                i += skipped;
                if (i == count) return;
            }
            const double* row = rows + i * width();
            if (weighted_ && row[columns_] == 0.0) continue;
            if (++sampled_ == reservoir_.next()) keep(row, reservoir_.take());
        }
    }

    RowSummary finished(const MixtureSpecification& specification) const {
        RowSummary summary;
        summary.rows = rows_;
        summary.used_rows = moments_.used;
        summary.total_weight = moments_.weight;
        summary.format.columns = columns_;
        summary.format.weighted = weighted_;
        summary.format.full = columns_ > 1 && specification.covariance == MixtureCovariance::full;
        if (specification.standardisation) {
            summary.format.centre = specification.standardisation->first;
            summary.format.inverse_scale = specification.standardisation->second.cwiseInverse();
        } else {
            if (moments_.used < specification.components) {
                if (moments_.used == 0) refuse(source_, "no row has a weight above zero: check the weights");
                refuse(source_, fmt::format("{} with weight {} fewer than {} components; ask for fewer components",
                                            moments_.used == 1 ? "1 row" : fmt::format("{} rows", moments_.used),
                                            moments_.used == 1 ? "is" : "are", specification.components));
            }
            if (!(moments_.weight < 1e18))  // NaN too
                refuse(source_, "the weights add up to more than a number can hold; scale them down");
            summary.format.centre = moments_.mean;
            summary.format.inverse_scale = standard_deviations(specification.prior.has_value()).cwiseInverse();
        }
        const Index kept = static_cast<Index>(sample_weights_.size());
        const Eigen::Map<const Matrix> columnwise(sample_.data(), columns_, kept);
        summary.sample =
            (columnwise.colwise() - summary.format.centre).transpose() * summary.format.inverse_scale.asDiagonal();
        summary.sample_weights = Eigen::Map<const Vector>(sample_weights_.data(), kept);
        return summary;
    }

  private:
    Index width() const { return columns_ + (weighted_ ? 1 : 0); }

    // Of a block, by two looks at each column: first its mean, then the squares about it.
    Moments moments_of(const double* rows, Index count) const {
        Moments moments(columns_);
        Eigen::Array<double, Eigen::Dynamic, 1> x(count);
        Eigen::Array<double, Eigen::Dynamic, 1> weights = Eigen::ArrayXd::Ones(count);
        for (Index i = 0; weighted_ && i < count; ++i) weights[i] = rows[i * width() + columns_];
        moments.is_bad = !(weights >= 0.0).all() || !weights.isFinite().all();
        for (Index p = 0; p < columns_; ++p) {
            moments.used = 0;
            for (Index i = 0; i < count; ++i) {
                const double value = rows[i * width() + p];
                moments.is_bad = moments.is_bad || !std::isfinite(value);
                x[moments.used] = value;
                moments.used += weights[i] != 0.0 ? 1 : 0;
            }
            const Eigen::Ref<const Eigen::ArrayXd> used = x.head(moments.used);
            if (moments.used == 0) return moments;
            moments.smallest[p] = used.minCoeff();
            moments.largest[p] = used.maxCoeff();
            if (!weighted_) {
                moments.weight = static_cast<double>(count);
                moments.mean[p] = used.mean();
                const double left = (used - moments.mean[p]).sum();  // what rounding left of the mean
                moments.squares[p] = (used - moments.mean[p]).square().sum() - left * (left / moments.weight);
                continue;
            }
            Eigen::Array<double, Eigen::Dynamic, 1> own(moments.used);
            for (Index i = 0, at = 0; i < count; ++i) {
                if (weights[i] != 0.0) own[at++] = weights[i];
            }
            moments.weight = own.sum();
            moments.mean[p] = (own / moments.weight * used).sum();
            moments.squares[p] = (own * (used - moments.mean[p]).square()).sum();
        }
        return moments;
    }

    // Row by row, for the message.
    void refuse_first_bad(const double* rows, Index count) const {
        for (Index i = 0; i < count; ++i) {
            const double* row = rows + i * width();
            for (Index p = 0; p < columns_; ++p) {
                if (std::isfinite(row[p])) continue;
                refuse(source_, fmt::format("row {}, column '{}' is {}, but must be a finite number", rows_ + i + 1,
                                            source_.column_name(p), row[p]));
            }
            if (!weighted_ || (std::isfinite(row[columns_]) && row[columns_] >= 0.0)) continue;
            refuse(source_,
                   fmt::format("the weight of row {} is {}, but must be zero or more", rows_ + i + 1, row[columns_]));
        }
    }

    bool is_constant(Index p) const { return moments_.smallest[p] == moments_.largest[p]; }

    /// All at once: who leaves one out should not meet the next.
    void refuse_constants() const {
        std::vector<Index> constant;
        for (Index p = 0; p < columns_; ++p) {
            if (is_constant(p)) constant.push_back(p);
        }
        if (constant.empty()) return;
        if (constant.size() == 1) {
            refuse(source_, fmt::format("column {} is constant ({}); leave it out, or give a prior in its units",
                                        shown(source_.column_name(constant[0])), moments_.smallest[constant[0]]));
        }
        std::vector<std::string> parts;
        parts.reserve(constant.size());
        for (const Index p : constant) {
            parts.push_back(fmt::format("{} ({})", shown(source_.column_name(p)), moments_.smallest[p]));
        }
        refuse(source_, fmt::format("columns {} are constant; leave them out, or give a prior in their units",
                                    enumerated(parts)));
    }

    // A column without spread has no scale; where the prior does not ask for one, its unit will do.
    Vector standard_deviations(bool constants_allowed) const {
        Vector sds = (moments_.squares / moments_.weight).cwiseSqrt();
        if (!constants_allowed) refuse_constants();
        for (Index p = 0; p < columns_; ++p) {
            if (is_constant(p)) {
                sds[p] = 1.0;
            } else if (!(sds[p] > kSmallestSd && sds[p] < 1.0 / kSmallestSd)) {
                refuse(source_,
                       fmt::format(
                           "column '{}' runs from {} to {}, too far or too near for squares to be numbers; change its "
                           "unit, or remove the outliers",
                           source_.column_name(p), moments_.smallest[p], moments_.largest[p]));
            }
        }
        return sds;
    }

    const RowSource& source_;
    Index columns_;
    bool weighted_;
    int threads_;
    Index rows_ = 0;
    BlockTree<Moments> tree_;
    Moments moments_;
    Index sampled_ = 0;  // rows with weight that the sample could have taken
    Reservoir reservoir_;
    std::vector<double> sample_;
    std::vector<double> sample_weights_;
};

std::string written(const BlockTree<Moments>& tree) {
    ByteWriter writer;
    writer.number(static_cast<Index>(tree.nodes().size()));
    for (const auto& node : tree.nodes()) {
        writer.number(node.block).number(node.size);
        node.value.write(writer);
    }
    return writer.take();
}

BlockTree<Moments> moments_of_bytes(std::string_view bytes) {
    ByteReader reader(bytes);
    BlockTree<Moments> tree;
    const Index count = reader.index();
    for (Index i = 0; i < count; ++i) {
        const Index block = reader.index();
        const Index size = reader.index();
        tree.append({block, size, Moments::read(reader)});
    }
    return tree;
}

// Of each share, from which row on it is and how many of its rows have weight.
struct UsedRows {
    std::vector<Index> firsts;
    std::vector<Index> used;
};

std::string answer_moments(RowShare& share, std::string_view asked) {
    ByteReader reader(asked);
    const auto weighted = reader.number<bool>();
    const auto threads = reader.number<int>();
    RowSource& source = share.source();
    Summary summary(source, source.columns() - (weighted ? 1 : 0), weighted, threads, share.first());
    for_each_chunk(source, source.columns(), share.rows(), kReadRows,
                   [&](const double* rows, Index count) { summary.add(rows, count); });
    Index used = 0;
    for (const auto& node : summary.tree().nodes()) used += node.value.used;
    return ByteWriter()
        .text(written(summary.tree()))
        .numbers(std::vector<Index>{share.first()})
        .numbers(std::vector<Index>{used})
        .take();
}

std::string merge_moments(const std::string& left, const std::string& right) {
    ByteReader one(left);
    ByteReader other(right);
    BlockTree<Moments> tree = moments_of_bytes(one.text());
    tree.append(moments_of_bytes(other.text()));
    ByteWriter writer;
    writer.text(written(tree));
    for (int i = 0; i < 2; ++i) {
        std::vector<Index> numbers = one.numbers<Index>();
        const std::vector<Index> more = other.numbers<Index>();
        numbers.insert(numbers.end(), more.begin(), more.end());
        writer.numbers(numbers);
    }
    return writer.take();
}

// Rows by their numbers from 0, in ascending order: among all, or among those that have weight, of which `before` says
// how many come before each share.
std::string answer_picked(RowShare& share, std::string_view asked) {
    ByteReader reader(asked);
    const auto among_weighted = reader.number<bool>();
    const std::vector<Index> numbers = reader.numbers<Index>();
    const std::vector<Index> firsts = reader.numbers<Index>();
    const std::vector<Index> before = reader.numbers<Index>();
    Index row = share.first();
    if (among_weighted) {
        const auto place = std::lower_bound(firsts.begin(), firsts.end(), share.first()) - firsts.begin();
        row = before.at(static_cast<std::size_t>(place));
    }
    auto next = std::lower_bound(numbers.begin(), numbers.end(), row);
    RowSource& source = share.source();
    const Index width = source.columns();
    std::vector<double> picked;
    if (next != numbers.end()) {
        for_each_chunk(source, width, share.rows(), kReadRows, [&](const double* rows, Index count) {
            if (!among_weighted) {
                for (; next != numbers.end() && *next < row + count; ++next) {
                    const double* at = rows + (*next - row) * width;
                    picked.insert(picked.end(), at, at + width);
                }
                row += count;
                return;
            }
            for (Index i = 0; i < count && next != numbers.end(); ++i) {
                const double* at = rows + i * width;
                if (at[width - 1] == 0.0) continue;
                if (row++ != *next) continue;
                picked.insert(picked.end(), at, at + width);
                ++next;
            }
        });
    }
    return {reinterpret_cast<const char*>(picked.data()), picked.size() * sizeof(double)};
}

std::vector<double> ask_picked(RowTeam& team, Index width, bool among_weighted, const std::vector<Index>& numbers,
                               const UsedRows& used) {
    std::vector<Index> before;
    Index sum = 0;
    for (const Index count : used.used) {
        before.push_back(sum);
        sum += count;
    }
    const std::string bytes =
        team.ask("mixture.picked",
                 ByteWriter().number(among_weighted).numbers(numbers).numbers(used.firsts).numbers(before).take());
    if (bytes.size() != numbers.size() * static_cast<std::size_t>(width) * sizeof(double)) {
        throw std::runtime_error("rows are gone that were there at first: let nothing change them while they are read");
    }
    std::vector<double> rows(bytes.size() / sizeof(double));
    std::memcpy(rows.data(), bytes.data(), bytes.size());
    return rows;
}

// The first reading, by those who have the rows; then the rows of the sample.
void ask_summary(RowTeam& team, Index width, Index rows, bool weighted, int threads, Summary& summary) {
    const std::string bytes = team.ask("mixture.moments", ByteWriter().number(weighted).number(threads).take());
    ByteReader reader(bytes);
    summary.set_moments(moments_of_bytes(reader.text()), rows);
    UsedRows used;
    used.firsts = reader.numbers<Index>();
    used.used = reader.numbers<Index>();
    Index total = 0;
    for (const Index count : used.used) total += count;
    std::vector<Index> numbers;  // of the row that a place of the sample has in the end
    for (Reservoir reservoir; reservoir.next() <= total;) {
        const Index number = reservoir.next() - 1;
        const auto place = static_cast<std::size_t>(reservoir.take());
        if (place >= numbers.size()) numbers.resize(place + 1);
        numbers[place] = number;
    }
    std::vector<Index> sorted = numbers;
    std::sort(sorted.begin(), sorted.end());
    const std::vector<double> picked = ask_picked(team, width, weighted, sorted, used);
    for (std::size_t place = 0; place < numbers.size(); ++place) {
        const auto at = std::lower_bound(sorted.begin(), sorted.end(), numbers[place]) - sorted.begin();
        summary.keep(picked.data() + at * width, static_cast<Index>(place));
    }
}

}  // namespace

void for_each_picked(RowSource& source, Index rows, const std::vector<Index>& numbers,
                     const std::function<void(const double*)>& visit) {
    const Index width = source.columns();
    if (RowTeam* team = source.team()) {
        const std::vector<double> picked = ask_picked(*team, width, false, numbers, {});
        for (auto row = picked.begin(); row != picked.end(); row += width) visit(&*row);
        return;
    }
    auto next = numbers.begin();
    Index begin = 0;
    for_each_chunk(source, width, rows, kReadRows, [&](const double* chunk, Index count) {
        for (; next != numbers.end() && *next < begin + count; ++next) visit(chunk + (*next - begin) * width);
        begin += count;
    });
}

std::vector<RowQuestion> data_questions_of_mixtures() {
    return {
        {"mixture.moments", answer_moments, merge_moments},
        {"mixture.picked", answer_picked, [](std::string left, const std::string& right) { return left += right; }}};
}

RowSummary describe_rows(RowSource& source, const MixtureSpecification& specification) {
    require_at_least("mixture", "components", specification.components, 1);
    require_at_least("mixture", "threads", specification.threads, 1);
    const Index columns = source.columns() - (specification.weighted ? 1 : 0);
    require_at_least("mixture", "columns", columns, 1);
    if (specification.standardisation) {
        require_size("mixture standardisation", "centre", specification.standardisation->first.size(), columns);
        require_size("mixture standardisation", "scale", specification.standardisation->second.size(), columns);
        require_finite("mixture standardisation", "centre", specification.standardisation->first);
        for (const double scale : specification.standardisation->second) {
            require_positive("mixture standardisation", "scale", scale);
        }
    }
    Summary summary(source, columns, specification.weighted, specification.threads);
    if (const auto* team_rows = dynamic_cast<const TeamRows*>(&source)) {
        ask_summary(*source.team(), source.columns(), team_rows->rows(), specification.weighted, specification.threads,
                    summary);
        return summary.finished(specification);
    }
    std::vector<double> buffer(static_cast<std::size_t>(kReadRows * source.columns()));
    Index rows = 0;
    source.rewind();
    while (const Index count = source.read(buffer.data(), kReadRows)) {
        summary.add(buffer.data(), count);
        summary.sample(buffer.data(), count);
        rows += count;
    }
    summary.set_moments(summary.tree(), rows);
    return summary.finished(specification);
}

Matrix cluster(const Matrix& rows, Index clusters, Random& random) {
    const Index count = rows.rows();
    Matrix centres(clusters, rows.cols());
    Vector distance = Vector::Constant(count, std::numeric_limits<double>::infinity());
    for (Index k = 0; k < clusters; ++k) {
        // The first centre is any row, each next one a row with probability proportional to its squared distance.
        const double total = k == 0 ? 0.0 : distance.sum();
        Index chosen = std::min(count - 1, static_cast<Index>(random.uniform() * static_cast<double>(count)));
        if (total > 0.0) {
            double left = random.uniform() * total;
            chosen = 0;
            while (chosen < count - 1 && left >= distance[chosen]) left -= distance[chosen++];
        }
        centres.row(k) = rows.row(chosen);
        distance = distance.cwiseMin((rows.rowwise() - rows.row(chosen)).rowwise().squaredNorm());
    }
    std::vector<Index> nearest(static_cast<std::size_t>(count), -1);
    Matrix indicators;
    for (int round = 0; round < kLloydRounds; ++round) {
        // Squared distances, but for |x|², which is the same to all centres.
        Matrix distances = -2.0 * centres * rows.transpose();
        distances.colwise() += centres.rowwise().squaredNorm();
        indicators = Matrix::Zero(count, clusters);
        bool settled = true;
        for (Index n = 0; n < count; ++n) {
            Index best = 0;
            distances.col(n).minCoeff(&best);
            indicators(n, best) = 1.0;
            settled = settled && nearest[static_cast<std::size_t>(n)] == best;
            nearest[static_cast<std::size_t>(n)] = best;
        }
        if (settled) break;
        const Vector sizes = indicators.colwise().sum();
        const Matrix sums = indicators.transpose() * rows;
        for (Index k = 0; k < clusters; ++k) {
            if (sizes[k] > 0.0) centres.row(k) = sums.row(k) / sizes[k];
        }
    }
    return indicators;
}

}  // namespace lrvb::detail
