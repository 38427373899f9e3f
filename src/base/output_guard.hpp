#pragma once

#include <string>
#include <sys/stat.h>

/// No output of a program may be one of its inputs, by whatever path, link or list. Who opens a file to read it, or
/// reads a file that names others, notes it here; who writes one is refused here.
namespace lrvb::detail {

/// While it lives, inputs and outputs of this process are compared; otherwise they are not, since a library may write
/// again what it read before. One at a time.
class OutputGuard {
  public:
    OutputGuard();
    ~OutputGuard();
    OutputGuard(const OutputGuard&) = delete;
    OutputGuard& operator=(const OutputGuard&) = delete;
};

/// An output that will be written, before it is: `option` is how it was asked for. Throws UsageError where it is an
/// input.
void note_output(const std::string& path, const std::string& option);

/// A file that is read, or that a file names which was read; "-" is standard input. Throws UsageError where an output
/// is that file. What is no regular file is none.
void note_input(const std::string& path);
void note_input(const std::string& path, const struct stat& status);

/// Whether two paths lead to one regular file that exists.
bool leads_to_same_file(const std::string& left, const std::string& right);

/// "-o d.csv would replace the input: choose another name".
[[noreturn]] void refuse_output(const std::string& output, const std::string& option, const std::string& input);

}  // namespace lrvb::detail
