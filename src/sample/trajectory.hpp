#pragma once

#include <lrvb/family/random.hpp>
#include <lrvb/types.hpp>

#include <cstdint>
#include <vector>

/// A chain of no-U-turn moves that asks for gradients one by one, so that those of several chains can be computed
/// together: take `position`, tell the density and its gradient there, and so on.
///
/// A trajectory doubles: a subtree of 2^depth steps is added at one of its ends. Whether a part of the subtree has
/// turned is asked of all parts that a recursion would make, of 2, 4, … steps, as soon as each is complete; of those
/// that are not, the first momentum is kept, and the sum of momenta up to it (Phan, Pradhan & Jankowiak 2019).
namespace lrvb::detail {

/// Dual averaging of the logarithm of a step (Hoffman & Gelman 2014, section 3.2).
class StepLength {
  public:
    StepLength(double first, double wanted);

    void learn(double acceptance);
    double current() const { return current_; }
    /// What the chain has come to.
    double learnt() const;

  private:
    double wanted_;
    double current_;
    double shrinkage_;  // towards this log step
    double log_mean_;
    double error_ = 0.0;
    double count_ = 0.0;
};

class NoUTurnChain {
  public:
    /// A point of phase space on the way.
    struct Place {
        Vector position;
        Vector momentum;
        Vector gradient;
        double log_density = 0.0;
    };

    /// Begins at a place whose density and gradient are known.
    NoUTurnChain(Vector position, double log_density, Vector gradient, Index warmup, double acceptance, int max_depth,
                 Random random);

    /// Where the density and its gradient are wanted next.
    const Vector& position() const { return next_.position; }
    /// True where this ended a move: then read its draw, and begin another.
    bool told(double log_density, const VectorView& gradient);
    void begin_move();

    /// The draw of the move that ended.
    const Vector& draw() const { return draw_.position; }
    double log_density() const { return draw_.log_density; }
    /// Of the last move.
    double acceptance() const { return acceptance_sum_ / static_cast<double>(steps_); }
    bool diverged() const { return diverged_; }
    bool was_cut() const { return was_cut_; }
    Index steps() const { return steps_; }
    /// Moves so far.
    Index moves() const { return moves_; }

  private:
    void begin_subtree();
    double length() const;
    void kick();
    void step();
    bool add_leaf();
    void end_subtree(bool turned);
    bool end_move();
    bool has_turned_within();
    static bool are_apart(const Vector& one, const Vector& other);
    static bool is_turning(const Vector& left, const Vector& right, const Vector& sum);

    Index warmup_;
    int max_depth_;
    Random random_;
    StepLength length_;

    Place draw_;  // the last draw, where moves begin; within a move, what it has come to choose
    Place left_;  // the ends of the trajectory
    Place right_;
    Place next_;    // where the chain asks
    Place chosen_;  // of the subtree
    Vector sum_;    // of momenta
    Vector sub_sum_;
    double log_weight_ = 0.0;
    double sub_log_weight_ = 0.0;
    double energy_ = 0.0;  // at the beginning
    double direction_ = 1.0;
    int depth_ = 0;
    Index leaf_ = 0;               // in the subtree
    std::vector<Vector> momenta_;  // at the left ends of unfinished subtrees, and sums up to them
    std::vector<Vector> sums_;
    double acceptance_sum_ = 0.0;
    Index steps_ = 0;
    Index moves_ = 0;
    bool diverged_ = false;
    bool was_cut_ = false;
};

}  // namespace lrvb::detail
