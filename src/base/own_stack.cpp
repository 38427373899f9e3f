#include "base/own_stack.hpp"

#include <cstddef>
#include <exception>
#include <pthread.h>
#include <system_error>

namespace lrvb::detail {

namespace {

constexpr std::size_t kOwnStack = std::size_t{16} << 20;  // pages that nobody touches cost nothing

struct OwnCall {
    const std::function<void()>& call;
    std::exception_ptr problem;
};

extern "C" void* run_own_call(void* argument) {
    auto& own = *static_cast<OwnCall*>(argument);
    try {
        own.call();
    } catch (...) {
        own.problem = std::current_exception();
    }
    return nullptr;
}

}  // namespace

void on_own_stack(const std::function<void()>& call) {
    OwnCall own{call, nullptr};
    ::pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, kOwnStack);
    ::pthread_t thread{};
    const int error = ::pthread_create(&thread, &attributes, run_own_call, &own);
    ::pthread_attr_destroy(&attributes);
    if (error != 0) throw std::system_error(error, std::generic_category(), "a thread cannot be made");
    ::pthread_join(thread, nullptr);
    if (own.problem) std::rethrow_exception(own.problem);
}

}  // namespace lrvb::detail
