#include "kind/model/columns.hpp"
#include "kind/model/declarations.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <stdexcept>

namespace lrvb::detail::text {

namespace {

bool is_whole(double value) {
    return std::isfinite(value) && value == std::floor(value);
}

class Observing {
  public:
    explicit Observing(Declarations& own) : own_(own) {}

    void require_values(const Piece& piece) const { require_values(piece, own_.distribution_name(piece)); }

    void observe(const Piece& piece) {
        const std::string& name = own_.distribution_name(piece);
        if (piece.is_truncated && own_.is_censored(piece)) {
            require_within_bounds(piece);  // what is seen was not censored
        } else if (piece.is_truncated) {
            throw Refused(own_.relation(piece).syntax->truncation->place,
                          fmt::format("{} is observed: the normaliser of a truncated {} depends on its parameters, and "
                                      "is not conjugate to anything; leave out the truncation",
                                      own_.left_array(piece).name, name));
        }
        if (piece.left == Piece::Left::partly) {
            one_by_one(piece, [&](Index row, const Row& named) { observe_vector(piece, row, named); });
        } else if (name == "dnorm") {
            observe_normal(piece);
        } else if (name == "dt" || name == "ddexp") {
            observe_student(piece);
        } else if (name == "dpois") {
            observe_counts(piece);
        } else if (name == "dbern" || name == "dbin") {
            observe_trials(piece);
        } else if (name == "dcat" || name == "dmulti") {
            observe_labels(piece);
        } else if (name == "dnegbin") {
            one_by_one(piece, [&](Index row, const Row& named) { observe_failures(piece, row, named); });
        } else if (name == "dlnorm") {
            one_by_one(piece, [&](Index row, const Row& named) { observe_log_normal(piece, row, named); });
        } else if (name == "dmnorm") {
            observe_groups(piece, [&](Index row, Index e) { return own_.observed(piece, row, e); });
        } else if (name == "dwish") {
            one_by_one(piece, [&](Index row, const Row& named) { observe_matrix(piece, row, named); });
        } else if (name == "dexp" || name == "dweib") {
            observe_lifetimes(piece);
        } else {
            observe_groups(piece, [&](Index row, Index e) { return own_.observed(piece, row, e); });
        }
    }

    /// Nodes of which only bounds are known, I(lower, upper).
    void observe_censored(const Piece& piece) {
        const std::string& name = own_.distribution_name(piece);
        const std::size_t array = own_.relation(piece).left.array;
        for (Index row = 0; row < piece.size(); ++row) {
            if (own_.terms.at(array, own_.left_element(piece, row)).form == Form::none) return;  // it was refused
        }
        if (name == "dnorm") {
            one_by_one(piece, [&](Index row, const Row& named) {
                const Expression node = own_.terms.atom(own_.terms.at(array, own_.left_element(piece, row)));
                const AnyDistribution distribution = own_.distribution(piece, row);
                own_.builder.observe(node, std::get<Distribution<family::Normal>>(distribution), named);
            });
        } else {
            observe_lifetimes(piece);
        }
    }

  private:
    std::vector<Index> elements_of(const Piece& piece, const std::vector<Index>& rows) const {
        std::vector<Index> elements;
        for (const Index row : rows) elements.push_back(own_.left_element(piece, row));
        return elements;
    }
    Rows named(const Piece& piece, const std::vector<Index>& rows) {
        return own_.rows(own_.relation(piece).left.array, elements_of(piece, rows));
    }

    template <class Observe>
    void one_by_one(const Piece& piece, Observe observe) {
        const Rows rows = named(piece, all_rows(piece.size()));
        for (Index row = 0; row < piece.size(); ++row) observe(row, rows[row]);
    }

    [[noreturn]] void refuse_value(const Piece& piece, Index row, Index entry, const std::string& must) const {
        const bugs::Array& array = own_.left_array(piece);
        throw Refused(own_.relation(piece).syntax->left.place,
                      fmt::format("{} is {:g} in the data, but a {} node must be {}",
                                  array.element_name(own_.left_element(piece, row, entry)),
                                  own_.observed(piece, row, entry), own_.distribution_name(piece), must));
    }

