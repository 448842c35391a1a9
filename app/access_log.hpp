#pragma once

#include <mutex>
#include <string>
#include <string_view>

namespace poise::app {

/// A file of lines that any thread may write; lines stay whole.
class AccessLog {
 public:
  /// Appends to the file; - is stdout, and an empty name no log. Error{input} if it cannot be written.
  explicit AccessLog(const std::string& file);
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;
  ~AccessLog();

  /// Lines are kept until flush(), but no more than 64 KiB of them.
  void write(std::string_view line);
  void flush();

 private:
  void put();

  std::mutex mutex_;
  int file_ = -1;
  std::string lines_;
};

}  // namespace poise::app
