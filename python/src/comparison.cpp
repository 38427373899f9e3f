#include "comparison.hpp"

#include "queries.hpp"

#include <lrvb/kind/kind.hpp>
#include <lrvb/query/fit_range.hpp>

#include <fmt/format.h>

#include <pybind11/stl.h>
#include <utility>

namespace lrvb::python {

std::shared_ptr<Comparison> Comparison::of(const std::vector<std::shared_ptr<Fit>>& fits,
                                           const std::vector<std::string>& names,
                                           const std::optional<std::string>& method, std::uint64_t seed) {
    std::vector<const FittedModel*> models;
    for (const std::shared_ptr<Fit>& fit : fits) models.push_back(&fit->with_data());
    LooOptions options = loo_options(method, seed);
    if (!fits.empty()) options.threads = fits.front()->threads();
    const std::vector<ComparedFit> compared = compare_fits(models, names, options);
    auto result = std::make_shared<Comparison>();
    result->names = names;
    result->fits = fits;
    result->compared.resize(fits.size());
    for (const ComparedFit& one : compared) result->compared[one.fit] = one;
    result->best = compared.front().fit;
    result->message = comparison_message(compared, names);
    return result;
}

std::shared_ptr<Comparison> Comparison::fitted(const Request& request, const Data& data) {
    Asked asked(request, data);
    if (asked.wish == CheckWish::exact || request.seconds) {
        throw UsageError(
            fmt::format("--{} is of one fit: choose one", asked.wish == CheckWish::exact ? "check exact" : "seconds"));
    }
    FittedRange range = fit_range(*asked.kind, asked.whole, asked.wish);
    auto result = std::make_shared<Comparison>();
    result->best = range.best;
    result->message = std::move(range.message);
    for (RangeFit& one : range.fits) {
        result->names.push_back(fmt::format("{}", one.number));
        result->fits.push_back(Fit::of(std::move(one.fit), asked));
        result->compared.push_back(std::move(one.compared));
    }
    return result;
}

void bind_comparison(py::module_& module) {
    py::class_<ComparedFit>(module, "ComparedFit")
        .def_readonly("loo", &ComparedFit::loo)
        .def_readonly("elpd_difference", &ComparedFit::elpd_difference)
        .def_readonly("se_difference", &ComparedFit::se_difference)
        .def_readonly("bound", &ComparedFit::bound);
    py::class_<Comparison, std::shared_ptr<Comparison>>(module, "Comparison")
        .def_readonly("names", &Comparison::names)
        .def_readonly("fits", &Comparison::fits)
        .def_readonly("compared", &Comparison::compared)
        .def_readonly("best", &Comparison::best)
        .def_readonly("message", &Comparison::message);
    module.def("compare", &Comparison::of, Guard());
    module.def("fit_range", &Comparison::fitted, Guard());
}

}  // namespace lrvb::python