    void require_values(const Piece& piece, const std::string& name) const {
        const auto each = [&](auto is_good, const std::string& must) {
            for (Index row = 0; row < piece.size(); ++row) {
                for (Index e = 0; e < own_.left_size(piece); ++e) {
                    if (piece.left == Piece::Left::partly && std::isnan(own_.observed(piece, row, e))) continue;
                    if (!is_good(own_.observed(piece, row, e), row)) refuse_value(piece, row, e, must);
                }
            }
        };
        if (name == "dcat") {
            const auto labels = static_cast<double>(piece.arguments[0].elements.size());
            each([&](double y, Index) { return is_whole(y) && y >= 1.0 && y <= labels; },
                 fmt::format("a label from 1 to {:g}", labels));
        } else if (name == "dbern") {
            each([](double y, Index) { return y == 0.0 || y == 1.0; }, "0 or 1");
        } else if (name == "dbin") {
            each([&](double y, Index row) { return is_whole(y) && y >= 0.0 && y <= own_.number(piece, 1, row); },
                 "a whole number from 0 to its size");
        } else if (name == "dpois" || name == "dnegbin" || name == "dmulti") {
            each([](double y, Index) { return is_whole(y) && y >= 0.0; }, "a whole number that is not negative");
            if (name == "dmulti") require_totals(piece);
        } else if (name == "dgamma" || name == "dexp" || name == "dchisqr" || name == "dlnorm" || name == "dweib") {
            each([](double y, Index) { return std::isfinite(y) && y > 0.0; }, "positive");
        } else if (name == "dbeta") {
            each([](double y, Index) { return y > 0.0 && y < 1.0; }, "between 0 and 1");
        } else {
            each([](double y, Index) { return std::isfinite(y); }, "a finite number");
        }
    }

    // Counts of dmulti(p, n) add up to n.
    void require_totals(const Piece& piece) const {
        for (Index row = 0; row < piece.size(); ++row) {
            double sum = 0.0;
            for (Index e = 0; e < own_.left_size(piece); ++e) sum += own_.observed(piece, row, e);
            const double size = own_.number(piece, 1, row);
            if (sum == size || std::isnan(sum)) continue;
            refuse_value(piece, row, 0,
                         fmt::format("one of counts that add up to {:g}, and these add up to {:g}", size, sum));
        }
    }

    // Rows with the same distribution are one column.
    template <class Get>
    void observe_groups(const Piece& piece, Get get) {
        if (!piece.selectors.empty()) {
            observe_each(piece, get);
            return;
        }
        for (const std::vector<Index>& group : groups_of(piece)) {
            const Index width = own_.left_size(piece);
            Matrix values(static_cast<Index>(group.size()), width);
            for (std::size_t n = 0; n < group.size(); ++n) {
                for (Index e = 0; e < width; ++e) values(static_cast<Index>(n), e) = get(group[n], e);
            }
            const AnyDistribution distribution = own_.distribution(piece, group.front());
            const Rows rows = named(piece, group);
            std::visit([&](const auto& one) { own_.builder.observe_rows(values, one, rows); }, distribution);
        }
    }
    template <class Get>
    void observe_each(const Piece& piece, Get get) {
        one_by_one(piece, [&](Index row, const Row& named_row) {
            Vector value(own_.left_size(piece));
            for (Index e = 0; e < value.size(); ++e) value[e] = get(row, e);
            const AnyDistribution distribution = own_.distribution(piece, row);
            std::visit(
                [&]<class F>(const Distribution<F>& one) {
                    if constexpr (std::is_same_v<F, family::Normal>) {
                        own_.builder.observe(Expression(value[0]), one, named_row);
                    } else if constexpr (std::is_same_v<F, family::MvNormal>) {
                        own_.builder.observe(VectorParameter(value), one, named_row);
                    } else {
                        own_.builder.observe(value, one, named_row);
                    }
                },
                distribution);
        });
    }

