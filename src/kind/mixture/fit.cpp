#include "base/validate.hpp"
#include "fit/entropy.hpp"
#include "fit/places.hpp"
#include "kind/mixture/optima.hpp"
#include "kind/mixture/pass.hpp"

#include <lrvb/data/table.hpp>
#include <lrvb/family/symmetric.hpp>
#include <lrvb/kind/mixture/fit.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lrvb {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Index kGrowth = 32;              // of one sample to the next
constexpr Index kLargestSample = 1 << 20;  // so that memory does not grow with the data
constexpr int kFirstRound = 10;            // sweeps of the tournament's first round; doubles as starts drop out
constexpr Index kRowsPerComponent = 100;   // of the first sample, at least
constexpr Index kNearEnough = 8;           // the last sample is at least this part of the data, or the largest
constexpr Index kSmallPart = 4;            // and at most this part: then the data themselves are as cheap
constexpr Index kReadRows = 16384;         // at once
constexpr std::size_t kFinalists = 4;      // that are fitted
constexpr double kSameBound = 1e-2;        // bounds of one optimum, fitted that loosely
constexpr double kSmallGain = 1e-2;        // of a sweep that ends a start's round
constexpr double kOnTheWay = 20.0;         // nats below the best of a start that may yet end within kOtherOptimum
constexpr double kOnTheWaySds = 3.0;       // from a place that a start is on its way to
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
// ones. From one row of the largest to the next is a geometric number of rows, which need not be looked at.
std::vector<std::vector<double>> draw_samples(RowSource& source, const MixtureModel& model, bool weighted,
                                              const std::vector<Index>& sizes, std::uint64_t seed) {
    std::vector<std::vector<double>> samples(sizes.size());
    if (sizes.empty()) return samples;
    const Index width = source.columns();
    const auto largest = static_cast<double>(sizes.back());
    const double log_missed = std::log1p(-largest / static_cast<double>(model.used_rows()));
    Random random(seed, std::numeric_limits<std::uint64_t>::max());
    const auto gap = [&] { return std::min(1e18, std::log(random.uniform()) / log_missed); };
    Index next = static_cast<Index>(gap());
    Index begin = 0;
    detail::for_each_chunk(source, width, model.rows(), kReadRows, [&](const double* rows, Index count) {
        for (; next < begin + count; next += 1 + static_cast<Index>(gap())) {
            const double* row = rows + (next - begin) * width;
            const double u = random.uniform() * largest;
            if (weighted && row[width - 1] == 0.0) continue;
            for (std::size_t s = 0; s < sizes.size(); ++s) {
                if (u >= static_cast<double>(sizes[s])) continue;
                samples[s].insert(samples[s].end(), row, row + width);
                if (!weighted) samples[s].push_back(1.0);
            }
        }
        begin += count;
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
        const Index first = std::max(options_.sample_rows, kRowsPerComponent * model_->components());
        const std::vector<Index> sizes = sample_sizes(model_->used_rows(), first);
        std::vector<std::vector<double>> samples =
            draw_samples(*source_, *model_, specification_.weighted, sizes, options_.seed);
        result_.model = model_;
        if (samples.empty()) {
            best_ = tournament(*model_);
            result_.start_passes = model_->passes();
        }
        for (std::size_t s = 0; s < samples.size() && !cancelled_; ++s) {
            const MixtureModel sample = sample_model(std::move(samples[s]));
            if (s == 0) {
                best_ = tournament(sample);
                found_ = detail::rivals(sample, best_.state, std::move(found_));
                continue;
            }
            FitOptions options = quick("sample", sample, 0);
            options.initial = std::move(best_.state);
            options.first_sweeps = 0;
            Optimum optimum = fit(sample, options);
            best_.state = start_after(optimum);
            best_.bound = optimum.bound;
            found_ = detail::rivals(sample, best_.state, fitted_again(sample, options));
        }
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
        int sweeps = 0;
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

    // Sweeps until they gain next to nothing. A start that fails is out of the race; it does not end it.
    void run(const MixtureModel& model, int sweeps, Entrant& entrant) {
        const auto progress = progress_of("tournament", model, static_cast<int>(entrant.number));
        // What a row of a sample adds to the bound stands for many, and is known no better.
        const double small_gain = kSmallGain * model.total_weight() / static_cast<double>(model.used_rows());
        try {
            for (int i = 0; i < sweeps && entrant.sweeps < options_.max_iterations && !cancelled_; ++i) {
                const double entropy = detail::entropy_of(model.layout(), entrant.state).value;
                const double before = entrant.bound;
                entrant.bound = model.sweep(entrant.state).value + entropy;
                ++entrant.sweeps;
                if (progress) progress({0, {}, entrant.sweeps, entrant.bound, kInfinity});
                if (entrant.bound - before < small_gain) break;
            }
        } catch (const ImproperConditional&) {
            entrant.bound = -kInfinity;
        }
        if (!std::isfinite(entrant.bound)) entrant.bound = -kInfinity;
    }

    // All starts run a few sweeps; the better half runs twice as many more; and so on. The last few are fitted, and the
    // best bound wins.
    Entrant tournament(const MixtureModel& model) {
        std::vector<Entrant> entrants;
        std::vector<Entrant> left;  // that are out of the race
        const bool has_rounds = static_cast<std::size_t>(options_.restarts) > kFinalists;
        for (int r = 0; r < options_.restarts && !cancelled_; ++r) {
            Random random(options_.seed, static_cast<std::uint64_t>(r));
            entrants.push_back({clamped(model, model.start(random)), -kInfinity, entrants.size(), 0, false});
            if (has_rounds) run(model, kFirstRound, entrants.back());
        }
        result_.start_bounds.assign(entrants.size(), -kInfinity);
        const auto keep_best = [&](std::size_t count) {
            for (const Entrant& entrant : entrants) result_.start_bounds[entrant.number] = entrant.bound;
            std::stable_sort(entrants.begin(), entrants.end(),
                             [](const Entrant& a, const Entrant& b) { return a.bound > b.bound; });
            while (entrants.size() > count) {
                left.push_back(std::move(entrants.back()));
                entrants.pop_back();
            }
        };
        for (int sweeps = 2 * kFirstRound; entrants.size() > kFinalists; sweeps *= 2) {
            keep_best(std::max(kFinalists, (entrants.size() + 1) / 2));
            if (entrants.size() == kFinalists || cancelled_) break;
            for (Entrant& entrant : entrants) run(model, sweeps, entrant);
        }
        for (Entrant& entrant : entrants) {
            if (cancelled_) break;
            FitOptions options = quick("tournament", model, static_cast<int>(entrant.number));
            options.initial = std::move(entrant.state);
            Optimum optimum = fit(model, options);
            if (optimum.converged()) found_.push_back(optimum);
            entrant.state = start_after(optimum);
            const bool counts = optimum.converged() || !std::isfinite(entrant.bound);
            entrant.bound = counts ? optimum.bound : std::min(optimum.bound, entrant.bound);
            entrant.converged = optimum.converged();
        }
        result_.finalists = static_cast<int>(entrants.size());
        keep_best(entrants.size());
        for (const Entrant& entrant : entrants) {
            const bool at_best = entrant.converged && entrant.bound >= entrants.front().bound - kSameBound;
            if (at_best) ++result_.finalists_at_best;
        }
        look_elsewhere(model, entrants.front(), std::move(left));
        return entrants.front();
    }

    // Starts that were on their way to another optimum may all have lost to those that were on their way to the best,
    // though it is as good; on a sample they do, by chance. The best of each place is fitted.
    void look_elsewhere(const MixtureModel& model, const Entrant& best, std::vector<Entrant> left) {
        std::stable_sort(left.begin(), left.end(),
                         [](const Entrant& a, const Entrant& b) { return a.bound > b.bound; });
        const bool is_sample = &model != model_.get();
        std::size_t looks = 0;
        for (Entrant& entrant : left) {
            if (cancelled_ || looks == detail::kMostRivals || !std::isfinite(entrant.bound)) return;
            if (!is_sample && entrant.bound < best.bound - kOnTheWay) return;
            const auto is_there = [&](const Optimum& known) {
                return detail::same_place(model, known.state, entrant.state, kOnTheWaySds);
            };
            if (std::any_of(found_.begin(), found_.end(), is_there)) continue;
            ++looks;
            if (is_sample && detail::is_ruled_out(model, best.state, entrant.state)) continue;
            FitOptions options = quick("tournament", model, static_cast<int>(entrant.number));
            options.initial = std::move(entrant.state);
            Optimum optimum = fit(model, options);
            if (optimum.converged()) found_.push_back(std::move(optimum));
        }
    }

    // The other optima, fitted on other rows from where they stand.
    std::vector<Optimum> fitted_again(const MixtureModel& model, FitOptions options) const {
        std::vector<Optimum> result;
        for (const Optimum& one : found_) {
            if (cancelled_) break;
            options.initial = start_after(one);
            Optimum optimum = fit(model, options);
            if (optimum.converged()) result.push_back(std::move(optimum));
        }
        return result;
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
        const double within = result_.start_passes > 0 ? kOtherOptimum + kSameBound : kInfinity;
        found_ = detail::other_places(*model_, result_.optimum, std::move(found_), within, detail::kMostRivals);
        std::vector<Optimum> found;
        for (const Optimum& one : found_) {
            if (cancelled_) break;
            Optimum other = fitted_in_order(start_after(one), options);
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
        optimum.message = "cancelled while a start was sought; fit again, with fewer restarts or more patience";
        optimum.restart_bounds = {optimum.bound};
        optimum.restart_terminations = {Termination::cancelled};
    }

    std::shared_ptr<RowSource> source_;
    MixtureSpecification specification_;
    MixtureFitOptions options_;
    std::shared_ptr<MixtureModel> model_;
    Entrant best_;
    std::vector<Optimum> found_;  // optima of the tournament; of a larger sample, those beside the best
    bool cancelled_ = false;
    MixtureFit result_;
};

}  // namespace

MixtureFit fit_mixture(const std::shared_ptr<RowSource>& source, const MixtureSpecification& specification,
                       const MixtureFitOptions& options) {
    return MixtureFitter(source, specification, options).run();
}

}  // namespace lrvb
