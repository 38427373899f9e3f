#pragma once

#include "model/labelled/terms.hpp"
#include "model/lowering.hpp"
#include "model/monomial_sum.hpp"
#include "model/row_terms.hpp"

#include <lrvb/model/builder.hpp>

namespace lrvb {

class ModelBuilder::Implementation {
  public:
    Implementation();

    detail::Lowering lowering(std::string subject) const;
    /// That data and constants made numbers of all coefficients.
    static void require_finite(const Expression& lowered, const detail::Lowering& context);
    /// Adds a lowered expression to the log joint and its derivatives to those of the hyperparameters; all or nothing.
    /// The rows are those that it speaks of.
    void accumulate(const Expression& lowered, const detail::Lowering& context, const RowRange& speaks_of = {});

    /// That the rows are of this model, and as many as are given.
    void require_rows(std::string_view who, const RowRange& range, Index given) const;
    /// That no variable in a lowered expression belongs to a row which the expression does not speak of.
    void require_own_row(const Expression& lowered, const detail::Lowering& context, const RowRange& speaks_of) const;

    /// Names for the numbers of a value that none of these rows has yet; refuses names that the user gave and that are
    /// taken.
    std::vector<std::string> free_inputs(const AnyObserved& kind, const RowRange& range) const;
    /// Keeps rows under a conditional form; nothing is refused any more. Without a kind, the log normaliser is all.
    void record(const std::optional<AnyObserved>& kind, const Matrix& values, const detail::ConditionalForm& form,
                const std::vector<std::string>& input_names, const RowRange& range);
    /// Notes that the rows have inputs of these names; where they stand.
    std::vector<std::int32_t> claim(const std::vector<std::string>& input_names, const RowRange& range);
    /// The rows as a built model has them; none where none were declared.
    std::shared_ptr<const detail::RowTerms> row_terms() const;

    void keep_labelled(std::shared_ptr<const detail::LabelledRows> part, bool is_named);
    /// The labelled rows as a built model has them; none where none were observed.
    std::shared_ptr<const detail::LabelledTerms> labelled_terms() const;

    std::uint32_t tag;
    Layout layout;
    detail::MonomialSum log_joint;
    std::vector<std::string> hyperparameters;
    std::vector<double> hyperparameter_values;
    std::vector<detail::MonomialSum> hyperparameter_derivatives;
    std::vector<double> start_natural;
    std::vector<double> start_mean;
    std::vector<BaseDerivative> base_derivatives;

    detail::LabelledTerms::Parts labelled;
    std::vector<Index> labelled_calls;  // how many parts each made

    detail::RowTerms rows;
    std::vector<detail::ObservedRows> single_rows;  // by kind and inputs
    std::vector<std::vector<bool>> input_taken;     // for each input, the rows that have it
    std::vector<Index> row_of_variable;             // −1: of none; as long as the last variable that belongs to a row
};

}  // namespace lrvb
