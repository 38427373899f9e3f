#include "base/parallel.hpp"
#include "base/validate.hpp"
#include "kind/mixture/block.hpp"
#include "kind/mixture/components.hpp"
#include "kind/mixture/data.hpp"
#include "kind/mixture/narrow.hpp"
#include "kind/mixture/pass.hpp"
#include "kind/mixture/questions.hpp"
#include "kind/mixture/replicates.hpp"
#include "kind/mixture/rows.hpp"
#include "linalg/positive_definite.hpp"

#include <lrvb/family/symmetric.hpp>
#include <lrvb/kind/mixture/model.hpp>
#include <lrvb/kind/mixture/prediction.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <numbers>
#include <stdexcept>
#include <thread>

namespace lrvb {

namespace {

constexpr double kLeastShare = 3e-7;  // of a column's variance for each row, in the automatic prior of full covariances
constexpr Index kWorthAThread = 20000;  // numbers looked at

// How a hyperparameter moves the natural parameters of the prior.
struct PriorDerivative {
    std::string name;
    Vector natural;  // stacked
};

std::string name_of(const std::string& base, Index columns, std::initializer_list<Index> indices) {
    return columns == 1 ? base : detail::indexed(base, indices);
}

void require_positive_definite(std::string_view argument, const Matrix& matrix, Index columns) {
    detail::require_size("mixture prior", fmt::format("rows of {}", argument), matrix.rows(), columns);
    detail::require_size("mixture prior", fmt::format("columns of {}", argument), matrix.cols(), columns);
    const bool symmetric = (matrix - matrix.transpose()).cwiseAbs().maxCoeff() <= 1e-12 * matrix.cwiseAbs().maxCoeff();
    if (!symmetric || !detail::PositiveDefinite(matrix).succeeded()) {
        throw std::invalid_argument(fmt::format("mixture prior: {} is not a positive definite matrix", argument));
    }
}

void validate(const MixturePrior& prior, Index columns, bool full) {
    detail::require_positive("mixture prior", "alpha", prior.alpha);
    detail::require_size("mixture prior", "mean", prior.mean.size(), columns);
    detail::require_finite("mixture prior", "mean", prior.mean);
    require_positive_definite("variance", prior.variance, columns);
    if (full) {
        require_positive_definite("inverse_scale", prior.inverse_scale, columns);
        return;
    }
    if (!prior.variance.isDiagonal()) {
        throw std::invalid_argument("mixture prior: variance must be diagonal where covariances are");
    }
    detail::require_positive("mixture prior", "shape", prior.shape);
    detail::require_size("mixture prior", "rate", prior.rate.size(), columns);
    for (const double rate : prior.rate) detail::require_positive("mixture prior", "rate", rate);
}

}  // namespace

class MixtureModel::Implementation {
  public:
    Implementation(std::shared_ptr<RowSource> source_in, const MixtureSpecification& specification_in)
        : source(std::move(source_in)),
          specification(specification_in),
          data(detail::describe_rows(*source, specification_in)),
          parts(data.format.columns, data.format.full, specification_in.components) {
        if (specification.prior) {
            prior = *specification.prior;
        } else {
            prior = automatic_prior();
        }
        declare_prior();
    }

    MixtureCovariance covariance() const {
        return data.format.full ? MixtureCovariance::full : MixtureCovariance::diagonal;
    }

    MixturePrior automatic_prior() const {
        const Vector scale = data.format.inverse_scale.cwiseInverse();
        MixturePrior result = MixturePrior::standardised(data.format.centre, scale, covariance());
        for (Index p = 0; p < data.format.columns; ++p) {
            // A value that was computed in two ways (1.2 and 3 × 0.4) differs in its last digits.
            constexpr double kLastDigits = 4.0 * std::numeric_limits<double>::epsilon();
            const double largest = data.sample.col(p).cwiseAbs().maxCoeff();
            const double offset = std::abs(data.format.centre[p] * data.format.inverse_scale[p]);
            const double share = detail::narrow_share(data.sample.col(p), data.sample_weights, data.total_weight,
                                                      kLastDigits * (largest + offset));
            if (data.format.full) {
                // Columns that are nearly combinations of others are held apart by the prior alone: with N rows their
                // covariance matrices have a condition of N/(0.2 share), which Newton's steps need below some 1e7.
                result.inverse_scale(p, p) *= std::min(1.0, std::max(share, kLeastShare * data.total_weight));
            } else {
                result.rate[p] *= share;
            }
        }
        return result;
    }

