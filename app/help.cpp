#include "help.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "poise/base/error.hpp"
#include "poise/base/suggest.hpp"

#include "option_values.hpp"

namespace poise::app {

namespace {

constexpr std::size_t page_width = 80;
constexpr std::size_t widest_label = 24;  // its text begins on the next line if a label is wider
const std::string all_topics = "all";

/// The options of a page or a part of it, under a title.
struct Part {
  std::string title;
  std::vector<CLI::Option*> options = {};
};

bool is_flag(const CLI::Option& option) { return option.get_expected_min() == 0; }

/// "full-rank" for "Full rank".
std::string topic_of(const std::string& group) {
  std::string topic;
  for (const char c : group)
    topic += c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return topic;
}

/// Arguments first, then groups of options in the order of their first ones.
std::vector<Part> parts_of(CLI::App& parser) {
  std::vector<Part> parts = {{"Arguments"}, {main_group}};
  const auto add = [&parts](CLI::Option* option) {
    const std::string group = option->get_positional() ? parts.front().title : option->get_group();
    auto part = std::ranges::find(parts, group, &Part::title);
    if (part == parts.end()) part = parts.insert(part, Part{group});
    part->options.push_back(option);
  };
  for (CLI::App* one_of_several : parser.get_subcommands({}))
    for (CLI::Option* option : one_of_several->get_options()) add(option);
  for (CLI::Option* option : parser.get_options()) add(option);
  std::erase_if(parts, [](const Part& part) { return part.options.empty(); });
  return parts;
}

bool is_main(const Part& part) { return part.title == "Arguments" || part.title == main_group; }

/// "FILE", "FLOAT,..." or nothing.
std::string value_name(const CLI::Option& option) {
  if (is_flag(option)) return {};
  std::string name = option.get_type_name();
  if (const std::size_t choices = name.find(':'); choices != std::string::npos)
    name = "NAME";  // TEXT:{a,b,c}
  if (name == "UINT") name = "INT";
  if (option.get_expected_max() < CLI::detail::expected_max_vector_size) return name;
  return name + (option.get_delimiter() == ',' ? ",..." : "...");
}

/// "--lambda FLOAT", "MODEL...".
std::string label_of(const CLI::Option& option) {
  const bool several = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
  if (option.get_positional()) return option.get_name(true, false) + (several ? "..." : "");
  const std::string value = value_name(option);
  return option.get_name(false, true) + (value.empty() ? "" : " " + value);
}

/// " (default: 1)", unless the description says it.
std::string default_text(const CLI::Option& option) {
  std::string usual = option.get_default_str();
  if (usual.starts_with('[')) usual = usual.substr(1, usual.size() - 2);
  if (usual.empty() || option.get_description().find("default") != std::string::npos) return {};
  return fmt::format(" (default: {})", usual);
}

std::string brief_text(const CLI::Option& option) { return brief_description(option) + default_text(option); }

std::string whole_text(CLI::Option& option) {
  std::string text = whole_description(option);
  const std::vector<std::string> choices = choices_of(option);
  const bool listed = std::ranges::all_of(
      choices, [&](const std::string& each) { return text.find(each) != std::string::npos; });
  if (!listed) text += fmt::format("; one of {}", fmt::join(choices, ", "));
  for (const CLI::Option* other : option.get_needs()) text += "; needs " + other->get_name();
  for (const CLI::Option* other : option.get_excludes()) text += "; not with " + other->get_name();
  return text + default_text(option);
}

/// Words in lines of at most page_width, from the column `at` on; the first line begins at `used`.
std::string wrapped(const std::string& text, std::size_t at, std::size_t used) {
  std::string lines;
  bool first = true;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = text.find(' ', begin);
    if (text.substr(begin, end - begin) == "(default:") end = text.find(' ', end + 1);
    end = std::min(end, text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!first && used + 1 + word.size() > page_width) {
      lines += "\n" + std::string(at, ' ');
      used = at;
    } else if (!first) {
      lines += ' ';
      ++used;
    }
    lines += word;
    used += word.size();
    first = false;
    begin = end + 1;
  }
  return lines + "\n";
}

using TextOf = std::string (*)(CLI::Option& option);

std::string option_lines(const std::vector<CLI::Option*>& options, std::size_t column, TextOf text_of) {
  std::string lines;
  for (CLI::Option* option : options) {
    const std::string label = "  " + label_of(*option);
    const bool fits = label.size() + 2 <= column;
    lines += label + (fits ? std::string(column - label.size(), ' ') : "\n" + std::string(column, ' '));
    lines += wrapped(text_of(*option), column, column);
  }
  return lines;
}

/// The column where the texts beside the labels begin.
std::size_t column_of(const std::vector<Part>& parts) {
  std::size_t widest = 0;
  for (const Part& part : parts) {
    for (const CLI::Option* option : part.options) {
      const std::size_t width = label_of(*option).size();
      if (width <= widest_label) widest = std::max(widest, width);
    }
  }
  return widest + 4;
}

/// "Usage: poise train DATA --out FILE --model TEXT [OPTIONS]".
std::string usage_of(CLI::App& parser, const std::string& command) {
  std::string text = "Usage: poise " + command;
  for (const Part& part : parts_of(parser)) {
    for (const CLI::Option* option : part.options) {
      if (option->get_positional())
        text += option->get_required() ? " " + label_of(*option) : fmt::format(" [{}]", label_of(*option));
      else if (option->get_required())
        text += " " + label_of(*option);
    }
  }
  for (CLI::App* one_of_several : parser.get_subcommands({})) {
    std::vector<std::string> labels;
    for (const CLI::Option* option : one_of_several->get_options()) labels.push_back(label_of(*option));
    text += fmt::format(" ({})", fmt::join(labels, " | "));
  }
  return wrapped(text + " [OPTIONS]", 13, 0);
}

std::string head_of(CLI::App& parser, const std::string& command) {
  return fmt::format("poise {}: {}\n\n{}", command, parser.get_description(), usage_of(parser, command));
}

/// The groups that are not on the first page, with the names of their options.
std::string other_groups(const std::vector<Part>& parts, const std::string& command) {
  std::size_t column = 0;
  for (const Part& part : parts)
    if (!is_main(part)) column = std::max(column, topic_of(part.title).size() + 4);
  std::string text =
      fmt::format("\nMore, with `poise {} --help GROUP`, or `--help OPTION`, or `--help all`:\n", command);
  for (const Part& part : parts) {
    if (is_main(part)) continue;
    std::vector<std::string> names;
    for (const CLI::Option* option : part.options) names.push_back(option->get_name());
    text += fmt::format("  {:<{}}{}", topic_of(part.title), column - 2,
                        wrapped(fmt::format("{}", fmt::join(names, " ")), column, column));
  }
  return text;
}

std::string first_page(CLI::App& parser, const std::string& command) {
  const std::vector<Part> parts = parts_of(parser);
  std::vector<Part> shown = parts;
  std::erase_if(shown, [](const Part& part) { return !is_main(part); });
  std::string text = head_of(parser, command) + (shown.empty() ? "" : "\n");
  for (const Part& part : shown)
    text += option_lines(part.options, column_of(shown), [](CLI::Option& each) { return brief_text(each); });
  return text + other_groups(parts, command) + "\n" + parser.get_footer() + "\n";
}

std::string details(const std::vector<Part>& parts) {
  std::string text;
  for (const Part& part : parts)
    text += fmt::format("\n{}:\n{}", part.title, option_lines(part.options, column_of(parts), whole_text));
  return text;
}

bool has_name(const CLI::Option& option, const std::string& name) {
  const auto has = [&](const std::vector<std::string>& names) {
    return std::ranges::find(names, name) != names.end();
  };
  return has(option.get_lnames()) || has(option.get_snames()) || option.get_name(true, false) == name;
}

}  // namespace