    void observe_normal(const Piece& piece) {
        const auto get = [&](Index row, Index e) { return own_.observed(piece, row, e); };
        if (!piece.selectors.empty()) {
            observe_each(piece, get);
            return;
        }
        const bool linear = is_linear(piece.sum(0), own_.terms);
        // By precision; where every row has its own there is nothing to gain.
        const std::vector<std::vector<Index>> groups = groups_of(piece, {1});
        if (!linear || static_cast<Index>(groups.size()) * 2 > piece.size()) {
            observe_each(piece, get);
            return;
        }
        for (const std::vector<Index>& group : groups) {
            const LinearColumns columns = linear_columns(piece.sum(0), group, own_.terms);
            Vector y(static_cast<Index>(group.size()));
            for (std::size_t n = 0; n < group.size(); ++n) y[static_cast<Index>(n)] = get(group[n], 0);
            const Expression precision = own_.argument(piece, 1, group.front());
            const Rows rows = named(piece, group);
            if (columns.coefficients.empty()) {  // a mean of zero
                own_.builder.observe_column(y, normal(0.0, precision), rows);
            } else {
                own_.builder.observe_linear(y, columns.design, VectorParameter(columns.coefficients), precision, rows);
            }
        }
    }

    void observe_student(const Piece& piece) {
        if (!piece.selectors.empty()) {
            throw Refused(
                own_.relation(piece).syntax->place,
                fmt::format("a discrete node chooses the parameters of a {} node, which is not supported: use "
                            "dnorm",
                            own_.distribution_name(piece)));
        }
        one_by_one(piece, [&](Index row, const Row& named_row) {
            const std::string name = own_.auxiliary_name(piece, row, ".weight");
            if (own_.distribution_name(piece) == "ddexp") {  // a normal whose variance is exponential
                const double rate = own_.number(piece, 1, row);
                const Variable<family::Scale> precision =
                    own_.builder.add(name, precision_of_variance(exponential_sd(0.5 * rate * rate)), named_row);
                own_.builder.observe(Expression(own_.observed(piece, row)),
                                     normal(own_.argument(piece, 0, row), precision), named_row);
                return;
            }
            const double df = own_.number(piece, 2, row);
            if (!(df > 0.0)) throw Refused(own_.place(piece, 2), "the degrees of freedom must be positive");
            const Variable<family::Gamma> weight = own_.builder.add(name, gamma(0.5 * df, 0.5 * df), named_row);
            own_.builder.observe(Expression(own_.observed(piece, row)),
                                 normal(own_.argument(piece, 0, row), own_.argument(piece, 1, row) * weight),
                                 named_row);
        });
    }

    void observe_log_normal(const Piece& piece, Index row, const Row& named_row) {
        const double y = own_.observed(piece, row);
        const AnyDistribution distribution = own_.distribution(piece, row);
        own_.builder.observe(Expression(std::log(y)), std::get<Distribution<family::Normal>>(distribution), named_row);
        own_.builder.add_term(-std::log(y));  // of the change of scale
    }

    void observe_vector(const Piece& piece, Index row, const Row& named_row) {
        const bugs::Array& array = own_.left_array(piece);
        std::vector<Expression> entries;
        for (Index e = 0; e < own_.left_size(piece); ++e) {
            const Index element = own_.left_element(piece, row, e);
            const bool known = array.states[static_cast<std::size_t>(element)] == bugs::State::observed;
            entries.push_back(known ? Expression(own_.observed(piece, row, e))
                                    : own_.terms.atom(own_.terms.at(own_.relation(piece).left.array, element)));
        }
        const AnyDistribution distribution = own_.distribution(piece, row);
        own_.builder.observe(VectorParameter(entries), std::get<Distribution<family::MvNormal>>(distribution),
                             named_row);
    }

    void observe_matrix(const Piece& piece, Index row, const Row& named_row) {
        const auto size = static_cast<Index>(std::llround(std::sqrt(static_cast<double>(own_.left_size(piece)))));
        Matrix value(size, size);
        for (Index e = 0; e < value.size(); ++e) value(e % size, e / size) = own_.observed(piece, row, e);
        const AnyDistribution distribution = own_.distribution(piece, row);
        own_.builder.observe(half_vector(value), std::get<Distribution<family::Wishart>>(distribution), named_row);
    }

    void require_within_bounds(const Piece& piece) const {
        for (Index row = 0; row < piece.size(); ++row) {
            const double y = own_.observed(piece, row);
            const auto [lower, upper] = own_.bounds(piece, row);
            if (y >= lower && y <= upper) continue;
            throw Refused(own_.relation(piece).syntax->truncation->place,
                          fmt::format("{} is {:g} in the data, outside of its bounds {:g} and {:g}",
                                      own_.node_name(piece, row), y, lower, upper));
        }
    }

