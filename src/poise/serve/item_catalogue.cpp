#include "poise/serve/item_catalogue.hpp"

#include <algorithm>
#include <utility>

#include "poise/base/lower_case.hpp"

namespace poise::serve {
namespace {

/// Letters, digits and every byte of other alphabets.
bool in_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c & '\x80') != 0; }

/// Calls body(begin, word) for each word of a folded text.
template <class Body>
void for_each_word(std::string_view text, const Body& body) {
  for (std::size_t k = 0; k < text.size();) {
    const std::size_t begin = k;
    while (k < text.size() && in_word(text[k])) ++k;
    if (k > begin) body(begin, text.substr(begin, k - begin));
    if (k < text.size()) ++k;
  }
}

}  // namespace

ItemCatalogue::ItemCatalogue(std::unique_ptr<const ItemTable> table) : table_(std::move(table)) {
  std::string text;
  for (std::int64_t item = 0; item < table_->size(); ++item) {
    text = lower_case(table_->title(item));
    if (!text.empty()) text += '\n';
    text += lower_case(table_->id(item));
    folded_.push_back(text);
    for_each_word(text, [&](std::size_t begin, std::string_view) {
      words_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::int32_t>(item)});
    });
  }
  std::ranges::sort(words_, [&](const Word& a, const Word& b) {
    const int order = from(a).compare(from(b));
    return order != 0 ? order < 0 : a.item < b.item;
  });
}

std::string_view ItemCatalogue::from(const Word& word) const { return folded_[word.item].substr(word.begin); }

bool ItemCatalogue::has_words(std::int64_t item, const std::vector<std::string>& words) const {
  return std::ranges::all_of(words, [&](const std::string& wanted) {
    bool found = false;
    for_each_word(folded_[item],
                  [&](std::size_t, std::string_view word) { found |= word.starts_with(wanted); });
    return found;
  });
}

std::vector<std::int64_t> ItemCatalogue::find(
    std::string_view text, std::int64_t most,
    const std::function<bool(std::string_view id)>& accepted) const {
  const std::string folded = lower_case(text);
  std::vector<std::string> words;
  for_each_word(folded, [&](std::size_t, std::string_view word) {
    if (words.size() < most_words) words.emplace_back(word);
  });
  std::vector<std::int64_t> candidates;
  if (words.empty()) {
    for (std::int64_t item = 0; item < table_->size() && std::ssize(candidates) < most; ++item) {
      if (accepted(table_->id(item))) candidates.push_back(item);
    }
    return candidates;
  }
  // The longest word has the fewest items, usually; any word would do.
  const std::string& rarest = *std::ranges::max_element(words, {}, &std::string::size);
  auto at = std::ranges::lower_bound(words_, std::string_view(rarest), {},
                                     [&](const Word& word) { return from(word); });
  for (; at != words_.end() && from(*at).starts_with(rarest) && std::ssize(candidates) < most_looked_at; ++at)
    candidates.push_back(at->item);
  std::ranges::sort(candidates);
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  std::erase_if(candidates,
                [&](std::int64_t item) { return !has_words(item, words) || !accepted(table_->id(item)); });
  std::stable_partition(candidates.begin(), candidates.end(),
                        [&](std::int64_t item) { return folded_[item].starts_with(folded); });
  candidates.resize(std::min<std::size_t>(candidates.size(), static_cast<std::size_t>(most)));
  return candidates;
}

}  // namespace poise::serve
