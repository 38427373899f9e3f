#pragma once

#include <lrvb/export.hpp>
#include <lrvb/types.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A reported variable, and what it means.
///
/// Its mean under q is a function of the means of a block of statistics, with the gradient g there; its interval is
/// taken on a scale where it is unbounded; and at a draw of the statistics it has a value. It knows the group that it
/// belongs to, its indices there and its role, so that nobody has to read its name.
namespace lrvb {

/// (position of a statistic, derivative) pairs.
using Gradient = std::vector<std::pair<Index, double>>;

/// The way from an unbounded scale to a variable: x = origin + unit t(u), ascending. The origin is a bound of the
/// variable, the unit the distance to the other one, where it has both.
struct Transform {
    enum class Kind {
        identity,      ///< t(u) = u
        exponential,   ///< t(u) = exp u
        negative,      ///< t(u) = −exp(−u)
        logistic,      ///< t(u) = 1/(1 + exp(−u))
        log_logistic,  ///< t(u) = −log(1 + exp(−u))
        correlation,   ///< t(u) = tanh u
    };

    Kind kind = Kind::identity;
    double origin = 0.0;
    double unit = 1.0;

    static const Transform identity;
    static const Transform exponential;
    static const Transform logistic;
    static const Transform log_logistic;
    static const Transform correlation;

    /// Of what lies between two bounds, either of which may be infinite.
    LRVB_EXPORT static Transform between(double lower, double upper);

    /// Whether there is no origin and no unit but its own.
    bool is_plain() const { return origin == 0.0 && unit == 1.0; }
    bool operator==(const Transform&) const = default;
};

inline constexpr Transform Transform::identity{Transform::Kind::identity, 0.0, 1.0};
inline constexpr Transform Transform::exponential{Transform::Kind::exponential, 0.0, 1.0};
inline constexpr Transform Transform::logistic{Transform::Kind::logistic, 0.0, 1.0};
inline constexpr Transform Transform::log_logistic{Transform::Kind::log_logistic, 0.0, 1.0};
inline constexpr Transform Transform::correlation{Transform::Kind::correlation, 0.0, 1.0};

LRVB_EXPORT double transformed(const Transform& transform, double u);
/// Back to the unbounded scale.
LRVB_EXPORT Vector unbounded_values(const Transform& transform, const Vector& values);

/// What a number is in its model.
enum class Role {
    location,      ///< a mean, an effect, anything that can be any number
    coefficient,   ///< of a regression
    scale,         ///< a standard deviation
    precision,     ///< one over a variance, or an entry of such a matrix
    covariance,    ///< a variance, or the diagonal of such a matrix
    off_diagonal,  ///< an entry beside the diagonal of a symmetric matrix, by its last two indices
    weight,        ///< a probability
    rate,          ///< of events
    logarithm,     ///< of one of these
    other,
};

LRVB_EXPORT std::string_view to_string(Role role);

/// The value of a variable at a draw of the model's statistics T: transform(Σ c_s T_s + constant); or, where a matrix
/// is inverted, an entry of the inverse of the symmetric matrix whose lower half, column by column, is at these
/// statistics (half_index tells the order); or any function of these statistics.
struct LRVB_EXPORT FromDraw {
    using Function = std::function<double(const Vector& statistics)>;

    Gradient combination;
    double constant = 0.0;
    Transform transform = Transform::identity;
    /// Of an inverse: its dimension, 0 for a transform; and the entry, counted from 0.
    Index dimension = 0;
    Index row = 0;
    Index column = 0;
    /// The same at every draw: `constant`.
    bool is_constant = false;
    /// Of the statistics that `combination` names, in its order, whatever their factors are.
    Function function = {};

    bool is_known() const { return is_constant || !combination.empty(); }
    static FromDraw always(double value) { return {{}, value, Transform::identity, 0, 0, 0, true, {}}; }
    static FromDraw statistic(Index at) { return {{{at, 1.0}}, 0.0, Transform::identity, 0, 0, 0, false, {}}; }
    static FromDraw of(const Transform& transform, Index at, double factor = 1.0) {
        return {{{at, factor}}, 0.0, transform, 0, 0, 0, false, {}};
    }
    static FromDraw of(const std::vector<Index>& statistics, Function function);
};

struct VariableMeaning {
    /// "mu" of mu[1,2], whose indices are "1" and "2".
    std::string group;
    std::vector<std::string> indices;
    /// What its name says instead of the indices, one for each: "1" and "waiting" of mu[1,waiting]; empty where it says
    /// these.
    std::vector<std::string> index_names;
    Role role = Role::other;
    /// Variables of one panel share a unit, and are drawn together; empty: the group's own.
    std::string panel;
    /// One variable for each parameter of the model: what influence counts, where τ, log τ and σ would be the same
    /// thing three times.
    bool is_parameter = false;
    /// People look at it: what a report shows.
    bool is_shown = false;
    /// One of very many: left out of a summary unless it is asked for.
    bool is_local = false;
    /// Nobody wrote it: it stands beside another, or for it, and no verdict looks at it.
    bool is_auxiliary = false;
    /// Computed with an exponential, or a negative power of what may be zero: it may have no variance, nor a mean, and
    /// says nothing of other variables.
    bool may_be_infinite = false;
    FromDraw from_draw;

    /// "mu[1,waiting]".
    std::string name() const;
    /// "mu[1,2]": understood as well wherever a name is asked for.
    std::string numbered_name() const;
    /// The same entry of its symmetric matrix in the other order, Sigma[1,b,a] for Sigma[1,a,b]; itself for what is not
    /// off the diagonal.
    VariableMeaning mirrored() const;
};

/// Which moments a variable has. One with a heavy tail may have no sd, or no mean either: its quantiles describe it.
enum class TailMoments { mean_and_sd, mean, none };

struct PosteriorVariable {
    std::string name;
    double mean = 0.0;
    Gradient gradient;

    struct Unbounded {
        Transform transform = Transform::identity;
        double centre = 0.0;
        Gradient gradient;
    };
    Unbounded unbounded;
    /// At kQuantileProbabilities, in its own units, where they were taken from draws (<lrvb/posterior/quantiles.hpp>);
    /// empty where intervals are those of a normal on the unbounded scale.
    Vector quantiles = {};
    VariableMeaning meaning;
    /// What draws tell of its moments. `mean` and the covariances are then those of the draws, and are not shown.
    TailMoments moments = TailMoments::mean_and_sd;
};

}  // namespace lrvb
