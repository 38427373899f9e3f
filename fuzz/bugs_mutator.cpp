// Writes models by a grammar: bytes changed at random seldom make ranges, empty vectors, long chains or deep
// parentheses that are read to their end.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using Engine = std::minstd_rand;
using Words = std::vector<std::string>;

class Grammar {
  public:
    explicit Grammar(std::uint32_t seed) : engine_(seed) {}

    std::string model() {
        std::string text = one_of({"", "", "var x[4], z[N];\n", "data { w <- " + value(2) + " }\n"});
        text += "model {\n";
        for (std::size_t relations = 1 + below(5); relations > 0; --relations) text += relation();
        if (below(4) == 0) text += chain();
        return text + "}\n---\n" + data();
    }

  private:
    std::size_t below(std::size_t count) { return engine_() % count; }
    std::string one_of(const Words& words) { return words[below(words.size())]; }

    std::string whole() { return one_of({"0", "1", "2", "3", "5", "-1", "N", "n[1]", "i", "1e9", "NA", "2.5"}); }
    std::string range() { return whole() + one_of({":", ":", " : "}) + whole(); }

    std::string index(int depth) {
        const std::string parts[] = {"", "i", range(), whole(), depth > 0 ? value(depth - 1) : "1"};
        return parts[below(5)];
    }

    std::string variable(int depth) {
        const std::string name = one_of({"x", "y", "z", "mu", "n", "m", "empty", "w", "p"});
        if (below(3) == 0) return name;
        std::string text = name + "[" + index(depth);
        if (below(4) == 0) text += "," + index(depth);
        return text + "]";
    }

    std::string nested(int depth) {
        const std::size_t count = below(3) > 0 ? 1 + below(5) : 1 + below(60);
        const std::string open = one_of({"(", "exp(", "-(", "sum(", "x[", "!", "- "});
        std::string text;
        for (std::size_t i = 0; i < count; ++i) text += open;
        text += value(depth - 1);
        const char last = open.back();
        if (last == '(' || last == '[') text += std::string(count, last == '(' ? ')' : ']');
        return text;
    }

    std::string row_of_operators(int depth) {
        const std::string sign = one_of({" + ", " * ", " - ", "^", " %*% ", " && "});
        std::string text = value(depth - 1);
        for (std::size_t i = below(4) == 0 ? below(1200) : below(4); i > 0; --i) text += sign + whole();
        return text;
    }

    std::string call(int depth) {
        const std::string name =
            one_of({"sum",    "mean",  "max",     "min", "prod",   "sd",         "sort", "rank",   "order",
                    "length", "dim",   "c",       "rep", "inprod", "ifelse",     "step", "equals", "exp",
                    "log",    "logit", "inverse", "t",   "logdet", "interp.lin", "pow",  "abs"});
        const std::size_t wanted = name == "ifelse" || name == "interp.lin"                                 ? 3
                                   : name == "inprod" || name == "equals" || name == "rep" || name == "pow" ? 2
                                                                                                            : 1;
        std::string text = name + "(";
        for (std::size_t i = 0; i < wanted; ++i) text += (i > 0 ? ", " : "") + value(depth - 1);
        return text + ")";
    }

    std::string value(int depth) {
        if (depth <= 0) return below(2) == 0 ? whole() : variable(0);
        switch (below(6)) {
            case 0:
                return range();
            case 1:
                return nested(depth);
            case 2:
                return row_of_operators(depth);
            case 3:
                return call(depth);
            default:
                return variable(depth);
        }
    }

    std::string distribution() {
        const std::string name = one_of({"dnorm", "dnorm", "dgamma", "dunif", "dbin", "dpois", "dexp", "dbern", "dcat",
                                         "ddirch", "dmulti", "dmnorm", "dwish", "dt", "dinterval", "dflat"});
        const std::size_t wanted = name == "dflat"                                                          ? 0
                                   : name == "dpois" || name == "dexp" || name == "dbern" || name == "dcat" ? 1
                                   : name == "ddirch"                                                       ? 1
                                   : name == "dt"                                                           ? 3
                                                                                                            : 2;
        std::string text = name + "(";
        for (std::size_t i = 0; i < wanted; ++i) text += (i > 0 ? ", " : "") + value(2);
        text += ")";
        if (below(6) == 0)
            text += " T(" + (below(2) == 0 ? value(1) : "") + "," + (below(2) == 0 ? value(1) : "") + ")";
        return text;
    }

