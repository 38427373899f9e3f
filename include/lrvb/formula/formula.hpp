#pragma once

#include <lrvb/base/errors.hpp>
#include <lrvb/data/dataset.hpp>
#include <lrvb/data/frame.hpp>
#include <lrvb/export.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// Formulas as R and lme4 write them: `Reaction ~ Days + (Days | Subject)`. docs/formulas.md has the language.
///
///     + - : * ^ / . 0 1     terms, as R expands them: a*b is a + b + a:b, (a + b)^2 has no more than two of them in a
///                           term, a/b is a + a:b, and - takes away; `.` is every column that has no other part
///     (x | g), (x || g)     random terms: of a group, a:b, or a/b, which is (x | a) + (x | a:b)
///     I(), log(), …         arithmetic of columns, number by number
///     factor(), C()         numbers that group;  poly(), scale(): what they learn of the fit's rows is kept
///     offset(), cbind()     an addend without coefficient; successes and failures as the response
///
/// Assumptions: names are case-sensitive, and one that is no name as R has them stands in backquotes. A formula knows
/// no data: which columns are text is known by the frame alone (FormulaCoding).
///
/// Failures: FormulaError, with the place; parentheses deeper than 50 and more than 20,000 terms are refused, so that a
/// formula from anywhere costs little.
namespace lrvb {

/// Something about a formula, or a sentence of a prior, that cannot be: a sentence, and a picture of the place. what()
/// has them on three lines.
class LRVB_EXPORT FormulaError : public UsageError {
  public:
    /// `place` is a byte of the text; its size for the end.
    FormulaError(const std::string& sentence, std::string_view text, std::size_t place);

    const std::string& sentence() const { return sentence_; }
    /// The text on one line, and ^ under the place on the next: both written out as messages are, so that they can be
    /// shown anywhere. Of a long text, the part around the place.
    const std::string& picture() const { return picture_; }
    /// In bytes of the text.
    std::size_t place() const { return place_; }

  private:
    std::string sentence_;
    std::string picture_;
    std::size_t place_;
};

/// Data that a formula cannot do with, such as the logarithm of zero, with the row: a sentence, and a picture of the
/// place in the formula. what() has them on three lines.
class LRVB_EXPORT FormulaDataError : public std::runtime_error {
  public:
    FormulaDataError(const std::string& sentence, std::string_view text, std::size_t place);

    const std::string& sentence() const { return sentence_; }
    /// As FormulaError has it.
    const std::string& picture() const { return picture_; }
    std::size_t place() const { return place_; }

  private:
    std::string sentence_;
    std::string picture_;
    std::size_t place_;
};

/// The level of a factor that the others are compared with.
struct Baseline {
    std::string column;
    std::string level;
};

/// What is known of a formula's columns besides the formula.
struct FormulaOptions {
    /// Columns that group wherever they stand alone, though they hold numbers.
    std::vector<std::string> factors = {};
    /// Columns that are numbers, though they are quoted.
    std::vector<std::string> numbers = {};
    /// The column of row weights, which `.` leaves out; read with the others, as numbers.
    std::string weights = {};
    std::vector<Baseline> baselines = {};
    Missing missing = Missing::refuse;
};

namespace detail {
struct FormulaSyntax;
}

class LRVB_EXPORT Formula {
  public:
    /// Throws FormulaError.
    static Formula parse(std::string text);

    /// `response ~ a + b`, of columns that may have any names; `~ 0 + a + b` without an intercept.
    static Formula of_columns(const std::string& response, const std::vector<std::string>& columns, bool intercept);

    /// As it was given.
    const std::string& text() const;

    /// Whether `.` is in it, so that what it means depends on the file.
    bool has_dot() const;
    /// Whether the response is cbind(successes, failures).
    bool has_trials() const;
    bool has_random_terms() const;
    /// The column that is the response, where it is one and nothing is done with it.
    std::optional<std::string> response_column() const;
    /// The columns that it names, in order of appearance, the response's first: not those of `.`.
    std::vector<std::string> columns() const;

    /// What to read of data for it: its columns and the weights, those that group as text, those of which it takes
    /// numbers as such. `names` are those of the file, where they are known: then columns that are not there are
    /// refused by FormulaError, and `.` is what it stands for; otherwise, where it has `.`, all columns are read.
    FrameOptions reading(const FormulaOptions& options = {}, const std::vector<std::string>& names = {}) const;

    /// The same for these data. The names are looked up, unless the data come through a pipe.
    FrameOptions reading(const FormulaOptions& options, const Dataset& data) const;

    /// Reads that.
    DataFrame read(const Dataset& data, const FormulaOptions& options = {}) const;

    const detail::FormulaSyntax& syntax() const { return *syntax_; }

  private:
    std::shared_ptr<const detail::FormulaSyntax> syntax_;
};

/// A column's name as it stands in a formula: in backquotes where it must.
LRVB_EXPORT std::string formula_name(const std::string& column);

}  // namespace lrvb
