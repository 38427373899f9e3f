#pragma once

#include <lrvb/export.hpp>
#include <lrvb/kind/fitted_model.hpp>

#include <functional>
#include <string>
#include <vector>

/// What dropping a row does to the means of some variables: each in posterior sds, and all of them in one number, the
/// distance √(δᵀ C⁻¹ δ) of their change δ in the metric of their covariance C. To first order δ is −w_n dm/dw_n, from
/// one pass over the data; `refitted` confirms it, with integrals where the fit was integrated. Sds and C are those
/// that the summary shows: exact ones, of a fit that was corrected.
///
///     const RowInfluence influence(*fitted, {"mu"});
///     for (const RowInfluence::Case& one : influence.most_influential(20)) …
namespace lrvb {

class LRVB_EXPORT RowInfluence {
  public:
    /// A row, what it holds, and what dropping it does.
    struct Case {
        Index row = 0;  // counted from 0
        Vector inputs;
        double distance = 0.0;
        Vector shifts;  // of each variable, in posterior sds
    };

    /// Of the variables of these names, as Posterior::select knows them; none: one for each parameter, since with all
    /// of them each would be counted several times. Those that are held do not move, and are left out. The fitted model
    /// must outlive it. Throws std::runtime_error for a model without rows, NotAnOptimum for a fit without a response,
    /// std::length_error for more variables than a distance can be taken of.
    explicit RowInfluence(const FittedModel& fitted, const std::vector<std::string>& names = {});

    /// Positions in the posterior; none where all of them are held.
    const std::vector<Index>& variables() const { return variables_; }
    const Functionals& functionals() const { return functionals_; }

    /// All rows in order, in one pass.
    void each(const std::function<void(const Case&)>& visit) const;
    /// The furthest first; of equals, the first of them.
    std::vector<Case> most_influential(Index count) const;
    /// Rows that belong together.
    struct Group {
        std::string name;
        std::vector<Index> rows;  // counted from 0
    };
    struct GroupCase {
        std::string name;
        Index rows = 0;
        double distance = 0.0;
        Vector shifts;
    };
    /// What dropping all rows of a group would do, to first order the sum of what each of them does; in the order of
    /// the groups.
    std::vector<GroupCase> of_groups(const std::vector<Group>& groups) const;
    /// The same from a fit without them; throws as `refitted`.
    GroupCase refitted(const Group& group) const;

    /// The same row from a fit without it. Throws std::runtime_error where there is no model without it, or the fit
    /// does not converge.
    Case refitted(const Case& one) const;

    /// What dropping each row does to the means, to first order, from its case weights: one row a row.
    static Matrix changes(const RowAnswers& case_weights);
    /// Such changes in posterior sds.
    Matrix shifts(const Matrix& changes) const;
    /// How far each of them goes.
    Vector distances(const Matrix& changes) const;

  private:
    Matrix refitted_change(const std::vector<Index>& rows) const;

    const FittedModel& fitted_;
    std::vector<Index> variables_;
    Functionals functionals_;
    Vector sds_;
    Matrix root_;  // R with R Rᵀ = C⁻¹
};

/// The rows of a fit by what a column of its data says, the groups in the order of their first rows; rows that the fit
/// left out are in none. Throws std::runtime_error for a column that is not there.
LRVB_EXPORT std::vector<RowInfluence::Group> rows_by(const FittedModel& fitted, const Dataset& data,
                                                     const std::string& column);

/// Keeps the furthest of the cases that it is shown, the furthest first; of equals, the first of them.
class LRVB_EXPORT MostInfluential {
  public:
    explicit MostInfluential(Index count) : count_(count) {}

    /// Whether one that goes so far, later than all that were added, would be kept.
    bool wants(double distance) const {
        if (static_cast<Index>(kept_.size()) < count_) return true;
        return count_ > 0 && distance > kept_.back().distance;
    }
    void add(const RowInfluence::Case& one);
    const std::vector<RowInfluence::Case>& kept() const { return kept_; }
    std::vector<RowInfluence::Case> take() { return std::move(kept_); }

  private:
    Index count_;
    std::vector<RowInfluence::Case> kept_;
};

}  // namespace lrvb
