#include "kind/mixture/fixed_values.hpp"

#include "base/files.hpp"
#include "kind/mixture/record.hpp"
#include "linalg/positive_definite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lrvb::detail {

namespace {

// What stands in a list, whether it holds numbers or more.
std::vector<Document> entries_of(const Document& list) {
    if (const Document::List* entries = list.entries()) return *entries;
    if (const Document::Numbers* numbers = list.numbers()) return {numbers->begin(), numbers->end()};
    return {};
}

class FixedValues {
  public:
    FixedValues(Document values, std::string file, Index components, Index columns)
        : values_(std::move(values)), file_(std::move(file)), components_(components), columns_(columns) {}

    Vector weights() const {
        const Vector result = numbers("weights", part("weights"), components_);
        if (result.minCoeff() <= 0.0 || std::abs(result.sum() - 1.0) > 1e-6) {
            refuse("weights", "must be positive and add up to 1");
        }
        return result / result.sum();
    }

    Matrix means() const {
        Matrix result(components_, columns_);
        Index k = 0;
        for (const Document& mean : entries_of(part("means"))) {
            result.row(k++) = numbers("means", mean, columns_).transpose();
        }
        return result;
    }

    std::vector<Matrix> precisions() const {
        std::vector<Matrix> result;
        for (const Document& entry : entries_of(part("precisions"))) {
            const std::vector<Document> rows = entries_of(entry);
            Matrix matrix = Matrix::Zero(columns_, columns_);
            if (!rows.empty() && rows.front().is_list()) {
                if (static_cast<Index>(rows.size()) != columns_) refuse("precisions", shape(columns_));
                for (Index p = 0; p < columns_; ++p) {
                    matrix.row(p) = numbers("precisions", rows[static_cast<std::size_t>(p)], columns_).transpose();
                }
            } else {
                matrix = numbers("precisions", entry, columns_).asDiagonal();
            }
            if (!matrix.isApprox(matrix.transpose(), 1e-12) || !PositiveDefinite(matrix).succeeded()) {
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

    const Document& part(const std::string& name) const {
        const Document* list = values_.find(name);
        if (list == nullptr) refuse(name, "is missing: give a fit file, or JSON with a list of that name");
        if (!list->is_list() || static_cast<Index>(list->size()) != components_) {
            refuse(name, fmt::format("must be a list with an entry for each of {} components", components_));
        }
        return *list;
    }

    // A single number stands for a list of one.
    Vector numbers(const std::string& name, const Document& entry, Index size) const {
        const std::vector<Document> list = entry.is_list() ? entries_of(entry) : std::vector<Document>{entry};
        if (static_cast<Index>(list.size()) != size) refuse(name, shape(size));
        Vector result(size);
        for (Index i = 0; i < size; ++i) {
            const std::optional<double> value = list[static_cast<std::size_t>(i)].number();
            if (!value || !std::isfinite(*value)) refuse(name, "holds something that is no number");
            result[i] = *value;
        }
        return result;
    }

    Document values_;
    std::string file_;
    Index components_;
    Index columns_;
};

MixtureFixed fixed_by(const std::vector<std::string>& parts, const FixedValues& values) {
    MixtureFixed fixed;
    for (const std::string& part : parts) {
        if (part == "weights") fixed.weights = values.weights();
        if (part == "means") fixed.means = values.means();
        if (part == "precisions") fixed.precisions = values.precisions();
    }
    return fixed;
}

// The posterior means of a fit of the same shape.
MixtureFixed fixed_by(const std::vector<std::string>& parts, const FitFile& fit, const std::string& name,
                      Index components, Index columns, bool full) {
    const auto* mixture = dynamic_cast<const MixtureRecord*>(fit.model.get());
    if (mixture == nullptr || mixture->components != components || mixture->columns() != columns ||
        mixture->is_full() != full) {
        throw std::runtime_error(fmt::format(
            "{}: is no fit of a mixture with {} components of {} columns, so that its 'means', 'weights' and "
            "'precisions' are others: give a fit of the same shape, or JSON with lists of them",
            name, components, columns));
    }
    const MixtureMeans means = mixture_means(mixture->positions(fit), fit.posterior);
    MixtureFixed fixed;
    for (const std::string& part : parts) {
        if (part == "weights") fixed.weights = means.weights;
        if (part == "means") fixed.means = means.locations;
        if (part == "precisions") fixed.precisions = means.precisions;
    }
    return fixed;
}

}  // namespace

MixtureFixed read_fixed(const std::vector<std::string>& parts, const std::string& path, Index components, Index columns,
                        bool full) {
    ByteStream stream(path);
    const std::string text = read_json(stream);
    Document json;
    try {
        json = Document::parse(text);
    } catch (const std::runtime_error&) {
        throw std::runtime_error(
            fmt::format("{}: is not JSON: give a fit file, or lists named weights, means, precisions", stream.name()));
    }
    if (json.find("format") != nullptr) {
        return fixed_by(parts, parse_fit(text, stream.name()), stream.name(), components, columns, full);
    }
    return fixed_by(parts, FixedValues(std::move(json), stream.name(), components, columns));
}

}  // namespace lrvb::detail
