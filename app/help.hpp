#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace poise::app {

// The help of a command: one page with its main options and the names of the others, in groups, and pages
// with all details of a group, of an option, or of everything. An option is in CLI11's group "Options", which
// is the first page, unless it is put into another. Of a description's lines the first page shows the first,
// without a comma, colon or semicolon at its end.

/// The group of the first page.
extern const std::string main_group;
/// Puts options into a group.
void put_into_group(CLI::App& parser, const std::string& group, std::initializer_list<const char*> flags);

/// What `--help` of a command takes: its groups, and "all".
std::vector<std::string> help_topics(CLI::App& parser);

/// The page on a topic: a group, "all", an option without its dashes, or nothing for the first page.
/// Error{usage} if there is no such topic. `command` is its name, as "train".
std::string help_page(CLI::App& parser, const std::string& command, const std::string& topic);

/// What the first --help of the arguments asks for.
struct AskedHelp {
  bool asked = false;
  std::string topic = {};
};
AskedHelp asked_help(const std::vector<std::string>& arguments);

/// An option's description as one text, and its first line.
std::string whole_description(const CLI::Option& option);
std::string brief_description(const CLI::Option& option);

}  // namespace poise::app
