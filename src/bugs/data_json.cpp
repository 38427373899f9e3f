#include "base/messages.hpp"

#include <lrvb/base/document.hpp>
#include <lrvb/bugs/data.hpp>
#include <lrvb/bugs/diagnostics.hpp>

#include <fmt/format.h>

#include <limits>
#include <stdexcept>

namespace lrvb::bugs {

namespace {

/// An array of arrays of … numbers: its extents, and the numbers as they stand, the last index fastest.
class NestedNumbers {
  public:
    NestedNumbers(const std::string& file, const std::string& name, const Document& value) : file_(file), path_(name) {
        find_extents(value);
        add(value, 0);
    }

    std::vector<Index> dims() const { return {extents_.begin(), extents_.end()}; }

    /// With the first index fastest.
    std::vector<double> values() const {
        if (extents_.size() < 2) return numbers_;
        std::vector<double> result(numbers_.size());
        std::vector<std::size_t> index(extents_.size(), 0);
        for (const double number : numbers_) {
            std::size_t place = 0;
            for (std::size_t d = extents_.size(); d-- > 0;) place = place * extents_[d] + index[d];
            result[place] = number;
            for (std::size_t d = extents_.size(); d-- > 0;) {
                if (++index[d] < extents_[d]) break;
                index[d] = 0;
            }
        }
        return result;
    }

  private:
    [[noreturn]] void refuse(const std::string& sentence) const {
        throw std::runtime_error(
            fmt::format("{}: {} {}", lrvb::detail::on_one_line(file_), lrvb::detail::printable(path_), sentence));
    }

    /// Along the first entries.
    void find_extents(const Document& value) {
        const Document* here = &value;
        while (here->is_list()) {
            extents_.push_back(here->size());
            const Document::List* entries = here->entries();
            if (entries == nullptr || entries->empty()) break;
            here = &entries->front();
        }
    }

    void add(const Document& value, std::size_t depth) {
        if (!value.is_list()) {
            if (depth < extents_.size())
                refuse("is no array, but those beside it are: give all of them the same shape");
            numbers_.push_back(number(value));
            return;
        }
        if (depth >= extents_.size()) refuse("is an array, but those beside it are numbers: give all the same shape");
        if (value.size() != extents_[depth]) {
            refuse(
                fmt::format("has {} entries, but the first beside it has {}: fill up with null, or give the numbers as "
                            "one array",
                            value.size(), extents_[depth]));
        }
        if (const Document::Numbers* numbers = value.numbers()) {
            if (depth + 1 < extents_.size() && !numbers->empty()) {
                refuse("holds numbers, but those beside it hold arrays: give all of them the same shape");
            }
            numbers_.insert(numbers_.end(), numbers->begin(), numbers->end());
            return;
        }
        const std::size_t length = path_.size();
        std::size_t place = 0;
        for (const Document& entry : *value.entries()) {
            path_ += fmt::format("[{}]", ++place);
            add(entry, depth + 1);
            path_.resize(length);
        }
    }

    double number(const Document& value) const {
        if (const std::optional<double> number = value.number()) return *number;
        if (const std::optional<bool> flag = value.flag()) return *flag ? 1.0 : 0.0;
        const std::string* text = value.text();
        const bool is_missing = value.is_null() || (text != nullptr && (*text == "NA" || *text == "NaN"));
        if (is_missing) return std::numeric_limits<double>::quiet_NaN();
        if (text != nullptr) {
            refuse(fmt::format("is {}, which is no number: data are numbers, and null or \"NA\" where one is missing",
                               lrvb::detail::shown(*text)));
        }
        refuse("is an object, but data are numbers and arrays of them");
    }

    const std::string& file_;
    std::string path_;
    std::vector<std::size_t> extents_;
    std::vector<double> numbers_;
};

}  // namespace

void Data::add_json(std::string_view text, const std::string& file) {
    std::size_t wrong = 0;
    Document document;
    try {
        document = Document::parse(text, &wrong);
    } catch (const std::runtime_error& error) {
        const Source source(file, std::string(text));
        throw std::runtime_error(
            fmt::format("{}: {}: correct it there, or just before", source.position({wrong, wrong}), error.what()));
    }
    if (!document.is_object()) {
        throw std::runtime_error(fmt::format("{}: data in JSON are an object, as in {{\"N\": 3, \"y\": [1, 2, 3]}}",
                                             lrvb::detail::on_one_line(file)));
    }
    for (const auto& [name, value] : *document.object_entries()) {
        const NestedNumbers numbers(file, name, value);
        add({name, numbers.dims(), numbers.values(), file, {}});
    }
}

}  // namespace lrvb::bugs
