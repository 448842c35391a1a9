#include "poise/search/held_scorings.hpp"

#include <algorithm>

namespace poise {

void HeldScorings::put(std::string key, std::unique_ptr<Scoring> scoring, double room) {
  bytes_ += scoring->bytes();
  held_.push_back({std::move(key), std::move(scoring)});
  shrink(room);
}

bool HeldScorings::has(const std::string& key) const {
  return std::ranges::find(held_, key, &Held::key) != held_.end();
}

std::unique_ptr<Scoring> HeldScorings::take(const std::string& key) {
  const auto found = std::ranges::find(held_, key, &Held::key);
  if (found == held_.end()) return nullptr;
  std::unique_ptr<Scoring> scoring = std::move(found->scoring);
  held_.erase(found);
  bytes_ -= scoring->bytes();
  return scoring;
}

void HeldScorings::shrink(double room) {
  while (!held_.empty() && bytes_ > room) {
    bytes_ -= held_.front().scoring->bytes();
    held_.pop_front();
  }
}

}  // namespace poise
