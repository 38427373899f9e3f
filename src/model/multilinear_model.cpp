#include "base/parallel.hpp"
#include "base/validate.hpp"
#include "family/base_numbers.hpp"
#include "model/label_starts.hpp"
#include "model/labelled/start.hpp"
#include "model/labelled/symmetry.hpp"
#include "model/labelled/terms.hpp"
#include "model/multilinear_form.hpp"
#include "model/polynomials.hpp"
#include "model/row_terms.hpp"

#include <lrvb/model/multilinear_model.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>

namespace lrvb {

namespace {

// Labels get probabilities uniform on the simplex and locations move by a draw of their starting q, which breaks the
// symmetries that labels and products have; the rest starts at its prior.
Vector random_start(const AnyFamily& any, const Vector& natural, Random& random) {
    if (const auto* categorical = std::get_if<family::Categorical>(&any)) {
        return family::Dirichlet(categorical->size()).sample(Vector::Zero(categorical->size()), random);
    }
    if (const auto* bernoulli = std::get_if<family::Bernoulli>(&any)) {
        return bernoulli->natural_from_standard(Vector::Constant(1, random.uniform()));
    }
    if (const auto* normal = std::get_if<family::Normal>(&any)) {
        Vector standard = normal->standard(natural);
        standard[0] = normal->sample(natural, random)[0];
        return normal->natural_from_standard(standard);
    }
    if (const auto* normal = std::get_if<family::TruncatedNormal>(&any)) {
        const Vector mean = normal->mean(natural);
        const double variance = mean[1] - mean[0] * mean[0];
        const double drawn = normal->sample(natural, random)[0];
        if (!(variance > 0.0)) return natural;
        return Vector{{drawn / variance, -0.5 / variance}};
    }
    if (const auto* normal = std::get_if<family::MvNormal>(&any)) {
        Vector standard = normal->standard(natural);
        const Index dimension = normal->dimension();
        standard.head(dimension) = normal->sample(natural, random).head(dimension);
        return normal->natural_from_standard(standard);
    }
    return natural;
}

// (LLᵀ)⁻¹ x.
Vector by_factor(const Matrix& factor, const Vector& x) {
    const Vector whitened = factor.triangularView<Eigen::Lower>().solve(x);
    return factor.transpose().triangularView<Eigen::Upper>().solve(whitened);
}

}  // namespace

std::uint64_t next_model_identity() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

ImproperConditional::ImproperConditional(const std::string& variable, const std::string& reason)
    : std::domain_error(fmt::format(
          "the conditional of variable '{}' is improper: {}; give it a proper prior or more data", variable, reason)) {}

MultilinearModel::MultilinearModel(std::shared_ptr<const Layout> layout,
                                   std::shared_ptr<const detail::MultilinearForm> form, Vector start_natural,
                                   std::vector<std::string> hyperparameters, Vector hyperparameter_values,
                                   std::shared_ptr<const detail::Polynomials> hyperparameter_derivatives,
                                   std::shared_ptr<const detail::RowTerms> rows,
                                   std::shared_ptr<const detail::LabelledTerms> labelled,
                                   std::vector<BaseDerivative> base_derivatives)
    : layout_(std::move(layout)),
      form_(std::move(form)),
      start_natural_(std::move(start_natural)),
      hyperparameters_(std::move(hyperparameters)),
      hyperparameter_values_(std::move(hyperparameter_values)),
      hyperparameter_derivatives_(std::move(hyperparameter_derivatives)),
      rows_(std::move(rows)),
      labelled_(std::move(labelled)),
      base_derivatives_(std::move(base_derivatives)) {
    find_exchangeable();
}

void MultilinearModel::find_exchangeable() {
    exchangeable_ = labelled_ ? detail::exchangeable_labels(*layout_, *form_, *labelled_) : Exchangeable();
}

State MultilinearModel::plain_start(Random& random) const {
    State state{start_natural_, Vector(layout_->size()),
                std::vector<bool>(static_cast<std::size_t>(layout_->variable_count()), false)};
    for (const VariableInfo& variable : *layout_) {
        const Vector natural =
            random_start(variable.family, start_natural_.segment(variable.offset, variable.size), random);
        state.natural.segment(variable.offset, variable.size) = natural;
        state.mean.segment(variable.offset, variable.size) =
            std::visit([&](const auto& family) { return family.mean(natural); }, variable.family);
    }
    return state;
}

State MultilinearModel::start(Random& random) const {
    if (!labelled_) {
        const detail::LabelTrial trial{[&] { return plain_start(random); },
                                       [&](State& state) {
                                           Vector point = state.mean;
                                           ascend(state, point);
                                       },
                                       [&](const State& state) { return bound_on_sample(state, Expansion()); }, work()};
        const std::optional<State> best = detail::best_label_start(*layout_, trial, random);
        return best ? *best : plain_start(random);
    }
    // Several clusterings of a sample of the rows, each followed by a short ascent on it: the best is where a fit goes
    // on.
    const detail::LabelledTerms sample = labelled_->sampled(detail::kStartRows, weights_, random);
    std::optional<State> best;
    double best_bound = -std::numeric_limits<double>::infinity();
    const int attempts = detail::has_few_rows(sample) ? detail::kStartAttemptsOfFew : detail::kStartAttempts;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        State state = plain_start(random);
        try {
            Vector point = sample.extended(state.mean);
            detail::cluster_counts(sample, attempt, random, point);
            for (int i = 0; i < detail::kStartUpdates; ++i) ascend(state, point);
            double bound = 0.0;
            for (int i = 0; i <= detail::kStartSweeps; ++i) {
                Expansion found;
                sample.fill_counts(point, Vector(), 1, found);
                bound = bound_on_sample(state, found);
                if (i < detail::kStartSweeps) ascend(state, point);
            }
            if (!best || bound > best_bound) {
                best_bound = bound;
                best = std::move(state);
            }
        } catch (const ImproperConditional&) {
            // A component without rows, and without a prior: another attempt may keep it.
        }
    }
    return best ? *best : plain_start(random);
}

