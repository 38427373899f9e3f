#include "base/files.hpp"
#include "base/parallel.hpp"
#include "reproduce/plot.hpp"
#include "reproduce/reproduce.hpp"

#include <lrvb/data/table.hpp>
#include <lrvb/kind/mixture/fit.hpp>
#include <lrvb/response/linear_response.hpp>
#include <lrvb/sample/metropolis.hpp>
#include <lrvb/sample/mode.hpp>
#include <lrvb/sample/model_density.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>

namespace lrvb::reproduce {

namespace {

constexpr Index kRows = 3000;
constexpr Index kComponents = 3;
constexpr Index kDraws = 4000;
constexpr Index kMostDraws = 16000;

struct Setting {
    std::string name;
    Vector weights;
    Vector means;
    Vector sds;
};

const std::vector<Setting>& settings() {
    static const std::vector<Setting> all{
        {"easy", Vector{{0.3, 0.4, 0.3}}, Vector{{-5.0, 0.0, 5.0}}, Vector{{1.0, 1.0, 1.0}}},
        {"overlapping", Vector{{0.3, 0.4, 0.3}}, Vector{{-2.0, 0.8, 3.6}}, Vector{{1.0, 1.0, 1.0}}}};
    return all;
}

std::vector<std::string> parameter_names() {
    std::vector<std::string> names;
    for (const char* base : {"log_pi", "mu", "log_tau"}) {
        for (Index k = 1; k <= kComponents; ++k) names.push_back(fmt::format("{}[{}]", base, k));
    }
    return names;
}

// One simulation: the sds of every parameter by each method, the largest difference of a correlation from that of the
// draws, and the time of each method.
struct Simulation {
    bool converged = false;
    bool reliable = false;  // the chains: the others stay out of the figures
    Vector mh;
    Vector mfvb;
    Vector lrvb;
    Vector laplace;  // NaN where the curvature at the mode is no covariance
    double correlation_error = 0.0;
    double seconds_mfvb = 0.0;
    double seconds_lrvb = 0.0;
    double seconds_laplace = 0.0;
    double seconds_mh = 0.0;
    double ess = 0.0;
    double r_hat = 0.0;

