#pragma once

#include "support.hpp"

#include <lrvb/base/document.hpp>
#include <lrvb/data/frame.hpp>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

/// Data for Gaussian fields: bundled sets with exact posteriors, and simulated ones.
namespace lrvb::test {

/// (1 + x… | name), of levels 0 … count − 1.
inline FieldFactor field_factor(const std::string& name, const std::vector<int>& level, int count,
                                const std::vector<std::string>& effects, const Matrix& values) {
    FieldFactor factor{name, {}, effects, level, values};
    for (int l = 0; l < count; ++l) factor.levels.push_back(std::to_string(l + 1));
    return factor;
}

/// A column of a bundled table as numbers, and one as groups.
inline FieldData grouped_data(const std::string& file, const std::string& response, const std::string& slope,
                              const std::string& group, bool random_slope) {
    FrameOptions options;
    options.text = {group};
    const DataFrame frame = read_frame(LRVB_DATA_DIR "/" + file, options);
    const auto column = [&](const std::string& name) -> const FrameColumn& {
        for (const FrameColumn& own : frame.columns) {
            if (own.name == name) return own;
        }
        throw std::runtime_error(file + " has no column " + name);
    };
    FieldData data;
    data.response = response;
    data.y = column(response).numbers;
    data.columns.resize(frame.rows, slope.empty() ? 0 : 1);
    FieldFactor factor{group, column(group).levels, {"intercept"}, {}, Matrix::Ones(frame.rows, random_slope ? 2 : 1)};
    for (const std::uint32_t code : column(group).codes) factor.level.push_back(static_cast<int>(code));
    if (!slope.empty()) {
        data.names = {slope};
        data.columns.col(0) = column(slope).numbers;
    }
    if (random_slope) {
        factor.effects.push_back(slope);
        factor.values.col(1) = data.columns.col(0);
    }
    data.factors = {factor};
    return data;
}

inline FieldData sleepstudy(bool random_slope) {
    return grouped_data("sleepstudy.csv", "Reaction", "Days", "Subject", random_slope);
}

inline FieldData dyestuff() {
    return grouped_data("dyestuff.csv", "Yield", "", "Batch", false);
}

/// The prior of the files *_seed_std: of y with (population) sd 1, coefficients ~ N(0, 10²) at columns that are zero,
/// precisions ~ Gamma(2.0001, 0.1).
inline FieldData standardised(FieldData data) {
    data.y.array() -= data.y.mean();
    data.y /= std::sqrt(data.y.squaredNorm() / static_cast<double>(data.y.size()));
    return data;
}

inline FieldPrior seed_prior(const FieldData& data) {
    FieldPrior prior;
    prior.intercept_sd = 10.0;
    prior.mean = Vector::Zero(data.columns.cols());
    prior.sd = Vector::Constant(data.columns.cols(), 10.0);
    prior.sigma = ScalePrior::gamma_precision(2.0001, 0.1);
    prior.factors = {{{prior.sigma}, true}};
    prior.centre = Vector::Zero(data.columns.cols());
    return prior;
}

/// An exact posterior, by a fine grid over the variance parameters (tests/data/field).
struct FieldReference {
    Vector beta_mean, beta_sd, u_mean, u_sd;
    Vector mean, sd;  // of log_sd_u, log_sigma, sd_u, sigma

    explicit FieldReference(const std::string& name) {
        std::ifstream file(LRVB_TEST_DATA "/field/field_" + name + ".json");
        std::stringstream text;
        text << file.rdbuf();
        const Document document = Document::parse(text.str());
        const auto numbers = [&](const char* key) {
            const Document* found = document.find(key);
            if (found == nullptr || found->numbers() == nullptr) throw std::runtime_error(name + " has no " + key);
            return Vector(Eigen::Map<const Vector>(found->numbers()->data(), static_cast<Index>(found->size())));
        };
        beta_mean = numbers("beta_mean");
        beta_sd = numbers("beta_sd");
        u_mean = numbers("u_mean");
        u_sd = numbers("u_sd");
        mean = numbers("mean");
        sd = numbers("sd");
    }
};

/// Crossed factors a × b, or b nested in a; a slope with a random part in a.
inline FieldData simulated_field(Index rows, int a, int b, bool nested, bool slopes, std::uint64_t seed) {
    Random random(seed);
    FieldData data;
    data.y.resize(rows);
    data.columns.resize(rows, 2);
    data.names = {"x", "w"};
    std::vector<int> level_a;
    std::vector<int> level_b;
    Matrix values = Matrix::Ones(rows, slopes ? 2 : 1);
    Vector effect_a = 0.8 * standard_normals(a, random);
    Vector slope_a = 0.5 * standard_normals(a, random) + 0.3 * effect_a;
    Vector effect_b = 0.5 * standard_normals(nested ? a * b : b, random);
    for (Index n = 0; n < rows; ++n) {
        const int i = static_cast<int>(random.uniform() * a);
        const int j = static_cast<int>(random.uniform() * b);
        level_a.push_back(i);
        level_b.push_back(nested ? i * b + j : j);
        const double x = random.normal();
        const double w = 3.0 + 0.5 * random.normal() + 0.2 * x;
        data.columns.row(n) << x, w;
        if (slopes) values(n, 1) = x;
        data.y[n] = 5.0 + 0.7 * x - 0.4 * w + effect_a[i] + (slopes ? slope_a[i] * x : 0.0) + effect_b[level_b.back()] +
                    0.9 * random.normal();
    }
    std::vector<std::string> effects{"intercept"};
    if (slopes) effects.emplace_back("x");
    data.factors.push_back(field_factor("a", level_a, a, effects, values));
    data.factors.push_back(field_factor("b", level_b, nested ? a * b : b, {"intercept"}, Matrix::Ones(rows, 1)));
    return data;
}

}  // namespace lrvb::test