    // The prior's natural parameters in inner units, x' = (x − centre)/scale: μ' ~ (m0', v0'), τ' = scale² τ, Λ' = SΛS.
    void declare_prior() {
        const Index columns = data.format.columns;
        const Vector& inverse = data.format.inverse_scale;
        validate(prior, columns, data.format.full);
        const Vector mean = (prior.mean - data.format.centre).cwiseProduct(inverse);
        const Matrix variance = inverse.asDiagonal() * prior.variance * inverse.asDiagonal();

        natural = Vector::Zero(parts.layout().size());
        constant = 0.0;
        const auto set = [&](Index variable, const Vector& standard) {
            std::visit(
                [&](const auto& family) {
                    const Vector own = family.natural_from_standard(standard);
                    parts.layout().segment(natural, variable) = own;
                    constant -= family.log_partition(own);
                },
                parts.layout()[variable].family);
        };
        if (parts.has_weights()) set(0, Vector::Constant(parts.components(), prior.alpha));
        for (Index k = 0; k < parts.components(); ++k) {
            if (data.format.full) {
                const Matrix inverse_scale = inverse.asDiagonal() * prior.inverse_scale * inverse.asDiagonal();
                const Matrix scale = detail::PositiveDefinite(inverse_scale).inverse();
                Vector location(columns + half_size(columns));
                location << mean, half_vector(variance);
                Vector precision(1 + half_size(columns));
                precision << prior.dof, half_vector(0.5 * (scale + scale.transpose()));
                set(parts.location_variable(k, 0), location);
                set(parts.precision_variable(k, 0), precision);
                continue;
            }
            for (Index p = 0; p < columns; ++p) {
                set(parts.location_variable(k, p), Vector{{mean[p], variance(p, p)}});
                set(parts.precision_variable(k, p), Vector{{prior.shape, prior.rate[p] * inverse[p] * inverse[p]}});
            }
        }
        // log p(x) = log p(x') − Σ log scale, for every row.
        constant += data.total_weight * inverse.array().log().sum();
        declare_hyperparameters(mean, variance);
    }

    void declare_hyperparameters(const Vector& mean, const Matrix& variance) {
        const Index columns = data.format.columns;
        const Vector& inverse = data.format.inverse_scale;
        const Matrix precision = detail::PositiveDefinite(variance).inverse();
        const Layout& layout = parts.layout();
        const auto declare = [&](const std::string& name, auto fill) {
            Vector derivative = Vector::Zero(layout.size());
            fill(derivative);
            hyperparameters.push_back({name, derivative});
            names.push_back(name);
        };
        // Writes the same to the location or precision variables of all components.
        const auto to_locations = [&](Vector& derivative, Index p, const Vector& value) {
            for (Index k = 0; k < parts.components(); ++k) {
                layout.segment(derivative, parts.location_variable(k, p)) = value;
            }
        };
        const auto to_precisions = [&](Vector& derivative, Index p, const Vector& value) {
            for (Index k = 0; k < parts.components(); ++k) {
                layout.segment(derivative, parts.precision_variable(k, p)) = value;
            }
        };
        if (parts.has_weights()) {
            declare("alpha", [&](Vector& d) { layout.segment(d, 0).setOnes(); });
        }
        if (!data.format.full) {
            for (Index p = 0; p < columns; ++p) {
                const double lambda = precision(p, p);
                declare(name_of("mean", columns, {p}), [&](Vector& d) {
                    to_locations(d, p, Vector{{lambda * inverse[p], 0.0}});
                });
            }
            for (Index p = 0; p < columns; ++p) {
                const double change = -precision(p, p) * precision(p, p) * inverse[p] * inverse[p];
                declare(name_of("variance", columns, {p}), [&](Vector& d) {
                    to_locations(d, p, Vector{{change * mean[p], -0.5 * change}});
                });
            }
            declare("shape", [&](Vector& d) {
                for (Index p = 0; p < columns; ++p) to_precisions(d, p, Vector{{0.0, 1.0}});
            });
            for (Index p = 0; p < columns; ++p) {
                declare(name_of("rate", columns, {p}), [&](Vector& d) {
                    to_precisions(d, p, Vector{{-inverse[p] * inverse[p], 0.0}});
                });
            }
            return;
        }
        const Index halves = half_size(columns);
        for (Index p = 0; p < columns; ++p) {
            Vector value(columns + halves);
            value << precision.col(p) * inverse[p], Vector::Zero(halves);
            declare(name_of("mean", columns, {p}), [&](Vector& d) { to_locations(d, 0, value); });
        }
        const auto inner_unit = [&](Index p, Index q) {
            Matrix unit = Matrix::Zero(columns, columns);
            unit(p, q) = unit(q, p) = inverse[p] * inverse[q];
            return unit;
        };
        for (Index p = 0; p < columns; ++p) {
            for (Index q = p; q < columns; ++q) {
                const Matrix change = -precision * inner_unit(p, q) * precision;
                Vector value(columns + halves);
                value << change * mean, -0.5 * trace_coefficients(change);
                declare(detail::indexed("variance", {p, q}), [&](Vector& d) { to_locations(d, 0, value); });
            }
        }
        Vector dof = Vector::Zero(halves + 1);
        dof[halves] = 0.5;
        declare("dof", [&](Vector& d) { to_precisions(d, 0, dof); });
        for (Index p = 0; p < columns; ++p) {
            for (Index q = p; q < columns; ++q) {
                Vector value(halves + 1);
                value << -0.5 * trace_coefficients(inner_unit(p, q)), 0.0;
                declare(detail::indexed("inverse_scale", {p, q}), [&](Vector& d) { to_precisions(d, 0, value); });
            }
        }
    }

