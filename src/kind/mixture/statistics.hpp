#pragma once

#include <lrvb/kind/mixture/prediction.hpp>
#include <lrvb/posterior/posterior.hpp>

#include <string>
#include <vector>

namespace lrvb::detail {

/// Where the statistics of a mixture's posterior stand, what they are called, and what its variables mean: everything
/// that people ask about, which is all statistics but the second moments of the means. Components and columns count
/// from 0 here, and from 1 in names; of two columns or more, names say the columns' names where these can stand there
/// (<lrvb/kind/mixture/posterior.hpp> has the rule).
class MixtureStatistics {
  public:
    /// Names that are not as many as the columns are none.
    MixtureStatistics(Index components, Index columns, bool full, std::vector<std::string> names);
    MixtureStatistics(const MixtureShape& shape, std::vector<std::string> names)
        : MixtureStatistics(shape.components, shape.centre.size(),
                            shape.covariance == MixtureCovariance::full && shape.centre.size() > 1, std::move(names)) {}

    Index components() const { return components_; }
    Index columns() const { return columns_; }
    bool is_full() const { return full_; }
    bool has_weights() const { return components_ > 1; }

    Index count() const { return weights() + components_ * own(); }
    Index log_weight(Index k) const { return k; }
    Index location(Index k, Index p) const { return weights() + k * own() + p; }
    /// Of diagonal covariances.
    Index precision(Index k, Index p) const { return location(k, columns_) + 2 * p; }
    Index log_precision(Index k, Index p) const { return precision(k, p) + 1; }
    /// Of full ones.
    Index precision_entry(Index k, Index i, Index j) const;
    Index log_determinant(Index k) const { return weights() + (k + 1) * own() - 1; }

    /// Each one's place among the stacked statistics of the layout.
    std::vector<Index> stacked(const Layout& layout) const;

    /// What names say of a column: its name, or its number.
    std::string label(Index p) const;

    /// Their names: every statistic is a variable too.
    std::vector<std::string> names() const;

    /// In the order in which variables are reported: group by group.
    std::vector<VariableMeaning> meanings() const;
    VariableMeaning of_column(const std::string& group, Index k, Index p) const;
    VariableMeaning of_entry(const std::string& group, Index k, Index i, Index j) const;
    VariableMeaning of_component(const std::string& group, Index k) const;

  private:
    Index weights() const { return has_weights() ? components_ : 0; }
    Index own() const { return full_ ? columns_ + columns_ * (columns_ + 1) / 2 + 1 : 3 * columns_; }

    void name_columns(VariableMeaning& meaning, std::initializer_list<Index> columns) const;

    Index components_;
    Index columns_;
    bool full_;
    std::vector<std::string> column_names_;
    std::vector<std::string> labels_;  // what names say of the columns; empty where all have their numbers
};

/// The components of a fitted mixture at the means of their parameters, in the units of the data.
struct MixtureMeans {
    Vector weights;
    Matrix locations;                 // one row a component
    std::vector<Matrix> precisions;   // E Λ
    std::vector<Matrix> covariances;  // E Σ of a full one; otherwise 1/E τ of each column
};

/// Throws std::runtime_error for a posterior that is not that of such a mixture.
MixtureMeans mixture_means(const MixtureStatistics& statistics, const Posterior& posterior);

}  // namespace lrvb::detail
