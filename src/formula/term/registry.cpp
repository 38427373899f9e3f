#include "formula/term/latent_term.hpp"

namespace lrvb::detail {

const std::vector<const LatentTermKind*>& latent_term_kinds() {
    static const std::vector<const LatentTermKind*> kinds{
        &random_walk_2(),
    };
    return kinds;
}

const LatentTermKind* find_latent_term(std::string_view word) {
    for (const LatentTermKind* kind : latent_term_kinds()) {
        if (kind->word() == word) return kind;
    }
    return nullptr;
}

}  // namespace lrvb::detail
