#include "base/validate.hpp"
#include "fit/entropy.hpp"
#include "fit/places.hpp"
#include "fit/state_at.hpp"
#include "kind/mixture/data.hpp"
#include "kind/mixture/optima.hpp"
#include "kind/mixture/starts.hpp"

#include <lrvb/data/table.hpp>
#include <lrvb/family/symmetric.hpp>
#include <lrvb/kind/mixture/fit.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace lrvb {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Index kGrowth = 32;              // of one sample to the next
constexpr Index kLargestSample = 1 << 20;  // so that memory does not grow with the data
constexpr Index kRowsPerComponent = 100;   // of the first sample, at least
constexpr Index kNearEnough = 8;           // the last sample is at least this part of the data, or the largest
constexpr Index kSmallPart = 4;            // and at most this part: then the data themselves are as cheap
constexpr Index kExploredRows = 2048;      // where optima are sought; then they are compared on the first sample
constexpr Index kStartWork = 1 << 14;      // rows × components × columns of a start; where all are fewer,
constexpr Index kMostTimes = 4;            // there are up to this many times more starts, finalists and moves
constexpr Index kManyStatistics = 400;     // of a model whose curvature costs more than many sweeps
constexpr int kFirstRound = 6;             // strides of the tournament's first round; doubles as starts drop out
constexpr int kLongClimb = 60;             // strides in place of a fit, where there are many statistics
constexpr std::size_t kFinalists = 6;      // starts that are fitted, if they are not on their way to the same place
constexpr std::size_t kMovesFitted = 3;    // of one round of moves
constexpr std::size_t kSplits = 8;         // of the components of a smaller mixture, the largest
constexpr int kMoveRounds = 3;             // at most: the next begins where the last found something better
constexpr std::size_t kCompared = 4;       // places that are compared on more rows
constexpr int kRivalIterations = 100;  // of a place that is not the best, on many rows: a ridge would take thousands
constexpr std::size_t kLooks = 3;      // at places that only starts which dropped out were on their way to
constexpr double kOnTheWay = 20.0;     // nats below the best of a start that may yet end within kOtherOptimum
constexpr double kOnTheWaySds = 3.0;   // from a place that a start is on its way to
constexpr double kSameBound = 1e-2;    // bounds of one optimum, fitted that loosely
constexpr double kSmallGain = 1e-3;    // of a stride that ends a start's round
constexpr double kHottest = 8.0;       // temperature of annealed starts
constexpr int kTemperatures = 8;
constexpr double kSampleTolerance = 1e-2;  // of a fit that is only a start for the next

std::vector<Index> sample_sizes(Index rows, Index first) {
    std::vector<Index> sizes;
    if (rows <= 2 * first) return sizes;
    for (Index size = first; sizes.empty() || sizes.back() < rows / kNearEnough; size *= kGrowth) {
        sizes.push_back(std::min({size, std::max(first, rows / kSmallPart), kLargestSample}));
        if (sizes.back() < size) break;
    }
    return sizes;
}

// Rows drawn with probability size/rows, with their weight as the last column; smaller samples are parts of larger
// ones. From one row of the largest to the next is a geometric number of rows, which need not be looked at: which rows
// these are depends on no row, so that it is known before any is read.
std::vector<std::vector<double>> draw_samples(RowSource& source, const MixtureModel& model, bool weighted,
                                              const std::vector<Index>& sizes, std::uint64_t seed) {
    std::vector<std::vector<double>> samples(sizes.size());
    if (sizes.empty()) return samples;
    const Index width = source.columns();
    const auto largest = static_cast<double>(sizes.back());
    const double log_missed = std::log1p(-largest / static_cast<double>(model.used_rows()));
    Random random(seed, std::numeric_limits<std::uint64_t>::max());
    const auto gap = [&] { return std::min(1e18, std::log(random.uniform()) / log_missed); };
    std::vector<Index> drawn;
    std::vector<std::uint8_t> smallest;  // the smallest sample that a row is in
    drawn.reserve(static_cast<std::size_t>(largest));
    for (auto next = static_cast<Index>(gap()); next < model.rows(); next += 1 + static_cast<Index>(gap())) {
        drawn.push_back(next);
        const auto place = static_cast<Index>(random.uniform() * largest);
        smallest.push_back(
            static_cast<std::uint8_t>(std::upper_bound(sizes.begin(), sizes.end(), place) - sizes.begin()));
    }
    std::size_t at = 0;
    detail::for_each_picked(source, model.rows(), drawn, [&](const double* row) {
        const std::size_t first = smallest[at++];
        if (weighted && row[width - 1] == 0.0) return;
        for (std::size_t s = first; s < sizes.size(); ++s) {
            samples[s].insert(samples[s].end(), row, row + width);
            if (!weighted) samples[s].push_back(1.0);
        }
    });
    return samples;
}

