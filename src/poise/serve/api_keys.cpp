#include "poise/serve/api_keys.hpp"

#include <algorithm>

#include "poise/base/error.hpp"
#include "poise/data/item_index.hpp"

namespace poise::serve {
namespace {

constexpr std::size_t shortest_key = 16;

bool equal_in_constant_time(std::string_view sent, std::string_view key) {
  std::size_t different = sent.size() ^ key.size();
  for (std::size_t k = 0; k < sent.size(); ++k) {
    const char other = key[k % key.size()];
    different |= static_cast<unsigned char>(sent[k] ^ other);
  }
  // Read through a volatile, so that no compiler ends the loop early.
  const volatile std::size_t result = different;
  return result == 0;
}

}  // namespace

ApiKeys ApiKeys::read(const std::filesystem::path& path) {
  ApiKeys result;
  for (const auto& [text, line] : read_id_lines(path)) {
    if (text.starts_with('#')) continue;
    const std::size_t colon = text.find(':');
    Key key{.name = colon == std::string::npos ? fmt::format("key{}", result.keys_.size() + 1)
                                               : text.substr(0, colon),
            .text = colon == std::string::npos ? text : text.substr(colon + 1)};
    if (key.text.size() < shortest_key || key.name.empty() ||
        !std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; }))
      fail(ErrorKind::input, "{}:{}: a key has at least {} visible characters and no space", path.string(),
           line, shortest_key);
    for (const Key& other : result.keys_) {
      if (other.name == key.name || other.text == key.text)
        fail(ErrorKind::input, "{}:{}: this key or its name was given before", path.string(), line);
    }
    result.keys_.push_back(std::move(key));
  }
  if (result.keys_.empty()) fail(ErrorKind::input, "{} has no key; write one on each line", path.string());
  return result;
}

std::optional<std::size_t> ApiKeys::find(std::string_view sent) const {
  std::optional<std::size_t> found;
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    if (equal_in_constant_time(sent, keys_[k].text)) found = k;
  }
  return found;
}

}  // namespace poise::serve
