#include "kind/mixture/kind.hpp"

#include <lrvb/family/random.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

namespace lrvb::detail {

namespace {

// "0,4" is a column of two components; "0,0;4,4" two columns of two.
Matrix by_component(const std::string& option, const std::string& text, Index components) {
    const std::vector<std::string> groups = split_list(text, ';');
    if (groups.size() == 1 && components != 1) return parse_numbers(option, text);
    const Vector first = parse_numbers(option, groups.empty() ? "" : groups.front());
    Matrix result(static_cast<Index>(groups.size()), first.size());
    for (std::size_t k = 0; k < groups.size(); ++k) {
        const Vector row = parse_numbers(option, groups[k]);
        if (row.size() != first.size()) {
            throw UsageError(fmt::format("{}: components have different numbers of columns", option));
        }
        result.row(static_cast<Index>(k)) = row.transpose();
    }
    return result;
}

}  // namespace

std::optional<std::vector<OptionInfo>> MixtureKind::simulation_options() const {
    std::vector<OptionInfo> options;
    const auto text = [&](const std::string& name, const std::string& help) {
        options.push_back(OptionInfo{name, help}.require());
    };
    text("--weights", "Weights of the components, such as 0.3,0.7");
    text("--means", "Their means, such as 0,4; with several columns 0,0;4,4, a group for each component");
    text("--sds", "Their sds, in the same form");
    options.push_back(OptionInfo::whole("-n,--rows", 1, 1e12, "Number of rows").require());
    options.push_back(OptionInfo::flag("--labels", "Add the column 'component': where each row came from"));
    return options;
}

void MixtureKind::simulate(const Settings& settings, const std::function<void(const std::string&)>& write) const {
    Vector weights = settings.numbers("weights");
    const Index components = weights.size();
    const Index rows = settings.whole("rows", 0);
    const std::uint64_t seed = settings.seed();
    const bool labels = settings.flag("labels");
    if (components == 0 || weights.minCoeff() < 0.0 || !(weights.sum() > 0.0)) {
        throw UsageError("--weights must be zero or more, and not all zero");
    }
    weights /= weights.sum();
    const Matrix means = by_component("--means", settings.text("means"), components);
    const Matrix sds = by_component("--sds", settings.text("sds"), components);
    const Index columns = means.cols();
    if (means.rows() != components || sds.rows() != components || sds.cols() != columns) {
        throw UsageError(
            fmt::format("--weights, --means and --sds speak of {}, {} and {} components: give as many of "
                        "each",
                        components, means.rows(), sds.rows()));
    }
    if (!(sds.minCoeff() > 0.0)) throw UsageError("--sds must be positive");
    constexpr double kFarthest = 40.0;  // sds: no normal draw is as far
    if (!(means.cwiseAbs() + kFarthest * sds).allFinite()) {
        throw UsageError("--means and --sds reach numbers that are too large for a double: change their unit");
    }

    std::vector<std::string> fields;
    for (Index p = 0; p < columns; ++p) fields.push_back(columns == 1 ? "x" : fmt::format("x{}", p + 1));
    if (labels) fields.emplace_back("component");
    std::string text = fmt::format("{}\n", fmt::join(fields, ","));
    // A row has a stream of its own, so that more rows leave the first ones as they are.
    for (Index n = 0; n < rows; ++n) {
        Random random(seed, static_cast<std::uint64_t>(n));
        double u = random.uniform();
        Index k = 0;
        while (k + 1 < components && u >= weights[k]) u -= weights[k++];
        for (Index p = 0; p < columns; ++p) {
            if (p > 0) text += ',';
            fmt::format_to(std::back_inserter(text), "{}", means(k, p) + sds(k, p) * random.normal());
        }
        if (labels) text += fmt::format(",{}", k + 1);
        text += '\n';
        if (text.size() > (std::size_t{1} << 20)) {
            write(text);
            text.clear();
        }
    }
    write(text);
}

}  // namespace lrvb::detail
