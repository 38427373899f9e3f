#include "checks.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    lrvb::fuzz::LRVB_FUZZ_CHECK({reinterpret_cast<const char*>(data), size});
    return 0;
}
