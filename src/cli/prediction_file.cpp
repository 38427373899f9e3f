#include "cli/prediction_file.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace lrvb::cli {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// What JSON calls a number, digit by digit: 007 and 1. are none.
bool is_json_number(std::string_view text) {
    std::size_t at = 0;
    const auto skip = [&](std::string_view any) {
        const bool is_there = at < text.size() && any.find(text[at]) != std::string_view::npos;
        at += is_there ? 1 : 0;
        return is_there;
    };
    const auto digits = [&] {
        const std::size_t first = at;
        while (at < text.size() && is_digit(text[at])) ++at;
        return at > first;
    };
    skip("-");
    const bool begins_with_zero = at < text.size() && text[at] == '0';
    const std::size_t first = at;
    if (!digits() || (begins_with_zero && at > first + 1)) return false;
    if (skip(".") && !digits()) return false;
    if (skip("eE")) {
        skip("+-");
        if (!digits()) return false;
    }
    return at == text.size();
}

// A field of the data: a number as it is written, null where it is missing, or else text.
std::string json_field(const TextField& field) {
    if (!field.quoted) {
        if (is_json_number(field.text)) return field.text;
        if (field.text.empty() || field.text == "NA") return "null";
        // Written in another way: +1, .5, NaN. Codes such as 007 are text.
        double number = 0.0;
        const char* const begin = field.text.data() + (field.text.front() == '+' ? 1 : 0);
        const char* const end = field.text.data() + field.text.size();
        const auto [next, error] = fast_float::from_chars(begin, end, number);
        const bool is_code = end - begin > 1 && begin[0] == '0' && is_digit(begin[1]);
        if (error == std::errc() && next == end && std::isnan(number)) return "null";
        if (error == std::errc() && next == end && std::isfinite(number) && !is_code) return exact(number);
    }
    return Document(field.text).json();
}

// Beyond all doubles, as a log density far away: that is known, and NA would hide it.
std::string number_text(double number, bool is_json) {
    if (std::isinf(number)) {
        const std::string text = number > 0.0 ? "Inf" : "-Inf";
        return is_json ? Document(text).json() : text;
    }
    return is_json && std::isnan(number) ? "null" : exact(number);
}

}  // namespace

void PredictionFile::header(const std::vector<std::string>& names) {
    predicted_ = names.size();
    std::vector<std::string> all{"row"};
    all.insert(all.end(), names.begin(), names.end());
    begin(all);
}

void PredictionFile::row(Index row, const Vector& numbers) {
    std::vector<std::string> fields{fmt::format("{}", row)};
    add_numbers(fields, numbers.size() > 0 ? &numbers : nullptr);
    write(fields);
}

void PredictionFile::header(const std::vector<std::string>& columns, const std::vector<std::string>& beside) {
    predicted_ = beside.size();
    std::vector<std::string> all = columns;
    if (is_json_) {
        // A key is there once: of columns with the same name each has its number, as elsewhere.
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (std::count(columns.begin(), columns.end(), columns[i]) > 1) all[i] = fmt::format("{}", i + 1);
        }
    }
    all.insert(all.end(), beside.begin(), beside.end());
    if (is_json_) {
        begin(all);
        return;
    }
    for (std::string& name : all) name = field_text({name, false});
    write(all);
}

void PredictionFile::row(const std::vector<TextField>& fields, const Vector* beside) {
    std::vector<std::string> all;
    all.reserve(fields.size() + predicted_);
    for (const TextField& field : fields) {
        all.push_back(is_json_ ? json_field(field) : field_text(field));
    }
    add_numbers(all, beside);
    write(all);
}

void PredictionFile::commit() {
    if (is_json_) file_.add(has_rows_ ? "\n]}\n" : "]}\n");
    file_.commit();
}

std::string PredictionFile::field_text(const TextField& field) const {
    return file_.is_terminal() ? shown_field(field) : carried_field(field);
}

void PredictionFile::begin(const std::vector<std::string>& names) {
    if (!is_json_) {
        file_.add(csv_line(names));
        return;
    }
    file_.add("{\"rows\": [");
    for (const std::string& name : names) keys_.push_back(Document(name).json());
}

void PredictionFile::write(const std::vector<std::string>& fields) {
    std::string line = is_json_ ? (has_rows_ ? ",\n{" : "\n{") : "";
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (i > 0) line += ',';
        if (is_json_) line += keys_[i] + ':';
        line += fields[i];
    }
    line += is_json_ ? "}" : "\n";
    file_.add(line);
    has_rows_ = true;
}

void PredictionFile::add_numbers(std::vector<std::string>& fields, const Vector* numbers) const {
    for (std::size_t i = 0; i < predicted_; ++i) {
        const bool is_known = numbers != nullptr;
        fields.push_back(is_known ? number_text((*numbers)[static_cast<Index>(i)], is_json_) : is_json_ ? "null" : "");
    }
}

}  // namespace lrvb::cli
