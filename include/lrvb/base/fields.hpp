#pragma once

#include <lrvb/base/document.hpp>

#include <functional>
#include <string>
#include <vector>

namespace lrvb {

/// An object of a file that someone else may have written, and where it stands in it: every access names what is
/// missing or wrong, by std::runtime_error. The document must outlive it.
class LRVB_EXPORT Fields {
  public:
    /// `file` is what messages call the file, `path` where the object stands in it.
    Fields(const Document& object, std::string file, std::string path = "");

    [[noreturn]] void refuse(const std::string& what, const std::string& reason) const;

    /// Whether the key is there, and not null.
    bool has(const std::string& key) const;
    const Document& at(const std::string& key) const;
    Fields fields(const std::string& key) const { return {at(key), file_, place(key)}; }

    std::string text(const std::string& key) const;
    bool flag(const std::string& key) const;
    double number(const std::string& key) const;
    /// null stands for infinity, which JSON lacks.
    double number_or_infinity(const std::string& key) const;
    /// A whole number from 0 to `most`.
    std::uint64_t whole(const std::string& key, std::uint64_t most) const;
    Index count(const std::string& key) const;
    int small(const std::string& key) const;

    std::vector<std::string> texts(const std::string& key) const;
    Vector vector(const std::string& key) const;
    Vector vector(const std::string& key, Index size) const;
    /// Rows of numbers. The shape is compared before anything is made of that size: many rows of nothing are a small
    /// file.
    Matrix matrix(const std::string& key, Index rows, Index columns) const;
    /// From the rows of its lower triangle.
    Matrix symmetric(const std::string& key, Index size) const;
    /// The entries of a list.
    std::size_t length(const std::string& key) const;
    void each(const std::string& key, const std::function<void(const Fields&)>& read) const;

  private:
    std::string place(const std::string& key) const;
    double number_of(const Document& value, const std::string& where) const;
    Vector vector_of(const Document& values, const std::string& where) const;
    Matrix filled(const std::string& key, Index rows, Index columns, const std::function<Index(Index)>& length) const;

    const Document* object_;
    std::string file_;
    std::string path_;
};

}  // namespace lrvb
