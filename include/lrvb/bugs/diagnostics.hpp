#pragma once

#include <lrvb/export.hpp>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What is wrong with a model's text, and where: as compilers say it.
///
///     rats.bug:7:12: 'mu' is used here but never defined, and is not in the data: …
///       y[i] ~ dnorm(mu[i], tau)
///                    ^~~~~
namespace lrvb::bugs {

/// A part of a text, in bytes.
struct Place {
    std::size_t begin = 0;
    std::size_t end = 0;  ///< behind its last byte

    bool operator==(const Place&) const = default;
};

/// A text with a name, and where its lines begin. Cheap to copy.
class LRVB_EXPORT Source {
  public:
    Source() : Source("", "") {}
    /// `name` is what messages call it: a file's path.
    Source(std::string name, std::string text);

    const std::string& name() const { return parts_->name; }
    const std::string& text() const { return parts_->text; }
    std::string_view text(const Place& place) const;

    /// The line of a byte, from 1, and its character on that line, from 1; a tab counts as one.
    std::size_t line(std::size_t byte) const;
    std::size_t column(std::size_t byte) const;
    /// "rats.bug:7:12".
    std::string position(const Place& place) const;
    /// The line in which the place begins, and a mark under it on the next, both written out so that they can be shown
    /// anywhere. Of a long line, the part around the place.
    std::string picture(const Place& place) const;

  private:
    struct Parts {
        std::string name;
        std::string text;
        std::vector<std::size_t> lines;  // where they begin
    };
    std::shared_ptr<const Parts> parts_;
};

/// One thing to be said of a place.
struct Diagnostic {
    std::string file;
    std::size_t line = 0;
    std::size_t column = 0;
    /// What is wrong, and what to write instead.
    std::string sentence;
    /// Source::picture.
    std::string picture;

    /// "file:line:column: sentence", then the picture.
    std::string written() const;
};

/// All that is wrong with a model, in the order in which it stands in the text. what() has all of them, each on three
/// lines; of very many, the first 20.
class LRVB_EXPORT ModelError : public std::runtime_error {
  public:
    explicit ModelError(std::vector<Diagnostic> diagnostics);

    const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

  private:
    std::vector<Diagnostic> diagnostics_;
};

/// Collects what is wrong, so that all of it can be said at once.
class LRVB_EXPORT Diagnostics {
  public:
    explicit Diagnostics(Source source) : source_(std::move(source)) {}

    const Source& source() const { return source_; }
    /// The same sentence of the same place is said once. More than 200 are not kept.
    void add(const Place& place, std::string sentence);
    bool empty() const { return found_.empty(); }
    /// Sorted by place.
    std::vector<Diagnostic> take();
    /// Throws ModelError if anything is wrong.
    void require_none();

  private:
    struct Found {
        Place place;
        Diagnostic diagnostic;
    };
    Source source_;
    std::vector<Found> found_;
};

}  // namespace lrvb::bugs
