#pragma once

#include <lrvb/kind/kind.hpp>

namespace lrvb::detail {

/// Models declared in C++: the program reads their files, and fits none.
class DeclaredKind final : public Kind {
  public:
    std::string_view name() const override { return "declared"; }
    std::string_view help() const override { return "A model declared in C++"; }
    std::optional<std::vector<OptionInfo>> options() const override { return std::nullopt; }
    std::unique_ptr<FittedModel> fit(const FitRequest& request) const override;
    std::shared_ptr<const ModelRecord> read(const Fields& fields) const override;
};

}  // namespace lrvb::detail
