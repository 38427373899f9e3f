#include "base/parallel.hpp"
#include "base/validate.hpp"
#include "model/tally_tree.hpp"

#include <lrvb/model/row_model.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace lrvb {

namespace {

// Numbers that are looked at in the time that it takes to wake a thread.
constexpr double kWorkOfAThread = 20000.0;

std::string fractional_weight_words(Index number, double weight) {
    return fmt::format("row {} has the weight {}, and only rows of whole weights can be drawn again", number, weight);
}

}  // namespace

FractionalWeight::FractionalWeight(Index row, double weight)
    : std::invalid_argument(fractional_weight_words(row + 1, weight)), row_(row), weight_(weight) {}

std::string FractionalWeight::words(Index number) const {
    return fractional_weight_words(number, weight_);
}

Vector Model::log_joint(const Matrix& statistics, int threads) const {
    detail::require_size("log_joint", "a column of statistics", statistics.rows(), layout().size());
    constexpr Index kValues = 64;  // a task
    const Index count = statistics.cols();
    Vector values(count);
    detail::in_parallel(threads, (count + kValues - 1) / kValues, [&](Index task) {
        for (Index i = task * kValues; i < std::min(count, (task + 1) * kValues); ++i) {
            values[i] = expand(statistics.col(i), Order::value).value;
        }
    });
    return values;
}

JointGradients Model::log_joint_gradients(const Matrix& statistics, int threads) const {
    detail::require_size("log_joint_gradients", "a column of statistics", statistics.rows(), layout().size());
    JointGradients result{Vector(statistics.cols()), Matrix(statistics.rows(), statistics.cols())};
    const std::optional<double> work = gibbs_work();
    const bool is_small = work && *work * static_cast<double>(statistics.cols()) < kWorkOfAThread;
    detail::in_parallel(is_small ? 1 : threads, statistics.cols(), [&](Index i) {
        const Expansion expansion = expand(statistics.col(i), Order::gradient);
        result.values[i] = expansion.value;
        result.gradients.col(i) = expansion.gradient;
    });
    return result;
}

JointGradients Model::integrated_joint(const Matrix&, bool, int) const {
    throw std::logic_error("this model has no variables to integrate out: ask which are integrable first");
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): those that have such variables write to it
void Model::draw_integrable(Eigen::Ref<Vector>, Random&) const {
    throw std::logic_error("this model has no variables to integrate out: ask which are integrable first");
}

void Model::gibbs(Vector&, const std::vector<bool>&, Random&) const {
    throw std::logic_error("this model has no Gibbs step: ask for its gibbs_work first");
}

std::string RowModel::tally_rows(const State& state, const Matrix& directions, RowChange change, const RowTally& tally,
                                 const std::string& asked) const {
    detail::BlockTree<detail::Tallied> tree;
    Index some = 0;
    ask_rows(state, directions, change, [&](const RowAnswers& rows) {
        tree.append(some++, detail::Tallied{tally.keep(asked, rows), &tally});
    });
    return tree.empty() ? std::string() : tree.take().bytes;
}

namespace {

std::vector<RowTally>& all_tallies() {
    static std::vector<RowTally> tallies;
    return tallies;
}

}  // namespace

void register_row_tally(RowTally tally) {
    for (const RowTally& known : all_tallies()) {
        if (known.name == tally.name) return;
    }
    all_tallies().push_back(std::move(tally));
}

const RowTally& find_row_tally(std::string_view name) {
    for (const RowTally& tally : all_tallies()) {
        if (tally.name == name) return tally;
    }
    throw std::invalid_argument(fmt::format("nobody knows what to keep of rows for {}", name));
}

void RowModel::row_log_likelihoods(const Matrix&, int, const RowVisitor&) const {
    throw std::invalid_argument("row_log_likelihoods: this model does not know the likelihood of a row by itself");
}

void RowModel::replicate_rows(const Matrix&, std::uint64_t, int, const ReplicateVisitor&) const {
    throw std::invalid_argument("this kind of model does not draw rows");
}

}  // namespace lrvb