const std::string main_group = "Options";

void put_into_group(CLI::App& parser, const std::string& group, std::initializer_list<const char*> flags) {
  for (const char* const flag : flags) parser.get_option(flag)->group(group);
}

std::vector<std::string> help_topics(CLI::App& parser) {
  std::vector<std::string> topics;
  for (const Part& part : parts_of(parser))
    if (!is_main(part)) topics.push_back(topic_of(part.title));
  topics.push_back(all_topics);
  return topics;
}

std::string help_page(CLI::App& parser, const std::string& command, const std::string& topic) {
  if (topic.empty()) return first_page(parser, command);
  const std::vector<Part> parts = parts_of(parser);
  if (topic == all_topics)
    return head_of(parser, command) + details(parts) + "\n" + parser.get_footer() + "\n";
  std::vector<std::string> known = help_topics(parser);
  for (const Part& part : parts) {
    const auto named =
        std::ranges::find_if(part.options, [&](const CLI::Option* each) { return has_name(*each, topic); });
    if (!is_main(part) && topic_of(part.title) == topic)
      return fmt::format("poise {}{}", command, details({part}));
    if (named != part.options.end()) return option_lines({*named}, 6, whole_text);
    for (const CLI::Option* option : part.options) known.push_back(option->get_single_name());
  }
  fail(ErrorKind::usage, "`poise {} --help` knows no '{}'{}; it takes one of {}, or the name of an option",
       command, topic, did_you_mean(topic, known), fmt::join(help_topics(parser), ", "));
}

AskedHelp asked_help(const std::vector<std::string>& arguments) {
  constexpr std::string_view with_topic = "--help=";
  for (std::size_t k = 0; k < arguments.size() && arguments[k] != "--"; ++k) {
    const std::string& argument = arguments[k];
    if (argument.starts_with(with_topic)) return {true, argument.substr(with_topic.size())};
    if (argument != "--help" && argument != "-h") continue;
    const bool topic = k + 1 < arguments.size() && !arguments[k + 1].starts_with('-');
    return {true, topic ? arguments[k + 1] : ""};
  }
  return {};
}

std::string brief_description(const CLI::Option& option) {
  const std::string& text = option.get_description();
  const std::size_t end = text.find('\n');
  if (end == std::string::npos) return text;
  return text.substr(0, text.find_last_not_of(",;:", end - 1) + 1);
}

std::string whole_description(const CLI::Option& option) {
  std::string text = option.get_description();
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace poise::app
