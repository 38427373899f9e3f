#include "checks.hpp"
#include "finding.hpp"

#include <lrvb/formula/design.hpp>
#include <lrvb/formula/prior.hpp>

#include <algorithm>

namespace lrvb::fuzz {
namespace {

DataFrame table() {
    DataFrame frame;
    frame.name = "data";
    frame.rows = 6;
    const auto add = [&](const std::string& name, const Vector& numbers) {
        frame.columns.push_back({.name = name, .numbers = numbers, .levels = {}, .codes = {}});
    };
    add("y", Vector{{1, 3, 2, 5, 4, 6}});
    add("x", Vector{{1, 2, 3, 4, 5, 7}});
    add("z", Vector{{-1, 0, 3, 1, 1, 2}});
    frame.columns.push_back({.name = "a", .numbers = {}, .levels = {"p", "q"}, .codes = {0, 1, 0, 1, 1, 0}});
    frame.columns.push_back({.name = "g", .numbers = {}, .levels = {"1", "2", "\x1b"}, .codes = {0, 1, 2, 2, 1, 0}});
    return frame;
}

bool is_plain(const std::string& text) {
    return std::none_of(text.begin(), text.end(),
                        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

template <class Error>
void require_marked(const Error& error) {
    require(is_plain(error.sentence()) && !error.sentence().empty(), "a sentence is one line, and plain");
    const std::size_t end = error.picture().find('\n');
    require(end != std::string::npos && is_plain(error.picture().substr(0, end)), "the text is on one line");
    const std::string mark = error.picture().substr(end + 1);
    require(mark.find_first_not_of(' ') == mark.size() - 1 && mark.back() == '^', "a mark is below it");
}

/// A refusal by FormulaError or FormulaDataError is a sentence, the text and a mark, and nothing that a terminal would
/// obey.
template <class Call>
bool is_refused(Call call) {
    try {
        call();
        return false;
    } catch (const FormulaError& error) {
        require_marked(error);
    } catch (const FormulaDataError& error) {
        require_marked(error);
    } catch (const std::runtime_error& error) {
        require(is_plain(error.what()), "a refusal is one line");
    } catch (const std::invalid_argument& error) {
        require(is_plain(error.what()), "a refusal is one line");
    }
    return true;
}

void check_design(const Formula& formula) {
    const DataFrame frame = table();
    is_refused([&] {
        const FormulaCoding coding(formula, frame);
        const FormulaDesign design = coding.design(frame);
        require(design.columns.allFinite() || design.columns.size() == 0, "columns are finite");
        require(static_cast<std::size_t>(design.columns.cols()) == design.names.size(), "every column has a name");
        const Document document = Document::parse(coding.document().json());
        const FormulaCoding kept = FormulaCoding::read(Fields(document, "fit"));
        require(kept.new_rows(frame).columns == design.columns, "what is kept makes the same columns");
    });
}

}  // namespace

void check_formula(std::string_view bytes) {
    const std::string text(bytes);
    Formula formula;
    if (!is_refused([&] { formula = Formula::parse(text); })) check_design(formula);
    PriorSentence sentence;
    if (is_refused([&] { sentence = PriorSentence::parse(text); })) return;
    const PriorSentence again = PriorSentence::parse(sentence.written());
    require(again.written() == sentence.written() && again.numbers == sentence.numbers, "a sentence can be read back");
}

}  // namespace lrvb::fuzz
