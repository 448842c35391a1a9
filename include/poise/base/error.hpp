#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "poise/base/parameter_name.hpp"

namespace poise {

/// The kinds of errors, by what the caller can do about them. Only app/ turns a kind into an exit code.
enum class ErrorKind {
  usage,        ///< an option out of range, options that contradict each other
  input,        ///< a missing, malformed or corrupt file; an unknown item
  resources,    ///< memory, disk, device
  numerical,    ///< the mathematics failed
  interrupted,  ///< the observer asked to stop
};

/// The library's only exception type: one sentence that says what, where and what to do. The sentence
/// contains parameters by id (parameter_name.hpp): what() shows the ids, a front end replaces them by its own
/// names.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string sentence)
      : std::runtime_error(with_names(sentence, [](std::string_view id) { return std::string(id); })),
        kind_(kind),
        sentence_(std::move(sentence)) {}
  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
  /// The id of the first parameter in the sentence; empty if it names none.
  [[nodiscard]] std::string parameter() const { return first_name(sentence_); }
  /// The sentence with its ids marked, for with_names().
  [[nodiscard]] const std::string& sentence() const noexcept { return sentence_; }

 private:
  ErrorKind kind_;
  std::string sentence_;
};

/// An Error about a file or folder that cannot be read or written.
class FileError : public Error {
 public:
  using Error::Error;
};

/// Throws Error{kind} with a formatted message.
template <class... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

/// Throws FileError{kind} with a formatted message.
template <class... Args>
[[noreturn]] void fail_on_file(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw FileError(kind, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace poise
