#pragma once

#include "calls.hpp"

namespace lrvb::python {

/// Adds what models are declared with: expressions, variables, distributions and the builder.
void bind_declared(py::module_& module);

}  // namespace lrvb::python