State start_after(const Optimum& optimum) {
    return optimum.converged() ? optimum.next : optimum.state;
}

class MixtureFitter {
  public:
    MixtureFitter(const std::shared_ptr<RowSource>& source, const MixtureSpecification& specification,
                  const MixtureFitOptions& options)
        : source_(source),
          specification_(specification),
          options_(options),
          model_(std::make_shared<MixtureModel>(source, specification)) {}

    MixtureFit run() {
        detail::require_positive("fit_mixture", "tolerance", options_.tolerance);
        detail::require_at_least("fit_mixture", "sample_rows", options_.sample_rows, 1);
        detail::require_at_least("fit_mixture", "restarts", options_.restarts, 1);
        detail::require_at_least("fit_mixture", "max_iterations", options_.max_iterations, 1);
        const Index least = kRowsPerComponent * model_->components();
        std::vector<Index> sizes = sample_sizes(model_->used_rows(), std::max(options_.sample_rows, least));
        // Optima are sought on a small sample, where there are many rows, and compared on the first that is not.
        const Index explored = std::max(std::min(kExploredRows, options_.sample_rows), least);
        const bool explores = model_->used_rows() > 2 * explored && (sizes.empty() || explored < sizes.front());
        if (explores) sizes.insert(sizes.begin(), explored);
        std::vector<std::vector<double>> samples =
            draw_samples(*source_, *model_, specification_.weighted, sizes, options_.seed);
        result_.model = model_;
        for (std::size_t s = 0; s < samples.size() && !cancelled_; ++s) {
            const MixtureModel sample = sample_model(std::move(samples[s]));
            if (s == 0) {
                tournament(sample);
            } else {
                compare_finalists("sample", sample);
            }
            rule_out(sample);
        }
        if (samples.empty()) tournament(*model_);
        if (samples.size() == 1 && explores && !cancelled_) compare_finalists("tournament", *model_);
        result_.start_passes = model_->passes();
        if (cancelled_) {
            give_up();
        } else {
            finish();
        }
        result_.passes = model_->passes() - result_.start_passes - result_.other_passes;
        return std::move(result_);
    }

  private:
    struct Entrant {
        State state;
        double bound = -kInfinity;
        std::size_t number = 0;
        detail::StartKind kind = detail::StartKind::partition;
        int sweeps = 0;
        int starts = 1;  // that came here
        bool settled = false;
        bool converged = false;
    };

    // The caller's progress, told of a fit that is only part of the whole.
    std::function<bool(const Progress&)> progress_of(std::string_view stage, const MixtureModel& model, int restart) {
        if (!options_.progress) return {};
        return [this, stage, restart, &model](Progress progress) {
            if (!stage.empty()) progress.stage = stage;
            progress.restart = restart;
            progress.passes = model_->passes();
            progress.rows = model.rows();
            cancelled_ = cancelled_ || !options_.progress(progress);
            return !cancelled_;
        };
    }

    FitOptions quick(std::string_view stage, const MixtureModel& model, int restart) {
        FitOptions options;
        options.tolerance = std::max(options_.tolerance, kSampleTolerance);
        options.max_iterations = options_.max_iterations;
        options.progress = progress_of(stage, model, restart);
        return options;
    }

