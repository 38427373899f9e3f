#include "cli/fixed_values.hpp"

#include "base/files.hpp"
#include "kind/fields.hpp"

#include <lrvb/kind/fit_file.hpp>

#include <Eigen/Cholesky>

#include <algorithm>
#include <map>

namespace lrvb::cli {

namespace {

using detail::Json;

// The same JSON that a user would write, from the posterior means of a fit.
Json values_of(const FitFile& fit, Index components, Index columns, bool full) {
    std::map<std::string, double> means;
    for (const PosteriorVariable& variable : fit.posterior.variables) means[variable.name] = variable.mean;
    const auto value = [&](const std::string& name) {
        const auto found = means.find(name);
        return found == means.end() ? Json() : Json(found->second);
    };
    Json weights = Json::array();
    Json locations = Json::array();
    Json precisions = Json::array();
    for (Index k = 1; k <= components; ++k) {
        weights.push_back(components == 1 ? Json(1.0) : value(fmt::format("pi[{}]", k)));
        Json mean = Json::array();
        Json precision = Json::array();
        for (Index p = 1; p <= columns; ++p) {
            const std::string index = columns == 1 ? fmt::format("[{}]", k) : fmt::format("[{},{}]", k, p);
            mean.push_back(value("mu" + index));
            if (!full) {
                precision.push_back(value("tau" + index));
                continue;
            }
            Json row = Json::array();
            for (Index q = 1; q <= columns; ++q) {
                row.push_back(value(fmt::format("Lambda[{},{},{}]", k, std::min(p, q), std::max(p, q))));
            }
            precision.push_back(row);
        }
        locations.push_back(mean);
        precisions.push_back(precision);
    }
    return Json{{"weights", weights}, {"means", locations}, {"precisions", precisions}};
}

class FixedValues {
  public:
    FixedValues(Json values, std::string file, Index components, Index columns)
        : values_(std::move(values)), file_(std::move(file)), components_(components), columns_(columns) {}

    Vector weights() const {
        const Vector result = numbers("weights", part("weights"), components_);
        if (result.minCoeff() <= 0.0 || std::abs(result.sum() - 1.0) > 1e-6) {
            refuse("weights", "must be positive and add up to 1");
        }
        return result / result.sum();
    }

    Matrix means() const {
        const Json& list = part("means");
        Matrix result(components_, columns_);
        for (Index k = 0; k < components_; ++k) {
            result.row(k) = numbers("means", list.at(static_cast<std::size_t>(k)), columns_).transpose();
        }
        return result;
    }

    std::vector<Matrix> precisions() const {
        std::vector<Matrix> result;
        for (const Json& entry : part("precisions")) {
            const bool is_matrix = entry.is_array() && !entry.empty() && entry.front().is_array();
            Matrix matrix = Matrix::Zero(columns_, columns_);
            if (is_matrix) {
                if (static_cast<Index>(entry.size()) != columns_) refuse("precisions", shape(columns_));
                for (Index p = 0; p < columns_; ++p) {
                    matrix.row(p) = numbers("precisions", entry.at(static_cast<std::size_t>(p)), columns_).transpose();
                }
            } else {
                matrix = numbers("precisions", entry, columns_).asDiagonal();
            }
            if (!matrix.isApprox(matrix.transpose(), 1e-12) || matrix.llt().info() != Eigen::Success) {
                refuse("precisions", "must be positive, and matrices symmetric and positive definite");
            }
            result.push_back(std::move(matrix));
        }
        return result;
    }

  private:
    static std::string shape(Index size) { return fmt::format("must have {} numbers for each component", size); }

    [[noreturn]] void refuse(const std::string& name, const std::string& reason) const {
        throw std::runtime_error(fmt::format("{}: '{}' {}", file_, name, reason));
    }

    const Json& part(const std::string& name) const {
        if (!values_.is_object() || !values_.contains(name)) {
            refuse(name, "is missing: give a fit file, or JSON with a list of that name");
        }
        const Json& list = values_.at(name);
        if (!list.is_array() || static_cast<Index>(list.size()) != components_) {
            refuse(name, fmt::format("must be a list with an entry for each of {} components", components_));
        }
        return list;
    }

    // A single number stands for a list of one.
    Vector numbers(const std::string& name, const Json& entry, Index size) const {
        const Json list = entry.is_array() ? entry : Json::array({entry});
        if (static_cast<Index>(list.size()) != size) refuse(name, shape(size));
        Vector result(size);
        for (Index i = 0; i < size; ++i) {
            const Json& value = list.at(static_cast<std::size_t>(i));
            if (!value.is_number() || !std::isfinite(value.get<double>())) {
                refuse(name, "holds something that is no number");
            }
            result[i] = value.get<double>();
        }
        return result;
    }

    Json values_;
    std::string file_;
    Index components_;
    Index columns_;
};

}  // namespace

MixtureFixed read_fixed(const std::vector<std::string>& parts, const std::string& path, Index components, Index columns,
                        bool full) {
    detail::ByteStream stream(path);
    const std::string text = detail::read_all(stream);
    Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) {
        throw std::runtime_error(
            fmt::format("{}: is not JSON: give a fit file, or lists named weights, means, precisions", stream.name()));
    }
    if (json.is_object() && json.contains("format")) {
        const FitFile fit = parse_fit(text, stream.name());
        const auto* mixture = std::get_if<MixtureRecord>(&fit.model);
        if (mixture == nullptr || mixture->components != components || mixture->centre.size() != columns) {
            throw std::runtime_error(fmt::format(
                "{}: is no fit of a mixture with {} components of {} columns, so that its 'means', 'weights' and "
                "'precisions' are others: give a fit of the same shape, or JSON with lists of them",
                stream.name(), components, columns));
        }
        json = values_of(fit, components, columns, full);
    }
    const FixedValues values(std::move(json), stream.name(), components, columns);
    MixtureFixed fixed;
    for (const std::string& part : parts) {
        if (part == "weights") fixed.weights = values.weights();
        if (part == "means") fixed.means = values.means();
        if (part == "precisions") fixed.precisions = values.precisions();
    }
    return fixed;
}

}  // namespace lrvb::cli
