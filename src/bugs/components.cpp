#include "bugs/components.hpp"

#include <algorithm>

namespace lrvb::bugs {

namespace {

constexpr std::size_t kUnseen = static_cast<std::size_t>(-1);

/// Without recursion: a model may have very many relations.
class ComponentSearch {
  public:
    explicit ComponentSearch(const std::vector<std::vector<std::size_t>>& successors)
        : successors_(successors),
          order_(successors.size(), kUnseen),
          lowest_(successors.size(), kUnseen),
          is_open_(successors.size(), false) {}

    std::vector<std::vector<std::size_t>> run() {
        for (std::size_t node = 0; node < successors_.size(); ++node) {
            if (order_[node] == kUnseen) search(node);
        }
        return std::move(found_);
    }

  private:
    struct Visit {
        std::size_t node;
        std::size_t next;  // of its successors
    };

    void enter(std::size_t node) {
        order_[node] = lowest_[node] = count_++;
        open_.push_back(node);
        is_open_[node] = true;
        path_.push_back({node, 0});
    }

    void search(std::size_t root) {
        enter(root);
        while (!path_.empty()) {
            const std::size_t node = path_.back().node;
            if (path_.back().next < successors_[node].size()) {
                const std::size_t other = successors_[node][path_.back().next++];
                if (order_[other] == kUnseen) {
                    enter(other);
                } else if (is_open_[other]) {
                    lowest_[node] = std::min(lowest_[node], order_[other]);
                }
                continue;
            }
            path_.pop_back();
            if (!path_.empty()) lowest_[path_.back().node] = std::min(lowest_[path_.back().node], lowest_[node]);
            if (lowest_[node] == order_[node]) close(node);
        }
    }

    void close(std::size_t root) {
        std::vector<std::size_t>& component = found_.emplace_back();
        std::size_t node = kUnseen;
        while (node != root) {
            node = open_.back();
            open_.pop_back();
            is_open_[node] = false;
            component.push_back(node);
        }
        std::sort(component.begin(), component.end());
    }

    const std::vector<std::vector<std::size_t>>& successors_;
    std::vector<std::size_t> order_;
    std::vector<std::size_t> lowest_;
    std::vector<bool> is_open_;
    std::vector<std::size_t> open_;
    std::vector<Visit> path_;
    std::vector<std::vector<std::size_t>> found_;
    std::size_t count_ = 0;
};

}  // namespace

std::vector<std::vector<std::size_t>> components_of(const std::vector<std::vector<std::size_t>>& successors) {
    return ComponentSearch(successors).run();
}

std::vector<std::size_t> circle_in(const std::vector<std::vector<std::size_t>>& successors,
                                   const std::vector<bool>& is_among) {
    const auto first = std::find(is_among.begin(), is_among.end(), true);
    std::vector<std::size_t> way;
    std::vector<std::size_t> place(successors.size(), kUnseen);
    std::size_t node = static_cast<std::size_t>(first - is_among.begin());
    while (node < successors.size() && place[node] == kUnseen) {
        place[node] = way.size();
        way.push_back(node);
        const auto next = std::find_if(successors[node].begin(), successors[node].end(),
                                       [&](std::size_t other) { return is_among[other]; });
        if (next == successors[node].end()) return {};
        node = *next;
    }
    if (node >= successors.size()) return {};
    return {way.begin() + static_cast<std::ptrdiff_t>(place[node]), way.end()};
}

}  // namespace lrvb::bugs
