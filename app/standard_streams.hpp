#pragma once

#include <string_view>

namespace poise::app {

/// Fills the places of standard streams that the caller closed, so that no file of ours lands there. Writing
/// to a closed standard output still fails; what goes to a closed standard error is lost.
void fill_closed_streams();

/// Messages: what cannot be written is lost, for nobody is there to be told.
void write_stderr(std::string_view text) noexcept;

/// Results: Error{resources} when they cannot be written. A reader that has read enough is no failure.
void write_stdout(std::string_view text);

}  // namespace poise::app