    // The same model on a sample, its weights scaled so that it says as much as all rows would.
    MixtureModel sample_model(std::vector<double> rows) const {
        const Index width = model_->columns() + 1;
        const Index count = static_cast<Index>(rows.size()) / width;
        double weight = 0.0;
        for (Index i = 0; i < count; ++i) weight += rows[static_cast<std::size_t>((i + 1) * width - 1)];
        const double factor = model_->total_weight() / weight;
        for (Index i = 0; i < count; ++i) rows[static_cast<std::size_t>((i + 1) * width - 1)] *= factor;
        MixtureSpecification specification = specification_;
        specification.weighted = true;
        specification.prior = model_->prior();
        specification.standardisation = {model_->centre(), model_->scale()};
        return MixtureModel(std::make_shared<TableSource>(std::move(rows), width), specification);
    }

    // The bound where the sweep began.
    double sweep(const MixtureModel& model, Entrant& entrant, const std::function<bool(const Progress&)>& progress) {
        const double entropy = detail::entropy_of(model.layout(), entrant.state).value;
        entrant.bound = model.sweep(entrant.state).value + entropy;
        ++entrant.sweeps;
        if (progress) progress({0, {}, entrant.sweeps, entrant.bound, kInfinity, 0, 0});
        return entrant.bound;
    }

    // Strides of three sweeps each, until one gains next to nothing; the third begins where the first two point to, if
    // that is no worse (squared extrapolation, SQUAREM). A start that fails is out of the race; it does not end it.
    void climb(const MixtureModel& model, int strides, Entrant& entrant) {
        const auto progress = progress_of("tournament", model, static_cast<int>(entrant.number));
        try {
            for (int i = 0; i < strides && !entrant.settled && !cancelled_; ++i) {
                if (entrant.sweeps + 3 > options_.max_iterations) break;
                const State first = entrant.state;
                const double before = sweep(model, entrant, progress);
                const State second = entrant.state;
                const double after = sweep(model, entrant, progress);
                const std::optional<State> ahead = extrapolated(model.layout(), first, second, entrant.state);
                if (ahead) {
                    const State third = std::exchange(entrant.state, *ahead);
                    if (!(sweep(model, entrant, progress) >= after)) {
                        entrant.state = third;
                        entrant.bound = after;
                    }
                }
                entrant.settled = entrant.bound - before < kSmallGain * weight_of_a_row(model);
            }
        } catch (const ImproperConditional&) {
            entrant.bound = -kInfinity;
        }
        if (std::isfinite(entrant.bound)) return;
        entrant.bound = -kInfinity;
        entrant.settled = true;
    }

    // What a row of a sample adds to the bound stands for many, and is known no better.
    static double weight_of_a_row(const MixtureModel& model) {
        return model.total_weight() / static_cast<double>(model.used_rows());
    }

    // Where two sweeps point to: η0 + 2aδ + a²(δ' − δ), with a the ratio of the first sweep's length to its change.
    static std::optional<State> extrapolated(const Layout& layout, const State& first, const State& second,
                                             const State& third) {
        const Vector scale = (first.natural.cwiseAbs() + third.natural.cwiseAbs()).array() + 1e-12;
        const Vector step = second.natural - first.natural;
        const Vector change = (third.natural - second.natural) - step;
        const double bend = change.cwiseQuotient(scale).norm();
        if (!(bend > 0.0)) return std::nullopt;
        const double length = step.cwiseQuotient(scale).norm() / bend;
        if (!(length > 1.0)) return std::nullopt;
        return detail::state_at(layout, first, first.natural + 2.0 * length * step + length * length * change);
    }

    State start(const MixtureModel& model, detail::StartKind kind, Random& random) const {
        const Matrix& rows = model.start_rows();
        State state = clamped(model, model.start_from(detail::start_responsibilities(kind, rows, model.start_weights(),
                                                                                     model.components(), random)));
        if (kind != detail::StartKind::annealed) return state;
        for (int t = 0; t < kTemperatures; ++t) {
            const double temperature = std::pow(kHottest, 1.0 - static_cast<double>(t) / kTemperatures);
            const Matrix scores = model.start_scores(state);
            state = clamped(model, model.start_from(detail::tempered_responsibilities(scores, temperature)));
        }
        return state;
    }

    // How many times more starts, finalists and moves there are: where all rows are few, they cost next to nothing.
    int effort_of(const MixtureModel& model) const {
        if (&model != model_.get()) return 1;
        const Index work = model.used_rows() * model.components() * model.columns();
        return static_cast<int>(std::clamp<Index>(kStartWork / work, 1, kMostTimes));
    }

