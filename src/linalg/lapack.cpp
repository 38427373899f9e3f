#include "linalg/lapack.hpp"

#include <algorithm>
#include <mutex>
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
int openblas_get_num_threads();
void openblas_set_num_threads(int count);
}

namespace lrvb::detail {

namespace {

// OpenBLAS adds up in another order for every number of threads, which is one for the whole process: the first that
// needs it takes it down to one, and the last puts it back.
class OneThread {
  public:
    OneThread() {
        const std::lock_guard lock(mutex);
        if (users++ > 0) return;
        threads = openblas_get_num_threads();
        if (threads != 1) openblas_set_num_threads(1);
    }
    ~OneThread() {
        const std::lock_guard lock(mutex);
        if (--users == 0 && threads != 1) openblas_set_num_threads(threads);
    }
    OneThread(const OneThread&) = delete;
    OneThread& operator=(const OneThread&) = delete;

  private:
    static inline std::mutex mutex;
    static inline int users = 0;
    static inline int threads = 1;
};

}  // namespace

std::optional<Index> cholesky_in_place(Matrix& a) {
    if (a.rows() == 0) return std::nullopt;
    const OneThread pinned;
    const int size = static_cast<int>(a.rows());
    int info = 0;
    dpotrf_("L", &size, a.data(), &size, &info, 1);
    // Not every kernel notices a pivot that is not a number.
    const Index done = info > 0 ? info - 1 : size;
    for (Index i = 0; i < done; ++i) {
        if (!(a(i, i) > 0.0)) return i;
    }
    return info > 0 ? std::optional<Index>(done) : std::nullopt;
}

void cholesky_solve_in_place(const Matrix& factor, Eigen::Ref<Matrix> b) {
    if (b.size() == 0) return;
    const OneThread pinned;
    const int size = static_cast<int>(factor.rows());
    const int columns = static_cast<int>(b.cols());
    const int stride = static_cast<int>(b.outerStride());
    int info = 0;
    dpotrs_("L", &size, &columns, factor.data(), &size, b.data(), &stride, &info, 1);
}

void invert_lower_in_place(Matrix& lower) {
    if (lower.rows() == 0) return;
    const OneThread pinned;
    const int size = static_cast<int>(lower.rows());
    int info = 0;
    dtrtri_("L", "N", &size, lower.data(), &size, &info, 1, 1);
}

void invert_from_cholesky_in_place(Matrix& factor) {
    if (factor.rows() == 0) return;
    const OneThread pinned;
    const int size = static_cast<int>(factor.rows());
    int info = 0;
    dpotri_("L", &size, factor.data(), &size, &info, 1);
    factor.triangularView<Eigen::StrictlyUpper>() = factor.transpose();
}

Matrix tridiagonal_eigenvectors(Vector& diagonal, Vector below) {
    const OneThread pinned;
    const int size = static_cast<int>(diagonal.size());
    Matrix vectors(size, size);
    Vector work(std::max(1, 2 * size - 2));
    int info = 0;
    dstev_("V", &size, diagonal.data(), below.data(), vectors.data(), &size, work.data(), &info, 1);
    if (info != 0) throw std::logic_error("the eigenvalues of a tridiagonal matrix did not converge");
    return vectors;
}

}  // namespace lrvb::detail