double MultilinearModel::bound_on_sample(const State& state, const Expansion& labelled) const {
    return form_->expand(state.mean, Order::value).value + labelled.value + detail::entropies(*layout_, state);
}

// ∂L/∂m of a variable, labels held.
void MultilinearModel::find_natural(const VariableInfo& variable, const Vector& point, Vector& natural) const {
    natural.resize(variable.size);
    form_->block_gradient(point, variable.offset, natural);
    if (labelled_) labelled_->add_block_gradient(point, variable.offset, natural);
}

void MultilinearModel::ascend(State& state, Vector& point) const {
    Vector natural;
    for (Index j = 0; j < layout_->variable_count(); ++j) {
        if (state.clamped[static_cast<std::size_t>(j)]) continue;
        const VariableInfo& variable = (*layout_)[j];
        find_natural(variable, point, natural);
        std::visit(
            [&](const auto& family) {
                const std::string error = family.domain_error(natural);
                if (!error.empty())
                    throw ImproperConditional(variable.name, error + cancellation(j, natural, state.mean));
                state.mean.segment(variable.offset, variable.size) = family.mean(natural);
            },
            variable.family);
        state.natural.segment(variable.offset, variable.size) = natural;
        point.segment(variable.offset, variable.size) = state.mean.segment(variable.offset, variable.size);
    }
}

Expansion MultilinearModel::sweep(State& state) const {
    Expansion entry = form_->expand(state.mean, Order::value);
    Vector point = labelled_ ? labelled_->extended(state.mean) : state.mean;
    if (labelled_) labelled_->fill_counts(point, weights_, threads_, entry);
    ascend(state, point);
    return entry;
}

std::optional<double> MultilinearModel::gibbs_work() const {
    if (labelled_ && !labelled_->has_whole_weights(weights_)) return std::nullopt;
    return work();
}

double MultilinearModel::work() const {
    return static_cast<double>(term_count() + 1) + (labelled_ ? labelled_->work(weights_) : 0.0);
}

void MultilinearModel::gibbs(Vector& statistics, const std::vector<bool>& clamped, Random& random) const {
    detail::require_size("gibbs", "statistics", statistics.size(), layout_->size());
    Vector point = labelled_ ? labelled_->extended(statistics) : statistics;
    if (labelled_) labelled_->draw_counts(point, weights_, random);
    Vector natural;
    for (Index j = 0; j < layout_->variable_count(); ++j) {
        if (clamped[static_cast<std::size_t>(j)]) continue;
        const VariableInfo& variable = (*layout_)[j];
        find_natural(variable, point, natural);
        std::visit(
            [&](const auto& family) {
                const std::string error = family.domain_error(natural);
                if (!error.empty()) throw ImproperConditional(variable.name, error);
                point.segment(variable.offset, variable.size) = family.sample(natural, random);
            },
            variable.family);
    }
    statistics = point.head(layout_->size());
}