    static void sort(std::vector<Entrant>& entrants) {
        std::stable_sort(entrants.begin(), entrants.end(),
                         [](const Entrant& a, const Entrant& b) { return a.bound > b.bound; });
    }

    static bool same_place(const MixtureModel& model, const Entrant& a, const Entrant& b) {
        if (std::abs(a.bound - b.bound) > 10.0 * kSameBound * weight_of_a_row(model)) return false;
        return detail::same_place(model, a.state, b.state);
    }

    // Of entrants that came to one place the best stays, and counts for all.
    void merge_same(const MixtureModel& model, std::vector<Entrant>& entrants) {
        sort(entrants);
        std::vector<Entrant> distinct;
        for (Entrant& entrant : entrants) {
            result_.start_bounds[entrant.number] = entrant.bound;
            const auto twin = std::find_if(distinct.begin(), distinct.end(), [&](const Entrant& other) {
                return std::isfinite(entrant.bound) && same_place(model, other, entrant);
            });
            if (twin == distinct.end()) {
                distinct.push_back(std::move(entrant));
            } else {
                twin->starts += entrant.starts;
            }
        }
        entrants = std::move(distinct);
    }

    // The best so many, and the best of each kind: a start that is slow at first may go further.
    void keep_best(std::size_t count, std::vector<Entrant>& entrants) {
        sort(entrants);
        std::vector<Entrant> kept;
        std::vector<detail::StartKind> kinds;
        for (Entrant& entrant : entrants) {
            const bool is_first = std::find(kinds.begin(), kinds.end(), entrant.kind) == kinds.end();
            if (kept.size() >= count && !is_first) {
                dropped_.push_back(std::move(entrant));
                continue;
            }
            kinds.push_back(entrant.kind);
            kept.push_back(std::move(entrant));
        }
        entrants = std::move(kept);
    }

    void fit_entrant(std::string_view stage, const MixtureModel& model, int first_sweeps, int most, Entrant& entrant) {
        if (cancelled_) return;
        if (model.layout().size() > kManyStatistics) {
            entrant.settled = false;
            climb(model, kLongClimb, entrant);
            entrant.converged = entrant.settled;
            return;
        }
        FitOptions options = quick(stage, model, static_cast<int>(entrant.number));
        options.first_sweeps = first_sweeps;
        options.max_iterations = std::min(options.max_iterations, most);
        options.initial = std::move(entrant.state);
        Optimum optimum = fit(model, options);
        entrant.state = start_after(optimum);
        const bool counts = optimum.converged() || !std::isfinite(entrant.bound);
        entrant.bound = counts ? optimum.bound : std::min(optimum.bound, entrant.bound);
        entrant.converged = optimum.converged();
    }

    Entrant& enter(State state, detail::StartKind kind, std::vector<Entrant>& entrants) {
        entrants.push_back({std::move(state), -kInfinity, result_.start_bounds.size(), kind});
        result_.start_bounds.push_back(-kInfinity);
        return entrants.back();
    }

    // All starts climb a little; the better half climbs twice as far; and so on. The last few are fitted. Then moves
    // away from the best of them are tried in the same way, as long as they find something better.
    void tournament(const MixtureModel& model) {
        std::vector<Entrant> entrants;
        const int effort = effort_of(model);
        const int starts = model.components() == 1 || options_.restarts == 1 ? 1 : effort * options_.restarts;
        const std::size_t finalists = kFinalists * static_cast<std::size_t>(effort);
        for (int r = 0; r < starts && !cancelled_; ++r) {
            Random random(options_.seed, static_cast<std::uint64_t>(r));
            const auto kind = static_cast<detail::StartKind>(r % detail::kFreshKinds);
            Entrant& entrant = enter(start(model, kind, random), kind, entrants);
            if (starts > 1) climb(model, kFirstRound, entrant);
        }
        for (int strides = 2 * kFirstRound; starts > 1 && !cancelled_; strides *= 2) {
            merge_same(model, entrants);
            const std::size_t before = entrants.size();
            keep_best(std::max(finalists, (entrants.size() + 1) / 2), entrants);
            for (Entrant& entrant : entrants) climb(model, strides, entrant);
            if (entrants.size() == before || entrants.size() <= finalists) break;
        }
        merge_same(model, entrants);
        for (Entrant& entrant : entrants) fit_entrant("tournament", model, 4, options_.max_iterations, entrant);
        merge_same(model, entrants);
        if (starts > 1) add_splits(model, entrants);
        for (int round = 0; round < kMoveRounds && starts > 1 && !cancelled_; ++round) {
            const double best = entrants.front().bound;
            add_moves(model, round, entrants);
            if (!(entrants.front().bound > best + kSameBound * weight_of_a_row(model))) break;
        }
        look_elsewhere(model, entrants);
        finalists_ = std::move(entrants);
        for (const Entrant& entrant : finalists_) result_.finalists += entrant.starts;
        note_best(model);
    }

