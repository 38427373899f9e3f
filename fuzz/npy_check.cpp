#include "checks.hpp"
#include "finding.hpp"

#include <lrvb/data/frame.hpp>
#include <lrvb/data/npy.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace lrvb::fuzz {
namespace {

void read_rows(NpySource& source) {
    constexpr Index capacity = 3;
    std::vector<double> chunk(static_cast<std::size_t>(capacity * source.columns()));
    Index rows = 0;
    for (Index count = 0; (count = source.read(chunk.data(), capacity)) > 0; rows += count) {
        const auto end = chunk.begin() + count * source.columns();
        require(std::all_of(chunk.begin(), end, [](double x) { return std::isfinite(x); }), "numbers are finite");
    }
    require(rows == source.rows(), "all rows are read");
}

}  // namespace

void check_npy(std::string_view bytes) {
    const ScratchFile file("data.npy");
    file.write(bytes);
    const std::string refusal = refusal_of([&] {
        NpySource source(file.path());
        read_rows(source);
    });
    refusal_of([&] {
        NpySource source(file.path(), {"1"});
        read_rows(source);
    });
    DataFrame frame;
    require(refusal_of([&] { frame = read_frame(file.path()); }) == refusal, "a frame is refused alike");
    if (refusal.empty()) require(frame.rows > 0 && !frame.columns.empty(), "a file without numbers is refused");
}

}  // namespace lrvb::fuzz