    using Point = detail::MixtureComponents::Point;

    // A pass over all rows: while it lasts, no other moves the place that a source which is not resident is read at.
    class Reading {
      public:
        explicit Reading(const Implementation& model) : model_(model) {
            if (model.source->resident() == nullptr) {
                if (model.reader == std::this_thread::get_id()) {
                    throw std::logic_error(
                        "a pass over a mixture's rows was asked for in the middle of another: let the visitor of "
                        "ask_rows keep what it is told, and ask the model afterwards");
                }
                lock_ = std::unique_lock(model.one_reader);
                model.reader = std::this_thread::get_id();
            }
            ++model.passes;
        }
        ~Reading() {
            if (lock_) model_.reader = std::thread::id();
        }
        Reading(const Reading&) = delete;
        Reading& operator=(const Reading&) = delete;

      private:
        const Implementation& model_;
        std::unique_lock<std::mutex> lock_;
    };

    detail::PassSums pass(const detail::MixtureScores& scores, const Matrix& pair_origins) const {
        const Reading reading(*this);
        return detail::mixture_pass(*source, data.rows, data.format, scores, pair_origins,
                                    {specification.threads, specification.skip_below});
    }

    // The scores of the components at values of the parameters, which have no spread.
    std::vector<detail::MixtureScores> scores_at(const Matrix& statistics, int threads) const {
        std::vector<detail::MixtureScores> scores(static_cast<std::size_t>(statistics.cols()));
        const int score_threads = statistics.cols() < 64 ? 1 : threads;  // fewer are not worth waking a thread for
        detail::in_parallel(score_threads, statistics.cols(), [&](Index i) {
            detail::MixtureComponents::Point point = parts.point_at(Vector(statistics.col(i)));
            for (detail::MixtureComponents::Component& component : point) component.variance.setZero();
            scores[static_cast<std::size_t>(i)] = parts.scores(point);
        });
        return scores;
    }

    Expansion value_of(const Vector& mean, const detail::MixtureScores& scores, const detail::PassSums& sums) const {
        Expansion expansion;
        expansion.value = natural.dot(mean) + constant + sums.log_sum;
        expansion.magnitude = natural.cwiseAbs().dot(mean.cwiseAbs()) + std::abs(constant) + sums.magnitude +
                              scores.constants.cwiseAbs().dot(sums.sums.row(0)) +
                              scores.squares.cwiseProduct(sums.sums.bottomRows(scores.squares.rows())).cwiseAbs().sum();
        return expansion;
    }

