#include "base/bytes.hpp"
#include "kind/mixture/pass_sums.hpp"

#include <utility>

namespace lrvb {

MixtureSums::MixtureSums() : implementation_(std::make_unique<Implementation>()) {}
MixtureSums::MixtureSums(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
MixtureSums::~MixtureSums() = default;
MixtureSums::MixtureSums(const MixtureSums& other)
    : implementation_(std::make_unique<Implementation>(*other.implementation_)) {}
MixtureSums::MixtureSums(MixtureSums&& other) noexcept = default;
MixtureSums& MixtureSums::operator=(const MixtureSums& other) {
    if (this != &other) *implementation_ = *other.implementation_;
    return *this;
}
MixtureSums& MixtureSums::operator=(MixtureSums&& other) noexcept = default;

MixtureSums& MixtureSums::operator+=(const MixtureSums& next) {
    implementation_->tree.append(next.implementation_->tree);
    return *this;
}

bool MixtureSums::empty() const {
    return implementation_->tree.empty();
}

Index MixtureSums::first_block() const {
    return empty() ? 0 : implementation_->tree.nodes().front().block;
}

Index MixtureSums::end_block() const {
    return empty() ? 0 : implementation_->tree.nodes().back().block + implementation_->tree.nodes().back().size;
}

double MixtureSums::log_sum() const {
    double sum = 0.0;
    for (const auto& node : implementation_->tree.nodes()) sum += node.value.parts.at(0).at(0);
    return sum;
}

std::string MixtureSums::bytes() const {
    detail::ByteWriter writer;
    writer.number(static_cast<Index>(implementation_->tree.nodes().size()));
    for (const auto& node : implementation_->tree.nodes()) {
        writer.number(node.block).number(node.size).number(static_cast<Index>(node.value.parts.size()));
        for (const std::vector<double>& part : node.value.parts) writer.numbers(part);
    }
    return writer.take();
}

MixtureSums MixtureSums::from_bytes(std::string_view bytes) {
    detail::ByteReader reader(bytes);
    MixtureSums result;
    const Index count = reader.index();
    for (Index i = 0; i < count; ++i) {
        detail::BlockTree<detail::PassBlock>::Node node;
        node.block = reader.index();
        node.size = reader.index();
        const Index parts = reader.index();
        for (Index j = 0; j < parts; ++j) node.value.parts.push_back(reader.numbers<double>());
        result.implementation_->tree.append(std::move(node));
    }
    return result;
}

}  // namespace lrvb
