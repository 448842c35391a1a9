#include "poise/search/point_team.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "poise/comm/packed.hpp"
#include "poise/train/parameter_table.hpp"

namespace poise {
namespace {

using Clock = Points::Clock;

const std::string train_mark = "train";
const std::string drop_mark = "drop";
const std::string other_mark = "other";
const std::string end_mark = "end";
/// Between two looks for answers; points take much longer.
constexpr auto look_interval = std::chrono::microseconds(200);

/// What the points of a group have in common, as a text.
std::string name_of_group(const ModelParameters& point) {
  std::map<std::string, std::string> texts = option_texts(point);
  texts.erase("zero-diagonal");
  texts.erase("neighbours");
  if (point.family != Family::wmf) texts.erase("alpha");
  return fmt::format("{}", texts);
}

/// Trains a group.
PointAnswer answer_to(const PointGroup& group, Points& points) {
  const auto begin = Clock::now();
  std::map<std::string, std::optional<Race>> races;
  for (std::size_t k = 0; k < group.points.size(); ++k)
    races.emplace(points.key(group.points[k]), group.races[k]);
  const Racing racing = [&](const ModelParameters& point) {
    const auto found = races.find(points.key(point));
    return found == races.end() ? std::nullopt : found->second;
  };
  points.end_at(group.seconds ? std::optional(begin + std::chrono::duration_cast<Clock::duration>(
                                                          std::chrono::duration<double>(*group.seconds)))
                              : std::nullopt);
  PointAnswer answer{.results = {}, .left = points.measure(group.points, group.diagonals, racing)};
  std::map<std::string, bool> taken;
  for (const ModelParameters& point : group.points) {
    ModelParameters other = point;
    other.zero_diagonal = !point.zero_diagonal;
    for (const ModelParameters& each : {point, other}) {
      const PointResult* const result = points.find(each);
      if (result != nullptr && taken.emplace(points.key(each), true).second)
        answer.results.push_back(*result);
    }
  }
  answer.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return answer;
}

}  // namespace

PointTeam::~PointTeam() {
  for (int other = 1; other < processes_.size(); ++other) processes_.send(other, packed({end_mark, ""}));
}

void PointTeam::drop_models() {
  own_.drop_models();
  for (int other = 1; other < processes_.size(); ++other) processes_.send(other, packed({drop_mark, ""}));
}

std::vector<PointGroup> PointTeam::groups_of(const std::vector<ModelParameters>& points, const Racing& racing,
                                             Diagonals diagonals) {
  std::vector<PointGroup> groups;
  std::map<std::string, std::size_t> places;
  for (const ModelParameters& point : points) {
    const auto [place, first] = places.emplace(name_of_group(point), groups.size());
    if (first) groups.push_back({.points = {}, .races = {}, .diagonals = diagonals});
    groups[place->second].points.push_back(point);
    groups[place->second].races.push_back(racing ? racing(point) : std::nullopt);
  }
  return groups;
}

void PointTeam::train(std::vector<PointGroup> groups, std::optional<Clock::time_point> until,
                      const std::function<void(std::size_t, PointAnswer)>& done) {
  std::vector<bool> begun(groups.size(), false);
  std::map<int, std::size_t> busy;  // ranks and their groups
  std::future<PointAnswer> own;
  std::size_t left = groups.size();
  // One that this rank had before, then one that nobody had, then any.
  const auto next_for = [&](int rank) -> std::optional<std::size_t> {
    std::optional<std::size_t> best;
    int best_class = 3;
    for (std::size_t k = 0; k < groups.size(); ++k) {
      if (begun[k]) continue;
      const auto found = trained_by_.find(name_of_group(groups[k].points.front()));
      const int its_class = found == trained_by_.end() ? 1 : found->second == rank ? 0 : 2;
      if (its_class < best_class) {
        best = k;
        best_class = its_class;
      }
    }
    return best;
  };
  const auto hand_out = [&](int rank) {
    const auto next = next_for(rank);
    if (!next) return;
    PointGroup& group = groups[*next];
    begun[*next] = true;
    if (until) group.seconds = std::chrono::duration<double>(*until - Clock::now()).count();
    if (group.seconds && *group.seconds <= 0) {
      --left;
      return done(*next, {.results = {}, .left = group.points});
    }
    busy[rank] = *next;
    trained_by_[name_of_group(group.points.front())] = rank;
    if (rank == 0)
      own = std::async(std::launch::async, [&group, this] { return answer_to(group, own_); });
    else
      processes_.send(rank, packed({train_mark, message_of(group)}));
  };
  const auto take = [&](int rank, PointAnswer answer) {
    const std::size_t group = busy.at(rank);
    busy.erase(rank);
    --left;
    done(group, std::move(answer));
  };
  while (left > 0) {
    // The first process comes last: its messages are then on their way before it computes.
    for (int rank = processes_.size() - 1; rank >= 0; --rank) {
      while (!busy.contains(rank) && next_for(rank)) hand_out(rank);
    }
    bool waiting = true;
    if (own.valid() && own.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
      take(0, own.get());
      waiting = false;
    }
    while (auto message = processes_.poll()) {
      take(message->from, answer_in(message->bytes));
      waiting = false;
    }
    if (waiting) std::this_thread::sleep_for(look_interval);
  }
}

void PointTeam::each(const std::vector<std::string>& messages, std::optional<Clock::time_point> until,
                     const OtherWork& own, const std::function<void(std::size_t, std::string)>& done) {
  std::map<int, std::size_t> busy;  // ranks and their messages
  std::future<std::string> here;
  std::size_t next = 0;
  const auto hand_out = [&](int rank) {
    if (next == messages.size() || busy.contains(rank) || (until && Clock::now() >= *until)) return;
    const std::string& message = messages[next];
    busy[rank] = next++;
    if (rank == 0)
      here = std::async(std::launch::async, [&own, &message] { return own(message); });
    else
      processes_.send(rank, packed({other_mark, message}));
  };
  const auto take = [&](int rank, std::string answer) {
    const std::size_t message = busy.at(rank);
    busy.erase(rank);
    done(message, std::move(answer));
  };
  for (;;) {
    // The first process comes last, as its messages have to leave before it computes.
    for (int rank = processes_.size() - 1; rank >= 0; --rank) hand_out(rank);
    if (busy.empty()) return;
    bool waiting = true;
    if (here.valid() && here.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
      take(0, here.get());
      waiting = false;
    }
    while (auto message = processes_.poll()) {
      take(message->from, std::move(message->bytes));
      waiting = false;
    }
    if (waiting) std::this_thread::sleep_for(look_interval);
  }
}

void serve_points(Processes& processes, Points& points, const OtherWork& other) {
  for (;;) {
    const std::vector<std::string> parts = unpacked(processes.receive(0).bytes);
    if (parts.at(0) == end_mark) return;
    if (parts.at(0) == drop_mark) {
      points.drop_models();
      continue;
    }
    if (parts.at(0) == other_mark) {
      processes.send(0, other(parts.at(1)));
      continue;
    }
    const ReceivedGroup received(parts.at(1));
    processes.send(0, message_of(answer_to(received.group(), points)));
  }
}

}  // namespace poise