    Expansion expand(const Vector& mean, const Point& point, Order order) const {
        const detail::MixtureScores scores = parts.scores(point);
        const Matrix pair_origins =
            order == Order::hessian ? parts.pair_origins(point) : Matrix(data.format.columns, 0);
        const detail::PassSums sums = pass(scores, pair_origins);
        Expansion expansion = value_of(mean, scores, sums);
        if (order >= Order::gradient) {
            expansion.gradient = natural + parts.gradient(point, scores.origins, sums.sums);
            expansion.gradient_magnitude = natural.cwiseAbs() + parts.gradient_magnitude(point, sums.sums);
        }
        if (order >= Order::hessian) expansion.hessian = parts.hessian(point, pair_origins, sums);
        return expansion;
    }

    // Coordinate ascent in the globals with the responsibilities held: weights, then each component's locations, then
    // precisions.
    void update(State& state, const Matrix& origins, const Matrix& sums) const {
        const Layout& layout = parts.layout();
        const auto set = [&](Index variable, const Vector& own) {
            if (state.clamped[static_cast<std::size_t>(variable)]) return;
            std::visit(
                [&](const auto& family) {
                    const std::string error = family.domain_error(own);
                    if (!error.empty()) throw ImproperConditional(layout[variable].name, error);
                    layout.segment(state.mean, variable) = family.mean(own);
                },
                layout[variable].family);
            layout.segment(state.natural, variable) = own;
        };
        if (parts.has_weights()) set(0, layout.segment(natural, 0) + sums.row(0).transpose());
        for (Index k = 0; k < parts.components(); ++k) {
            for (const std::vector<Index>& variables : parts.halves_of(k)) {
                const Vector own = parts.own_gradient(parts.component_at(state, k), origins.col(k), sums.col(k));
                for (const Index variable : variables) {
                    set(variable, layout.segment(natural, variable) + parts.block_of(own, variable));
                }
            }
        }
    }

    // Indicators drawn with these scores, and the sums of the rows that each component got.
    Matrix drawn_sums(const detail::MixtureScores& scores, Random& random) const {
        detail::BlockWork work(data.format);
        const auto count = static_cast<std::size_t>(parts.components());
        detail::Block block(data.format, count);
        std::vector<double> sums(count * work.sums_size(), 0.0);
        const double* rows = source->resident();
        for (Index begin = 0; begin < data.rows; begin += detail::kBlock) {
            const auto size = static_cast<std::size_t>(std::min(detail::kBlock, data.rows - begin));
            work.load(rows + begin * data.format.width(), size, block);
            work.score(scores, size, block);
            detail::softmax(block.responsibilities.data(), block.weights_or_null(), size, count);
            for (std::size_t i = 0; i < size; ++i) draw_indicators(block, i, count, random);
            work.add(scores.origins, size, block, sums.data());
        }
        return work.unpacked(sums.data(), parts.components());
    }

    // The row's responsibilities become the shares of its copies, w of them, that were drawn for each component.
    static void draw_indicators(detail::Block& block, std::size_t row, std::size_t components, Random& random) {
        const auto at = [&](std::size_t k) -> double& { return block.responsibilities[k * detail::kBlockRows + row]; };
        const double copies = block.weights.empty() ? 1.0 : block.weights[row];
        std::vector<double> shares(components, 0.0);
        for (double copy = 0.0; copy < copies; copy += 1.0) {
            double left = random.uniform();
            std::size_t k = 0;
            while (k + 1 < components && left >= at(k)) left -= at(k++);
            shares[k] += 1.0 / copies;
        }
        for (std::size_t k = 0; k < components; ++k) at(k) = shares[k];
    }

    bool has_whole_weights() const {
        if (!data.format.weighted) return true;
        const double* rows = source->resident();
        const Index width = data.format.width();
        for (Index n = 0; n < data.rows; ++n) {
            const double weight = rows[(n + 1) * width - 1];
            if (weight != std::floor(weight)) return false;
        }
        return true;
    }

    detail::MixtureComponents::Component value_at(const Vector& statistics, Index component) const {
        detail::MixtureComponents::Component result = parts.component_at(statistics, component);
        result.variance.setZero();
        return result;
    }

