#pragma once

#include <lrvb/base/document.hpp>
#include <lrvb/base/fields.hpp>
#include <lrvb/data/frame.hpp>
#include <lrvb/export.hpp>
#include <lrvb/formula/formula.hpp>
#include <lrvb/types.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

/// A formula and a table: the columns of a design.
///
/// Numbers are numbers, text is a factor, and so is factor(x) of numbers. A factor with levels a < b < c, sorted as
/// numbers where all of them are and by their bytes otherwise, makes columns `g=b` and `g=c`, which are 1 in the rows
/// with that level and 0 elsewhere (treatment coding: differences from the baseline a), or, where it must, also `g=a`:
///
///     a factor in a term is coded by contrasts if what the term is without it is in the model already: the
///     intercept, for a factor alone; a term before it with the same numbers and at least those factors; else by
///     indicators of all levels. Without an intercept the first term of factors alone has its first factor coded so.
///
/// That is R's rule, and it spans what R's does. Terms stand by their order (a, b, then a:b), and in a term's columns
/// the levels of the first factor change fastest. Names: `Days`, `cyl=6`, `cyl=6:wt`, `poly(x,2)[1]`, `log(x)`.
///
/// A random term's group takes numbers as groups too, `4` and `4.0` as one; its levels are sorted as a factor's are,
/// and those of g:h are the pairs that occur.
/// A latent term such as rw2(t) makes columns of its own, which stand apart: what each means is its prior's.
///
/// Failures: FormulaError for a column that is not there; FormulaDataError for what the formula cannot do with the rows
/// (the logarithm of nothing, with the row); std::runtime_error for columns that make no factor: one level, more than a
/// thousand, or another one in every row.
namespace lrvb {

/// All random effects of one grouping factor, such as (1 + Days | Subject): the rows' groups, and what is multiplied
/// with their effects. (1 | g) + (0 + x | g), which (x || g) stands for, is one term with two blocks.
struct RandomTerm {
    std::string name;                  // "Subject", "g:h"
    std::vector<std::string> levels;   // "308", …; of g:h "a:b"
    std::vector<std::string> effects;  // "intercept", "Days"
    std::vector<Index> blocks;         // sizes of the blocks of correlated effects, in order
    Index intercept = -1;              // which effect it is; −1: there is none
    std::vector<int> level;            // of each row, from 0; −1 for a group that the fit did not have
    Matrix values;                     // rows × effects: ones for an intercept
};

/// A latent term, such as rw2(t), in the rows: Σ_k columns(n, k) c_k with independent c_k ~ Normal(0, sd²).
struct LatentColumns {
    std::string name;  // "rw2(t)"
    Matrix columns;
    Vector beyond;  // what its variance in each row, over sd², is more than that of the columns
};

namespace detail {
class LatentTerm;
}

/// What rows are to a formula.
struct FormulaDesign {
    /// What messages call the data: a file's path.
    std::string source;
    /// As the formula has it: "log(y)", "cbind(a,b)".
    std::string response;
    /// Of cbind(a, b) the successes; none for new rows.
    Vector y;
    /// Of cbind(a, b), a + b; empty otherwise.
    Vector trials;
    /// Empty where there is none.
    Vector offset;
    bool intercept = true;
    /// Of the columns, without the intercept.
    std::vector<std::string> names;
    Matrix columns;
    std::vector<RandomTerm> random;
    std::vector<LatentColumns> latent;
};

/// Asks those who have rows, and gives their answers, merged: how what is learnt of rows that are with others is
/// learnt.
using AskRows = std::function<std::string(const std::string& asked)>;

/// What a formula is to a table, and all that is needed to make the same columns of other rows: which of its columns
/// are factors, with their levels, the centres and scales of scale(), the polynomials of poly(), the groups.
class LRVB_EXPORT FormulaCoding {
  public:
    /// Learns it from a frame that was read as the formula wants (Formula::reading, or everything).
    FormulaCoding(Formula formula, const DataFrame& frame, const FormulaOptions& options = {});
    /// The same of rows that are with others: of the frame are looked at the number of rows and the columns, each with
    /// its different values alone, in the order in which they come.
    FormulaCoding(Formula formula, const DataFrame& frame, const FormulaOptions& options, const AskRows& ask);

    ~FormulaCoding();
    FormulaCoding(FormulaCoding&&) noexcept;
    FormulaCoding& operator=(FormulaCoding&&) noexcept;
    FormulaCoding(const FormulaCoding&);
    FormulaCoding& operator=(const FormulaCoding&);

    const Formula& formula() const;
    /// As FormulaDesign has them.
    const std::string& response() const;
    bool has_trials() const;
    bool intercept() const;
    const std::vector<std::string>& names() const;

    struct Random {
        std::string name;
        std::vector<std::string> columns;  // of the group: g and h of g:h
        std::vector<std::string> levels;
        std::vector<std::string> effects;
        std::vector<Index> blocks;  // sizes of the blocks of correlated effects, in order
        Index intercept = -1;       // which effect it is; −1: there is none
    };
    /// One for each grouping factor.
    const std::vector<Random>& random() const;

    struct Latent {
        std::string name;    // "rw2(t)"
        std::string column;  // "t"
        std::shared_ptr<const detail::LatentTerm> term;
    };
    const std::vector<Latent>& latent() const;

    /// A column that is coded by its levels, the baseline first.
    struct Factor {
        std::string column;
        std::vector<std::string> levels;
    };
    const std::vector<Factor>& factors() const;
    /// The columns of the table that the right side needs, each once: numbers, factors, groups.
    std::vector<std::string> columns() const;

    /// Of the rows that it was learnt from, or of others that have the response too.
    FormulaDesign design(const DataFrame& frame) const;
    /// Of rows without a response. A level of a factor that the fit did not have is refused by std::runtime_error, with
    /// the row, the column, the level and those that there are; of a group it is −1. The frame's columns may stand in
    /// any order and among others; those that are not there are refused by std::invalid_argument.
    FormulaDesign new_rows(const DataFrame& frame) const;
    /// What to read of data for new_rows, or for design.
    FrameOptions reading(bool with_response, Missing missing = Missing::refuse) const;

    Document document() const;
    /// Throws std::runtime_error, with the field, for what no coding can be.
    static FormulaCoding read(const Fields& fields);

  private:
    struct Implementation;
    explicit FormulaCoding(std::unique_ptr<Implementation> implementation);
    std::unique_ptr<Implementation> implementation_;
};

/// Columns that tell nothing: all zeros, as those of empty cells, or sums of multiples of columns before them (the
/// intercept among these where there is one).
struct IdleColumns {
    std::vector<Index> zero;
    std::vector<Index> constant;   // the same in every row, beside an intercept
    std::vector<Index> collinear;  // the last of those that depend on each other

    bool none() const { return zero.empty() && constant.empty() && collinear.empty(); }
    /// All of them, ascending.
    std::vector<Index> all() const;
};

/// A column counts as collinear where what it has beyond the columns before it is less than 1e-9 of it, about its mean
/// where there is an intercept.
LRVB_EXPORT IdleColumns idle_columns(const Matrix& columns, bool intercept);
/// The same of so many columns of rows that are with others.
LRVB_EXPORT IdleColumns idle_columns(Index count, bool intercept, const AskRows& ask);

}  // namespace lrvb
