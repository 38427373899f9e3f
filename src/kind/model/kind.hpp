#pragma once

#include <lrvb/kind/kind.hpp>

namespace lrvb::detail {

/// Models in BUGS: a text and its data.
class TextModelKind final : public Kind {
  public:
    std::string_view name() const override { return "model"; }
    std::string_view help() const override { return "Fit a model written in BUGS"; }
    std::optional<std::vector<OptionInfo>> options() const override;
    bool chooses_columns() const override { return false; }
    std::optional<OptionInfo> several_files() const override;
    std::unique_ptr<FittedModel> fit(const FitRequest& request) const override;
    std::shared_ptr<const ModelRecord> read(const Fields& fields) const override;
};

}  // namespace lrvb::detail
