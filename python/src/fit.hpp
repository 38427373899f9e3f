#pragma once

#include "data.hpp"

#include <lrvb/check/check.hpp>
#include <lrvb/kind/fitted_model.hpp>
#include <lrvb/kind/kind.hpp>
#include <lrvb/model/multilinear_model.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// A fit as Python holds it: what its file says, and the data, where they were given.
namespace lrvb::python {

/// What a fit is asked, apart from its data.
struct Request {
    std::string kind;
    /// The options of the kind, by key; one that may be given several times comes several times.
    std::vector<std::pair<std::string, std::string>> settings;
    std::uint64_t seed = 1;
    double tolerance = 1e-8;
    int max_iterations = 10000;
    std::string check = "auto";
    std::optional<double> seconds;
    int threads = 0;
    /// Called now and then with (stage, iteration, bound, step, rows, share of a check that is done).
    py::object progress = py::none();
};

// Tells Python how far a fit is, ten times a second at most.
class Teller {
  public:
    explicit Teller(const py::object& told);

    void tell(const std::string& stage, Index iteration, double bound, double step, Index rows, double done);

  private:
    std::shared_ptr<const void> told_;
    bool is_wanted_;
    std::chrono::steady_clock::time_point last_;
};

/// A request as the library takes it. Throws UsageError for one that it cannot be asked. It must stay where it is for
/// as long as the library works at it.
class Asked {
  public:
    Asked(const Request& request, const Data& data);
    Asked(const Asked&) = delete;
    Asked& operator=(const Asked&) = delete;

    const Kind* kind;
    CheckWish wish;
    Data data;
    std::string fingerprint;
    Teller teller;
    FitRequest whole;
};

class Fit {
  public:
    /// Of a request; throws what the kind throws.
    static std::shared_ptr<Fit> fitted(const Request& request, const Data& data);
    /// Of what came of it.
    static std::shared_ptr<Fit> of(CheckedFit fit, const Asked& asked);
    /// Of a declared model.
    static std::shared_ptr<Fit> declared(std::shared_ptr<const MultilinearModel> model, const Request& request);
    static std::shared_ptr<Fit> parse(const std::string& text, const std::string& name);

    const FitFile& file() const { return file_; }
    bool has_data() const { return data_.has_value() || model_ != nullptr; }
    const std::optional<Data>& data() const { return data_; }
    int threads() const { return threads_; }

    /// The same fit with its data, or with its model. Throws std::runtime_error for others.
    std::shared_ptr<Fit> attached(const Data& data, int threads) const;
    std::shared_ptr<Fit> attached(const std::shared_ptr<const MultilinearModel>& model, int threads) const;

    /// The model with its data, as it was before a correction. Throws std::runtime_error where there are none, and
    /// where they have changed.
    const FittedModel& with_data() const;
    /// These data as a table; throws std::runtime_error where there is none.
    const Dataset& dataset() const;

    /// Refuses an output that would replace the data, or a file that the fit names.
    void require_not_read(const std::string& path) const;

    std::shared_ptr<Fit> corrected(const Check& check) const;

  private:
    explicit Fit(FitFile file, int threads) : file_(std::move(file)), threads_(threads) {}

    void require_same_data() const;

    FitFile file_;
    int threads_ = 1;
    std::optional<Data> data_;
    std::string fingerprint_;
    std::shared_ptr<const MultilinearModel> model_;
    mutable std::mutex restoring_;
    mutable std::shared_ptr<const FittedModel> with_data_;
};

int threads_of(int wanted);

}  // namespace lrvb::python
