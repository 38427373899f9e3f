// Whether `ok` is ok: mixtures from separated to nearly coinciding, of one to three columns, some with a wrong number
// of components, each checked as `lrvb check` does. Of every variable that a check calls ok, also where the check as a
// whole is doubtful, the answer is put beside a no-U-turn run of its own with ten times the draws.

#include <lrvb/lrvb.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace lrvb;

constexpr double kMeanLimit = 0.2;  // sds
constexpr double kSdLimit = 0.15;
constexpr Index kLong = 40000;
constexpr double kSeconds = 1.5;  // of a check, and ten times that of the longer run
constexpr double kMixed = 1.05;   // R-hat of a longer run that can judge

struct Case {
    Index rows = 0;
    Index columns = 0;
    Index truth = 0;   // components
    Index fitted = 0;  // of the model
    double apart = 0.0;
    std::uint64_t seed = 0;
};

// Forty of them, the design by the seed: centres at random directions, `apart` sds from each other or so.
std::vector<Case> cases(std::uint64_t offset) {
    constexpr double distances[] = {8.0, 5.0, 4.0, 3.0, 2.5, 2.0, 1.5, 0.5};
    constexpr Index sizes[] = {60, 150, 300, 600, 1500};
    std::vector<Case> all;
    for (std::uint64_t i = 0; i < 40; ++i) {
        Case one;
        one.seed = 1 + i + offset;
        one.apart = distances[i % 8];
        one.rows = sizes[i / 8];
        one.columns = 1 + static_cast<Index>((i + i / 8) % 3);
        one.truth = 2 + static_cast<Index>(i % 2);
        one.fitted = one.truth + (i % 5 == 4 ? 1 : i % 7 == 6 ? -1 : 0);
        all.push_back(one);
    }
    return all;
}

Matrix rows_of(const Case& one) {
    Random random(one.seed);
    Matrix centres(one.columns, one.truth);
    Matrix scales(one.columns, one.truth);
    for (Index k = 0; k < one.truth; ++k) {
        Vector direction = standard_normals(one.columns, random);
        if (direction.norm() > 0.0) direction /= direction.norm();
        centres.col(k) = k == 0 ? Vector(0.0 * direction) : Vector(centres.col(k - 1) + one.apart * direction);
        for (Index p = 0; p < one.columns; ++p) scales(p, k) = 0.6 + 0.8 * random.uniform();
    }
    Matrix rows(one.rows, one.columns);
    for (Index n = 0; n < one.rows; ++n) {
        const Index k =
            std::min<Index>(one.truth - 1, static_cast<Index>(random.uniform() * static_cast<double>(one.truth)));
        rows.row(n) = centres.col(k) + scales.col(k).cwiseProduct(standard_normals(one.columns, random));
    }
    return rows;
}

struct Farthest {
    double mean = 0.0;
    double sd = 0.0;
    std::string variable;
};

// None where the sampler comes to no draws in its time.
std::optional<Check> longer_run(const MixtureFit& fitted, const Posterior& posterior, const Functionals& statistics,
                                const CheckOptions& options) {
    try {
        return check_posterior(*fitted.model, fitted.optimum, posterior, statistics, options);
    } catch (const std::invalid_argument&) {
        return std::nullopt;
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t offset = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
    fmt::print("{:>4} {:>2} {:>5} {:>2} {:>5} | {:>9} {:>10} {:>6} {:>6} | {:>4} {:>4} {:>4} | {:>6} {:>6} {}\n",
               "rows", "P", "truth", "K", "apart", "verdict", "sampler", "ess", "R-hat", "ok", "off", "open", "mean",
               "sd", "farthest of those that are ok");
    int dishonest = 0;
    int decided = 0;
    int oks = 0;
    int unjudged = 0;
    for (const Case& one : cases(offset)) {
        MixtureSpecification specification;
        specification.components = one.fitted;
        const MixtureFit fitted = fit_mixture(std::make_shared<TableSource>(rows_of(one)), specification);
        fmt::print("{:4} {:2} {:5} {:2} {:5.1f} | ", one.rows, one.columns, one.truth, one.fitted, one.apart);
        if (!fitted.optimum.converged()) {
            fmt::print("did not converge\n");
            continue;
        }
        const Posterior posterior = mixture_posterior(fitted);
        const Functionals statistics = fitted.model->in_data_units(posterior.statistics);
        CheckOptions options;
        options.threads = 2;
        options.seconds = kSeconds;
        const Check check = check_posterior(*fitted.model, fitted.optimum, posterior, statistics, options);
        CheckOptions longer = options;
        longer.method = CheckMethod::nuts;
        longer.draws = kLong;
        longer.seconds = 10.0 * options.seconds;
        longer.seed = 1000 + one.seed;
        const std::optional<Check> reference = longer_run(fitted, posterior, statistics, longer);
        // A run that is of no use itself says nothing.
        const bool judged = reference && reference->verdict != CheckVerdict::unchecked && reference->r_hat < kMixed;
        int ok = 0;
        int off = 0;
        int open = 0;
        Farthest farthest;
        for (std::size_t v = 0; v < check.variables.size(); ++v) {
            const CheckedVariable& variable = check.variables[v];
            if (variable.verdict == "fixed") continue;
            if (variable.verdict != "ok") {
                ++(variable.verdict.find("off by") != std::string::npos ? off : open);
                continue;
            }
            ++ok;
            if (!judged) continue;
            const CheckedVariable& exact = reference->variables[v];
            farthest.mean = std::max(farthest.mean, std::abs(exact.shift));
            const double ratio = std::abs(exact.ratio - 1.0);
            if (ratio < farthest.sd) continue;
            farthest.sd = ratio;
            farthest.variable = fmt::format("{} sd {:.3g} ({:.3g})", variable.name, exact.sd_lrvb, exact.sd_exact);
        }
        const bool wrong = farthest.mean > kMeanLimit || farthest.sd > kSdLimit;
        dishonest += wrong ? 1 : 0;
        decided += check.reliable && open == 0 ? 1 : 0;
        oks += judged ? ok : 0;
        unjudged += judged ? 0 : 1;
        fmt::print("{:>9} {:>10} {:6.0f} {:>6} | {:4} {:4} {:4} | {:6.2f} {:5.0f}% {}{}{}\n", to_string(check.verdict),
                   to_string(check.method), check.ess,
                   reference && std::isfinite(reference->r_hat) ? fmt::format("{:.3f}", reference->r_hat) : "-", ok,
                   off, open, farthest.mean, 100.0 * farthest.sd, farthest.variable, wrong ? "  <- WRONG" : "",
                   judged ? "" : "  (no reference)");
        if (std::getenv("LRVB_WORDS") != nullptr)
            fmt::print("    {}\n    {}\n", check.trust, reference ? reference->trust : "");
        std::fflush(stdout);
    }
    fmt::print(
        "\ndecided: {} of 40; {} variables ok and judged; sets with one that is not, by more than {} sd or {:.0f}%: "
        "{}; without a "
        "reference: {}\n",
        decided, oks, kMeanLimit, 100.0 * kSdLimit, dishonest, unjudged);
    return dishonest == 0 ? 0 : 1;
}