Vector MultilinearModel::log_joint(const Matrix& statistics, int threads) const {
    detail::require_size("log_joint", "a column of statistics", statistics.rows(), layout_->size());
    constexpr Index kValues = 64;  // a task
    const Index count = statistics.cols();
    Vector values = labelled_ ? labelled_->values(statistics, weights_, threads) : Vector(Vector::Zero(count));
    detail::in_parallel(threads, (count + kValues - 1) / kValues, [&](Index task) {
        for (Index i = task * kValues; i < std::min(count, (task + 1) * kValues); ++i) {
            values[i] += form_->value(statistics.col(i));
        }
    });
    return values;
}

// A note for the message where the terms of a natural parameter cancel to rounding.
std::string MultilinearModel::cancellation(Index variable, const Vector& natural, const Vector& mean) const {
    const Vector magnitude = layout_->segment(form_->expand(mean, Order::gradient).gradient_magnitude, variable);
    const double rounding = 1e-13;
    const bool cancels = (natural.cwiseAbs().array() < rounding * magnitude.array()).any();
    return cancels ? " (its terms cancel to rounding: centre and scale the data)" : "";
}

Expansion MultilinearModel::expand(const Vector& mean, Order order) const {
    detail::require_size("expand", "mean", mean.size(), layout_->size());
    Expansion expansion = form_->expand(mean, order);
    if (labelled_) labelled_->add_expansion(mean, order, weights_, threads_, expansion);
    return expansion;
}

Vector MultilinearModel::hyperparameter_gradient(const Vector& mean, Index hyperparameter) const {
    detail::require_size("hyperparameter_gradient", "mean", mean.size(), layout_->size());
    require_hyperparameter("hyperparameter_gradient", hyperparameter);
    Vector gradient = Vector::Zero(layout_->size());
    hyperparameter_derivatives_->add_gradient(static_cast<std::size_t>(hyperparameter), mean, gradient);
    if (labelled_) labelled_->add_hyperparameter_gradient(mean, hyperparameter, weights_, threads_, gradient);
    for (const BaseDerivative& own : base_derivatives_) {
        if (own.hyperparameter == hyperparameter) add_base_gradient(own, mean, gradient);
    }
    return gradient;
}

// Of S_j(m) = A − ηᵀm at the η of m: ∇S = −η, so ∂∇S/∂α = V⁻¹ ∂m/∂α with η held.
void MultilinearModel::add_base_gradient(const BaseDerivative& own, const Vector& mean, Vector& gradient) const {
    const VariableInfo& variable = (*layout_)[own.variable];
    std::visit(
        [&](const auto& family) {
            Vector natural;
            try {
                natural = family.natural_from_mean(mean.segment(variable.offset, variable.size));
            } catch (const std::invalid_argument&) {
                return;  // held at a value, it has no spread and does not move
            }
            const Vector moved = own.derivative * detail::mean_by_numbers(variable.family, natural).col(own.number);
            gradient.segment(variable.offset, variable.size) += by_factor(family.covariance_factor(natural), moved);
        },
        variable.family);
}

void MultilinearModel::require_hyperparameter(const char* function, Index hyperparameter) const {
    if (hyperparameter >= 0 && hyperparameter < static_cast<Index>(hyperparameters_.size())) return;
    throw std::invalid_argument(fmt::format("{}: hyperparameter {} is not one of the model's {}", function,
                                            hyperparameter, hyperparameters_.size()));
}

std::vector<std::string> MultilinearModel::inputs() const {
    return rows_ ? rows_->inputs : std::vector<std::string>();
}

Index MultilinearModel::rows() const {
    return rows_ ? rows_->count : 0;
}

std::vector<std::pair<std::string, Index>> MultilinearModel::row_sets() const {
    return rows_ ? rows_->sets : std::vector<std::pair<std::string, Index>>();
}

