#include "linalg/lapack.hpp"

#include <lrvb/base/interruption.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>

// Fortran passes the lengths of strings last.
extern "C" {
void dpotrf_(const char* triangle, const int* size, double* a, const int* stride, int* info, std::size_t);
void dpotrs_(const char* triangle, const int* size, const int* columns, const double* a, const int* stride, double* b,
             const int* b_stride, int* info, std::size_t);
void dtrtri_(const char* triangle, const char* diagonal, const int* size, double* a, const int* stride, int* info,
             std::size_t, std::size_t);
void dpotri_(const char* triangle, const int* size, double* a, const int* stride, int* info, std::size_t);
void dstev_(const char* job, const int* size, double* diagonal, double* below, double* vectors, const int* stride,
            double* work, int* info, std::size_t);
int openblas_get_parallel();
int openblas_get_num_threads();
void openblas_set_num_threads(int count);
}

namespace lrvb::detail {

namespace {

// What every call holds. OpenBLAS adds up in another order for every number of threads, which is one for the whole
// process: the first that needs it takes it down to one, and the last puts it back. And where it was built without
// threads (Debian's libopenblas-serial) it has no locks either: two calls at a time take the same buffer, and both are
// wrong. There they wait for each other.
class Turn {
  public:
    Turn() {
        interruption_point();
        if (openblas_get_parallel() == 0) {
            alone = std::unique_lock(calls);
            return;
        }
        const std::lock_guard lock(counting);
        if (users++ > 0) return;
        threads = openblas_get_num_threads();
        if (threads != 1) openblas_set_num_threads(1);
    }
    ~Turn() {
        if (alone.owns_lock()) return;
        const std::lock_guard lock(counting);
        if (--users == 0 && threads != 1) openblas_set_num_threads(threads);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

  private:
    static inline std::mutex calls;
    static inline std::mutex counting;
    static inline int users = 0;
    static inline int threads = 1;
    std::unique_lock<std::mutex> alone;
};

// Which way a kernel goes may depend on where the matrix begins, which for memory of a worker thread is anywhere: those
// of a size that many threads factor begin at a multiple of 64 bytes while they do.
template <class Call>
void at_fixed_alignment(Matrix& a, const Call& call) {
    constexpr std::size_t kAlignment = 64;
    constexpr Index kLargestCopied = 512;
    if (a.rows() > kLargestCopied || reinterpret_cast<std::uintptr_t>(a.data()) % kAlignment == 0) {
        call(a.data());
        return;
    }
    const auto release = [](double* memory) { ::operator delete (memory, std::align_val_t{kAlignment}); };
    const auto bytes = sizeof(double) * static_cast<std::size_t>(a.size());
    const std::unique_ptr<double, decltype(release)> copy(
        static_cast<double*>(::operator new (bytes, std::align_val_t{kAlignment})), release);
    std::copy_n(a.data(), a.size(), copy.get());
    call(copy.get());
    std::copy_n(copy.get(), a.size(), a.data());
}

}  // namespace

std::optional<Index> cholesky_in_place(Matrix& a) {
    if (a.rows() == 0) return std::nullopt;
    const int size = static_cast<int>(a.rows());
    int info = 0;
    at_fixed_alignment(a, [&](double* entries) {
        const Turn turn;
        dpotrf_("L", &size, entries, &size, &info, 1);
    });
    // Not every kernel notices a pivot that is not a number.
    const Index done = info > 0 ? info - 1 : size;
    for (Index i = 0; i < done; ++i) {
        if (!(a(i, i) > 0.0)) return i;
    }
    return info > 0 ? std::optional<Index>(done) : std::nullopt;
}

void cholesky_solve_in_place(const Matrix& factor, Eigen::Ref<Matrix> b) {
    if (b.size() == 0) return;
    const Turn turn;
    const int size = static_cast<int>(factor.rows());
    const int columns = static_cast<int>(b.cols());
    const int stride = static_cast<int>(b.outerStride());
    int info = 0;
    dpotrs_("L", &size, &columns, factor.data(), &size, b.data(), &stride, &info, 1);
}

void invert_lower_in_place(Matrix& lower) {
    if (lower.rows() == 0) return;
    const Turn turn;
    const int size = static_cast<int>(lower.rows());
    int info = 0;
    dtrtri_("L", "N", &size, lower.data(), &size, &info, 1, 1);
}

void invert_from_cholesky_in_place(Matrix& factor) {
    if (factor.rows() == 0) return;
    const int size = static_cast<int>(factor.rows());
    int info = 0;
    at_fixed_alignment(factor, [&](double* entries) {
        const Turn turn;
        dpotri_("L", &size, entries, &size, &info, 1);
    });
    factor.triangularView<Eigen::StrictlyUpper>() = factor.transpose();
}

Matrix tridiagonal_eigenvectors(Vector& diagonal, Vector below) {
    const Turn turn;
    const int size = static_cast<int>(diagonal.size());
    Matrix vectors(size, size);
    Vector work(std::max(1, 2 * size - 2));
    int info = 0;
    dstev_("V", &size, diagonal.data(), below.data(), vectors.data(), &size, work.data(), &info, 1);
    if (info != 0) throw std::logic_error("the eigenvalues of a tridiagonal matrix did not converge");
    return vectors;
}

}  // namespace lrvb::detail