    // Starts that were on their way to another optimum may all have lost to those that were on their way to the best,
    // though it is as good; on a sample they do, by chance. The best of each place is fitted.
    void look_elsewhere(const MixtureModel& model, std::vector<Entrant>& entrants) {
        std::vector<Entrant> dropped = std::move(dropped_);
        sort(dropped);
        const bool is_sample = &model != model_.get();
        const Entrant best = entrants.front();
        std::size_t looks = 0;
        for (Entrant& entrant : dropped) {
            if (cancelled_ || looks == kLooks || !std::isfinite(entrant.bound)) break;
            if (!is_sample && entrant.bound < best.bound - kOnTheWay) break;
            const auto is_there = [&](const Entrant& known) {
                return detail::same_place(model, known.state, entrant.state, kOnTheWaySds);
            };
            if (std::any_of(entrants.begin(), entrants.end(), is_there)) continue;
            ++looks;
            if (is_sample && detail::is_ruled_out(model, best.state, entrant.state)) continue;
            fit_entrant("tournament", model, 4, options_.max_iterations, entrant);
            if (entrant.converged) entrants.push_back(std::move(entrant));
        }
        merge_same(model, entrants);
    }

    // Moves away from the best entrant, as new ones.
    void add_moves(const MixtureModel& model, int round, std::vector<Entrant>& entrants) {
        if (!std::isfinite(entrants.front().bound)) return;
        Random random(options_.seed, std::numeric_limits<std::uint64_t>::max() - 1 - static_cast<std::uint64_t>(round));
        const Matrix scores = model.start_scores(entrants.front().state);
        const auto count =
            static_cast<std::size_t>(effort_of(model)) * static_cast<std::size_t>(options_.restarts / 2 + 1);
        std::vector<Entrant> moved;
        std::vector<detail::Move> moves = detail::draw_moves(model.components(), count, random);
        const std::vector<detail::Move> to_spots = detail::spot_moves(scores);
        for (std::size_t added = to_spots.size(); added > 0 && added <= count / 2; added += to_spots.size()) {
            moves.insert(moves.end(), to_spots.begin(), to_spots.end());
        }
        for (const detail::Move& move : moves) {
            if (cancelled_) return;
            const Matrix responsibilities =
                detail::moved_responsibilities(move, model.start_rows(), model.start_weights(), scores, random);
            climb(model, 2 * kFirstRound,
                  enter(clamped(model, model.start_from(responsibilities)), detail::StartKind::moved, moved));
        }
        add_moved(model, std::move(moved), entrants);
    }

