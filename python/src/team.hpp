#pragma once

#include <pybind11/pybind11.h>

/// Rows that are with others, as Python asks them: Dask, or any engine that has rows in chunks.
namespace lrvb::python {

void bind_team(pybind11::module_& module);

}  // namespace lrvb::python
