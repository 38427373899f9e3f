#include "checks.hpp"
#include "finding.hpp"

#include <lrvb/kind/fit_file.hpp>
#include <lrvb/kind/mixture/prediction.hpp>

namespace lrvb::fuzz {
namespace {

void look_at(const Posterior& posterior) {
    const std::vector<Index> all = posterior.select({});
    require(all.size() == posterior.variables.size(), "all variables are selected");
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

void predict_from(const FitFile& fit, const MixtureRecord& record) {
    const MixtureShape shape{record.components, record.covariance, record.centre, record.scale};
    refusal_of([&] {
        const State state = fit.state(mixture_layout(shape));
        require(state.natural.allFinite() && state.mean.allFinite(), "a state is finite");
        predict(shape, state, record.centre.transpose());
    });
}

void predict_from(const FitFile&, const RegressionRecord& record) {
    if (record.coefficients.covariance.size() == 0) return;
    refusal_of([&] { predict(record.coefficients, Matrix::Zero(2, record.coefficients.centre.size())); });
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
                std::visit([&](const auto& record) { predict_from(fit, record); }, fit.model);
                write_and_read(fit);
            }).empty(),
            "a fit that was read can be used");
}

}  // namespace lrvb::fuzz
