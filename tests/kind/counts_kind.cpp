// A kind of model in one file: counts with exposures under Gamma rates, one for each group.
//
//     y_n ~ Poisson(rate_g(n) · exposure_n),     rate_g ~ Gamma(shape, rate)
//
// It follows "How to add a kind of model" in CONTRIBUTING.md, whose steps are marked here. Linked with src/cli/main.cpp
// it is the program lrvb with one more kind; linked with anything else, a library with one more.
//
// Each rate has the posterior Gamma(shape + Σy, rate + Σexposure), exactly: that is what the tests compare with.

#include <lrvb/data/table.hpp>
#include <lrvb/kind/fitted_model.hpp>
#include <lrvb/kind/kind.hpp>
#include <lrvb/kind/picture.hpp>
#include <lrvb/model/builder.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lrvb {
namespace {

// --- Step 1: the model, from data and prior --------------------------------------------------------------------------

struct CountData {
    Vector counts;  // none of new rows
    Vector exposures;
    std::vector<Index> groups;  // of each row, from 0
};

struct CountPrior {
    double shape = 1.0;
    double rate = 1.0;
};

/// "rate[north]" for every group; "rate" where there are none.
std::vector<std::string> rate_names(const std::vector<std::string>& groups) {
    if (groups.empty()) return {"rate"};
    std::vector<std::string> names;
    for (const std::string& group : groups) names.push_back(fmt::format("rate[{}]", group));
    return names;
}

/// The rows are named, so that each can be asked what it does; the numbers of the prior too, for the same reason.
std::shared_ptr<const MultilinearModel> counts_model(const CountData& data, const std::vector<std::string>& groups,
                                                     const CountPrior& prior) {
    ModelBuilder builder;
    const Hyperparameter shape = builder.hyperparameter("shape", prior.shape);
    const Hyperparameter rate = builder.hyperparameter("rate", prior.rate);
    std::vector<Variable<family::Gamma>> rates;
    for (const std::string& name : rate_names(groups)) rates.push_back(builder.add(name, gamma(shape, rate)));
    const Rows rows = builder.rows("rows", data.counts.size());
    for (Index n = 0; n < data.counts.size(); ++n) {
        const auto group = static_cast<std::size_t>(data.groups[static_cast<std::size_t>(n)]);
        builder.observe(data.counts[n], poisson(rates[group], data.exposures[n]), rows[n]);
    }
    return std::make_shared<const MultilinearModel>(builder.build());
}

// --- Step 2: the data, from whatever holds them ----------------------------------------------------------------------

/// Which column holds what. Without exposures all of them are one, without groups there is one rate.
struct CountColumns {
    std::string count;  // none of new rows
    std::string exposure;
    std::string group;

