#include "kind/mixture/fitted.hpp"

#include "linalg/positive_definite.hpp"

#include <lrvb/data/table.hpp>
#include <lrvb/kind/mixture/posterior.hpp>
#include <lrvb/kind/picture.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace lrvb::detail {

namespace {

constexpr double kMuchPrior = 0.25;  // of a posterior precision
constexpr double kOverlap = 3.0;     // sds between two components

// All rows of a source but some.
class WithoutRows final : public RowSource {
  public:
    /// In ascending order, counted from 0.
    WithoutRows(std::shared_ptr<RowSource> source, std::vector<Index> rows)
        : source_(std::move(source)), rows_(std::move(rows)) {}

    Index columns() const override { return source_->columns(); }
    std::string name() const override { return source_->name(); }
    std::string column_name(Index column) const override { return source_->column_name(column); }
    void rewind() override {
        source_->rewind();
        next_ = 0;
    }
    Index read(double* rows, Index capacity) override {
        const Index width = columns();
        Index kept = 0;
        while (kept < capacity) {
            double* const begin = rows + kept * width;
            const Index count = source_->read(begin, capacity - kept);
            if (count == 0) break;
            Index place = 0;
            for (Index i = 0; i < count; ++i) {
                if (std::binary_search(rows_.begin(), rows_.end(), next_ + i)) continue;
                if (place != i) std::copy_n(begin + i * width, width, begin + place * width);
                ++place;
            }
            next_ += count;
            kept += place;
        }
        return kept;
    }

  private:
    std::shared_ptr<RowSource> source_;
    std::vector<Index> rows_;
    Index next_ = 0;
};

// A row's answers depend on no other row: a model of these rows alone gives them, however many others there are.
class RowsAlone final : public SomeRows {
  public:
    RowsAlone(std::vector<double> rows, Index width, const MixtureSpecification& specification,
              const LinearResponse& response, const Layout& layout, const State& state)
        : model_(std::make_shared<TableSource>(std::move(rows), width), specification),
          response_(response),
          layout_(layout),
          state_(state) {}

    RowAnswers ask(const Functionals& functionals, RowChange change) const override {
        const SparseMatrix weights = functionals.resolve(layout_).weights;
        Matrix directions(weights.rows(), weights.cols());
        for (Index c = 0; c < weights.cols(); ++c) directions.col(c) = response_.respond(Vector(weights.col(c)));
        RowAnswers result{0, Matrix(model_.rows(), model_.columns()), Vector(model_.rows()), {}};
        model_.ask_rows(state_, directions, change, [&](const RowAnswers& some) {
            const Index count = some.answers.rows();
            if (result.answers.size() == 0) result.answers.resize(model_.rows(), some.answers.cols());
            result.inputs.middleRows(some.first, count) = some.inputs;
            result.weights.segment(some.first, count) = some.weights;
            result.answers.middleRows(some.first, count) = some.answers;
        });
        return result;
    }

  private:
    MixtureModel model_;
    const LinearResponse& response_;
    const Layout& layout_;
    const State& state_;
};

std::shared_ptr<const MixtureRecord> record_of(const FitFile& file) {
    return std::static_pointer_cast<const MixtureRecord>(file.model);
}

}  // namespace

FittedMixture::FittedMixture(FitFile fit_file, DataRows data, const MixtureFit& fit, int threads)
    : FittedModel(std::move(fit_file), std::move(data.file_rows), threads),
      record_(record_of(file())),
      source_(std::move(data.source)),
      summary_(std::move(data.summary)),
      specification_(record_->specification(file().data.weights.has_value(), threads)),
      model_(fit.model) {
    set_optimum(fit.optimum);
    set_posterior(mixture_posterior(fit, file().data.columns));
    set_other_optima([&](const Optimum& other) {
        MixtureFit there;
        there.model = fit.model;
        there.optimum = other;
        return mixture_posterior(there, file().data.columns);
    });
}