    // The components of a smaller mixture of these rows, each split in two, as new ones.
    void add_splits(const MixtureModel& model, std::vector<Entrant>& entrants) {
        if (!options_.before || options_.before->shape.components + 1 != model.components()) return;
        const Matrix& rows = model.start_rows();
        Matrix in_data_units = rows * model.scale().asDiagonal();
        in_data_units.rowwise() += model.centre().transpose();
        const Matrix smaller = predict(options_.before->shape, options_.before->state, in_data_units).responsibilities;
        const Vector sizes = smaller.colwise().sum();
        std::vector<Index> order(static_cast<std::size_t>(sizes.size()));
        std::iota(order.begin(), order.end(), Index{0});
        std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return sizes[a] > sizes[b]; });
        if (order.size() > kSplits) order.resize(kSplits);
        std::vector<Entrant> split;
        for (const Index k : order) {
            if (cancelled_) return;
            Matrix responsibilities = Matrix::Zero(rows.rows(), model.components());
            responsibilities.leftCols(smaller.cols()) = smaller;
            detail::split_in_two(rows, k, smaller.cols(), false, responsibilities);
            climb(model, 2 * kFirstRound,
                  enter(clamped(model, model.start_from(responsibilities)), detail::StartKind::moved, split));
        }
        add_moved(model, std::move(split), entrants);
    }

    // The best of those that come from an optimum, if they are not known, beside all that there are.
    void add_moved(const MixtureModel& model, std::vector<Entrant> moved, std::vector<Entrant>& entrants) {
        if (moved.empty()) return;
        merge_same(model, moved);
        keep_best(kMovesFitted * static_cast<std::size_t>(effort_of(model)), moved);
        for (Entrant& entrant : moved) {
            climb(model, 4 * kFirstRound, entrant);
            const bool is_known = std::any_of(entrants.begin(), entrants.end(),
                                              [&](const Entrant& other) { return same_place(model, other, entrant); });
            if (!is_known) fit_entrant("tournament", model, 4, options_.max_iterations, entrant);
        }
        std::move(moved.begin(), moved.end(), std::back_inserter(entrants));
        merge_same(model, entrants);
    }

    // The finalists again, on more rows.
    void compare_finalists(std::string_view stage, const MixtureModel& model) {
        const std::size_t best = finalists_.front().number;
        for (Entrant& entrant : finalists_) {
            entrant.settled = false;
            const int most = entrant.number == best ? options_.max_iterations : kRivalIterations;
            fit_entrant(stage, model, 0, most, entrant);
        }
        std::erase_if(finalists_, [&](const Entrant& entrant) { return entrant.number != best && !entrant.converged; });
        merge_same(model, finalists_);
        note_best(model);
    }

    // Places that the rows of a sample cannot rule out are compared on more rows: the best may be another one there,
    // and one that is nearly as good shares the posterior with it.
    void rule_out(const MixtureModel& sample) {
        std::vector<Entrant> kept;
        for (Entrant& entrant : finalists_) {
            if (kept.size() == kCompared) break;
            const bool is_out = !kept.empty() && detail::is_ruled_out(sample, best_.state, entrant.state);
            if (!is_out) kept.push_back(std::move(entrant));
        }
        finalists_ = std::move(kept);
    }

    void note_best(const MixtureModel& model) {
        best_ = finalists_.front();
        result_.finalists_at_best = 0;
        for (const Entrant& entrant : finalists_) {
            const bool at_best =
                entrant.converged && entrant.bound >= best_.bound - kSameBound * weight_of_a_row(model);
            if (at_best) result_.finalists_at_best += entrant.starts;
        }
    }

    State clamped(const MixtureModel& model, State state) const {
        const Layout& layout = model.layout();
        const auto hold = [&](const AnyVariable& variable, const Vector& value) {
            layout.segment(state.mean, variable.index()) = std::visit(
                [&](const auto& family) { return family.statistic(value); }, layout[variable.index()].family);
            layout.segment(state.natural, variable.index()).setZero();
            state.clamped[static_cast<std::size_t>(variable.index())] = true;
        };
        const MixtureFixed& fixed = options_.fixed;
        const Index columns = model.columns();
        const Vector scale = model.scale();
        if (fixed.weights && model.components() > 1) {
            detail::require_size("fixed weights", "values", fixed.weights->size(), model.components());
            hold(model.weights(), *fixed.weights);
        }
        if (fixed.means) {
            detail::require_size("fixed means", "rows", fixed.means->rows(), model.components());
            detail::require_size("fixed means", "columns", fixed.means->cols(), columns);
        }
        if (fixed.precisions) {
            detail::require_size("fixed precisions", "matrices", static_cast<Index>(fixed.precisions->size()),
                                 model.components());
        }
        for (Index k = 0; k < model.components(); ++k) {
            if (fixed.means) {
                const Vector inner = (fixed.means->row(k).transpose() - model.centre()).cwiseQuotient(scale);
                if (model.has_full_covariances()) {
                    hold(model.location(k, 0), inner);
                } else {
                    for (Index p = 0; p < columns; ++p) hold(model.location(k, p), inner.segment(p, 1));
                }
            }
            if (fixed.precisions) {
                const Matrix& given = (*fixed.precisions)[static_cast<std::size_t>(k)];
                detail::require_size("fixed precisions", "rows of a matrix", given.rows(), columns);
                detail::require_size("fixed precisions", "columns of a matrix", given.cols(), columns);
                const Matrix inner = scale.asDiagonal() * given * scale.asDiagonal();
                if (model.has_full_covariances()) {
                    hold(model.precision(k, 0), half_vector(inner));
                } else {
                    for (Index p = 0; p < columns; ++p) {
                        hold(model.precision(k, p), Vector::Constant(1, inner(p, p)));
                    }
                }
            }
        }
        return state;
    }

    void finish() {
        FitOptions options;
        options.tolerance = options_.tolerance;
        options.max_iterations = options_.max_iterations;
        options.first_sweeps = 0;
        options.progress = progress_of({}, *model_, 0);
        result_.optimum = fitted_in_order(best_.state, options);
        if (!result_.optimum.converged()) return;
        const Index before = model_->passes();
        // Bounds on a sample are not those on all rows; loose fits of all rows are near enough to be judged.
        const double least = result_.start_passes > 0 ? result_.optimum.bound - kOtherOptimum - kSameBound : -kInfinity;
        options.max_iterations = std::min(options.max_iterations, kRivalIterations);
        std::vector<Optimum> found;
        for (std::size_t i = 1; i < finalists_.size() && found.size() + 1 < kCompared && !cancelled_; ++i) {
            const Entrant& entrant = finalists_[i];
            const bool is_here = detail::same_place(*model_, result_.optimum.state, entrant.state);
            if (is_here || !(entrant.bound >= least)) continue;
            Optimum other = fitted_in_order(entrant.state, options);
            if (!other.converged()) continue;
            // On all rows it may be the better one after all.
            if (other.bound > result_.optimum.bound + kSameBound) std::swap(other, result_.optimum);
            found.push_back(std::move(other));
        }
        result_.optimum.others = detail::other_places(*model_, result_.optimum, std::move(found));
        result_.other_passes = model_->passes() - before;
    }

    Optimum fitted_in_order(const State& state, FitOptions options) const {
        options.initial = model_->ordered(state);
        Optimum optimum = fit(*model_, options);
        // Components that passed each other on the way change places, and one more look makes the optimum theirs.
        const State ordered = model_->ordered(optimum.state);
        if (optimum.converged() && ordered.mean != optimum.state.mean) {
            options.initial = ordered;
            optimum = fit(*model_, options);
        }
        return optimum;
    }

    // Cancelled before the fit of all rows began: the best state so far.
    void give_up() {
        Optimum& optimum = result_.optimum;
        optimum.state = model_->ordered(best_.state);
        optimum.bound = model_->expand_at(optimum.state, Order::value).value +
                        detail::entropy_of(model_->layout(), optimum.state).value;
        optimum.trace = {optimum.bound};
        optimum.step = kInfinity;
        optimum.termination = Termination::cancelled;
        optimum.message = "cancelled during the search for a start; fit again, or with fewer restarts";
        optimum.restart_bounds = {optimum.bound};
        optimum.restart_terminations = {Termination::cancelled};
    }

    std::shared_ptr<RowSource> source_;
    MixtureSpecification specification_;
    MixtureFitOptions options_;
    std::shared_ptr<MixtureModel> model_;
    std::vector<Entrant> finalists_;  // of the tournament, one a place, the best first
    std::vector<Entrant> dropped_;    // out of the tournament before they were fitted
    Entrant best_;
    bool cancelled_ = false;
    MixtureFit result_;
};

}  // namespace

MixtureFit fit_mixture(const std::shared_ptr<RowSource>& source, const MixtureSpecification& specification,
                       const MixtureFitOptions& options) {
    return MixtureFitter(source, specification, options).run();
}

}  // namespace lrvb