    /// Those that there are, in this order.
    FrameOptions to_read(bool drop_missing) const {
        FrameOptions options;
        for (const std::string& column : {count, exposure, group}) {
            if (!column.empty()) options.columns.push_back(column);
        }
        if (!group.empty()) options.text = {group};  // though groups may be called 1, 2, 3
        options.missing = drop_missing ? Missing::drop : Missing::refuse;
        return options;
    }
};

Vector numbers_of(const DataFrame& frame, const FrameColumn& column, bool (*is_good)(double), const char* must_be) {
    if (column.is_text()) {
        throw std::runtime_error(fmt::format("{}: column '{}' holds text, such as '{}', but must be numbers",
                                             frame.name, column.name, column.levels.back()));
    }
    for (Index n = 0; n < frame.rows; ++n) {
        if (is_good(column.numbers[n])) continue;
        throw std::runtime_error(fmt::format("{}: row {}, column '{}': {} must be {}: correct it", frame.name,
                                             frame.file_row(n), column.name, column.numbers[n], must_be));
    }
    return column.numbers;
}

std::vector<Index> groups_of(const DataFrame& frame, const FrameColumn& column,
                             const std::vector<std::string>& groups) {
    std::vector<Index> result;
    for (Index n = 0; n < frame.rows; ++n) {
        const std::string& own = column.levels[column.codes[static_cast<std::size_t>(n)]];
        const auto found = std::lower_bound(groups.begin(), groups.end(), own);  // levels are sorted
        if (found == groups.end() || *found != own) {
            throw std::runtime_error(fmt::format(
                "{}: row {}, column '{}': the group '{}' did not occur in the data of the fit: correct it, or leave "
                "the row out",
                frame.name, frame.file_row(n), column.name, own));
        }
        result.push_back(found - groups.begin());
    }
    return result;
}

CountData data_of(const DataFrame& frame, const CountColumns& columns, const std::vector<std::string>& groups) {
    constexpr auto is_count = [](double y) { return y >= 0.0 && y == std::floor(y); };
    constexpr auto is_exposure = [](double e) { return e > 0.0; };
    CountData data;
    std::size_t next = 0;
    if (!columns.count.empty()) {
        data.counts = numbers_of(frame, frame.columns[next++], is_count, "a whole number from 0");
    }
    data.exposures = columns.exposure.empty() ? Vector::Ones(frame.rows)
                                              : numbers_of(frame, frame.columns[next++], is_exposure, "positive");
    data.groups = columns.group.empty() ? std::vector<Index>(static_cast<std::size_t>(frame.rows), 0)
                                        : groups_of(frame, frame.columns[next], groups);
    return data;
}

std::string checksum_of(const CountData& data) {
    Checksum checksum;
    checksum.add(data.counts);
    checksum.add(data.exposures);
    for (const Index group : data.groups) checksum.add(Vector::Constant(1, static_cast<double>(group)));
    return checksum.text();
}

// --- Step 3: the posterior, as people read it ------------------------------------------------------------------------

/// Statistics stand as the model has them: of every rate itself, then its logarithm.
std::vector<VariableMeaning> counts_meanings(const std::vector<std::string>& groups) {
    std::vector<VariableMeaning> meanings;
    for (std::size_t g = 0; g < rate_names(groups).size(); ++g) {
        VariableMeaning rate;
        rate.group = "rate";
        if (!groups.empty()) rate.indices = {groups[g]};
        rate.role = Role::rate;
        rate.is_parameter = rate.is_shown = true;
        rate.from_draw = FromDraw::statistic(static_cast<Index>(meanings.size()));
        meanings.push_back(rate);
        VariableMeaning logarithm;
        logarithm.group = "log_rate";
        logarithm.indices = rate.indices;
        logarithm.role = Role::logarithm;
        logarithm.from_draw = FromDraw::statistic(static_cast<Index>(meanings.size()));
        meanings.push_back(logarithm);
    }
    return meanings;
}

Functionals all_statistics(const Layout& layout) {
    std::vector<Index> all(static_cast<std::size_t>(layout.size()));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

Posterior counts_posterior(const MultilinearModel& model, const Optimum& optimum,
                           const std::vector<std::string>& groups) {
    const Layout& layout = model.layout();
    Posterior posterior = posterior_of(model, optimum, layout.statistic_names(), all_statistics(layout));
    const std::vector<VariableMeaning> meanings = counts_meanings(groups);
    for (Index i = 0; i < static_cast<Index>(meanings.size()); i += 2) {
        const auto at = static_cast<std::size_t>(i);
        // A rate is positive: its interval is that of its logarithm.
        posterior.variables.push_back(transformed_variable(meanings[at], posterior.mean[i], {{i, 1.0}},
                                                           Transform::exponential, posterior.mean[i + 1],
                                                           {{i + 1, 1.0}}));
        posterior.variables.push_back(unbounded_variable(meanings[at + 1], posterior.mean[i + 1], {{i + 1, 1.0}}));
    }
    keep_marginals(posterior);
    return posterior;
}

// --- Step 4: what a fit file keeps, and what it can answer without the data ------------------------------------------

class CountsRecord final : public ModelRecord {
  public:
    CountColumns columns;
    std::vector<std::string> groups;  // sorted; none: one rate
    std::string prior_origin;
    CountPrior numbers;

    static std::shared_ptr<const CountsRecord> read(const Fields& fields) {
        auto record = std::make_shared<CountsRecord>();
        record->columns = {fields.text("count"), fields.text("exposure"), fields.text("group")};
        record->groups = fields.texts("groups");
        record->prior_origin = fields.text("prior_name");
        const Fields prior = fields.fields("prior");
        record->numbers = {prior.number("shape"), prior.number("rate")};
        return record;
    }

    std::string_view kind() const override { return "counts"; }

    Document document() const override {
        Document json;
        json["count"] = columns.count;
        json["exposure"] = columns.exposure;
        json["group"] = columns.group;
        json["groups"] = groups;
        json["prior_name"] = prior_origin;
        json["prior"] = Document{{"shape", numbers.shape}, {"rate", numbers.rate}};
        return json;
    }

    void require_parameters(const Fields& file) const override {
        if (file.length("parameters") == rate_names(groups).size()) return;
        file.refuse("parameters", fmt::format("must be {} rates", rate_names(groups).size()));
    }

    std::string headline() const override {
        return groups.empty() ? "one rate" : fmt::format("{} rates", groups.size());
    }
    std::string title(const DataRecord&) const override { return fmt::format("Rates of {}", columns.count); }
    std::string description() const override {
        return fmt::format("Counts of {} with a Gamma rate{}", columns.count,
                           groups.empty() ? "" : " for each " + columns.group);
    }
    std::string prior_name() const override { return prior_origin; }
    std::vector<PriorNumber> prior(const DataRecord&) const override {
        return {{"shape", "shape", numbers.shape, PriorNumber::Role::positive, numbers.shape},
                {"rate", "rate", numbers.rate, PriorNumber::Role::positive, numbers.rate}};
    }

    std::vector<VariableMeaning> meanings(const FitFile&) const override { return counts_meanings(groups); }
    SparseMatrix statistics(const FitFile& fit) const override {
        const Layout layout = fit.parameter_layout();
        return all_statistics(layout).resolve(layout).weights;
    }

    /// Row by row: the mean of the count, the sd of that mean, and that of a new count. With M and V the posterior's
    /// mean and variance of the rate these are M e, e √V and √(V e² + M e); a correction is in them already.
    void predict(const FitFile& fit, const Dataset& rows, const PredictOptions& options,
                 TableSink& sink) const override {
        CountColumns known = columns;
        known.count.clear();
        const DataFrame frame = rows.frame(known.to_read(options.drop_missing));
        const CountData data = data_of(frame, known, groups);
        const std::vector<Index> rates = fit.posterior.select({"rate"});
        const Vector sds = fit.posterior.sds(rates);
        sink.header({"mean", "mean_sd", "sd"});
        for (Index n = 0; n < frame.rows; ++n) {
            const Index group = data.groups[static_cast<std::size_t>(n)];
            const Index at = rates.at(static_cast<std::size_t>(group));
            const double mean = data.exposures[n] * fit.posterior.variables[static_cast<std::size_t>(at)].mean;
            const double mean_sd = data.exposures[n] * sds[group];
            sink.row(frame.file_row(n), Vector{{mean, mean_sd, std::sqrt(mean_sd * mean_sd + mean)}});
        }
    }

  protected:
    std::unique_ptr<FittedModel> with_data(FitFile fit, const Dataset& data, int threads) const override;
};

// --- Step 5: a fit with its data -------------------------------------------------------------------------------------

class FittedCounts final : public FittedModel {
  public:
    /// From a fit.
    FittedCounts(FitFile fit, CountData data, std::shared_ptr<const MultilinearModel> model, Optimum optimum,
                 std::vector<Index> file_rows, int threads)
        : FittedModel(std::move(fit), std::move(file_rows), threads),
          record_(std::static_pointer_cast<const CountsRecord>(file().model)),
          data_(std::move(data)),
          model_(std::move(model)) {
        set_optimum(std::move(optimum));
        set_posterior(counts_posterior(*model_, this->optimum(), record_->groups));
    }
    /// From a file.
    FittedCounts(FitFile fit, CountData data, std::vector<Index> file_rows, int threads)
        : FittedModel(std::move(fit), std::move(file_rows), threads),
          record_(std::static_pointer_cast<const CountsRecord>(file().model)),
          data_(std::move(data)),
          model_(counts_model(data_, record_->groups, record_->numbers)) {
        restore_optimum();
        if (file().correction) set_posterior(counts_posterior(*model_, optimum(), record_->groups));
    }

    const Model& model() const override { return *model_; }
    Functionals statistics() const override { return all_statistics(model_->layout()); }

    Posterior refit(const RefitChange& change) const override {
        CountPrior prior = record_->numbers;
        if (change.prior) (change.prior->first == "shape" ? prior.shape : prior.rate) = change.prior->second;
        MultilinearModel changed = change.prior ? *counts_model(data_, record_->groups, prior) : *model_;
        for (const Index row : change.without_rows) changed = changed.without_row(row);
        return counts_posterior(changed, refitted(changed), record_->groups);
    }

    // The rows are sums: a draw costs as much as there are rates.
    double work_of_a_draw() const override { return static_cast<double>(model_->layout().size()); }

    // Counts cannot move, but people want to see which row it is.
    std::vector<std::string> shown_columns() const override {
        std::vector<std::string> columns{record_->columns.count};
        if (!record_->columns.exposure.empty()) columns.push_back(record_->columns.exposure);
        return columns;
    }
    Matrix shown_values(const std::vector<Index>& rows) const override {
        const auto columns = static_cast<Index>(shown_columns().size());
        Matrix values(static_cast<Index>(rows.size()), columns);
        values.col(0) = data_.counts(rows);
        if (columns > 1) values.col(1) = data_.exposures(rows);
        return values;
    }
    Document picture() const override {
        DataRecord shown;
        shown.columns = shown_columns();
        shown.rows = data_.counts.size();
        std::vector<Index> all(static_cast<std::size_t>(shown.rows));
        std::iota(all.begin(), all.end(), 0);
        TableSource source(shown_values(all));
        return picture_of(source, shown);
    }

  private:
    std::shared_ptr<const CountsRecord> record_;
    CountData data_;
    std::shared_ptr<const MultilinearModel> model_;
};

std::unique_ptr<FittedModel> CountsRecord::with_data(FitFile fit, const Dataset& data, int threads) const {
    const DataFrame frame = data.frame(columns.to_read(fit.data.dropped > 0));
    CountData own = data_of(frame, columns, groups);
    require_fitted_data(fit, frame.name, checksum_of(own), frame.rows);
    return std::make_unique<FittedCounts>(std::move(fit), std::move(own), frame.file_rows, threads);
}

// --- Step 6: the kind: its options, its fit, its files ---------------------------------------------------------------

class CountsKind final : public Kind {
  public:
    std::string_view name() const override { return "counts"; }
    std::string_view help() const override { return "Fit rates of counts with exposures"; }

    std::optional<std::vector<OptionInfo>> options() const override {
        std::vector<OptionInfo> options;
        options.push_back(OptionInfo{"--count", "The column of counts, by name or number"}.require());
        options.push_back({"--exposure", "The column of exposures: hours, people, area (default: one each)"});
        options.push_back({"--group", "The column of groups, each with a rate of its own (default: one rate)"});
        const auto prior = [&](const std::string& name, const std::string& help) {
            options.push_back(
                {name, help, OptionInfo::Type::text, false, "Prior (default: exponential about all)", "NUMBER"});
        };
        prior("--prior-shape", "Gamma shape of every rate");
        prior("--prior-rate", "Gamma rate of every rate, in units of exposure");
        return options;
    }
    bool chooses_columns() const override { return false; }

    std::unique_ptr<FittedModel> fit(const FitRequest& request) const override {
        const Settings& settings = request.settings;
        if (!settings.has("count")) throw UsageError("--count is missing: name the column of counts");
        auto record = std::make_shared<CountsRecord>();
        record->columns = {settings.text("count"), settings.text("exposure"), settings.text("group")};
        const DataFrame frame = request.data.frame(record->columns.to_read(settings.flag("drop-missing")));
        // As the header has them, where the user gave numbers.
        auto column = frame.columns.begin();
        for (std::string* name : {&record->columns.count, &record->columns.exposure, &record->columns.group}) {
            if (!name->empty()) *name = (column++)->name;
        }
        if (!record->columns.group.empty()) record->groups = frame.columns.back().levels;
        CountData data = data_of(frame, record->columns, record->groups);
        if (request.on_rows) request.on_rows(frame.rows);
        record->prior_origin = settings.has_any("prior-") ? "explicit" : "auto";
        record->numbers = {1.0, data.exposures.sum() / std::max(1.0, data.counts.sum())};
        if (settings.has("prior-shape")) record->numbers.shape = settings.positive("prior-shape");
        if (settings.has("prior-rate")) record->numbers.rate = settings.positive("prior-rate");

        const std::shared_ptr<const MultilinearModel> model = counts_model(data, record->groups, record->numbers);
        Optimum optimum = lrvb::fit(*model, request.options);

        FitFile file;
        file.model = record;
        file.data.name = frame.name;
        for (const FrameColumn& own : frame.columns) file.data.columns.push_back(own.name);
        file.data.rows = frame.rows;
        file.data.dropped = frame.dropped;
        file.data.total_weight = static_cast<double>(frame.rows);
        file.data.checksum = checksum_of(data);
        file.options = {request.options.seed, 1, request.options.tolerance, request.options.max_iterations};
        file.outcome = record_outcome(optimum, 1);
        file.parameters = record_parameters(model->layout(), optimum.state);
        return std::make_unique<FittedCounts>(std::move(file), std::move(data), model, std::move(optimum),
                                              frame.file_rows, request.threads);
    }

    std::shared_ptr<const ModelRecord> read(const Fields& fields) const override { return CountsRecord::read(fields); }
};

// --- Step 7: tell the library ----------------------------------------------------------------------------------------

// Before main, so that whatever this file is linked into knows the kind.
[[maybe_unused]] const bool is_registered = [] {
    register_kind(std::make_unique<CountsKind>());
    return true;
}();

}  // namespace
}  // namespace lrvb
