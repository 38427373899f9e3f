// The streaming mixture: against the general model with explicit indicators, against refits, and at its edges.

#include "kind/mixture/components.hpp"
#include "kind/mixture/pass.hpp"
#include "mixture_with_indicators.hpp"
#include "support.hpp"

#include <lrvb/data/csv.hpp>
#include <lrvb/data/table.hpp>
#include <lrvb/kind/mixture/fit.hpp>
#include <lrvb/testing/density_battery.hpp>
#include <lrvb/testing/model_battery.hpp>

#include <Eigen/LU>
#include <fmt/format.h>

#include <functional>
#include <thread>

namespace lrvb {
namespace {

std::shared_ptr<TableSource> table(const Matrix& rows) {
    return std::make_shared<TableSource>(rows);
}

MixtureSpecification specification_of(Index components, Index columns,
                                      MixtureCovariance covariance = MixtureCovariance::full) {
    MixtureSpecification specification;
    specification.components = components;
    specification.covariance = covariance;
    specification.prior = MixturePrior::paper(columns, covariance);
    return specification;
}

MixtureFitOptions tight() {
    MixtureFitOptions options;
    options.tolerance = 1e-12;
    return options;
}

// Rows of three clusters in `columns` dimensions, with some overlap.
Matrix clustered_rows(Index rows, Index columns, std::uint64_t seed) {
    Random random(seed);
    Matrix x(rows, columns);
    for (Index n = 0; n < rows; ++n) {
        const Index k = static_cast<Index>(3.0 * random.uniform());
        double shared = random.normal();
        for (Index p = 0; p < columns; ++p) {
            x(n, p) = 2.2 * static_cast<double>(k) * (p % 2 == 0 ? 1.0 : -0.5) + 0.4 * shared + 0.8 * random.normal();
        }
    }
    return x;
}

std::vector<std::string> statistic_names(const Layout& layout) {
    std::vector<std::string> names;
    for (Index s = 0; s < layout.size(); ++s) names.push_back(layout.statistic_name(s));
    return names;
}

// The same mixture of P columns with full covariances, declared with indicators in the general model.
MultilinearModel indicator_model(const Matrix& x, Index components, const MixturePrior& prior, FitOptions& options,
                                 const Matrix& responsibilities) {
    ModelBuilder builder;
    const Index columns = x.cols();
    const auto pi = builder.add("pi", dirichlet(Vector::Constant(components, prior.alpha)));
    std::vector<Distribution<family::MvNormal>> kinds;
    const Matrix precision = prior.variance.inverse();
    for (Index k = 0; k < components; ++k) {
        const auto mu = builder.add(fmt::format("mu[{}]", k + 1), mv_normal(prior.mean, precision));
        const auto lambda = builder.add(fmt::format("Lambda[{}]", k + 1), wishart(prior.dof, prior.inverse_scale));
        kinds.push_back(mv_normal(mu, lambda));
    }
    for (Index n = 0; n < x.rows(); ++n) {
        const auto z = builder.add(fmt::format("z[{}]", n + 1), categorical(pi));
        builder.observe(Vector(x.row(n)), mixture(z, kinds));
        Vector p = responsibilities.row(n).transpose().cwiseMax(1e-12);
        options.start(z, p / p.sum());
    }
    EXPECT_EQ(columns, prior.mean.size());
    return builder.build();
}

void expect_same(const LinearResponse& streaming, const MixtureModel& model, const LinearResponse& general,
                 const std::vector<std::string>& names) {
    const Functionals functionals = model.in_data_units(names);
    const Vector mean = general.mean(names);
    const Vector sd = general.sd(names);
    const Vector mean_error = (streaming.mean(functionals) - mean).cwiseAbs().cwiseQuotient(sd + mean.cwiseAbs());
    EXPECT_LT(mean_error.maxCoeff(), 1e-10);
    const Matrix difference = (streaming.covariance(functionals) - general.covariance(names)).cwiseAbs();
    const Matrix scale = sd * sd.transpose();
    EXPECT_LT(difference.cwiseQuotient(scale).maxCoeff(), 1e-10);
    const Vector mfvb = general.mean_field_sd(names);
    EXPECT_LT((streaming.mean_field_sd(functionals) - mfvb).cwiseAbs().cwiseQuotient(mfvb).maxCoeff(), 1e-10);
}

TEST(StreamingMixture, EqualsTheGeneralModelWithIndicatorsInOneColumn) {
    const Vector x = test::three_component_rows(400, 5);
    const MixtureFit fitted = fit_mixture(table(x), specification_of(3, 1), tight());
    ASSERT_TRUE(fitted.optimum.converged()) << fitted.optimum.message;
    const LinearResponse response(*fitted.model, fitted.optimum);

    const example::Mixture mixture = example::mixture_model(x, 3);
    FitOptions options = mixture.ordered_start(x);
    options.tolerance = 1e-12;
    const Optimum optimum = fit(mixture.model, options);
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    const LinearResponse general(mixture.model, optimum);

    EXPECT_NEAR(fitted.optimum.bound, optimum.bound, 1e-10 * std::abs(optimum.bound));
    const std::vector<std::string> names = statistic_names(fitted.model->layout());
    expect_same(response, *fitted.model, general, names);

    // alpha, shape and rate are the same hyperparameters; the general model has the mean's precision, not its variance.
    const Functionals functionals = fitted.model->in_data_units(names);
    const Vector sd = general.sd(names);
    const auto compare = [&](const std::string& inner, const std::string& outer, double factor) {
        const Vector expected = factor * general.sensitivity(names, outer);
        const Vector error = (response.sensitivity(functionals, inner) - expected).cwiseAbs().cwiseQuotient(sd);
        EXPECT_LT(error.maxCoeff(), 1e-10 * (1.0 + expected.cwiseQuotient(sd).cwiseAbs().maxCoeff())) << inner;
    };
    compare("alpha", "alpha", 1.0);
    compare("variance", "mu_precision", -1e-4);  // d precision / d variance = −1/100²
    compare("shape", "tau_shape", 1.0);
    compare("rate", "tau_rate", 1.0);
}

TEST(StreamingMixture, EqualsTheGeneralModelWithIndicatorsInThreeColumns) {
    const Matrix x = clustered_rows(150, 3, 6);
    const MixtureSpecification specification = specification_of(2, 3);
    const MixtureFit fitted = fit_mixture(table(x), specification, tight());
    ASSERT_TRUE(fitted.optimum.converged()) << fitted.optimum.message;
    const LinearResponse response(*fitted.model, fitted.optimum);

    FitOptions options;
    options.tolerance = 1e-12;
    const Matrix responsibilities = fitted.model->predict(fitted.optimum.state, x).responsibilities;
    const MultilinearModel model = indicator_model(x, 2, *specification.prior, options, responsibilities);
    const Optimum optimum = fit(model, options);
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    const LinearResponse general(model, optimum);
    EXPECT_NEAR(fitted.optimum.bound, optimum.bound, 1e-10 * std::abs(optimum.bound));
    expect_same(response, *fitted.model, general, statistic_names(fitted.model->layout()));
}

TEST(StreamingMixture, PassesTheModelBattery) {
    // Of eight components the pairs are summed behind their rows, and not beside them.
    for (const auto& [components, columns, covariance] : {std::tuple{3, Index{1}, MixtureCovariance::full},
                                                          {3, Index{2}, MixtureCovariance::full},
                                                          {3, Index{2}, MixtureCovariance::diagonal},
                                                          {8, Index{2}, MixtureCovariance::full}}) {
        const MixtureModel model(table(clustered_rows(300, columns, 7)),
                                 specification_of(components, columns, covariance));
        Random random(2);
        State state = model.start(random);
        for (int i = 0; i < 3; ++i) model.sweep(state);
        testing::ModelCheckOptions options;
        options.step = 1e-2;
        const testing::Report report = testing::check_model(model, state, options);
        EXPECT_TRUE(report.passed()) << components << " components, " << columns << " columns\n" << report.text();
        const testing::Report gradients = testing::check_gradients(model, state);
        EXPECT_TRUE(gradients.passed()) << components << " components, " << columns << " columns\n" << gradients.text();
    }
}

// Σ̂ d(∇L) against refits under other priors, for every prior parameter.
TEST(StreamingMixture, SensitivityEqualsRefitsForEveryPriorParameter) {
    for (const MixtureCovariance covariance : {MixtureCovariance::full, MixtureCovariance::diagonal}) {
        const Matrix x = clustered_rows(400, 2, 8);
        const MixtureSpecification specification = specification_of(3, 2, covariance);
        const MixtureFit fitted = fit_mixture(table(x), specification, tight());
        ASSERT_TRUE(fitted.optimum.converged()) << fitted.optimum.message;
        const LinearResponse response(*fitted.model, fitted.optimum);
        const std::vector<std::string> names = statistic_names(fitted.model->layout());
        const Vector sd = response.sd(fitted.model->in_data_units(names));
        const auto refitted = [&](const std::string& which, double change) {
            MixtureSpecification moved = specification;
            MixturePrior& prior = *moved.prior;
            if (which == "alpha") prior.alpha += change;
            if (which == "mean[2]") prior.mean[1] += change;
            if (which == "variance[1]" || which == "variance[1,1]") prior.variance(0, 0) += change;
            if (which == "variance[1,2]") prior.variance(0, 1) = prior.variance(1, 0) += change;
            if (which == "shape") prior.shape += change;
            if (which == "rate[2]") prior.rate[1] += change;
            if (which == "dof") prior.dof += change;
            if (which == "inverse_scale[1,2]") prior.inverse_scale(0, 1) = prior.inverse_scale(1, 0) += change;
            // The inner units are kept, so that states can be compared.
            const MixtureModel model(table(x), moved);
            FitOptions options;
            options.initial = fitted.optimum.state;
            options.tolerance = 1e-12;
            options.first_sweeps = 0;
            const Optimum optimum = fit(model, options);
            return LinearResponse(model, optimum).mean(model.in_data_units(names));
        };
        for (const std::string& name : fitted.model->hyperparameters()) {
            const bool checked = name == "alpha" || name == "mean[2]" || name == "variance[1]" ||
                                 name == "variance[1,1]" || name == "variance[1,2]" || name == "shape" ||
                                 name == "rate[2]" || name == "dof" || name == "inverse_scale[1,2]";
            if (!checked) continue;  // the other entries are these with other indices
            const double h = 1e-3;
            const Vector near = (refitted(name, h) - refitted(name, -h)) / (2.0 * h);
            const Vector far = (refitted(name, 2.0 * h) - refitted(name, -2.0 * h)) / (4.0 * h);
            const Vector refit = ((4.0 * near - far) / 3.0).cwiseQuotient(sd);
            const Vector predicted = response.sensitivity(fitted.model->in_data_units(names), name).cwiseQuotient(sd);
            EXPECT_LT((predicted - refit).cwiseAbs().maxCoeff(), 1e-6 * refit.cwiseAbs().maxCoeff() + 1e-9) << name;
        }
    }
}

TEST(StreamingMixture, ANumberOfThreadsChangesNoBit) {
    for (const Index columns : {1, 3}) {
        const Matrix x = clustered_rows(40000, columns, 9);
        std::vector<MixtureFit> fits;
        for (const int threads : {1, 2, 7}) {
            MixtureSpecification specification = specification_of(3, columns);
            specification.threads = threads;
            fits.push_back(fit_mixture(table(x), specification));
        }
        for (const MixtureFit& other : fits) {
            EXPECT_EQ(other.optimum.state.mean, fits.front().optimum.state.mean);
            EXPECT_EQ(other.optimum.bound, fits.front().optimum.bound);
        }
    }
}

// A source that can only be read in order, as a file larger than memory would be.
class Reader final : public RowSource {
  public:
    explicit Reader(const Matrix& rows) : table_(rows) {}
    Index columns() const override { return table_.columns(); }
    std::string name() const override { return "a reader"; }
    void rewind() override { table_.rewind(); }
    Index read(double* rows, Index capacity) override { return table_.read(rows, capacity); }