    // With e = t^shape, the density is shape/t · e λ exp(−e λ), and 1 less the distribution function exp(−e λ): but for
    // constants these are Poisson probabilities of one event and of none with mean e λ.
    void observe_lifetimes(const Piece& piece) {
        const bool is_weibull = own_.distribution_name(piece) == "dweib";
        const bool is_seen = piece.left == Piece::Left::observed;
        const std::size_t at = is_weibull ? 1 : 0;
        Vector exposures(piece.size());
        for (Index row = 0; row < piece.size(); ++row) {
            const double shape = is_weibull ? own_.number(piece, 0, row) : 1.0;
            if (!(shape > 0.0)) throw Refused(own_.place(piece, 0), "the shape must be positive");
            const double time = is_seen ? own_.observed(piece, row) : std::max(0.0, own_.bounds(piece, row).first);
            exposures[row] = std::pow(time, shape);
            if (is_seen) own_.builder.add_term(std::log(shape) - std::log(time));
        }
        if (piece.selectors.empty()) {
            if (const std::optional<LinkedSum> linked = linked_sum(piece.sum(at), {"exp"})) {
                observe_linked_lifetimes(piece, at, *linked, exposures);
                return;
            }
        }
        one_by_one(piece, [&](Index row, const Row& named_row) {
            if (exposures[row] == 0.0) return;  // says nothing
            if (!is_seen) {
                if (!piece.selectors.empty()) {
                    throw Refused(own_.relation(piece).syntax->place,
                                  "a discrete node chooses the rate of a censored node, which is not supported");
                }
                own_.builder.add_term(-exposures[row] * own_.argument(piece, at, row), named_row);
                return;
            }
            const AnyDistribution distribution = own_.distribution(piece, row);
            own_.builder.add_term(std::log(exposures[row]));
            own_.builder.observe(Vector(Vector::Constant(1, exposures[row])),
                                 std::get<Distribution<family::Gamma>>(distribution), named_row);
        });
    }

    void observe_linked_lifetimes(const Piece& piece, std::size_t at, const LinkedSum& linked,
                                  const Vector& exposures) {
        PredictorRows rows;
        rows.likelihood = Likelihood::named("poisson");
        rows.y = Vector::Constant(piece.size(), piece.left == Piece::Left::observed ? 1.0 : 0.0);
        for (Index row = 0; row < piece.size(); ++row) {
            const double factor = exposures[row] * linked.factor[linked.factor.size() == 1 ? 0 : row];
            require_positive_factor(piece, at, row, factor);
            require_linear(piece, at, linked.inside, row);
            rows.predictors.push_back(own_.terms.polynomial(linked.inside, row, own_.place(piece, at)) +
                                      std::log(factor));
        }
        rows.rows = named(piece, all_rows(piece.size()));
        own_.predictors.push_back(std::move(rows));
    }

    void require_positive_factor(const Piece& piece, std::size_t argument, Index row, double factor) const {
        if (factor > 0.0) return;
        throw Refused(own_.place(piece, argument),
                      fmt::format("the {} of {} has the factor {:g}, but must be positive",
                                  role_of(own_.distribution_name(piece), argument) == Role::probability ? "probability"
                                  : own_.distribution_name(piece) == "dpois"                            ? "mean"
                                                                                                        : "rate",
                                  own_.node_name(piece, row), factor));
    }

