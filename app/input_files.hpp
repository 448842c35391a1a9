#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace poise::app {

/// The inputs with every pattern (*, ?, [...]) replaced by the files that match it, in the order of their
/// names. A name that exists is no pattern. Error{input} for a pattern that nothing matches.
std::vector<std::filesystem::path> matching_files(const std::vector<std::filesystem::path>& inputs);

/// An input in messages: "standard input" for -, and how many more there are.
std::string shown_inputs(const std::vector<std::filesystem::path>& inputs);

}  // namespace poise::app
