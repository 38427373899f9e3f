#include "sample/trajectory.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace lrvb::detail {

namespace {

constexpr double kDivergence = 1000.0;  // a growth of energy that no step of a good length has
constexpr double kLeastStep = 1e-8;
constexpr double kMostStep = 1.7;  // radians: somewhat more than a quarter of a turn

double log_add(double a, double b) {
    const double larger = std::max(a, b);
    if (larger == -std::numeric_limits<double>::infinity()) return larger;
    return larger + std::log(std::exp(a - larger) + std::exp(b - larger));
}

}  // namespace

StepLength::StepLength(double first, double wanted)
    : wanted_(wanted), current_(first), shrinkage_(std::log(2.0 * first)), log_mean_(std::log(first)) {}

void StepLength::learn(double acceptance) {
    constexpr double kOffset = 10.0;
    constexpr double kRelaxation = 0.75;
    constexpr double kRegularisation = 0.05;
    count_ += 1.0;
    const double weight = 1.0 / (count_ + kOffset);
    error_ = (1.0 - weight) * error_ + weight * (wanted_ - acceptance);
    const double log_step = std::clamp(shrinkage_ - error_ * std::sqrt(count_) / kRegularisation, std::log(kLeastStep),
                                       std::log(kMostStep));
    const double forgetting = std::pow(count_, -kRelaxation);
    log_mean_ = forgetting * log_step + (1.0 - forgetting) * log_mean_;
    current_ = std::exp(log_step);
}

double StepLength::learnt() const {
    return std::exp(log_mean_);
}

NoUTurnChain::NoUTurnChain(Vector position, double log_density, Vector gradient, Index warmup, double acceptance,
                           int max_depth, Random random)
    : warmup_(warmup),
      max_depth_(max_depth),
      random_(random),
      length_(std::pow(static_cast<double>(position.size()), -0.25), acceptance),
      momenta_(static_cast<std::size_t>(max_depth) + 1),
      sums_(static_cast<std::size_t>(max_depth) + 1) {
    draw_.position = std::move(position);
    draw_.gradient = std::move(gradient);
    draw_.log_density = log_density;
    begin_move();
}

void NoUTurnChain::begin_move() {
    draw_.momentum = standard_normals(draw_.position.size(), random_);
    energy_ = 0.5 * draw_.momentum.squaredNorm() - draw_.log_density;
    left_ = right_ = draw_;
    sum_ = draw_.momentum;
    log_weight_ = 0.0;
    depth_ = 0;
    acceptance_sum_ = 0.0;
    steps_ = 0;
    diverged_ = was_cut_ = false;
    begin_subtree();
}

void NoUTurnChain::begin_subtree() {
    direction_ = random_.uniform() < 0.5 ? -1.0 : 1.0;
    next_ = direction_ > 0.0 ? right_ : left_;
    sub_sum_ = Vector::Zero(sum_.size());
    sub_log_weight_ = -std::numeric_limits<double>::infinity();
    leaf_ = 0;
    step();
}

double NoUTurnChain::length() const {
    return direction_ * (moves_ < warmup_ ? length_.current() : length_.learnt());
}

void NoUTurnChain::kick() {
    next_.momentum += 0.5 * length() * (next_.gradient + next_.position);
}

// The first half of a step, up to where the gradient is wanted.
void NoUTurnChain::step() {
    kick();
    const double cosine = std::cos(length());
    const double sine = std::sin(length());
    const Vector before = next_.position;
    next_.position = cosine * before + sine * next_.momentum;
    next_.momentum = cosine * next_.momentum - sine * before;
}

bool NoUTurnChain::told(double log_density, const VectorView& gradient) {
    next_.log_density = log_density;
    next_.gradient = gradient;
    kick();
    const bool ended = add_leaf();
    if (!ended && leaf_ < (Index{1} << depth_)) {
        step();
        return false;
    }
    const bool turned = ended || (depth_ == 0 && are_apart(draw_.momentum, next_.momentum));
    end_subtree(ended);
    if (turned || is_turning(left_.momentum, right_.momentum, sum_)) return end_move();
    if (depth_ == max_depth_) {
        was_cut_ = true;
        return end_move();
    }
    begin_subtree();
    return false;
}

// The point that was reached joins the subtree. True where the subtree can grow no more: it turned, or diverged.
bool NoUTurnChain::add_leaf() {
    double growth = 0.5 * next_.momentum.squaredNorm() - next_.log_density - energy_;
    if (!(growth < std::numeric_limits<double>::infinity()) || !next_.gradient.allFinite()) {
        growth = std::numeric_limits<double>::infinity();
    }
    ++steps_;
    acceptance_sum_ += std::min(1.0, std::exp(-growth));
    if (growth > kDivergence) {
        diverged_ = true;
        return true;
    }
    sub_log_weight_ = log_add(sub_log_weight_, -growth);
    if (std::log(random_.uniform()) < -growth - sub_log_weight_) chosen_ = next_;
    sub_sum_ += next_.momentum;
    return has_turned_within();
}

// Leaf n, counted from zero, completes as many parts as n ends in ones. The first leaf of the smallest part that is not
// complete is kept at the number of ones in n/2, and those of larger ones before it.
bool NoUTurnChain::has_turned_within() {
    const auto leaf = static_cast<std::uint64_t>(leaf_++);
    const auto last = static_cast<std::size_t>(std::popcount(leaf >> 1U));
    if (leaf % 2 == 0) {
        momenta_[last] = next_.momentum;
        sums_[last] = sub_sum_;
        return false;
    }
    const auto completed = static_cast<std::size_t>(std::countr_one(leaf));
    for (std::size_t i = 0; i < completed; ++i) {
        const std::size_t at = last - i;
        const Vector sum = sub_sum_ - sums_[at] + momenta_[at];
        const bool turned =
            i == 0 ? are_apart(momenta_[at], next_.momentum) : is_turning(momenta_[at], next_.momentum, sum);
        if (turned) return true;
    }
    return false;
}

bool NoUTurnChain::are_apart(const Vector& one, const Vector& other) {
    return one.dot(other) <= 0.0;
}

bool NoUTurnChain::is_turning(const Vector& left, const Vector& right, const Vector& sum) {
    const Vector between = sum - 0.5 * (left + right);
    return left.dot(between) <= 0.0 || right.dot(between) <= 0.0;
}

void NoUTurnChain::end_subtree(bool turned) {
    (direction_ > 0.0 ? right_ : left_) = next_;
    if (turned) return;
    // Favours the later half: a point of it is taken with the ratio of the weights.
    if (std::log(random_.uniform()) < sub_log_weight_ - log_weight_) {
        draw_ = chosen_;
    }
    log_weight_ = log_add(log_weight_, sub_log_weight_);
    sum_ += sub_sum_;
    ++depth_;
}

bool NoUTurnChain::end_move() {
    if (moves_ < warmup_) length_.learn(acceptance());
    ++moves_;
    return true;
}

}  // namespace lrvb::detail
