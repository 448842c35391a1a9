#pragma once

#include <string_view>

namespace poise::app {

/// Opens standard streams that the caller closed, so that no file of the program gets their descriptors.
/// Writing to a closed standard output still fails; output to a closed standard error is lost.
void fill_closed_streams();

/// Whether the two functions below write nothing: of several processes the first one writes.
void silence_streams(bool silent);

/// Writes messages; errors are ignored, because they could not be reported.
void write_stderr(std::string_view text) noexcept;

/// Writes results: Error{resources} if that fails. A reader that closes the pipe early is no failure.
void write_stdout(std::string_view text);

}  // namespace poise::app