void MultilinearModel::ask_rows(const State& state, const Matrix& directions, RowChange change,
                                const RowVisitor& visit) const {
    detail::require_size("ask_rows", "rows of the directions", directions.rows(), layout_->size());
    detail::require_size("ask_rows", "the state's mean", state.mean.size(), layout_->size());
    if (!rows_) refuse_without_rows();
    if (change == RowChange::value && rows_->inputs.empty()) {
        throw std::invalid_argument(
            "no row of this model has a number that can move: what was observed are counts, labels or expressions; ask "
            "for case weights");
    }
    rows_->ask(*layout_, state.mean, directions, change, weights_, visit);
}

void MultilinearModel::row_log_likelihoods(const Matrix& statistics, int, const RowVisitor& visit) const {
    detail::require_size("row_log_likelihoods", "a column of statistics", statistics.rows(), layout_->size());
    if (!rows_) refuse_without_rows();
    if (!rows_->own.empty()) {
        throw std::invalid_argument(fmt::format(
            "row_log_likelihoods: variable '{}' belongs to {}, so that row has no likelihood without it: declare the "
            "model with it summed out",
            (*layout_)[rows_->own.front().second].name, rows_->describe(rows_->own.front().first)));
    }
    if (labelled_ && labelled_->has_chains()) {
        throw std::invalid_argument(
            "row_log_likelihoods: the labels of rows are chains, so that no row has a likelihood by itself");
    }
    rows_->evaluate(statistics, weights_, visit);
}

MultilinearModel MultilinearModel::reweighted(Index row, double weight) const {
    return reweighted(std::vector<Index>{row}, Vector::Constant(1, weight));
}

MultilinearModel MultilinearModel::reweighted(const std::vector<Index>& rows, const Vector& weights) const {
    if (!rows_) refuse_without_rows();
    detail::require_size("reweighted", "weights", weights.size(), static_cast<Index>(rows.size()));
    MultilinearModel result = *this;
    result.identity_ = next_model_identity();
    if (result.weights_.size() == 0) result.weights_ = Vector::Ones(rows_->count);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double weight = weights[static_cast<Index>(i)];
        if (rows[i] < 0 || rows[i] >= rows_->count) {
            throw std::invalid_argument(
                fmt::format("reweighted: row {} is outside 0 to {}; rows are numbered over all sets in order of their "
                            "declaration",
                            rows[i], rows_->count - 1));
        }
        if (!(std::isfinite(weight) && weight >= 0.0)) {
            throw std::invalid_argument(fmt::format(
                "reweighted: the weight of row {} is {}, but must be finite and not negative", rows[i], weight));
        }
        result.weights_[rows[i]] = weight;
    }

    detail::WeightChanges changes;
    std::vector<Index> asked = rows;
    std::ranges::sort(asked);
    asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
    for (const Index row : asked) {
        const double before = weights_.size() == 0 ? 1.0 : weights_[row];
        if (result.weights_[row] != before) changes.emplace_back(row, result.weights_[row] - before);
    }
    detail::MonomialSum change;
    std::vector<detail::MonomialSum> derivative_changes(hyperparameters_.size());
    rows_->fold(changes, change, derivative_changes);
    set_aside(changes, result.weights_, change);
    result.form_ = std::make_shared<const detail::MultilinearForm>(form_->changed(change));

    const auto moves = [](const detail::MonomialSum& sum) { return sum.size() > 0; };
    if (std::ranges::any_of(derivative_changes, moves)) {
        auto derivatives = std::make_shared<detail::Polynomials>();
        std::vector<detail::MonomialSum> none;
        for (std::size_t a = 0; a < derivative_changes.size(); ++a) {
            hyperparameter_derivatives_->add_to(derivative_changes[a], none, a, 1.0);
            derivatives->add(derivative_changes[a]);
        }
        result.hyperparameter_derivatives_ = std::move(derivatives);
    }
    return result;
}

