#include "fit.hpp"

#include <lrvb/kind/declared.hpp>
#include <lrvb/kind/kind.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <pybind11/stl.h>
#include <system_error>
#include <thread>
#include <utility>

namespace lrvb::python {

namespace {

constexpr std::chrono::milliseconds kBetweenCalls{100};

// Refuses what the declared options cannot be, as a command line would.
void require_value(const OptionInfo& option, const std::string& value) {
    using Type = OptionInfo::Type;
    if (option.type == Type::choice &&
        std::find(option.choices.begin(), option.choices.end(), value) == option.choices.end()) {
        throw UsageError(
            fmt::format("--{} is '{}', but must be one of {}", option.key(), value, fmt::join(option.choices, ", ")));
    }
    if (option.type == Type::range && value.find(':') != std::string::npos) return;  // which its reader judges
    if (option.type == Type::whole || option.type == Type::number || option.type == Type::range) {
        const bool is_whole = option.type != Type::number;
        char* end = nullptr;
        const double number = std::strtod(value.c_str(), &end);
        const bool is_number = end != value.c_str() && *end == '\0' && std::isfinite(number);
        if (!is_number || number < option.least || number > option.most || (is_whole && number != std::floor(number))) {
            throw UsageError(fmt::format("--{} is {}, but must be {} from {} to {}", option.key(), value,
                                         is_whole ? "a whole number" : "a number", option.least, option.most));
        }
    }
}

Settings settings_of(const Kind& kind, const std::vector<std::pair<std::string, std::string>>& given) {
    Settings settings;
    const std::vector<OptionInfo> options = kind.options().value();
    for (const auto& [key, value] : given) {
        const std::string& wanted = key;
        const auto option =
            std::find_if(options.begin(), options.end(), [&](const OptionInfo& one) { return one.key() == wanted; });
        const bool is_of_data = key == "drop-missing" || (key == "columns" && kind.chooses_columns());
        if (option == options.end() && !is_of_data) {
            throw UsageError(fmt::format("a {} has no option --{}", kind.name(), key));
        }
        if (option != options.end()) require_value(*option, value);
        if (option != options.end() && option->type == OptionInfo::Type::texts) {
            settings.add(key, value);
        } else {
            settings.set(key, value);
        }
    }
    for (const OptionInfo& option : options) {
        if (option.required && !settings.has(option.key())) {
            throw UsageError(fmt::format("--{} is missing: a {} needs it", option.key(), kind.name()));
        }
    }
    return settings;
}

const Kind* kind_of(const Request& request) {
    const Kind* const kind = find_kind(request.kind);
    if (kind == nullptr || !kind->options()) {
        throw UsageError(fmt::format("there is no kind of model '{}' that can be fitted", request.kind));
    }
    return kind;
}

CheckWish wish_of(const std::string& word) {
    if (word == "auto") return CheckWish::quick;
    if (word == "always") return CheckWish::always;
    if (word == "never") return CheckWish::never;
    if (word == "exact") return CheckWish::exact;
    throw UsageError(fmt::format("--check is '{}', but must be one of auto, always, never, exact", word));
}

void require_numbers(const Request& request) {
    if (!(request.tolerance >= 1e-15 && request.tolerance <= 1e-4)) {
        throw UsageError(fmt::format("--tolerance is {}, but must be a number from 1e-15 to 1e-4", request.tolerance));
    }
    if (request.max_iterations < 1) {
        throw UsageError(fmt::format("--max-iterations is {}, but must be 1 or more", request.max_iterations));
    }
    if (request.seconds && !(*request.seconds > 0.0)) {
        throw UsageError(fmt::format("--seconds is {}, but must be a positive number", *request.seconds));
    }
}

FitOptions options_of(const Request& request, Teller& teller) {
    FitOptions options;
    options.seed = request.seed;
    options.tolerance = request.tolerance;
    options.max_iterations = request.max_iterations;
    options.progress = [&teller](const Progress& progress) {
        teller.tell(std::string(progress.stage), progress.iteration, progress.bound, progress.step, progress.rows,
                    std::numeric_limits<double>::quiet_NaN());
        return true;
    };
    return options;
}

std::function<bool(const CheckProgress&)> told_of_check(Teller& teller) {
    return [&teller](const CheckProgress& progress) {
        teller.tell("check", 0, 0.0, 0.0, 0, progress.done);
        return true;
    };
}

// What the program adds to every file.
void sign(FitFile& file, const std::vector<std::string>& na) {
    file.program = LRVB_VERSION;
    file.data.na = na;
    if (!file.converged()) file.warnings.insert(file.warnings.begin(), file.outcome.message);
}

}  // namespace

int threads_of(int wanted) {
    if (wanted < 0) throw UsageError(fmt::format("--threads is {}, but must be 1 or more", wanted));
    return wanted > 0 ? wanted : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

Teller::Teller(const py::object& told) {
    const py::gil_scoped_acquire gil;
    told_ = kept(told);
    is_wanted_ = !told.is_none();
}

void Teller::tell(const std::string& stage, Index iteration, double bound, double step, Index rows, double done) {
    interruption_point();
    const std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now();
    if (!is_wanted_ || now - last_ < kBetweenCalls) return;
    last_ = now;
    const py::gil_scoped_acquire gil;
    (*static_cast<const py::object*>(told_.get()))(stage, iteration, bound, step, rows, done);
}

Asked::Asked(const Request& request, const Data& given)
    : kind(kind_of(request)),
      wish(wish_of(request.check)),
      data(given),
      fingerprint(given.fingerprint()),
      teller(request.progress),
      whole{given.dataset(), settings_of(*kind, request.settings), options_of(request, teller),
            threads_of(request.threads)} {
    require_numbers(request);
}

std::shared_ptr<Fit> Fit::fitted(const Request& request, const Data& data) {
    Asked asked(request, data);
    return of(fit_and_check(*asked.kind, asked.whole, asked.wish, request.seconds, told_of_check(asked.teller)), asked);
}

std::shared_ptr<Fit> Fit::of(CheckedFit fit, const Asked& asked) {
    sign(fit.fitted->file(), asked.data.dataset().na());
    std::shared_ptr<Fit> result(new Fit(fit.fitted->file(), asked.whole.threads));
    result->data_ = asked.data;
    result->fingerprint_ = asked.fingerprint;
    // A corrected fit is asked as it was before, which restoring gives.
    if (!result->file_.correction) result->with_data_ = std::move(fit.fitted);
    return result;
}

std::shared_ptr<Fit> Fit::declared(std::shared_ptr<const MultilinearModel> model, const Request& request) {
    const CheckWish wish = wish_of(request.check);
    require_numbers(request);
    Teller teller(request.progress);
    const int threads = threads_of(request.threads);
    FitOptions options = options_of(request, teller);
    for (const auto& [key, value] : request.settings) {
        if (key != "restarts") throw UsageError(fmt::format("a declared model has no option --{}", key));
        options.restarts = std::stoi(value);
    }
    DataRecord record;
    record.name = "a declared model";
    std::unique_ptr<FittedModel> fitted = fitted_model(model, lrvb::fit(*model, options), record);
    fitted->file().options = {options.seed, options.restarts, options.tolerance, options.max_iterations};
    CheckOptions check_options;
    check_options.seed = request.seed;
    check_options.threads = threads;
    check_options.progress = told_of_check(teller);
    check_fit(*fitted, wish, check_options, request.seconds);
    sign(fitted->file(), {});
    std::shared_ptr<Fit> result(new Fit(fitted->file(), threads));
    result->model_ = std::move(model);
    if (!result->file_.correction) result->with_data_ = std::move(fitted);
    return result;
}

std::shared_ptr<Fit> Fit::parse(const std::string& text, const std::string& name) {
    return std::shared_ptr<Fit>(new Fit(parse_fit(text, name), threads_of(0)));
}

std::shared_ptr<Fit> Fit::attached(const Data& data, int threads) const {
    std::shared_ptr<Fit> result(new Fit(file_, threads_of(threads)));
    result->data_ = data;
    result->fingerprint_ = data.fingerprint();
    result->with_data();
    return result;
}

std::shared_ptr<Fit> Fit::attached(const std::shared_ptr<const MultilinearModel>& model, int threads) const {
    std::shared_ptr<Fit> result(new Fit(file_, threads_of(threads)));
    result->model_ = model;
    result->with_data();
    return result;
}

void Fit::require_not_read(const std::string& path) const {
    require_not_named(file_, path);
    if (!data_) return;
    std::error_code ignored;
    for (const std::string& file : data_->dataset().paths()) {
        if (!std::filesystem::equivalent(file, path, ignored)) continue;
        throw UsageError(fmt::format("{} would replace the data, {}: choose another name", path, file));
    }
}

void Fit::require_same_data() const {
    if (!data_ || data_->fingerprint() == fingerprint_) return;
    throw std::runtime_error(
        fmt::format("{}: the data have changed since the fit, so it can say nothing of their rows: fit them again, or "
                    "give the fit a copy",
                    data_->name()));
}

const FittedModel& Fit::with_data() const {
    const std::lock_guard lock(restoring_);
    require_same_data();
    if (with_data_) return *with_data_;
    if (model_) {
        with_data_ = restore(file_, model_, threads_);
    } else if (data_) {
        with_data_ = restore(file_, data_->dataset(), threads_);
    } else {
        throw std::runtime_error(
            "this needs the data that were fitted, and the fit was loaded without them: give them by "
            "fit.with_data(data)");
    }
    return *with_data_;
}

const Dataset& Fit::dataset() const {
    if (!data_) throw std::runtime_error("the rows of a declared model have no columns to be grouped by");
    return data_->dataset();
}

std::shared_ptr<Fit> Fit::corrected(const Check& check) const {
    std::shared_ptr<Fit> result(new Fit(lrvb::corrected(file_, check), threads_));
    result->data_ = data_;
    result->fingerprint_ = fingerprint_;
    result->model_ = model_;
    return result;
}

}  // namespace lrvb::python
