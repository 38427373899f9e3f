#pragma once

#include <lrvb/kind/kind.hpp>

namespace lrvb::detail {

/// Normal mixtures that stream their rows.
class MixtureKind final : public Kind {
  public:
    std::string_view name() const override { return "mixture"; }
    std::string_view help() const override { return "Fit a normal mixture"; }
    std::optional<std::vector<OptionInfo>> options() const override;
    std::optional<OptionInfo> table_option() const override;
    std::unique_ptr<FittedModel> fit(const FitRequest& request) const override;
    std::vector<RowQuestion> row_questions() const override;
    std::shared_ptr<const ModelRecord> read(const Fields& fields) const override;

    std::optional<std::vector<OptionInfo>> simulation_options() const override;
    std::string_view simulation_help() const override { return "Draw rows from a normal mixture"; }
    void simulate(const Settings& settings, const std::function<void(const std::string&)>& write) const override;
};

}  // namespace lrvb::detail
