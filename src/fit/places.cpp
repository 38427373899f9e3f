#include "fit/places.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>

namespace lrvb::detail {

namespace {

constexpr std::size_t kMostMatched = 200;  // blocks: the assignment takes their cube
constexpr double kApart = 1e12;            // squared sds between values that are held, where they differ
constexpr double kRounding = 1e-12;        // of a mean: no sd is smaller
constexpr double kSameNumber = 1e-6;       // of sorted means

Vector mean_field_sds(const Layout& layout, const State& state) {
    Vector sds = Vector::Zero(layout.size());
    for (Index j = 0; j < layout.variable_count(); ++j) {
        if (state.clamped[static_cast<std::size_t>(j)]) continue;
        const Matrix covariance = std::visit(
            [&](const auto& family) { return family.covariance(layout.segment(state.natural, j)); }, layout[j].family);
        layout.segment(sds, j) = covariance.diagonal().cwiseMax(0.0).cwiseSqrt();
    }
    return sds;
}

// How many sds a mean is from another, squared; sd 0 stands for a value that is held.
double squared_distance(double one, double other, double sd) {
    if (one == other) return 0.0;
    const double off = (other - one) / std::max(sd, kRounding * std::abs(one));
    return sd == 0.0 || !std::isfinite(off) ? kApart : std::min(off * off, kApart);
}

// The pairing of rows with columns that costs least in all, by shortest augmenting paths (Kuhn, Munkres): for each row
// its column.
std::vector<std::size_t> assignment(const Matrix& costs) {
    const auto count = static_cast<std::size_t>(costs.rows());
    const std::size_t none = count;
    std::vector<double> row_price(count + 1, 0.0);
    std::vector<double> column_price(count + 1, 0.0);
    std::vector<std::size_t> row_of(count + 1, none);  // of a column; the last one is where a path begins
    for (std::size_t row = 0; row < count; ++row) {
        std::vector<double> least(count + 1, std::numeric_limits<double>::infinity());
        std::vector<std::size_t> before(count + 1, none);
        std::vector<bool> visited(count + 1, false);
        std::size_t column = count;
        row_of[column] = row;
        while (row_of[column] != none) {
            visited[column] = true;
            const std::size_t from = row_of[column];
            double step = std::numeric_limits<double>::infinity();
            std::size_t next = none;
            for (std::size_t c = 0; c < count; ++c) {
                if (visited[c]) continue;
                const double cost =
                    costs(static_cast<Index>(from), static_cast<Index>(c)) - row_price[from] - column_price[c];
                if (cost < least[c]) {
                    least[c] = cost;
                    before[c] = column;
                }
                if (next == none || least[c] < step) {
                    step = least[c];
                    next = c;
                }
            }
            for (std::size_t c = 0; c <= count; ++c) {
                if (visited[c]) {
                    row_price[row_of[c]] += step;
                    column_price[c] -= step;
                } else {
                    least[c] -= step;
                }
            }
            column = next;
        }
        while (column != count) {
            row_of[column] = row_of[before[column]];
            column = before[column];
        }
    }
    std::vector<std::size_t> columns(count);
    for (std::size_t c = 0; c < count; ++c) columns[row_of[c]] = c;
    return columns;
}

// What it costs to put a block of the state where one of `to` is.
Matrix costs_between(const Layout& layout, const Exchangeable& exchangeable, const State& to, const Vector& sds,
                     const State& state) {
    const auto count = static_cast<Index>(exchangeable.blocks.size());
    Matrix costs = Matrix::Zero(count, count);
    const auto is_further = [&](Index variable) {
        return std::ranges::find(exchangeable.further, variable) != exchangeable.further.end();
    };
    const auto is_in_a_block = [&](Index variable) {
        return std::ranges::any_of(exchangeable.blocks, [&](const std::vector<Index>& block) {
            return std::ranges::find(block, variable) != block.end();
        });
    };
    std::vector<Index> all_weights;
    std::ranges::copy_if(exchangeable.further, std::back_inserter(all_weights), std::not_fn(is_in_a_block));
    if (exchangeable.weights) all_weights.push_back(*exchangeable.weights);
    for (Index k = 0; k < count; ++k) {
        const std::vector<Index>& own = exchangeable.blocks[static_cast<std::size_t>(k)];
        for (Index l = 0; l < count; ++l) {
            const std::vector<Index>& others = exchangeable.blocks[static_cast<std::size_t>(l)];
            for (std::size_t v = 0; v < own.size(); ++v) {
                const Index at = layout[own[v]].offset;
                const Index from = layout[others[v]].offset;
                if (is_further(own[v])) {  // its parts move too: only that of the block itself is known where to
                    costs(k, l) += squared_distance(to.mean[at + k], state.mean[from + l], sds[at + k]);
                    continue;
                }
                for (Index i = 0; i < layout[own[v]].size; ++i) {
                    costs(k, l) += squared_distance(to.mean[at + i], state.mean[from + i], sds[at + i]);
                }
            }
            for (const Index weights : all_weights) {
                const Index first = layout[weights].offset;
                costs(k, l) += squared_distance(to.mean[first + k], state.mean[first + l], sds[first + k]);
            }
        }
    }
    return costs;
}

State exchanged(const Layout& layout, const Exchangeable& exchangeable, const State& state,
                const std::vector<std::size_t>& columns) {
    State result = state;
    for (std::size_t k = 0; k < columns.size(); ++k) {
        const std::vector<Index>& own = exchangeable.blocks[k];
        const std::vector<Index>& others = exchangeable.blocks[columns[k]];
        for (std::size_t v = 0; v < own.size(); ++v) {
            layout.segment(result.natural, own[v]) = layout.segment(state.natural, others[v]);
            layout.segment(result.mean, own[v]) = layout.segment(state.mean, others[v]);
            result.clamped[static_cast<std::size_t>(own[v])] = state.clamped[static_cast<std::size_t>(others[v])];
        }
    }
    std::vector<Index> all_weights = exchangeable.further;
    if (exchangeable.weights) all_weights.push_back(*exchangeable.weights);
    for (const Index weights : all_weights) {
        const Vector natural = layout.segment(result.natural, weights);
        const Vector mean = layout.segment(result.mean, weights);
        const Index first = layout[weights].offset;
        for (std::size_t k = 0; k < columns.size(); ++k) {
            const auto to = first + static_cast<Index>(k);
            result.natural[to] = natural[static_cast<Index>(columns[k])];
            result.mean[to] = mean[static_cast<Index>(columns[k])];
        }
    }
    return result;
}

State matched(const Model& model, const State& to, const Vector& sds, const State& state) {
    const Exchangeable exchangeable = model.exchangeable();
    if (exchangeable.blocks.size() < 2 || exchangeable.blocks.size() > kMostMatched) return state;
    return exchanged(model.layout(), exchangeable, state,
                     assignment(costs_between(model.layout(), exchangeable, to, sds, state)));
}

bool same_but_for_places(const Vector& one, const Vector& other) {
    Vector left = one;
    Vector right = other;
    std::sort(left.begin(), left.end());
    std::sort(right.begin(), right.end());
    return ((left - right).array().abs() <= kSameNumber * (1.0 + left.array().abs())).all();
}

}  // namespace

State matched(const Model& model, const State& to, const State& state) {
    return matched(model, to, mean_field_sds(model.layout(), to), state);
}

bool same_place(const Model& model, const State& one, const State& other, double sds) {
    const Vector scale = mean_field_sds(model.layout(), one);
    const State near = matched(model, one, scale, other);
    bool same = true;
    for (Index i = 0; i < scale.size() && same; ++i) {
        same = squared_distance(one.mean[i], near.mean[i], scale[i]) <= sds * sds;
    }
    return same || (model.exchangeable().blocks.empty() && same_but_for_places(one.mean, other.mean));
}

std::vector<Optimum> other_places(const Model& model, const Optimum& best, std::vector<Optimum> found) {
    std::stable_sort(found.begin(), found.end(), [](const Optimum& a, const Optimum& b) { return a.bound > b.bound; });
    std::vector<Optimum> others;
    for (Optimum& one : found) {
        if (others.size() == kMostOthers || !(one.bound >= best.bound - kOtherOptimum)) break;
        const auto is_there = [&](const Optimum& known) { return same_place(model, known.state, one.state); };
        if (is_there(best) || std::any_of(others.begin(), others.end(), is_there)) continue;
        others.push_back(std::move(one));
    }
    return others;
}

}  // namespace lrvb::detail
