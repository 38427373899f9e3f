#include "checks.hpp"
#include "finding.hpp"

#include <lrvb/kind/kind.hpp>
#include <lrvb/query/sensitivity.hpp>

#include <numeric>

namespace lrvb::fuzz {
namespace {

void look_at(const Posterior& posterior) {
    require(posterior.select({}).size() <= posterior.variables.size(), "what is shown are variables");
    std::vector<Index> all(posterior.variables.size());
    std::iota(all.begin(), all.end(), Index{0});
    require(posterior.summary(all, 0.95).size() == all.size(), "every variable has a row");
    const auto size = static_cast<Index>(all.size());
    require(posterior.covariance_of(all, Method::mean_field).rows() == size, "and a covariance");
    const std::string refusal = refusal_of([&] { posterior.covariance_of(all, Method::linear_response); });
    require(refusal.empty() == posterior.has_response(), "with a response where there is one");
    for (const PosteriorVariable& variable : posterior.variables) {
        require(!posterior.select({variable.name}).empty(), "a variable is found by its name");
    }
    refusal_of([&] { posterior.select({"no such variable"}); });
}

// Predictions are thrown away.
class NoTable final : public TableSink {
  public:
    void header(const std::vector<std::string>&) override {}
    void row(Index, const Vector& numbers) override { require(numbers.size() > 0, "a prediction holds numbers"); }
};

// All that a command asks of a fit without its data.
void look_at_model(const FitFile& fit) {
    require(find_kind(fit.model->kind()) != nullptr, "a fit is of a kind that is known");
    fit.model->headline();
    fit.model->title(fit.data);
    fit.model->description();
    refusal_of([&] { fit.model->page(fit); });
    refusal_of([&] { prior_effects(fit, fit.posterior.select({})); });
    for (const PriorNumber& number : fit.model->prior(fit.data)) prior_range(number);
    refusal_of([&] {
        const State state = fit.state(fit.parameter_layout());
        require(state.natural.allFinite() && state.mean.allFinite(), "a state is finite");
        DataFrame frame;
        frame.name = "rows";
        frame.rows = 2;
        for (const std::string& column : fit.data.columns) frame.columns.push_back({column, Vector::Zero(2), {}, {}});
        NoTable table;
        PredictOptions options;
        if (fit.model->predicts_intervals()) options.level = 0.9;
        fit.model->predict(fit, frame, options, table);
    });
}

void write_and_read(const FitFile& fit) {
    const ScratchFile file("fit.json");
    write_fit(file.path(), fit);
    const std::string first = file.read();
    require(!first.empty(), "a fit is written");
    write_fit(file.path(), read_fit(file.path()));
    require(file.read() == first, "what is read is what was written");
}

}  // namespace

void check_fit(std::string_view bytes) {
    FitFile fit;
    if (!refusal_of([&] { fit = parse_fit(std::string(bytes), "fit.json"); }).empty()) return;
    require(refusal_of([&] {
                look_at(fit.posterior);
                look_at_model(fit);
                write_and_read(fit);
            }).empty(),
            "a fit that was read can be used");
}

}  // namespace lrvb::fuzz