    std::string relation() {
        const bool is_loop = below(2) == 0;
        std::string text = is_loop ? "  for (i in " + (below(5) == 0 ? value(1) : range()) + ") { " : "  ";
        const std::string name = one_of({"x", "y", "z", "mu", "w", "p"});
        const std::string left = below(4) == 0 ? name : name + "[" + (is_loop ? "i" : index(1)) + "]";
        text += below(2) == 0   ? left + " ~ " + distribution()
                : below(6) == 0 ? "log(" + left + ") <- " + value(3)
                                : left + " <- " + value(3);
        return text + (is_loop ? " }\n" : "\n");
    }

    /// Of deterministic nodes, each by the one before: forwards, backwards, or in the columns of a matrix.
    std::string chain() {
        const std::string length = one_of({"3", "20", "90", "900"});
        const std::string last = "x[" + length + "]";
        const std::string step = one_of({"PREVIOUS + 1", "exp(PREVIOUS)", "PREVIOUS * (1 - PREVIOUS)", "PREVIOUS + y",
                                         "0.5 * PREVIOUS + e[i]", "PREVIOUS / 2 + PREVIOUS / 3",
                                         "ifelse(PREVIOUS > 0, PREVIOUS, 1)", "max(PREVIOUS, w[])"});
        const auto with = [&](const std::string& previous) {
            std::string text = step;
            for (std::size_t at = 0; (at = text.find("PREVIOUS", at)) != std::string::npos;) {
                text.replace(at, std::strlen("PREVIOUS"), previous);
            }
            return text;
        };
        const std::string loop = "  for (i in 2:" + length + ") { e[i] ~ dnorm(0, 1) ";
        switch (below(4)) {
            case 0:
                return "  " + last + " ~ dnorm(0, 1)\n" + loop + "x[" + length + " + 1 - i] <- " +
                       with("x[" + length + " + 2 - i]") + " }\n  y ~ dnorm(x[1], 1)\n";
            case 1:
                return "  x[1,1] ~ dnorm(0, 1)\n  x[1,2] ~ dnorm(0, 1)\n" + loop + "x[i,1] <- " + with("x[i-1,2]") +
                       " x[i,2] <- x[i-1,1] }\n  y ~ dnorm(x[" + length + ",1], 1)\n";
            case 2:
                return "  x[1] ~ dnorm(0, 1)\n" + loop + "x[i] <- sum(x[1:(i-1)]) }\n  y ~ dnorm(" + last + ", 1)\n";
            default:
                return "  x[1] ~ dnorm(0, 1)\n" + loop + "x[i] <- " + with("x[i-1]") + " }\n  y ~ dnorm(" + last +
                       ", 1)\n";
        }
    }

    std::string data() {
        std::string text;
        for (const std::string name : {"y", "n", "m", "N", "empty", "w", "p"}) {
            if (below(3) == 0) continue;
            const std::string value = name == "N"   ? one_of({"3", "0", "1"})
                                      : name == "m" ? one_of({"[[1, 0], [0, 1]]", "[[1, 2, 3]]", "[[]]"})
                                      : name == "y" ? one_of({"1", "[1, null, 2]", "[]", "[1]", "[0, 1, 2]"})
                                                    : one_of({"[]", "[1]", "[1, 2]", "[0.5, 0.5]", "2", "[[], []]"});
            text += (text.empty() ? "" : ", ") + ("\"" + name + "\": ") + value;
        }
        return "{" + text + "}";
    }

    Engine engine_;
};

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
    Engine engine(seed);
    if (engine() % 3 != 0) return LLVMFuzzerMutate(data, size, max_size);
    const std::string text = Grammar(seed).model();
    if (text.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
    std::memcpy(data, text.data(), text.size());
    return text.size();
}
