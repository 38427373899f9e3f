#pragma once

#include <string>

/// Files that are written beside their place and renamed when they are whole: what they are called until then, and what
/// becomes of them when a process ends before that.
namespace lrvb::detail {

/// The name that this process gives to its next unfinished file for `path`: it tells the process.
std::string unfinished_name(const std::string& path);

/// While it lives, `remove_unfinished_files` knows the name.
class UnfinishedFile {
  public:
    explicit UnfinishedFile(const std::string& name);
    ~UnfinishedFile();
    UnfinishedFile(const UnfinishedFile&) = delete;
    UnfinishedFile& operator=(const UnfinishedFile&) = delete;

  private:
    int place_ = -1;
};

/// Removes all files that this process is writing. For a handler of signals: it does nothing that such a handler must
/// not do.
void remove_unfinished_files() noexcept;

/// Removes the unfinished files for `path` that processes left behind which are gone: those that have our names, belong
/// to our user, and are held by nobody. Nothing else is touched, and nothing is said where it does not succeed.
void remove_abandoned_files(const std::string& path) noexcept;

}  // namespace lrvb::detail
