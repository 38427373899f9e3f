#pragma once

#include "fit.hpp"

#include <lrvb/query/compare.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Several fits of the same rows, side by side.
namespace lrvb::python {

struct Comparison {
    std::vector<std::string> names;
    std::vector<std::shared_ptr<Fit>> fits;
    /// In the order of the fits; nothing of one that did not converge, and where no row could be left out.
    std::vector<std::optional<ComparedFit>> compared;
    /// The best of them; nothing where none converged.
    std::optional<std::size_t> best;
    std::string message;

    /// Fits that are there.
    static std::shared_ptr<Comparison> of(const std::vector<std::shared_ptr<Fit>>& fits,
                                          const std::vector<std::string>& names,
                                          const std::optional<std::string>& method, std::uint64_t seed);
    /// A request with a range in it ("components" is "1:8"), one fit for each number.
    static std::shared_ptr<Comparison> fitted(const Request& request, const Data& data);
};

void bind_comparison(py::module_& module);

}  // namespace lrvb::python
