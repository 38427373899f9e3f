#pragma once

#include <lrvb/base/errors.hpp>
#include <lrvb/export.hpp>
#include <lrvb/types.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What a kind of model can be told when it is fitted: options that are declared once, and read by the program's
/// command line or by any other front.
namespace lrvb {

struct LRVB_EXPORT OptionInfo {
    enum class Type {
        text,    ///< any text: a column, a list of numbers
        list,    ///< a list separated by commas; may be given several times, and is then all of them
        file,    ///< a file that is read, which no output may replace
        files,   ///< several of them, one after the other
        output,  ///< a file that is written
        flag,    ///< there or not
        whole,   ///< a whole number from `least` to `most`
        range,   ///< such a number, or a range of them, as in 1:8: one fit each
        number,  ///< a number from `least` to `most`
        seed,    ///< a whole number from 0
        choice,  ///< one of `choices`
        texts,   ///< several of them: one after the other, or, with a dash, one each time that it is given
    };

    /// As it is written: "--prior-alpha", "-k,--components", or "DATA" for an argument without a dash.
    std::string name;
    std::string help;
    Type type = Type::text;
    bool required = false;
    /// The heading under which the help shows it; empty: the common one.
    std::string group = {};
    /// What stands for the value in the help; empty: what its type says.
    std::string value = {};
    std::vector<std::string> choices = {};
    double least = 0.0;
    double most = 1e9;
    /// What the help says of the two: "1 or more".
    std::string range = {};

    static OptionInfo flag(std::string name, std::string help);
    static OptionInfo choice(std::string name, std::vector<std::string> choices, std::string help);
    static OptionInfo whole(std::string name, double least, double most, std::string help);
    static OptionInfo whole_range(std::string name, double least, double most, std::string help);
    static OptionInfo number(std::string name, double least, double most, std::string range, std::string help);

    OptionInfo& require() {
        required = true;
        return *this;
    }

    /// Without dashes, the long one of two: "prior-alpha", "components".
    std::string key() const;
    /// Without dashes, the short one of two: "k"; the long one where there is no other.
    std::string short_key() const;
};

/// The options of one request, by key. Every refusal is a UsageError that names the option as the user wrote it.
class LRVB_EXPORT Settings {
  public:
    Settings() = default;
    Settings(std::initializer_list<std::pair<const std::string, std::string>> values) : values_(values) {}

    void set(const std::string& key, std::string value) { values_[key] = std::move(value); }

    /// Given, if only as an empty text.
    bool given(const std::string& key) const { return values_.contains(key); }
    /// Given, and not empty.
    bool has(const std::string& key) const { return !text(key).empty(); }
    /// Whether any option whose key begins so was given.
    bool has_any(std::string_view beginning) const;
    /// Empty where it was not given.
    std::string text(const std::string& key, const std::string& otherwise = "") const;
    bool flag(const std::string& key) const { return has(key); }
    /// All of an option that may be given several times; none where it was not.
    std::vector<std::string> texts(const std::string& key) const;
    void add(const std::string& key, const std::string& value);
    Index whole(const std::string& key, Index otherwise) const;
    /// The first and the last of a range, "1:8"; of a number, that number twice.
    std::pair<Index, Index> range(const std::string& key) const;
    std::uint64_t seed(std::uint64_t otherwise = 1) const;
    /// "a,b" is a and b; a comma within brackets, as in mu[1,2], separates nothing.
    std::vector<std::string> list(const std::string& key) const;
    Vector numbers(const std::string& key) const;
    double number(const std::string& key) const;
    double positive(const std::string& key) const;
    /// A number for every column: as many as there are columns, or one for all.
    Vector for_columns(const std::string& key, Index columns) const;
    Vector positive_for_columns(const std::string& key, Index columns) const;

  private:
    std::map<std::string, std::string> values_;
};

/// "a,b" is a and b, as in Settings::list; a part that begins with a double quote ends with one, and may hold commas
/// and doubled quotes, and so does what follows an equals sign: g="p,1". Empty text is an empty list. Throws UsageError
/// for a quote that is not closed.
LRVB_EXPORT std::vector<std::string> split_list(std::string_view text, char separator = ',');
/// Numbers of such a list; throws UsageError, with what the option is called, for what is not a finite number.
LRVB_EXPORT Vector parse_numbers(const std::string& option, std::string_view text);

}  // namespace lrvb