  private:
    TableSource table_;
};

TEST(StreamingMixture, WhereRowsComeFromChangesNoBit) {
    const Matrix x = clustered_rows(30000, 2, 10);
    const MixtureFit resident = fit_mixture(table(x), specification_of(3, 2));
    const MixtureFit streamed = fit_mixture(std::make_shared<Reader>(x), specification_of(3, 2));
    EXPECT_EQ(resident.optimum.state.mean, streamed.optimum.state.mean);
}

// Every query on its own says what it says while another thread asks the same model.
TEST(StreamingMixture, QueriesFromTwoThreadsAtOnceChangeNoBit) {
    const Matrix x = clustered_rows(20000, 2, 27);
    const std::vector<std::shared_ptr<RowSource>> sources{std::make_shared<Reader>(x), table(x)};
    for (const std::shared_ptr<RowSource>& source : sources) {
        const MixtureModel model(source, specification_of(3, 2));
        Random random(3);
        State state = model.start(random);
        for (int i = 0; i < 3; ++i) model.sweep(state);
        const Matrix directions = Matrix::Identity(model.layout().size(), 2);
        const auto answers = [&] {
            const Expansion expansion = model.expand_at(state, Order::hessian);
            std::vector<double> result{expansion.value, model.skipped_bound(state)};
            result.insert(result.end(), expansion.gradient.begin(), expansion.gradient.end());
            const Vector log_joint = model.log_joint(state.mean, 1);
            result.insert(result.end(), log_joint.begin(), log_joint.end());
            model.ask_rows(state, directions, RowChange::weight, [&](const RowAnswers& rows) {
                result.insert(result.end(), rows.answers.reshaped().begin(), rows.answers.reshaped().end());
            });
            State swept = state;
            model.sweep(swept);
            result.insert(result.end(), swept.mean.begin(), swept.mean.end());
            return result;
        };
        const std::vector<double> expected = answers();
        const Index passes_alone = model.passes() - 3;
        std::vector<int> differing(2, 0);
        std::vector<std::thread> threads;
        for (int& count : differing) {
            threads.emplace_back([&] {
                for (int i = 0; i < 20; ++i) count += answers() == expected ? 0 : 1;
            });
        }
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(differing, std::vector<int>(2, 0)) << source->name();
        EXPECT_EQ(model.passes(), 3 + 41 * passes_alone) << source->name();
    }
}

TEST(StreamingMixture, APassInTheMiddleOfAnotherIsRefusedWhereItWouldLoseThePlace) {
    const Matrix x = clustered_rows(300, 2, 28);
    const auto ask_while_asked = [&](const std::shared_ptr<RowSource>& source) {
        const MixtureModel model(source, specification_of(3, 2));
        Random random(3);
        const State state = model.start(random);
        model.ask_rows(state, Matrix::Identity(model.layout().size(), 1), RowChange::weight,
                       [&](const RowAnswers&) { model.expand_at(state, Order::value); });
    };
    EXPECT_THROW(ask_while_asked(std::make_shared<Reader>(x)), std::logic_error);
    EXPECT_NO_THROW(ask_while_asked(table(x)));
}

TEST(StreamingMixture, WeightsCountRows) {
    const Matrix x = clustered_rows(300, 2, 11);
    // Weight 2 on the first hundred rows, 0 on the last hundred; and the same by hand.
    Matrix weighted(300, 3);
    weighted << x, Vector::Ones(300);
    weighted.col(2).head(100).setConstant(2.0);
    weighted.col(2).tail(100).setConstant(0.0);
    Matrix expanded(300, 2);
    expanded << x.topRows(200), x.topRows(100);
    for (const bool automatic : {true, false}) {
        MixtureSpecification specification = specification_of(3, 2);
        if (automatic) specification.prior.reset();
        const MixtureFit by_hand = fit_mixture(table(expanded), specification, tight());
        specification.weighted = true;
        // From the same place: rows that are there twice make other starts, and these may end elsewhere.
        const MixtureModel model(table(weighted), specification);
        FitOptions near;
        near.tolerance = tight().tolerance;
        near.initial = by_hand.optimum.state;
        const Optimum by_weight = fit(model, near);
        const std::vector<std::string> names = statistic_names(by_hand.model->layout());
        const LinearResponse expected(*by_hand.model, by_hand.optimum);
        const LinearResponse response(model, by_weight);
        EXPECT_NEAR(by_weight.bound, by_hand.optimum.bound, 1e-10 * std::abs(by_hand.optimum.bound));
        const Vector sd = expected.sd(by_hand.model->in_data_units(names));
        EXPECT_LT(test::relative_error(response.sd(model.in_data_units(names)), sd), 1e-10);
        const Vector shift =
            response.mean(model.in_data_units(names)) - expected.mean(by_hand.model->in_data_units(names));
        EXPECT_LT(shift.cwiseQuotient(sd).cwiseAbs().maxCoeff(), 1e-10);
    }
}

TEST(StreamingMixture, UnitsAndOffsetsChangeNothing) {
    const Vector x = test::three_component_rows(2000, 12);
    MixtureSpecification specification;
    specification.components = 3;
    const MixtureFit plain = fit_mixture(table(x), specification, tight());
    const std::vector<std::string> names{"mu[1]", "mu[2]", "mu[3]", "log_tau[1]", "log_tau[2]", "log_pi[1]"};
    const LinearResponse response(*plain.model, plain.optimum);
    const Vector sd = response.sd(plain.model->in_data_units(names));

    const MixtureFit shifted = fit_mixture(table(x.array() + 1e9), specification, tight());
    const LinearResponse shifted_response(*shifted.model, shifted.optimum);
    EXPECT_LT(test::relative_error(shifted_response.sd(shifted.model->in_data_units(names)), sd), 1e-6);

    const MixtureFit scaled_fit = fit_mixture(table(1000.0 * x), specification, tight());
    const LinearResponse scaled_response(*scaled_fit.model, scaled_fit.optimum);
    Vector in_units = scaled_response.sd(scaled_fit.model->in_data_units(names));
    in_units.head(3) /= 1000.0;
    EXPECT_LT(test::relative_error(in_units, sd), 1e-10);
}

// Fixed parts make labels differ, so there is one optimum for each order of the components along the line. The best of
// the six, each fitted in the general model with indicators, says which order is right.
TEST(StreamingMixture, FixedPartsAreHeldByTheirComponentsAndThoseOrdered) {
    const Vector x = test::three_component_rows(500, 13);
    const Vector weights{{0.5, 0.3, 0.2}};
    const Vector precisions{{1.0, 2.0, 1.5}};
    MixtureFitOptions options = tight();
    options.fixed.weights = weights;
    options.fixed.precisions.emplace();
    for (const double precision : precisions) options.fixed.precisions->push_back(Matrix::Constant(1, 1, precision));
    const MixtureFit fitted = fit_mixture(table(x), specification_of(3, 1), options);
    ASSERT_TRUE(fitted.optimum.converged()) << fitted.optimum.message;
    const LinearResponse response(*fitted.model, fitted.optimum);

    const example::Mixture mixture = example::mixture_model(x, 3);
    double best = -std::numeric_limits<double>::infinity();
    std::vector<Index> order{0, 1, 2};
    Vector expected_weights;
    Vector expected_precisions;
    Vector expected_means;
    do {
        FitOptions general = mixture.ordered_start(x);
        general.tolerance = 1e-12;
        const Vector own_weights = weights(order);
        general.clamp(mixture.pi, own_weights);
        for (std::size_t k = 0; k < 3; ++k) general.clamp(mixture.tau[k], precisions[order[k]]);
        const Optimum optimum = fit(mixture.model, general);
        ASSERT_TRUE(optimum.converged()) << optimum.message;
        if (optimum.bound <= best) continue;
        best = optimum.bound;
        expected_weights = own_weights;
        expected_precisions = precisions(order);
        expected_means = LinearResponse(mixture.model, optimum).mean({mixture.mu[0], mixture.mu[1], mixture.mu[2]});
    } while (std::next_permutation(order.begin(), order.end()));

    const auto mean = [&](const std::vector<std::string>& names) {
        return response.mean(fitted.model->in_data_units(names));
    };
    EXPECT_LT(test::relative_error(mean({"log_pi[1]", "log_pi[2]", "log_pi[3]"}), expected_weights.array().log()),
              1e-12);
    EXPECT_LT(test::relative_error(mean({"tau[1]", "tau[2]", "tau[3]"}), expected_precisions), 1e-12);
    EXPECT_LT(test::relative_error(mean({"mu[1]", "mu[2]", "mu[3]"}), expected_means), 1e-9);
    EXPECT_LT(expected_means[0], expected_means[1]);
    EXPECT_LT(expected_means[1], expected_means[2]);
    EXPECT_NE(expected_precisions, precisions) << "the order was right as given: the test tests nothing";
    EXPECT_EQ(response.sd(fitted.model->in_data_units({"tau[1]", "log_pi[2]"})), Vector(Vector::Zero(2)));
}

// What is held is the component's, so it goes where the component goes; a handle names a place.
TEST(StreamingMixture, OrderingTakesWhatIsClampedAlong) {
    const Vector x = test::three_component_rows(500, 13);
    for (const MixtureCovariance covariance : {MixtureCovariance::full, MixtureCovariance::diagonal}) {
        Matrix rows(500, 2);
        rows << x, x.reverse();
        const MixtureModel model(table(rows), specification_of(3, 2, covariance));
        const bool full = covariance == MixtureCovariance::full;
        // The first component is held to the right of all others: at 2 in the inner units of the first column.
        FitOptions options;
        options.clamp(model.location(0, 0), full ? Vector{{2.0, 0.5}} : Vector{{2.0}});
        options.clamp(model.precision(1, 0), full ? Vector{{3.0, 0.0, 1.0}} : Vector{{3.0}});
        options.max_iterations = 30;
        const State state = fit(model, options).state;
        const State ordered = model.ordered(state);
        const auto first_mean = [&](const State& of, Index k) {
            return of.mean[model.layout()[model.location(k, 0).index()].offset];
        };
        for (Index k = 0; k < 2; ++k) ASSERT_LE(first_mean(ordered, k), first_mean(ordered, k + 1));
        EXPECT_EQ(first_mean(ordered, 2), 2.0);
        const auto held = [&](const State& of, const AnyVariable& variable) {
            return static_cast<bool>(of.clamped[static_cast<std::size_t>(variable.index())]);
        };
        for (Index k = 0; k < 3; ++k) {
            EXPECT_EQ(held(ordered, model.location(k, 0)), k == 2) << k;
            const double precision = ordered.mean[model.layout()[model.precision(k, 0).index()].offset];
            EXPECT_EQ(held(ordered, model.precision(k, 0)), precision == 3.0) << k;
        }
        EXPECT_EQ(std::count(ordered.clamped.begin(), ordered.clamped.end(), true), 2);

        // The state can be gone on from, and is as good as it was.
        EXPECT_NEAR(model.expand_at(ordered, Order::value).value, model.expand_at(state, Order::value).value, 1e-9);
        FitOptions again;
        again.initial = ordered;
        again.max_iterations = 30;
        const Optimum optimum = fit(model, again);
        EXPECT_EQ(first_mean(optimum.state, 2), 2.0);
    }
}

TEST(StreamingMixture, SkippingNegligibleRowsIsWithinItsBound) {
    const Matrix x = clustered_rows(3000, 3, 14);
    const MixtureSpecification specification = specification_of(3, 3);
    const MixtureFit fitted = fit_mixture(table(x), specification);
    const detail::MixtureComponents parts(3, true, 3);
    const detail::MixtureComponents::Point point = parts.point_at(fitted.optimum.state);
    const detail::MixtureScores scores = parts.scores(point);
    const Matrix origins = parts.pair_origins(point);
    const detail::RowFormat format{3, false, true, fitted.model->centre(), fitted.model->scale().cwiseInverse()};
    const auto pass = [&](double skip_below) {
        return detail::mixture_pass(*table(x), x.rows(), format, scores, origins, {1, skip_below});
    };
    const detail::PassSums all = pass(0.0);
    EXPECT_EQ(all.skipped, 0.0);
    for (const double threshold : {1e-14, 1e-8, 1e-4}) {
        const detail::PassSums some = pass(threshold);
        double error = 0.0;
        for (std::size_t p = 0; p < all.pairs.size(); ++p) {
            const Matrix left = some.pairs[p].size() > 0 ? some.pairs[p] : Matrix(0.0 * all.pairs[p]);
            error = std::max(error, (all.pairs[p] - left).cwiseAbs().maxCoeff());
        }
        const double rounding = 1e-12 * all.pairs[0].cwiseAbs().maxCoeff();
        EXPECT_LE(error, some.skipped + rounding) << threshold;
        EXPECT_LT(some.skipped, 1e3 * threshold * static_cast<double>(x.rows())) << threshold;
        if (threshold > 1e-10) {
            EXPECT_GT(error, 0.0) << "nothing was skipped";
        }
    }
}

TEST(StreamingMixture, SaysWhatSkippingMayHaveCost) {
    const Matrix x = clustered_rows(3000, 3, 14);
    MixtureSpecification specification = specification_of(3, 3);
    const MixtureFit fitted = fit_mixture(table(x), specification);
    const Matrix exact = [&] {
        specification.skip_below = 0.0;
        const MixtureModel model(table(x), specification);
        EXPECT_EQ(model.skipped_bound(fitted.optimum.state), 0.0);
        return Matrix(model.expand_at(fitted.optimum.state, Order::hessian).hessian);
    }();
    double before = std::numeric_limits<double>::infinity();
    for (const double threshold : {1e-4, 1e-8, 1e-14}) {
        specification.skip_below = threshold;
        const MixtureModel model(table(x), specification);
        const double bound = model.skipped_bound(fitted.optimum.state);
        EXPECT_GT(bound, 0.0);
        EXPECT_LT(bound, before);
        before = bound;
        // An entry of (J_k − J_l)ᵀ P (J_k − J_l) is at most the bound times the sums of |J|; a thousand holds them
        // here.
        const Matrix hessian = model.expand_at(fitted.optimum.state, Order::hessian).hessian;
        EXPECT_LT((hessian - exact).cwiseAbs().maxCoeff(), 1e3 * bound + 1e-12 * exact.cwiseAbs().maxCoeff());
    }
}

TEST(StreamingMixture, AFileGivesTheSameBitsAsATable) {
    const Vector x = test::read_column("mixture3.csv", "x");
    const auto file = std::make_shared<CsvSource>(LRVB_DATA_DIR "/mixture3.csv");
    const MixtureFit streamed = fit_mixture(file, specification_of(3, 1));
    const MixtureFit resident = fit_mixture(table(x), specification_of(3, 1));
    EXPECT_EQ(streamed.optimum.state.mean, resident.optimum.state.mean);
    EXPECT_EQ(streamed.optimum.bound, resident.optimum.bound);
}

TEST(StreamingMixture, SaysWhetherItsStartsAgree) {
    const Vector x = test::read_column("mixture3.csv", "x");
    const MixtureFit many = fit_mixture(table(x), specification_of(3, 1));
    EXPECT_GE(many.start_bounds.size(), 16U);
    EXPECT_GT(many.finalists, 1);
    EXPECT_GE(many.finalists_at_best, 1);
    EXPECT_LE(many.finalists_at_best, many.finalists);
    MixtureFitOptions options;
    options.restarts = 1;
    const MixtureFit one = fit_mixture(table(x), specification_of(3, 1), options);
    EXPECT_EQ(one.finalists, 1);
    EXPECT_LE(one.optimum.bound, many.optimum.bound + 1e-6);
}

TEST(StreamingMixture, LargeDataIsPassedOverAFewTimes) {
    const Vector x = test::three_component_rows(1000000, 15);
    const MixtureFit fitted = fit_mixture(table(x), specification_of(3, 1));
    ASSERT_TRUE(fitted.optimum.converged()) << fitted.optimum.message;
    EXPECT_LE(fitted.optimum.step, 1e-8);
    EXPECT_LE(fitted.passes, 4);
    fmt::print("1e6 rows: {} passes\n", fitted.passes);
}

TEST(StreamingMixture, EveryStartEndsAtTheBestOptimumWhenRestartsAreOn) {
    const Vector x = test::read_column("mixture3.csv", "x");
    double best = -std::numeric_limits<double>::infinity();
    std::vector<double> bounds;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        MixtureFitOptions options;
        options.seed = seed;
        const MixtureFit fitted = fit_mixture(table(x), specification_of(3, 1), options);
        ASSERT_TRUE(fitted.optimum.converged()) << seed << ": " << fitted.optimum.message;
        bounds.push_back(fitted.optimum.bound);
        best = std::max(best, fitted.optimum.bound);
    }
    for (std::size_t i = 0; i < bounds.size(); ++i) EXPECT_NEAR(bounds[i], best, 1e-6) << "seed " << i + 1;
}

TEST(StreamingMixture, ProgressSeesEveryStageAndCanCancelInEachOfThem) {
    const Vector x = test::three_component_rows(100000, 24);
    std::vector<std::string> stages;
    MixtureFitOptions options;
    options.progress = [&](const Progress& progress) {
        if (stages.empty() || stages.back() != progress.stage) stages.emplace_back(progress.stage);
        EXPECT_GT(progress.rows, 0);
        EXPECT_LE(progress.rows, 100000);
        return true;
    };
    const MixtureFit whole = fit_mixture(table(x), specification_of(3, 1), options);
    ASSERT_TRUE(whole.optimum.converged()) << whole.optimum.message;
    const std::vector<std::string> expected{"tournament", "sample", "start", "newton"};
    EXPECT_EQ(stages, expected);
    for (const std::string& stage : expected) {
        int calls_after = 0;
        bool said = false;
        options.progress = [&](const Progress& progress) {
            calls_after += said ? 1 : 0;
            said = said || progress.stage == stage;
            return !said;
        };
        const MixtureFit fitted = fit_mixture(table(x), specification_of(3, 1), options);
        EXPECT_EQ(fitted.optimum.termination, Termination::cancelled) << stage;
        EXPECT_EQ(calls_after, 0) << stage;
        EXPECT_TRUE(fitted.optimum.state.mean.allFinite()) << stage;
        EXPECT_TRUE(std::isfinite(fitted.optimum.bound)) << stage;
        EXPECT_NE(fitted.optimum.message.find("cancelled"), std::string::npos) << fitted.optimum.message;
        EXPECT_NE(fitted.model, nullptr);
    }
}

TEST(StreamingMixture, IterationsAreLimitedFromTheFirstStartOn) {
    const Vector x = test::three_component_rows(50000, 25);
    MixtureFitOptions options;
    options.max_iterations = 3;
    options.tolerance = 1e-300;
    int largest = 0;
    options.progress = [&](const Progress& progress) {
        largest = std::max(largest, progress.iteration);
        return true;
    };
    const MixtureFit fitted = fit_mixture(table(x), specification_of(3, 1), options);
    EXPECT_EQ(fitted.optimum.termination, Termination::iteration_limit) << fitted.optimum.message;
    EXPECT_LE(largest, 3);
}

TEST(StreamingMixture, OneComponentIsANormal) {
    const Vector x = test::three_component_rows(200, 16);
    const MixtureFit fitted = fit_mixture(table(x), specification_of(1, 1), tight());
    ASSERT_TRUE(fitted.optimum.converged()) << fitted.optimum.message;
    // The same two variables in the general model.
    ModelBuilder builder;
    const auto mu = builder.add("mu", normal(0.0, 0.01));
    const auto tau = builder.add("tau", gamma(2.0001, 0.1));
    builder.observe_column(x, normal(mu, tau));
    const MultilinearModel model = builder.build();
    const Optimum optimum = fit(model);
    EXPECT_NEAR(fitted.optimum.bound, optimum.bound, 1e-9);
    const LinearResponse response(*fitted.model, fitted.optimum);
    const LinearResponse general(model, optimum);
    EXPECT_LT(test::relative_error(response.sd(fitted.model->in_data_units({"mu[1]", "log_tau[1]"})),
                                   general.sd({mu, log(tau)})),
              1e-9);
}

TEST(StreamingMixture, PredictsResponsibilitiesAndADensityThatIntegratesToOne) {
    const Vector x = test::three_component_rows(500, 17);
    const MixtureFit fitted = fit_mixture(table(x), specification_of(3, 1));
    Matrix grid(4001, 1);
    for (Index i = 0; i < grid.rows(); ++i) grid(i, 0) = -20.0 + 0.01 * static_cast<double>(i);
    const MixtureModel::Prediction prediction = fitted.model->predict(fitted.optimum.state, grid);
    EXPECT_NEAR(0.01 * prediction.log_density.array().exp().sum(), 1.0, 1e-6);
    EXPECT_LT((prediction.responsibilities.rowwise().sum().array() - 1.0).abs().maxCoeff(), 1e-12);
}

// A log density far away is a square of the distance: four times as much at twice of it, and below all doubles beyond
// some 1e154 sds.
TEST(StreamingMixture, PredictsHoweverFarARowIs) {
    for (const MixtureCovariance covariance : {MixtureCovariance::full, MixtureCovariance::diagonal}) {
        const MixtureFit fitted = fit_mixture(table(clustered_rows(300, 2, 26)), specification_of(3, 2, covariance));
        const double huge = std::numeric_limits<double>::max();
        const Matrix far{{1e150, 0.0}, {2e150, 0.0}, {-1e200, 1e200}, {huge, -huge}, {0.0, -1e308}};
        const MixtureModel::Prediction prediction = fitted.model->predict(fitted.optimum.state, far);
        EXPECT_TRUE(prediction.responsibilities.allFinite());
        EXPECT_LT((prediction.responsibilities.rowwise().sum().array() - 1.0).abs().maxCoeff(), 1e-12);
        EXPECT_LT(prediction.log_density[0], -1e297);
        EXPECT_NEAR(prediction.log_density[1] / prediction.log_density[0], 4.0, 1e-12);
        for (Index n = 2; n < far.rows(); ++n) {
            EXPECT_EQ(prediction.log_density[n], -std::numeric_limits<double>::infinity());
        }
    }
}

struct BadData {
    std::string name;
    std::function<void()> run;
    std::string says;
};

TEST(StreamingMixture, DataThatCannotBeFittedEndsInASentence) {
    const Vector x = test::three_component_rows(50, 18);
    const auto fit_rows = [](const Matrix& rows, Index components) {
        MixtureSpecification specification;
        specification.components = components;
        fit_mixture(table(rows), specification);
    };
    Matrix constant(50, 2);
    constant << x, Vector::Constant(50, 3.0);
    Vector outlier = x;
    outlier[7] = 1e300;
    Matrix negative(50, 2);
    negative << x, Vector::Constant(50, -1.0);
    const std::vector<BadData> cases{
        {"identical rows", [&] { fit_rows(Vector::Constant(20, 2.0), 2); }, "column '1' is constant (2)"},
        {"constant column", [&] { fit_rows(constant, 2); }, "column '2' is constant (3)"},
        {"constant columns", [&] { fit_rows(Matrix::Constant(20, 12, 2.0), 2); },
         "'9' (2), '10' (2) and 2 more are constant; leave them out"},
        {"more components than rows", [&] { fit_rows(x.head(4), 5); },
         "4 rows with weight are fewer than 5 components"},
        {"outlier", [&] { fit_rows(outlier, 2); }, "too far or too near for squares"},
        {"no components", [&] { fit_rows(x, 0); }, "components is 0"},
        {"prior that is no matrix",
         [&] {
             MixtureSpecification specification = specification_of(2, 2);
             specification.prior->inverse_scale = Matrix{{1.0, 2.0}, {2.0, 1.0}};
             fit_mixture(table(constant), specification);
         },
         "inverse_scale is not a positive definite matrix"},
        {"negative weight",
         [&] {
             MixtureSpecification specification = specification_of(2, 1);
             specification.weighted = true;
             fit_mixture(table(negative), specification);
         },
         "the weight of row 1 is -1"},
    };
    for (const BadData& bad : cases) {
        try {
            bad.run();
            ADD_FAILURE() << bad.name << " was accepted";
        } catch (const std::exception& error) {
            EXPECT_NE(std::string(error.what()).find(bad.says), std::string::npos) << bad.name << ": " << error.what();
        }
    }
}

TEST(StreamingMixture, ARowWithoutWeightIsNotThereWhateverItHolds) {
    const Vector x = test::three_component_rows(300, 19);
    Matrix weighted(301, 2);
    weighted << Vector::Constant(301, 1e300), Vector::Zero(301);
    weighted.col(0).tail(300) = x;
    weighted.col(1).tail(300).setOnes();
    MixtureSpecification specification;
    specification.components = 3;
    const MixtureFit plain = fit_mixture(table(x), specification, tight());
    specification.weighted = true;
    const MixtureFit with_ghost = fit_mixture(table(weighted), specification, tight());
    EXPECT_NEAR(with_ghost.optimum.bound, plain.optimum.bound, 1e-9);
}

TEST(StreamingMixture, ASampleThatMissesWhatIsRareIsNotTakenForTheData) {
    Random random(20);
    Matrix x(100000, 2);
    for (Index n = 0; n < x.rows(); ++n) {
        x(n, 0) = (n % 2 == 0 ? -3.0 : 3.0) + random.normal();
        x(n, 1) = n % 12500 == 0 ? 1.0 + random.normal() : 0.0;
    }
    EXPECT_NO_THROW(fit_mixture(table(x), specification_of(2, 2)));
}

TEST(StreamingMixture, FewerDistinctValuesThanComponentsStillHasAnAnswer) {
    Vector x(60);
    for (Index n = 0; n < 60; ++n) x[n] = n % 2 == 0 ? -1.0 : 1.0;
    const MixtureFit fitted = fit_mixture(table(x), specification_of(3, 1));
    EXPECT_TRUE(fitted.optimum.state.mean.allFinite());
    EXPECT_FALSE(fitted.optimum.message.empty());
}

}  // namespace
}  // namespace lrvb
