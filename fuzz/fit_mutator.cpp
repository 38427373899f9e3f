// Changes fit files as JSON: bytes changed at random hardly ever make another JSON file, let alone a fit file.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using Json = nlohmann::ordered_json;
using Engine = std::minstd_rand;

void collect(Json& node, std::vector<Json*>& nodes) {
    nodes.push_back(&node);
    for (Json& child : node) {
        if (child.is_structured()) {
            collect(child, nodes);
        } else {
            nodes.push_back(&child);
        }
    }
}

std::size_t below(std::size_t count, Engine& engine) {
    return engine() % count;
}

Json odd_value(Engine& engine) {
    static const std::vector<Json> values{nullptr,
                                          true,
                                          0,
                                          -1,
                                          2,
                                          0.5,
                                          -0.0,
                                          1e308,
                                          -1e308,
                                          5e-324,
                                          std::uint64_t{1} << 53,
                                          std::numeric_limits<std::uint64_t>::max(),
                                          std::numeric_limits<std::int64_t>::min(),
                                          "",
                                          "a\nb",
                                          "\xC3\xA9",
                                          "full",
                                          "diagonal",
                                          "regression",
                                          "exp",
                                          Json::array(),
                                          Json::object()};
    return values[below(values.size(), engine)];
}

void change(Json& root, Engine& engine) {
    std::vector<Json*> nodes;
    collect(root, nodes);
    Json& node = *nodes[below(nodes.size(), engine)];
    const Json other = *nodes[below(nodes.size(), engine)];
    switch (below(node.is_structured() && !node.empty() ? 5 : 2, engine)) {
        case 0:
            node = odd_value(engine);
            return;
        case 1:
            node = other;
            return;
        default:
            break;
    }
    const auto at = static_cast<std::ptrdiff_t>(below(node.size(), engine));
    if (node.is_object() || below(2, engine) == 0) {
        node.erase(std::next(node.begin(), at));
    } else {
        const Json copy = node[static_cast<std::size_t>(at)];
        node.insert(std::next(node.begin(), at), copy);
    }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
    Engine engine(seed);
    if (below(4, engine) == 0) return LLVMFuzzerMutate(data, size, max_size);
    Json json = Json::parse(data, data + size, nullptr, false);
    if (json.is_discarded()) return LLVMFuzzerMutate(data, size, max_size);
    for (std::size_t changes = 1 + below(3, engine); changes > 0; --changes) change(json, engine);
    const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
    std::memcpy(data, text.data(), text.size());
    return text.size();
}
