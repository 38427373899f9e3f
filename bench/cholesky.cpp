// The dense Cholesky that the library uses, LAPACK's on one thread, against Eigen's, and against LAPACK's on as many
// threads as OpenBLAS takes by itself (one, where its serial build is installed). Each is given as a ratio of the
// library's time to its own, at the best of many runs taken in turns: above 1, the other is faster.

#include "linalg/lapack.hpp"

#include <lrvb/family/random.hpp>

#include <Eigen/Cholesky>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <vector>

extern "C" {
void dpotrf_(const char* triangle, const int* size, double* a, const int* stride, int* info, std::size_t);
int openblas_get_num_threads();
}

namespace {

using lrvb::Index;
using lrvb::Matrix;
using Clock = std::chrono::steady_clock;

// A = BBᵀ/n + I, well conditioned.
Matrix positive_definite(Index size) {
    lrvb::Random random(1, static_cast<std::uint64_t>(size));
    Matrix root(size, size);
    for (Index i = 0; i < root.size(); ++i) root.data()[i] = random.normal();
    Matrix a = root * root.transpose() / static_cast<double>(size);
    a.diagonal().array() += 1.0;
    return a;
}

struct Contender {
    std::function<bool(Matrix&)> factor;
    double best = std::numeric_limits<double>::infinity();
};

// The best time of each, in seconds for one factorisation; their turns alternate, so that all see the same machine.
bool race(const Matrix& a, std::vector<Contender>& contenders) {
    const double work = static_cast<double>(a.rows() * a.rows()) * static_cast<double>(a.rows());
    const int together = static_cast<int>(std::clamp(2e7 / work, 1.0, 500.0));
    const int turns = static_cast<int>(std::clamp(2e10 / (work * together), 7.0, 100.0));
    std::vector<Matrix> copies(static_cast<std::size_t>(together), a);
    for (int turn = 0; turn < turns; ++turn) {
        for (Contender& contender : contenders) {
            for (Matrix& copy : copies) copy = a;
            bool worked = true;
            const Clock::time_point begin = Clock::now();
            for (Matrix& copy : copies) worked = contender.factor(copy) && worked;
            const double seconds = std::chrono::duration<double>(Clock::now() - begin).count() / together;
            if (!worked) return false;
            contender.best = std::min(contender.best, seconds);
        }
    }
    return true;
}

bool dpotrf(Matrix& a) {
    const int size = static_cast<int>(a.rows());
    int info = 0;
    dpotrf_("L", &size, a.data(), &size, &info, 1);
    return info == 0;
}

}  // namespace

int main() {
    std::vector<Contender> contenders{
        {[](Matrix& a) { return !lrvb::detail::cholesky_in_place(a).has_value(); }},
        {[](Matrix& a) { return Eigen::LLT<Eigen::Ref<Matrix>>(a).info() == Eigen::Success; }},
        {dpotrf}};
    fmt::print("{:>6} {:>8} {:>10}\n", "size", "Eigen", fmt::format("{} threads", openblas_get_num_threads()));
    for (const Index size : {16, 32, 64, 128, 200, 300, 500, 700, 1000, 1400, 2000}) {
        for (Contender& contender : contenders) contender.best = std::numeric_limits<double>::infinity();
        if (!race(positive_definite(size), contenders)) {
            fmt::print(stderr, "cholesky: a factorisation of size {} failed\n", size);
            return 1;
        }
        fmt::print("{:>6}", size);
        for (std::size_t i = 1; i < contenders.size(); ++i) {
            fmt::print(" {:>8.2f}", contenders.front().best / contenders[i].best);
        }
        fmt::print("\n");
    }
    return 0;
}
