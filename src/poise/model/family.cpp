#include "poise/model/family.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "poise/base/bytes.hpp"
#include "poise/base/error.hpp"

namespace poise {

// Each in NAME/family.cpp.
std::unique_ptr<ModelFamily> full_rank_family();
std::unique_ptr<ModelFamily> asymmetric_family();
std::unique_ptr<ModelFamily> wmf_family();
std::unique_ptr<ModelFamily> popularity_family();

const std::vector<std::unique_ptr<ModelFamily>>& families() {
  static const std::vector<std::unique_ptr<ModelFamily>> all = [] {
    std::vector<std::unique_ptr<ModelFamily>> made;
    for (const auto make : {full_rank_family, asymmetric_family, wmf_family, popularity_family})
      made.push_back(make());
    return made;
  }();
  return all;
}

const ModelFamily& family_of(Family family) { return *families()[static_cast<std::size_t>(family)]; }

Family parse_family(std::string_view name) {
  std::string names;
  for (std::size_t k = 0; k < families().size(); ++k) {
    const std::string& each = families()[k]->name;
    if (each == name) return static_cast<Family>(k);
    names += (k == 0 ? "" : k + 1 == families().size() ? " and " : ", ") + each;
  }
  fail(ErrorKind::usage, "there is no model \"{}\"; there are {}", name, names);
}

std::string_view family_name(Family family) { return family_of(family).name; }

const std::vector<ModelKind>& model_kinds() {
  static const std::vector<ModelKind> all = [] {
    std::vector<ModelKind> kinds;
    for (std::size_t k = 0; k < families().size(); ++k) {
      for (ModelKind kind : families()[k]->kinds) {
        kind.family = static_cast<Family>(k);
        kinds.push_back(std::move(kind));
      }
    }
    std::ranges::stable_sort(kinds, {}, &ModelKind::place);
    return kinds;
  }();
  return all;
}

FamilyParameter alpha_negative_parameter() {
  return {.id = "alpha-negative", .reported = true, .kept = [](const ModelParameters& each) {
            return each.weighting.alpha_negative != 1;
          }};
}

const FamilyParameter* ModelFamily::find(std::string_view id) const {
  const auto found = std::ranges::find(parameters, id, &FamilyParameter::id);
  return found == parameters.end() ? nullptr : &*found;
}

void ModelFamily::check_memory(const ModelParameters& parameters, const TrainingInput& on,
                               std::uint64_t memory_limit, const Weights& W, const TrainingCost* known,
                               bool /*both_diagonals*/) const {
  const double bytes = known != nullptr ? known->bytes : cost(parameters, on, memory_limit, W, 1).bytes;
  if (bytes <= static_cast<double>(memory_limit)) return;
  const auto [needed, limit] = compared_bytes(bytes, static_cast<double>(memory_limit));
  // Eigenpairs at the start may take more than any rank.
  const auto fits = [&](const auto& change) {
    ModelParameters other = parameters;
    change(other);
    return cost(other, on, memory_limit, W, 1).bytes <= static_cast<double>(memory_limit);
  };
  std::string instead;
  if (fits([](ModelParameters& other) { other.rank = 1; }))
    instead = fmt::format("a lower {} would fit, or ", "rank"_p);
  else if (find("start") != nullptr && fits([](ModelParameters& other) { other.start = Start::random; }))
    instead = fmt::format("{} random would fit, or ", "start"_p);
  fail(ErrorKind::resources, "rank {} needs about {}, more than the {} of {}; {}raise {}", parameters.rank,
       needed, "memory-limit"_p, limit, instead, "memory-limit"_p);
}

bool ModelKind::low_rank() const { return family_of(family).low_rank(); }

bool ModelParameters::low_rank() const { return family_of(family).low_rank(); }

bool ModelParameters::unweighted() const {
  return family_of(family).find("weighting") == nullptr || weighting.unweighted();
}

bool ModelParameters::uniform() const {
  return family_of(family).find("weighting") == nullptr || weighting.uniform();
}

void validate(const ModelParameters& parameters) {
  const ModelFamily& family = family_of(parameters);
  if (family.find("weighting") != nullptr) validate(parameters.weighting);
  family.validate(parameters);
}

}  // namespace poise