FittedMixture::FittedMixture(FitFile fit_file, DataRows data, int threads)
    : FittedModel(std::move(fit_file), std::move(data.file_rows), threads),
      record_(record_of(file())),
      source_(std::move(data.source)),
      summary_(std::move(data.summary)),
      specification_(record_->specification(file().data.weights.has_value(), threads)),
      model_(std::make_shared<MixtureModel>(source_, specification_)) {
    restore_optimum();
    if (!file().correction) return;
    MixtureFit fit;
    fit.model = model_;
    fit.optimum = optimum();
    set_uncorrected(mixture_posterior(fit, file().data.columns));
}

Functionals FittedMixture::statistics() const {
    return model_->statistics_in_data_units(record().positions(file()).stacked(model_->layout()));
}

Posterior FittedMixture::refit(const RefitChange& change) const {
    MixtureSpecification specification = specification_;
    if (change.prior) {
        set_prior_number(*specification.prior, record().positions(file()), change.prior->first, change.prior->second);
    }
    std::shared_ptr<RowSource> source = source_;
    if (!change.without_rows.empty()) source = std::make_shared<WithoutRows>(source_, change.without_rows);
    MixtureFit fit;
    const auto changed = std::make_shared<MixtureModel>(source, specification);
    fit.model = changed;
    fit.optimum = refitted(*changed);
    return mixture_posterior(fit, file().data.columns);
}

void FittedMixture::predict_fitted(TableSink& sink) const {
    record().predict(
        optimum().state, *source_, false, [&](Index row) { return file_row(row); }, sink,
        MixtureDraws::RowsAre::fitted);
}

double FittedMixture::work_of_a_draw() const {
    const auto columns = static_cast<double>(record().columns());
    const double entries = record().is_full() ? 0.5 * columns * (columns + 1.0) : columns;
    constexpr double of_entry = 0.1;  // the exponential costs as much as ten of them
    return static_cast<double>(file().data.rows * record().components) * (1.0 + of_entry * (entries - 1.0));
}

std::vector<std::string> FittedMixture::leverage_header() const {
    std::vector<std::string> names = inputs();
    return names.size() == 1 ? std::vector<std::string>{"x"} : names;
}

std::unique_ptr<SomeRows> FittedMixture::some_rows(const std::vector<Index>& rows) const {
    return std::make_unique<RowsAlone>(read_rows(rows), source_->columns(), specification_, response(),
                                       model_->layout(), optimum().state);
}

std::vector<double> FittedMixture::read_rows(const std::vector<Index>& rows) const {
    std::vector<double> numbers;
    Index row = 0;
    auto next = rows.begin();
    for_each_row(*source_, [&](const double* values) {
        if (next == rows.end() || *next != row++) return;
        numbers.insert(numbers.end(), values, values + source_->columns());
        ++next;
    });
    return numbers;
}

std::vector<ColumnMarginal> FittedMixture::column_marginals() const {
    const MixtureMeans means = mixture_means(record().positions(file()), posterior());
    const std::vector<std::string> names = inputs();
    std::vector<ColumnMarginal> result;
    for (Index p = 0; p < record().columns(); ++p) {
        ColumnMarginal& column = result.emplace_back();
        column.name = names[static_cast<std::size_t>(p)];
        column.weights = means.weights;
        column.means = means.locations.col(p);
        column.sds.resize(record().components);
        for (Index k = 0; k < record().components; ++k) {
            column.sds[k] = std::sqrt(means.covariances[static_cast<std::size_t>(k)](p, p));
        }
    }
    return result;
}

Document FittedMixture::picture() const {
    const std::vector<ColumnMarginal> marginals = column_marginals();
    Vector narrowest(static_cast<Index>(marginals.size()));
    for (Index p = 0; p < narrowest.size(); ++p) {
        const ColumnMarginal& column = marginals[static_cast<std::size_t>(p)];
        narrowest[p] = std::numeric_limits<double>::infinity();
        for (Index k = 0; k < column.sds.size(); ++k) {  // of components that have rows
            const double rows = column.weights[k] * static_cast<double>(file().data.rows);
            if (rows >= 1.0) narrowest[p] = std::min(narrowest[p], column.sds[k]);
        }
    }
    return summary_ ? picture_of(*source_, file().data, *summary_, narrowest)
                    : picture_of(*source_, file().data, narrowest);
}