// The own variables of a row that is dropped have no terms left. A term ηᵀT − A(η) makes each of them a q that adds
// nothing to the bound: E ηᵀT + entropy = A(η).
void MultilinearModel::set_aside(const detail::WeightChanges& changes, const Vector& weights,
                                 detail::MonomialSum& change) const {
    for (const auto& [row, difference] : changes) {
        const double by = difference;  // a structured binding cannot be captured
        for (auto own = std::ranges::lower_bound(rows_->own, std::pair<Index, Index>(row, 0));
             own != rows_->own.end() && own->first == row; ++own) {
            const VariableInfo& variable = (*layout_)[own->second];
            if (weights[row] != 0.0 && weights[row] != 1.0) {
                throw std::invalid_argument(fmt::format(
                    "reweighted: the weight of {} is {}, but variable '{}' belongs to that row, and a fit does not "
                    "weigh entropies; drop the row (0), take it back (1), or observe it twice",
                    rows_->describe(row), weights[row], variable.name));
            }
            const auto add_reference = [&](const auto& family) {
                const Vector natural = family.reference_natural();
                for (Index s = 0; s < variable.size; ++s) {
                    const auto statistic = static_cast<std::uint32_t>(variable.offset + s);
                    change.add(-by * natural[s], {&statistic, 1});
                }
                change.add(by * family.log_partition(natural), {});
            };
            std::visit(add_reference, variable.family);
        }
    }
}

void MultilinearModel::refuse_without_rows() {
    throw std::invalid_argument("this model has no rows that can be asked: name them where they are observed");
}

MultilinearModel MultilinearModel::tilted(const Vector& tilt) const {
    detail::require_size("tilted", "tilt", tilt.size(), layout_->size());
    detail::require_finite("tilted", "tilt", tilt);
    MultilinearModel result = *this;
    result.identity_ = next_model_identity();
    result.form_ = std::make_shared<const detail::MultilinearForm>(form_->tilted(tilt));
    result.find_exchangeable();
    return result;
}

MultilinearModel MultilinearModel::stepped(Index hyperparameter, double step) const {
    require_hyperparameter("stepped", hyperparameter);
    detail::require_finite("stepped", "step", step);
    MultilinearModel result = *this;
    result.identity_ = next_model_identity();
    detail::MonomialSum change;
    std::vector<detail::MonomialSum> none;
    hyperparameter_derivatives_->add_to(change, none, static_cast<std::size_t>(hyperparameter), step);
    result.form_ = std::make_shared<const detail::MultilinearForm>(form_->changed(change));
    if (labelled_) {
        result.labelled_ = std::make_shared<const detail::LabelledTerms>(labelled_->stepped(hyperparameter, step));
        result.find_exchangeable();
    }
    result.layout_ = moved_layout(hyperparameter, step);
    return result;
}

std::shared_ptr<const Layout> MultilinearModel::moved_layout(Index hyperparameter, double step) const {
    std::vector<AnyFamily> families;
    for (const VariableInfo& variable : *layout_) families.push_back(variable.family);
    bool moves = false;
    for (const BaseDerivative& own : base_derivatives_) {
        if (own.hyperparameter != hyperparameter) continue;
        AnyFamily& family = families[static_cast<std::size_t>(own.variable)];
        family = detail::with_number_moved(family, own.number, step * own.derivative);
        moves = true;
    }
    if (!moves) return layout_;
    auto moved = std::make_shared<Layout>(layout_->model());
    for (std::size_t j = 0; j < families.size(); ++j) moved->add((*layout_)[static_cast<Index>(j)].name, families[j]);
    return moved;
}

std::size_t MultilinearModel::term_count() const {
    return form_->term_count() + (labelled_ ? labelled_->term_count() : 0);
}

std::vector<std::pair<Index, Index>> MultilinearModel::labelled() const {
    std::vector<std::pair<Index, Index>> result;
    if (!labelled_) return result;
    std::size_t part = 0;
    for (const Index parts : labelled_->calls()) {
        Index rows = 0;
        const Index labels = labelled_->parts()[part]->labels();
        for (Index p = 0; p < parts; ++p) rows += labelled_->parts()[part++]->rows();
        result.emplace_back(labels, rows);
    }
    return result;
}

Matrix MultilinearModel::label_probabilities(const Vector& mean, Index labelled) const {
    detail::require_size("label_probabilities", "mean", mean.size(), layout_->size());
    const Index calls = labelled_ ? static_cast<Index>(labelled_->calls().size()) : 0;
    if (labelled < 0 || labelled >= calls) {
        throw std::invalid_argument(
            fmt::format("label_probabilities: {} is not one of the model's {} sets of labelled rows", labelled, calls));
    }
    return labelled_->probabilities(mean, labelled, weights_);
}

void MultilinearModel::set_threads(int threads) {
    detail::require_at_least("set_threads", "threads", threads, 1);
    threads_ = threads;
}

}  // namespace lrvb
