#include "poise/base/parameter_name.hpp"

#include <algorithm>

namespace poise {

std::string first_name(std::string_view sentence) {
  const std::size_t begin = sentence.find(ParameterName::begin);
  if (begin == std::string_view::npos) return {};
  return std::string(sentence.substr(begin + 1, sentence.find(ParameterName::end) - begin - 1));
}

std::string with_names(std::string_view sentence, const std::function<std::string(std::string_view)>& name) {
  std::string text;
  for (;;) {
    const std::size_t begin = sentence.find(ParameterName::begin);
    const std::size_t end = sentence.find(ParameterName::end, std::min(begin, sentence.size()));
    text += sentence.substr(0, begin);
    if (end == std::string_view::npos) return text;
    text += name(sentence.substr(begin + 1, end - begin - 1));
    sentence.remove_prefix(end + 1);
  }
}

std::string flag_name(std::string_view id) { return fmt::format("--{}", id); }

}  // namespace poise