    std::shared_ptr<RowSource> source;
    MixtureSpecification specification;
    detail::RowSummary data;
    detail::MixtureComponents parts;
    MixturePrior prior;
    Vector natural;         // of the prior, stacked, inner units
    double constant = 0.0;  // of the prior, and of the change of units
    std::vector<PriorDerivative> hyperparameters;
    std::vector<std::string> names;
    mutable std::atomic<Index> passes = 0;
    mutable std::mutex one_reader;
    mutable std::atomic<std::thread::id> reader;  // who holds it
    std::uint64_t identity = next_model_identity();
};

MixturePrior MixturePrior::paper(Index columns, MixtureCovariance covariance) {
    return standardised(Vector::Zero(columns), Vector::Ones(columns), covariance);
}

MixturePrior MixturePrior::standardised(const Vector& centre, const Vector& scale, MixtureCovariance covariance) {
    const Index columns = centre.size();
    MixturePrior prior;
    prior.mean = centre;
    const Vector square = scale.cwiseAbs2();
    prior.variance = (100.0 * square).asDiagonal();
    if (covariance == MixtureCovariance::diagonal || columns == 1) {
        prior.shape = 2.0001;
        prior.rate = 0.1 * square;
    } else {
        prior.dof = static_cast<double>(columns) + 3.0002;
        prior.inverse_scale = (0.2 * square).asDiagonal();
    }
    return prior;
}

MixtureModel::MixtureModel(std::shared_ptr<RowSource> source, const MixtureSpecification& specification)
    : implementation_(std::make_unique<Implementation>(std::move(source), specification)) {}
MixtureModel::~MixtureModel() = default;

std::uint64_t MixtureModel::identity() const {
    return implementation_->identity;
}

const Layout& MixtureModel::layout() const {
    return implementation_->parts.layout();
}

Index MixtureModel::components() const {
    return implementation_->parts.components();
}

Index MixtureModel::columns() const {
    return implementation_->data.format.columns;
}

Index MixtureModel::rows() const {
    return implementation_->data.rows;
}

Index MixtureModel::used_rows() const {
    return implementation_->data.used_rows;
}

const MixturePrior& MixtureModel::prior() const {
    return implementation_->prior;
}

const Vector& MixtureModel::centre() const {
    return implementation_->data.format.centre;
}

Vector MixtureModel::scale() const {
    return implementation_->data.format.inverse_scale.cwiseInverse();
}

double MixtureModel::total_weight() const {
    return implementation_->data.total_weight;
}

AnyVariable MixtureModel::weights() const {
    return {0, 0};
}

AnyVariable MixtureModel::location(Index component, Index column) const {
    return {implementation_->parts.location_variable(component, column), 0};
}

AnyVariable MixtureModel::precision(Index component, Index column) const {
    return {implementation_->parts.precision_variable(component, column), 0};
}

bool MixtureModel::has_full_covariances() const {
    return implementation_->data.format.full;
}

Index MixtureModel::passes() const {
    return implementation_->passes;
}

double MixtureModel::skipped_bound(const State& state) const {
    const detail::MixtureComponents& parts = implementation_->parts;
    const detail::MixtureComponents::Point point = parts.point_at(state);
    return implementation_->pass(parts.scores(point), parts.pair_origins(point)).skipped;
}

State MixtureModel::start(Random& random) const {
    return start_from(detail::cluster(start_rows(), components(), random));
}

const Matrix& MixtureModel::start_rows() const {
    return implementation_->data.sample;
}

const Vector& MixtureModel::start_weights() const {
    return implementation_->data.sample_weights;
}

// The globals as ascent would set them, all rows standing behind those that were kept.
State MixtureModel::start_from(const Matrix& responsibilities) const {
    const Implementation& self = *implementation_;
    const detail::RowSummary& data = self.data;
    detail::require_size("start_from", "rows of the responsibilities", responsibilities.rows(), data.sample.rows());
    detail::require_size("start_from", "columns of the responsibilities", responsibilities.cols(), components());
    const double scale = data.total_weight / data.sample_weights.sum();
    const Matrix weighted = (scale * data.sample_weights).asDiagonal() * responsibilities;
    const Vector sizes = weighted.colwise().sum().cwiseMax(std::numeric_limits<double>::min());
    const Matrix origins = data.sample.transpose() * weighted * sizes.cwiseInverse().asDiagonal();
    const Matrix sums = detail::sums_of(data.sample, data.format, weighted, origins);

    State state{self.natural, Vector(layout().size()),
                std::vector<bool>(static_cast<std::size_t>(layout().variable_count()), false)};
    for (const VariableInfo& variable : layout()) {
        state.mean.segment(variable.offset, variable.size) = std::visit(
            [&](const auto& family) { return family.mean(self.natural.segment(variable.offset, variable.size)); },
            variable.family);
    }
    for (int i = 0; i < 5; ++i) self.update(state, origins, sums);
    return state;
}

Matrix MixtureModel::start_scores(const State& state) const {
    const Implementation& self = *implementation_;
    return detail::scores_of(self.data.sample, self.data.format, self.parts.scores(self.parts.point_at(state)));
}

Expansion MixtureModel::sweep(State& state) const {
    const Implementation& self = *implementation_;
    const detail::MixtureScores scores = self.parts.scores(self.parts.point_at(state));
    const detail::PassSums sums = self.pass(scores, Matrix(columns(), 0));
    Expansion entry = self.value_of(state.mean, scores, sums);
    self.update(state, scores.origins, sums.sums);
    return entry;
}

Expansion MixtureModel::expand(const Vector& mean, Order order) const {
    return implementation_->expand(mean, implementation_->parts.point_at(mean), order);
}

Expansion MixtureModel::expand_at(const State& state, Order order) const {
    return implementation_->expand(state.mean, implementation_->parts.point_at(state), order);
}

Vector MixtureModel::log_joint(const Matrix& statistics, int threads) const {
    const Implementation& self = *implementation_;
    detail::require_size("log_joint", "a column of statistics", statistics.rows(), layout().size());
    const std::vector<detail::MixtureScores> scores = self.scores_at(statistics, threads);
    const Implementation::Reading reading(self);
    const Vector sums = detail::log_sums(*self.source, self.data.rows, self.data.format, scores, threads);
    return (statistics.transpose() * self.natural + sums).array() + self.constant;
}

JointGradients MixtureModel::log_joint_gradients(const Matrix& statistics, int threads) const {
    const Implementation& self = *implementation_;
    detail::require_size("log_joint_gradients", "a column of statistics", statistics.rows(), layout().size());
    JointGradients result{Vector(statistics.cols()), Matrix(statistics.rows(), statistics.cols())};
    const auto ask = [&](Index i) {
        const Vector values = statistics.col(i);
        Implementation::Point point;
        for (Index k = 0; k < components(); ++k) point.push_back(self.value_at(values, k));
        const Expansion expansion = self.expand(values, point, Order::gradient);
        result.values[i] = expansion.value;
        result.gradients.col(i) = expansion.gradient;
    };
    // A pass has the threads that the model was made with: few rows are better shared out by columns, and very few are
    // not worth waking a thread for.
    const Index numbers = rows() * columns() * components() * statistics.cols();
    const bool by_columns =
        self.source->resident() != nullptr && self.specification.threads == 1 && numbers >= kWorthAThread;
    detail::in_parallel(by_columns ? threads : 1, statistics.cols(), ask);
    return result;
}

std::optional<double> MixtureModel::gibbs_work() const {
    const Implementation& self = *implementation_;
    if (self.source->resident() == nullptr || !self.has_whole_weights()) return std::nullopt;
    return std::max(self.data.total_weight, static_cast<double>(rows())) *
           static_cast<double>(components() * columns());
}

void MixtureModel::gibbs(Vector& statistics, const std::vector<bool>& clamped, Random& random) const {
    const Implementation& self = *implementation_;
    detail::require_size("gibbs", "statistics", statistics.size(), layout().size());
    Implementation::Point point;
    for (Index k = 0; k < components(); ++k) point.push_back(self.value_at(statistics, k));
    const detail::MixtureScores scores = self.parts.scores(point);
    const Matrix sums = self.drawn_sums(scores, random);
    const auto draw = [&](Index variable, const Vector& change) {
        if (clamped[static_cast<std::size_t>(variable)]) return;
        const Vector natural = layout().segment(self.natural, variable) + change;
        layout().segment(statistics, variable) =
            std::visit([&](const auto& family) { return family.sample(natural, random); }, layout()[variable].family);
    };
    if (self.parts.has_weights()) draw(0, sums.row(0).transpose());
    for (Index k = 0; k < components(); ++k) {
        for (const std::vector<Index>& variables : self.parts.halves_of(k)) {
            const Vector own =
                self.parts.own_gradient(self.value_at(statistics, k), scores.origins.col(k), sums.col(k));
            for (const Index variable : variables) draw(variable, self.parts.block_of(own, variable));
        }
    }
}

Exchangeable MixtureModel::exchangeable() const {
    Exchangeable result;
    if (components() == 1) return result;
    result.weights = weights().index();
    for (Index k = 0; k < components(); ++k) result.blocks.push_back(implementation_->parts.variables_of(k));
    return result;
}

const std::vector<std::string>& MixtureModel::hyperparameters() const {
    return implementation_->names;
}

Vector MixtureModel::hyperparameter_gradient(const Vector&, Index hyperparameter) const {
    return implementation_->hyperparameters.at(static_cast<std::size_t>(hyperparameter)).natural;
}

std::vector<std::string> MixtureModel::inputs() const {
    std::vector<std::string> names;
    for (Index p = 0; p < columns(); ++p) names.push_back(implementation_->source->column_name(p));
    return names;
}

void MixtureModel::ask_rows(const State& state, const Matrix& directions, RowChange change,
                            const RowVisitor& visit) const {
    const Implementation& self = *implementation_;
    detail::require_size("ask_rows", "rows of the directions", directions.rows(), layout().size());
    if (directions.cols() == 0) return;
    const Implementation::Reading reading(self);
    const detail::MixtureComponents::Point point = self.parts.point_at(state);
    detail::ask_mixture_rows(*self.source, rows(), self.data.format, self.parts.scores(point),
                             self.parts.row_gradients(point, directions), change, self.specification.threads, visit);
}

std::string MixtureModel::tally_rows(const State& state, const Matrix& directions, RowChange change,
                                     const RowTally& tally, const std::string& asked) const {
    const Implementation& self = *implementation_;
    RowTeam* const team = self.source->team();
    if (team == nullptr) return RowModel::tally_rows(state, directions, change, tally, asked);
    detail::require_size("tally_rows", "rows of the directions", directions.rows(), layout().size());
    if (directions.cols() == 0) return {};
    const Implementation::Reading reading(self);
    const detail::MixtureComponents::Point point = self.parts.point_at(state);
    return detail::ask_tally(*team, self.data.format, self.parts.scores(point),
                             self.parts.row_gradients(point, directions), change, self.specification.threads, tally,
                             asked);
}

void MixtureModel::row_log_likelihoods(const Matrix& statistics, int threads, const RowVisitor& visit) const {
    const Implementation& self = *implementation_;
    detail::require_size("row_log_likelihoods", "a column of statistics", statistics.rows(), layout().size());
    const std::vector<detail::MixtureScores> scores = self.scores_at(statistics, threads);
    const Implementation::Reading reading(self);
    detail::mixture_row_log_likelihoods(*self.source, rows(), self.data.format, scores, threads, visit);
}

void MixtureModel::replicate_rows(const Matrix& statistics, std::uint64_t seed, int threads,
                                  const ReplicateVisitor& visit) const {
    const Implementation& self = *implementation_;
    detail::require_size("replicate_rows", "a column of statistics", statistics.rows(), layout().size());
    std::vector<detail::DrawnMixture> mixtures(static_cast<std::size_t>(statistics.cols()));
    detail::in_parallel(threads, statistics.cols(), [&](Index i) {
        mixtures[static_cast<std::size_t>(i)] =
            detail::DrawnMixture(self.parts.point_at(Vector(statistics.col(i))), self.data.format);
    });
    const Implementation::Reading reading(self);
    detail::replicate_mixture_rows(*self.source, rows(), self.data.format, mixtures, seed, threads, visit);
}

Functionals MixtureModel::in_data_units(const std::vector<std::string>& names) const {
    return statistics_in_data_units(layout().statistics(names));
}

Functionals MixtureModel::statistics_in_data_units(const std::vector<Index>& statistics) const {
    return implementation_->parts.in_data_units(statistics, implementation_->data.format);
}

State MixtureModel::ordered(const State& state) const {
    return implementation_->parts.ordered(state);
}

MixtureModel::Prediction MixtureModel::predict(const State& state, const Matrix& rows) const {
    return lrvb::predict({components(), implementation_->covariance(), centre(), scale()}, state, rows);
}

}  // namespace lrvb