    bool shown() const { return converged && reliable; }
};

Vector draw_rows(const Setting& setting, std::uint64_t seed, std::uint64_t stream) {
    Random random(seed, stream);
    Vector x(kRows);
    for (double& value : x) {
        double u = random.uniform();
        Index k = 0;
        while (k + 1 < kComponents && u >= setting.weights[k]) u -= setting.weights[k++];
        value = setting.means[k] + setting.sds[k] * random.normal();
    }
    return x;
}

Matrix correlation_of(const Matrix& covariance) {
    const Vector inverse = covariance.diagonal().cwiseSqrt().cwiseInverse();
    return inverse.asDiagonal() * covariance * inverse.asDiagonal();
}

Simulation simulate(const Setting& setting, std::uint64_t seed, std::uint64_t stream) {
    using Clock = std::chrono::steady_clock;
    Clock::time_point last = Clock::now();
    const auto lap = [&] {
        const Clock::time_point now = Clock::now();
        const double seconds = std::chrono::duration<double>(now - last).count();
        last = now;
        return seconds;
    };
    const std::vector<std::string> names = parameter_names();
    const auto source = std::make_shared<TableSource>(draw_rows(setting, seed, stream));
    lap();
    MixtureSpecification specification;
    specification.components = kComponents;
    specification.prior = MixturePrior::paper(1, MixtureCovariance::full);
    const MixtureFit fit = fit_mixture(source, specification);
    Simulation result;
    result.seconds_mfvb = lap();
    result.converged = fit.optimum.converged();
    if (!result.converged) return result;
    const Functionals functionals = fit.model->in_data_units(names);
    const LinearResponse response(*fit.model, fit.optimum);
    const Matrix covariance = response.covariance(functionals);
    result.lrvb = covariance.diagonal().cwiseSqrt();
    result.seconds_lrvb = lap();
    result.mfvb = response.mean_field_sd(functionals);

    const ModelDensity density(*fit.model, fit.optimum.state);
    const NormalApproximation approximation = density.chart().approximation(response);
    lap();
    const Mode mode = find_mode(density, approximation);
    const Functionals::Resolved resolved = functionals.resolve(fit.model->layout());
    const auto values = [&](const Matrix& points) {
        return Matrix((resolved.weights.transpose() * density.statistics(points)).colwise() + resolved.constants);
    };
    // The parameters' derivatives at the mode, by central differences.
    const Index dimension = mode.point.size();
    Matrix jacobian(static_cast<Index>(names.size()), dimension);
    for (Index i = 0; i < dimension; ++i) {
        const double step = 1e-3 * std::sqrt(approximation.covariance(i, i));
        Matrix both(dimension, 2);
        both << mode.point, mode.point;
        both(i, 0) += step;
        both(i, 1) -= step;
        const Matrix at = values(both);
        jacobian.col(i) = (at.col(0) - at.col(1)) / (2.0 * step);
    }
    result.laplace = Vector::Constant(jacobian.rows(), std::numeric_limits<double>::quiet_NaN());
    if (mode.covariance.size() > 0) {
        result.laplace = (jacobian * mode.covariance * jacobian.transpose()).diagonal().cwiseSqrt();
    }
    result.seconds_laplace = lap();

    MetropolisOptions options;
    options.seed = seed + stream;
    options.draws = kDraws;
    MetropolisSample sample = metropolis_hastings(density, {mode.point, approximation.covariance}, options);
    while (!sample.reliable() && options.draws < kMostDraws) {
        options.draws *= 2;
        sample = metropolis_hastings(density, {mode.point, approximation.covariance}, options);
    }
    const Matrix draws = values(sample.points);
    const Vector mean = draws.rowwise().mean();
    const Matrix off = draws.colwise() - mean;
    const Matrix sampled = off * off.transpose() / static_cast<double>(draws.cols() - 1);
    result.mh = sampled.diagonal().cwiseSqrt();
    result.seconds_mh = lap();
    result.reliable = sample.reliable();
    result.ess = sample.ess;
    result.r_hat = sample.r_hat;
    result.correlation_error = (correlation_of(covariance) - correlation_of(sampled)).cwiseAbs().maxCoeff();
    return result;
}

struct Spread {
    double low = 0.0;
    double median = 0.0;
    double high = 0.0;
};

Spread spread_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    const double median = values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
    return {values.front(), median, values.back()};
}

std::string csv_of(const std::vector<Simulation>& simulations) {
    const std::vector<std::string> names = parameter_names();
    std::string text = "simulation,variable,sd_mh,sd_mfvb,sd_lrvb,sd_laplace,ess,r_hat\n";
    for (std::size_t s = 0; s < simulations.size(); ++s) {
        const Simulation& one = simulations[s];
        for (std::size_t v = 0; v < names.size() && one.converged; ++v) {
            const auto at = static_cast<Index>(v);
            const std::string laplace = std::isnan(one.laplace[at]) ? "NA" : fmt::format("{}", one.laplace[at]);
            text += fmt::format("{},{},{},{},{},{},{:.1f},{:.4f}\n", s + 1, names[v], one.mh[at], one.mfvb[at],
                                one.lrvb[at], laplace, one.ess, one.r_hat);
        }
    }
    return text;
}

std::string picture_of(const Setting& setting, const std::vector<Simulation>& simulations) {
    std::vector<Panel> panels;
    const std::vector<std::string> bases{"log pi", "mu", "log tau"};
    for (std::size_t b = 0; b < bases.size(); ++b) {
        Panel panel{bases[b],
                    "sd by Metropolis-Hastings",
                    "sd",
                    {{"mean field", kOrange, {}, {}}, {"linear response", kBlue, {}, {}}},
                    true};
        for (const Simulation& one : simulations) {
            for (Index k = 0; k < kComponents && one.shown(); ++k) {
                const Index at = static_cast<Index>(b) * kComponents + k;
                panel.points[0].x.push_back(one.mh[at]);
                panel.points[0].y.push_back(one.mfvb[at]);
                panel.points[1].x.push_back(one.mh[at]);
                panel.points[1].y.push_back(one.lrvb[at]);
            }
        }
        panels.push_back(std::move(panel));
    }
    return plot(fmt::format("Posterior sds of three normals, {} setting, N = {}", setting.name, kRows), panels);
}

std::string section_of(const Setting& setting, const std::vector<Simulation>& simulations) {
    const auto list = [](const Vector& values) {
        return fmt::format("{}", fmt::join(values.begin(), values.end(), ", "));
    };
    std::size_t converged = 0;
    std::size_t shown = 0;
    std::vector<double> errors;
    double seconds[4] = {0.0, 0.0, 0.0, 0.0};
    for (const Simulation& one : simulations) {
        converged += one.converged ? 1 : 0;
        if (!one.shown()) continue;
        ++shown;
        errors.push_back(one.correlation_error);
        seconds[0] += one.seconds_mfvb;
        seconds[1] += one.seconds_lrvb;
        seconds[2] += one.seconds_laplace;
        seconds[3] += one.seconds_mh;
    }
    const std::string left_out =
        shown == converged
            ? "; the chains of all of these are reliable"
            : fmt::format("; {} of these {} left out below, since the chains are not reliable after {} draws",
                          converged - shown, converged - shown == 1 ? "is" : "are", kMostDraws);
    std::string text = fmt::format(
        "### The {0} setting\n\nTrue values: weights {1}; means {2}; sds {3}. {4} of {5} fits "
        "converged{6}.\n\n![Posterior sds "
        "against those of Metropolis-Hastings, {0} setting](figure1_{0}.svg)\n\n",
        setting.name, list(setting.weights), list(setting.means), list(setting.sds), converged, simulations.size(),
        left_out);
    if (shown == 0) return text;
    text += "Median of the ratio to the sd of Metropolis-Hastings, and its extremes in brackets:\n\n";
    text += "| parameter | mean field | linear response | Laplace |\n|---|---|---|---|\n";
    const std::vector<std::string> names = parameter_names();
    for (std::size_t v = 0; v < names.size(); ++v) {
        const auto at = static_cast<Index>(v);
        text += fmt::format("| `{}` |", names[v]);
        for (const auto method : {&Simulation::mfvb, &Simulation::lrvb, &Simulation::laplace}) {
            std::vector<double> ratios;
            for (const Simulation& one : simulations) {
                if (one.shown() && !std::isnan((one.*method)[at])) ratios.push_back((one.*method)[at] / one.mh[at]);
            }
            if (ratios.empty()) {
                text += " NA |";
                continue;
            }
            const Spread spread = spread_of(ratios);
            text += fmt::format(" {:.3f} [{:.2f}, {:.2f}] |", spread.median, spread.low, spread.high);
        }
        text += "\n";
    }
    const Spread error = spread_of(errors);
    text += fmt::format(
        "\nLargest error of a correlation by linear response, in a simulation: median {:.3f}, largest {:.3f} (Monte "
        "Carlo "
        "error included). Time, with the fit as 1: covariance by linear response {:.3f}, mode and Laplace {:.2f}, "
        "Metropolis-Hastings {:.1f}.\n\n",
        error.median, error.high, seconds[1] / seconds[0], seconds[2] / seconds[0], seconds[3] / seconds[0]);
    return text;
}

}  // namespace

