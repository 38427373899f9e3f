// The one list of kinds. A new one is a folder beside mixture/ and a line here.

#include "kind/declared/kind.hpp"
#include "kind/mixture/kind.hpp"
#include "kind/model/kind.hpp"
#include "kind/regression/kind.hpp"

#include <lrvb/kind/kind.hpp>

#include <fmt/format.h>

namespace lrvb {

namespace {

std::vector<std::unique_ptr<const Kind>>& all() {
    static std::vector<std::unique_ptr<const Kind>> kinds = [] {
        std::vector<std::unique_ptr<const Kind>> own;
        own.push_back(std::make_unique<detail::MixtureKind>());
        own.push_back(std::make_unique<detail::RegressionKind>());
        own.push_back(std::make_unique<detail::TextModelKind>());
        own.push_back(std::make_unique<detail::DeclaredKind>());
        return own;
    }();
    return kinds;
}

}  // namespace

const std::vector<std::unique_ptr<const Kind>>& kinds() {
    return all();
}

const Kind* find_kind(std::string_view name) {
    for (const std::unique_ptr<const Kind>& kind : all()) {
        if (kind->name() == name) return kind.get();
    }
    return nullptr;
}

std::vector<RowQuestion> row_questions() {
    std::vector<RowQuestion> questions;
    for (const std::unique_ptr<const Kind>& kind : all()) {
        for (RowQuestion& question : kind->row_questions()) questions.push_back(std::move(question));
    }
    return questions;
}

void register_kind(std::unique_ptr<const Kind> kind) {
    if (find_kind(kind->name()) != nullptr) {
        throw std::invalid_argument(
            fmt::format("there is a kind of model called '{}' already: give it another name", kind->name()));
    }
    all().push_back(std::move(kind));
}

}  // namespace lrvb
