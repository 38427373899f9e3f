#pragma once

#include <functional>

namespace lrvb::detail {

/// Runs the call with a stack of 16 MiB, however small that of the process is (ulimit -s), and waits for it: for what
/// calls itself as deep as brackets stand within each other. What it throws comes out here.
void on_own_stack(const std::function<void()>& call);

}  // namespace lrvb::detail
