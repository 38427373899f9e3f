#pragma once

#include <lrvb/kind/kind.hpp>

namespace lrvb::detail {

/// Regression: linear, and by formula generalised and hierarchical (field/).
class RegressionKind final : public Kind {
  public:
    std::string_view name() const override { return "regression"; }
    std::string_view help() const override { return "Fit a regression, by formula or by columns"; }
    std::optional<std::vector<OptionInfo>> options() const override;
    std::unique_ptr<FittedModel> fit(const FitRequest& request) const override;
    std::vector<RowQuestion> row_questions() const override;
    bool shows_priors() const override { return true; }
    std::vector<std::string> priors(const FitRequest& request) const override;
    std::shared_ptr<const ModelRecord> read(const Fields& fields) const override;
};

}  // namespace lrvb::detail