    void observe_counts(const Piece& piece) {
        const auto get = [&](Index row, Index e) { return own_.observed(piece, row, e); };
        if (!piece.selectors.empty()) {
            observe_each(piece, get);
            return;
        }
        const Sum& rate = piece.sum(0);
        if (const std::optional<LinkedSum> linked = linked_sum(rate, {"exp"})) {
            observe_linked(piece, *linked, Likelihood::named("poisson"));
            return;
        }
        if (rate.terms.size() != 1) {
            observe_each(piece, get);  // which says what is wrong
            return;
        }
        const Product& term = rate.terms.front();
        for (const std::vector<Index>& group :
             groups_of(Sum{{Product{NumberColumn::Ones(1), term.factors}}}, piece.size())) {
            Vector counts(static_cast<Index>(group.size()));
            Vector exposures(counts.size());
            for (std::size_t n = 0; n < group.size(); ++n) {
                counts[static_cast<Index>(n)] = get(group[n], 0);
                exposures[static_cast<Index>(n)] = term.number(group[n]);
                require_positive_factor(piece, 0, group[n], exposures[static_cast<Index>(n)]);
            }
            const Expression one = own_.terms.polynomial(Sum{{Product{NumberColumn::Ones(1), term.factors}}},
                                                         group.front(), own_.place(piece, 0));
            own_.builder.observe_counts(counts, exposures, one, named(piece, group));
        }
    }

    void observe_trials(const Piece& piece) {
        const auto get = [&](Index row, Index e) { return own_.observed(piece, row, e); };
        const bool single = own_.distribution_name(piece) == "dbern";
        const Sum& p = piece.sum(0);
        if (piece.selectors.empty()) {
            if (const std::optional<LinkedSum> linked = linked_sum(p, {"ilogit", "phi", "icloglog"})) {
                const std::string_view link = linked->function == "ilogit" ? "logit"
                                              : linked->function == "phi"  ? "probit"
                                                                           : "cloglog";
                observe_linked(piece, *linked, Likelihood::named("binomial", link));
                return;
            }
        }
        const bool complement = piece.selectors.empty() && p.terms.size() == 1 && p.terms[0].factors.size() == 1 &&
                                p.terms[0].factors[0].kind == Factor::Kind::complement &&
                                p.terms[0].factors[0].power == 1.0 && (p.terms[0].coefficient.array() == 1.0).all();
        if (complement) {  // as many failures
            Piece mirrored = piece;
            mirrored.arguments[0].elements[0].alternatives[0].terms[0].factors[0].kind = Factor::Kind::node;
            observe_groups(mirrored, [&](Index row, Index) {
                return (single ? 1.0 : own_.number(piece, 1, row)) - own_.observed(piece, row);
            });
            return;
        }
        if (!single && piece.selectors.empty()) {
            // None of no trials says nothing, but is no row of the library's.
            for (Index row = 0; row < piece.size(); ++row) {
                if (own_.number(piece, 1, row) >= 1.0) continue;
                throw Refused(own_.place(piece, 1),
                              fmt::format("the size of {} is 0: leave it out of the data", own_.node_name(piece, row)));
            }
        }
        observe_groups(piece, get);
    }

    bool has_plain_simplex(const Piece& piece) {
        if (!piece.selectors.empty()) return true;
        try {
            static_cast<void>(own_.simplex(piece, 0));
            return true;
        } catch (const Refused&) {
            return false;
        }
    }

    // n! Π (f_k / Σf)^y_k / y_k! = n ∫ Π Poisson(y_k; f_k eᵗ) dt: with a flat node t for each row, these are counts
    // under a log link.
    void observe_shares(const Piece& piece, const std::vector<LinkedSum>& given) {
        const bool single = own_.distribution_name(piece) == "dcat";
        const auto count = [&](Index row, std::size_t k) {
            if (!single) return own_.observed(piece, row, static_cast<Index>(k));
            return own_.observed(piece, row) == static_cast<double>(k) + 1.0 ? 1.0 : 0.0;
        };
        std::vector<Index> seen;
        std::vector<Index> empty;
        std::vector<Expression> totals;
        for (Index row = 0; row < piece.size(); ++row) {
            double trials = 0.0;
            for (std::size_t k = 0; k < given.size(); ++k) trials += count(row, k);
            if (trials == 0.0) {
                empty.push_back(row);
                continue;
            }
            seen.push_back(row);
            totals.emplace_back(
                own_.builder.add(own_.auxiliary_name(piece, row, ".total"), normal(0.0, kFlatPrecision)));
            own_.builder.add_term(std::log(trials) - 0.5 * std::log(kFlatPrecision / (2.0 * std::numbers::pi)));
        }
        if (!empty.empty()) static_cast<void>(named(piece, empty));  // which say nothing
        if (seen.empty()) return;
        const Rows rows = named(piece, seen);
        for (std::size_t k = 0; k < given.size(); ++k) {
            PredictorRows counts;
            counts.likelihood = Likelihood::named("poisson");
            counts.y.resize(static_cast<Index>(seen.size()));
            for (std::size_t n = 0; n < seen.size(); ++n) {
                const double factor = given[k].factor[given[k].factor.size() == 1 ? 0 : seen[n]];
                require_positive_factor(piece, 0, seen[n], factor);
                require_linear(piece, 0, given[k].inside, seen[n]);
                counts.y[static_cast<Index>(n)] = count(seen[n], k);
                counts.predictors.push_back(own_.terms.polynomial(given[k].inside, seen[n], own_.place(piece, 0)) +
                                            std::log(factor) + totals[n]);
            }
            counts.rows = rows;
            own_.predictors.push_back(std::move(counts));
        }
    }

