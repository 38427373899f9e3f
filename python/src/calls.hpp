#pragma once

#include <lrvb/base/interruption.hpp>

#include <pybind11/pybind11.h>

/// How Python calls the library: without the interpreter's lock, and so that Ctrl-C is heard.
namespace lrvb::python {

namespace py = pybind11;

/// Raises what a signal handler of Python raised, KeyboardInterrupt mostly.
inline void ask_for_signals() {
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

/// For py::call_guard: other threads of Python run meanwhile.
class Unlocked {
  public:
    Unlocked() : scope_(ask_for_signals) {}

  private:
    py::gil_scoped_release release_;
    InterruptionScope scope_;
};

using Guard = py::call_guard<Unlocked>;

/// A reference to an object of Python that any thread may let go of.
inline std::shared_ptr<const void> kept(const py::object& object) {
    auto* const reference = new py::object(object);
    return {reference, [](py::object* own) {
                // At the end of the interpreter there is nobody left to give it to.
                if (Py_IsInitialized() == 0) return;
                const py::gil_scoped_acquire gil;
                delete own;
            }};
}

}  // namespace lrvb::python
