#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "poise/base/parallel.hpp"
#include "poise/data/interactions.hpp"
#include "poise/linalg/csr.hpp"

namespace poise {

/// Data sets that synthetic feedback can resemble in size, popularity and activity:
///
///   shape           users    items  interactions  least items  least users  top tenth of items
///                                                 of a user    of an item   holds
///   ml_20m         136677    20108        10.0 M            5            3  80 to 92 %
///   netflix        463435    17769        56.9 M            5            3  80 to 92 %
///   msd            571355    41140        33.6 M           20          200  about half
///   amazon_book     52643    91599        2.98 M           10           10  about 45 %
///   million      10000000  1000000         100 M            5            5  about 70 %
///   demo             2400      700         0.1 M            5            5  about 45 %
///
/// The median of a user's items is about half their mean, in million 0.6 of it. docs/benchmarks.md has the
/// tail of the two large catalogues.
enum class SynthShape { ml_20m, netflix, msd, amazon_book, million, demo };

/// "ml-20m", "netflix", "msd", "amazon-book", "million" or "demo"; Error{usage} otherwise.
SynthShape parse_synth_shape(std::string_view name);

struct SynthOptions {
  SynthShape shape = SynthShape::demo;
  double scale = 1.0;  ///< multiplies the users (rounded), the interactions and the least users of an item
  std::uint64_t seed = 1;
  bool values = false;  ///< also generates a count of at least 1 for each entry
};

/// The size that synthesize() will make, known before, so that time and memory can be estimated. The number
/// of interactions is approximate.
struct SynthSize {
  std::int64_t users = 0;
  std::int64_t items = 0;
  std::int64_t interactions = 0;
};
/// Error{usage} if the scale leaves no user or more than 2^31 - 1 of them.
SynthSize synth_size(const SynthOptions& options);

/// Realistic implicit feedback, users x items, from a seed: the same bytes for any thread count.
///
/// Each item has a long-tailed popularity, belongs mostly to one latent taste group (partly to a second), to
/// a niche of that group and to a series of three items. Each user favours a few groups and niches, and draws
/// items without replacement by popularity x affinity. So there is structure at ranks of some ten (groups),
/// some hundred (niches) and beyond (series). Item numbers carry no meaning. At a scale below 1 rare items
/// may have no user. Counts have a Pareto tail and are larger where the affinity is.
///
/// Error{usage} as synth_size. O(entries) time, in parallel over users; 4 bytes an entry, 8 with values.
Csr synthesize(const SynthOptions& options, const Execution& execution);

/// Writes the matrix as a log `user,item,count` (`user,item` if it has no values) with a header, one row per
/// entry, users and items numbered from 1. Rows are grouped by user, in a random order from the seed within a
/// user. The file appears complete or not at all.
void write_synth_csv(const std::filesystem::path& path, CsrView matrix, std::uint64_t seed,
                     const Execution& execution);

/// The log that write_synth_csv writes, as reading it back would give it. Takes over the matrix's memory.
Interactions synth_interactions(Csr matrix, std::uint64_t seed, const Execution& execution);

}  // namespace poise