    void observe_labels(const Piece& piece) {
        const bool single = own_.distribution_name(piece) == "dcat";
        if (const auto given = shares(piece.arguments[0].elements)) {
            observe_shares(piece, *given);
            return;
        }
        if (has_plain_simplex(piece)) {
            observe_groups(piece,
                           [&](Index row, Index e) { return own_.observed(piece, row, e) - (single ? 1.0 : 0.0); });
            return;
        }
        // Probabilities that are products: their logarithms are what counts.
        one_by_one(piece, [&](Index row, const Row& named_row) {
            const std::vector<std::optional<Expression>> logs = own_.log_simplex(piece, row);
            require_simplex(piece, row);
            Expression density;
            double total = 0.0;
            for (std::size_t k = 0; k < logs.size(); ++k) {
                const double count = single ? (own_.observed(piece, row) == static_cast<double>(k) + 1.0 ? 1.0 : 0.0)
                                            : own_.observed(piece, row, static_cast<Index>(k));
                if (count == 0.0) continue;
                if (!logs[k]) {
                    throw Refused(own_.relation(piece).syntax->left.place,
                                  fmt::format("{} has label {} in the data, whose probability is zero",
                                              own_.node_name(piece, row), k + 1));
                }
                density += count * *logs[k] - std::lgamma(count + 1.0);
                total += count;
            }
            own_.builder.add_term(density + std::lgamma(total + 1.0), named_row);
        });
    }

    // That products of probabilities add up to one, at two places.
    void require_simplex(const Piece& piece, Index row) const {
        for (const double seed : {0.37, 0.74}) {
            double total = 0.0;
            for (const Choice& entry : piece.arguments[0].elements) {
                total += probability_at(at_row(entry.only(), row), seed, own_.terms);
            }
            if (std::abs(total - 1.0) < 1e-9) continue;
            throw Refused(
                own_.place(piece, 0),
                fmt::format("the probabilities of {} do not add up to one for all values of their nodes: give "
                            "the last of them the rest",
                            own_.node_name(piece, row)));
        }
    }

    // C(y + r − 1, y) p^r (1 − p)^y.
    void observe_failures(const Piece& piece, Index row, const Row& named_row) {
        const double size = own_.number(piece, 1, row);
        const double y = own_.observed(piece, row);
        if (!(size > 0.0)) throw Refused(own_.place(piece, 1), "the size must be positive");
        if (!piece.selectors.empty() || own_.is_constant(piece, 0)) {
            throw Refused(own_.place(piece, 0),
                          "the probability of dnegbin must be a dbeta node here, to which it is conjugate");
        }
        const Sum p = at_row(piece.sum(0), row);
        Sum rest = p;
        const bool is_node = p.terms.size() == 1 && p.terms[0].factors.size() == 1 &&
                             p.terms[0].factors[0].kind != Factor::Kind::function && p.terms[0].coefficient[0] == 1.0;
        if (!is_node) {
            throw Refused(own_.place(piece, 0),
                          "the probability of dnegbin must be a dbeta node, to which it is conjugate: for a mean that "
                          "varies, write y ~ dpois(mu * g) with g ~ dgamma(size, size)");
        }
        Factor& factor = rest.terms[0].factors[0];
        factor.kind = factor.kind == Factor::Kind::node ? Factor::Kind::complement : Factor::Kind::node;
        const Expression log_p = *own_.terms.log_probability(p, 0, own_.place(piece, 0));
        const Expression log_q = *own_.terms.log_probability(rest, 0, own_.place(piece, 0));
        const double constant = std::lgamma(y + size) - std::lgamma(size) - std::lgamma(y + 1.0);
        own_.builder.add_term(size * log_p + y * log_q + constant, named_row);
    }

