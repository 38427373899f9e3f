#include "base/files.hpp"
#include "reproduce/plot.hpp"
#include "reproduce/reproduce.hpp"

#include <lrvb/data/table.hpp>
#include <lrvb/kind/mixture/fit.hpp>
#include <lrvb/response/linear_response.hpp>

#include <chrono>

namespace lrvb::reproduce {

namespace {

constexpr Index kRows = 500;

template <class Work>
double seconds(Work work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

// The paper's sensitivity model: two components whose weights and precisions are held, so that only the means answer.
std::string figure2(const Options& options) {
    Random random(options.seed, 2);
    Vector x(kRows);
    for (double& value : x) value = (random.uniform() < 0.5 ? -2.0 : 2.0) + random.normal();
    MixtureSpecification specification;
    specification.components = 2;
    MixtureFitOptions fit_options;
    fit_options.fixed.weights = Vector{{0.5, 0.5}};
    fit_options.fixed.precisions = std::vector<Matrix>(2, Matrix::Ones(1, 1));
    fit_options.tolerance = 1e-10;
    const MixtureFit fit = fit_mixture(std::make_shared<TableSource>(x), specification, fit_options);
    const std::vector<std::string> names{"mu[1]", "mu[2]"};

    Matrix leverage(kRows, 2);
    const double asked = seconds([&] {
        const LinearResponse response(*fit.model, fit.optimum);
        response.leverage(fit.model->in_data_units(names), [&](const RowAnswers& rows) {
            leverage.middleRows(rows.first, rows.answers.rows()) = rows.answers;
        });
    });

    // By hand: every row is moved a little to either side, and the model fitted again from its optimum.
    specification.prior = fit.model->prior();
    specification.standardisation = {fit.model->centre(), fit.model->scale()};
    Matrix manual(kRows, 2);
    const double step = 1e-4;
    const double refitted = seconds([&] {
        for (Index n = 0; n < kRows; ++n) {
            const double value = x[n];
            Matrix means(2, 2);
            for (Index side = 0; side < 2; ++side) {
                x[n] = value + (side == 0 ? step : -step);
                const MixtureModel changed(std::make_shared<TableSource>(x), specification);
                FitOptions again;
                again.initial = fit.optimum.state;
                again.first_sweeps = 0;
                again.tolerance = 1e-10;
                const Functionals::Resolved resolved = changed.in_data_units(names).resolve(changed.layout());
                means.col(side) =
                    resolved.weights.transpose() * lrvb::fit(changed, again).state.mean + resolved.constants;
            }
            x[n] = value;
            manual.row(n) = (means.col(0) - means.col(1)).transpose() / (2.0 * step);
            if (options.progress) {
                options.progress("figure 2", static_cast<double>(n + 1) / static_cast<double>(kRows));
            }
        }
    });

    std::string csv = "row,x,mu[1],mu[2],manual mu[1],manual mu[2]\n";
    Panel by_location{
        "leverage by location", "x", "d E[mu] / d x", {{"mu[1]", kOrange, {}, {}}, {"mu[2]", kBlue, {}, {}}}, false};
    Panel against{
        "against refits", "refitted", "linear response", {{"mu[1]", kOrange, {}, {}}, {"mu[2]", kBlue, {}, {}}}, false};
    for (Index n = 0; n < kRows; ++n) {
        csv +=
            fmt::format("{},{},{},{},{},{}\n", n + 1, x[n], leverage(n, 0), leverage(n, 1), manual(n, 0), manual(n, 1));
        for (std::size_t k = 0; k < 2; ++k) {
            const auto at = static_cast<Index>(k);
            by_location.points[k].x.push_back(x[n]);
            by_location.points[k].y.push_back(leverage(n, at));
            against.points[k].x.push_back(manual(n, at));
            against.points[k].y.push_back(leverage(n, at));
        }
    }
    detail::write_text(options.directory + "/figure2.csv", csv);
    detail::write_text(options.directory + "/figure2.svg",
                       plot("Leverage of each of 500 rows on the two means", {by_location, against}));
    const double error = (leverage - manual).cwiseAbs().maxCoeff() / manual.cwiseAbs().maxCoeff();
    return fmt::format(
        "## Figure 2: leverage\n\nTwo components, {} rows, weights (0.5, 0.5) and precisions (1, 1) held; true means "
        "-2 and "
        "2.\n\n![Leverage by location, and against refits](figure2.svg)\n\nLargest difference between leverage and "
        "refits, "
        "relative to the largest leverage: {:.1e}. Time of the refits over that of all leverage scores: {:.0f} (the "
        "paper "
        "reports over 30).\n\n",
        kRows, error, refitted / asked);
}

}  // namespace lrvb::reproduce