std::vector<std::string> FittedMixture::warnings() const {
    std::vector<std::string> result;
    if (record().components == 1) return result;
    add_prior_shares(result);
    add_overlap(result);
    return result;
}

// The prior's share of the posterior precision of a component's weight (counts of the Dirichlet), of its mean (the
// column where it is largest) and of its variance (degrees of freedom): where one is large, the component is as much
// the prior's as its rows'.
void FittedMixture::add_prior_shares(std::vector<std::string>& warnings) const {
    const Layout& layout = model_->layout();
    const MixturePrior& prior = record().numbers;
    const auto is_held = [&](const std::string& part) {
        return std::find(record().fixed.begin(), record().fixed.end(), part) != record().fixed.end();
    };
    const MixtureStatistics positions = record().positions(file());
    std::unordered_map<std::string, double> sds;
    for (const Posterior::Row& row : posterior().summary(posterior().select({"mu"}), 0.9)) {
        sds.emplace(row.name, row.mean_field_sd);
    }
    for (Index k = 0; k < record().components; ++k) {
        // What the weights' Dirichlet counts beyond its prior; of weights that are held, their share.
        const double rows = optimum().state.clamped[0]
                                ? std::exp(layout.segment(optimum().state.mean, 0)[k]) * file().data.total_weight
                                : layout.segment(optimum().state.natural, 0)[k] + 1.0 - record().numbers.alpha;
        std::pair<double, std::string_view> most{0.0, ""};
        if (!is_held("weights")) most = std::max(most, {prior.alpha / (prior.alpha + rows), "weight"});
        for (Index p = 0; p < record().columns() && !is_held("means"); ++p) {
            const double sd = sds.at(positions.of_column("mu", k, p).name());
            most = std::max(most, {sd * sd / prior.variance(p, p), "mean"});
        }
        if (!is_held("precisions")) {
            const double counted = record().is_full() ? prior.dof : 2.0 * prior.shape;
            most = std::max(most, {counted / (counted + rows), record().is_full() ? "covariance" : "variance"});
        }
        if (!(most.first > kMuchPrior)) continue;
        warnings.push_back(
            fmt::format("component {} has about {:.1f} rows, and depends on the prior, which has {:.0f}% of the "
                        "posterior precision "
                        "of its {}: use fewer components, or look at these rows",
                        k + 1, rows, 100.0 * most.first, most.second));
    }
}

// How many sds, of the two components' mean covariance, lie between their means.
void FittedMixture::add_overlap(std::vector<std::string>& warnings) const {
    const MixtureStatistics positions = record().positions(file());
    const MixtureMeans means = mixture_means(positions, posterior());
    for (Index k = 0; k < record().components; ++k) {
        for (Index l = k + 1; l < record().components; ++l) {
            const Matrix& one = means.covariances[static_cast<std::size_t>(k)];
            const Matrix& other = means.covariances[static_cast<std::size_t>(l)];
            const Vector off = means.locations.row(k) - means.locations.row(l);
            const Vector whitened = record().is_full()
                                        ? PositiveDefinite(Matrix(0.5 * (one + other))).solve(off)
                                        : Vector(off.cwiseQuotient(0.5 * (one.diagonal() + other.diagonal())));
            const double distance = std::sqrt(off.dot(whitened));
            if (distance >= kOverlap) continue;
            warnings.push_back(fmt::format(
                "components {} and {} overlap strongly (their means, such as {}, are {:.1f} sds apart): sds "
                "may be too small, sometimes by half or more when components nearly coincide; compare with the exact "
                "posterior by 'lrvb check', or use fewer components",
                k + 1, l + 1, positions.of_column("mu", k, 0).name(), distance));
        }
    }
}

std::unique_ptr<FittedModel> MixtureRecord::with_data(FitFile fit, const Dataset& data, int threads) const {
    DataRows rows = data.rows({fit.data.columns, fit.data.weights.value_or(""), fit.data.dropped > 0, true});
    const bool is_former = fit.data.checksum == rows.former_checksum;
    require_fitted_data(fit, rows.record.name, is_former ? rows.former_checksum : rows.record.checksum,
                        rows.record.rows);
    return std::make_unique<FittedMixture>(std::move(fit), std::move(rows), threads);
}

}  // namespace lrvb::detail