    // Under a link, predictors are sums of numbers times normal nodes.
    void require_linear(const Piece& piece, std::size_t argument, const Sum& inside, Index row) {
        if (own_.predictor_place.end == 0) own_.predictor_place = own_.place(piece, argument);
        for (const Product& term : inside.terms) {
            if (term.number(row) == 0.0 || term.factors.empty()) continue;
            const Factor& first = term.factors.front();
            if (first.kind == Factor::Kind::function) continue;  // which is refused by its name
            if (term.factors.size() > 1 || first.power != 1.0) {
                const Factor& other = term.factors.back();
                const std::string with = other.kind == Factor::Kind::function ? other.function + "(…)"
                                         : term.factors.size() == 1           ? "itself"
                                                                              : own_.terms.described(other, row);
                throw Refused(own_.place(piece, argument),
                              fmt::format("the predictor of {} has {} times {}: under a link, predictors are sums of "
                                          "constants times dnorm nodes; make one of the two a constant",
                                          own_.node_name(piece, row), own_.terms.described(first, row), with));
            }
            const Form form = own_.terms.at(first.array, first.element(row)).form;
            if (form == Form::number || form == Form::none) continue;
            throw Refused(own_.place(piece, argument),
                          fmt::format("{} is in the predictor of {} under a link, where only dnorm and dmnorm nodes "
                                      "without bounds can be: give it such a prior",
                                      own_.terms.described(first, row), own_.node_name(piece, row)));
        }
    }

    void observe_linked(const Piece& piece, const LinkedSum& linked, std::shared_ptr<const Likelihood> likelihood) {
        PredictorRows rows;
        rows.likelihood = std::move(likelihood);
        rows.y.resize(piece.size());
        if (own_.distribution_name(piece) == "dbin") rows.trials.resize(piece.size());
        for (Index row = 0; row < piece.size(); ++row) {
            rows.y[row] = own_.observed(piece, row);
            if (rows.trials.size() > 0) rows.trials[row] = own_.number(piece, 1, row);
            const double factor = linked.factor[linked.factor.size() == 1 ? 0 : row];
            require_linear(piece, 0, linked.inside, row);
            Expression predictor = own_.terms.polynomial(linked.inside, row, own_.place(piece, 0));
            if (rows.likelihood->link().is_log) {
                require_positive_factor(piece, 0, row, factor);
                predictor += std::log(factor);
            } else if (factor != 1.0) {
                throw Refused(own_.place(piece, 0),
                              "a probability under a link is multiplied by a number: write it by the link alone");
            }
            rows.predictors.push_back(std::move(predictor));
        }
        rows.rows = named(piece, all_rows(piece.size()));
        own_.predictors.push_back(std::move(rows));
    }

    Declarations& own_;
};

}  // namespace

void observe_nodes(Declarations& declarations, bugs::Diagnostics& diagnostics) {
    Observing observing(declarations);
    for (const Piece& piece : declarations.pieces()) {
        if (declarations.is_interval(piece)) continue;
        const bool censored = piece.left == Piece::Left::unobserved && declarations.is_censored(piece);
        if (piece.left == Piece::Left::unobserved && !censored) continue;
        const bool labelled = std::ranges::any_of(piece.selectors, [&](const Selector& selector) {
            return declarations.terms.at(selector.array, selector.element(0)).form == Form::summed_out;
        });
        const bugs::GraphRelation& relation = declarations.relation(piece);
        try {
            if (censored) {
                observing.observe_censored(piece);
                continue;
            }
            observing.require_values(piece);
            if (!labelled) observing.observe(piece);
        } catch (const Refused& refused) {
            if (*refused.what() != '\0') diagnostics.add(refused.place(), refused.what());
        } catch (const std::invalid_argument& error) {
            diagnostics.add(relation.syntax->right.place, error.what());
        }
    }
}

}  // namespace lrvb::detail::text