std::string figure1(const Options& options) {
    std::string text = fmt::format(
        "## Figure 1: posterior sds of a normal mixture\n\n{} simulations of {} rows from three components, the "
        "paper's "
        "prior, {} draws of Metropolis-Hastings each, and up to {} where chains are not reliable before (R-hat below "
        "1.05, effective sample size 400).\n\n",
        options.simulations, kRows, kDraws, kMostDraws);
    for (const Setting& setting : settings()) {
        std::vector<Simulation> simulations(static_cast<std::size_t>(options.simulations));
        std::atomic<Index> done = 0;
        std::mutex mutex;
        detail::in_parallel(options.threads, options.simulations, [&](Index s) {
            simulations[static_cast<std::size_t>(s)] = simulate(setting, options.seed, static_cast<std::uint64_t>(s));
            const double part = static_cast<double>(++done) / static_cast<double>(options.simulations);
            const std::lock_guard<std::mutex> lock(mutex);
            if (options.progress) options.progress("figure 1, " + setting.name, part);
        });
        detail::write_text(fmt::format("{}/figure1_{}.csv", options.directory, setting.name), csv_of(simulations));
        detail::write_text(fmt::format("{}/figure1_{}.svg", options.directory, setting.name),
                           picture_of(setting, simulations));
        text += section_of(setting, simulations);
    }
    return text;
}

}  // namespace lrvb::reproduce
