#pragma once

#include <array>
#include <filesystem>

#include "poise/base/parallel.hpp"
#include "poise/data/dataset.hpp"
#include "poise/data/log/read_inputs.hpp"

namespace poise {

/// Reads the csv layout of Liang et al.: train.csv, {validation,test}_{tr,te}.csv with a header and the
/// columns uid, sid and optionally a value, and unique_sid.txt, whose line k is the id of item k. Nothing is
/// filtered, users and items keep their numbers (a user's number is its id), and repeated pairs are merged.
/// Numbers have no sign and no leading zeros, so that no two texts mean the same number.
Dataset read_pro_sg(const std::filesystem::path& folder, const Execution& execution);

/// Writes that layout, rows sorted by uid, then sid; users are numbered training first, then validation, then
/// test. With `values` a third column holds the entries' values (1 if the data have none). An item id that is
/// no line of text is an Error{input}. The files appear together when all are written; an earlier failure
/// leaves neither files nor a new folder.
void write_pro_sg(const std::filesystem::path& folder, const Dataset& dataset, bool values,
                  const Execution& execution);

/// The files of the csv layout of Liang et al., in the order in which they are read.
inline constexpr std::array<const char*, 6> pro_sg_names = {
    "unique_sid.txt", "train.csv", "validation_tr.csv", "validation_te.csv", "test_tr.csv", "test_te.csv"};

/// These files, on disk or in memory.
using ProSgFiles = std::array<logs::LogInput, pro_sg_names.size()>;

/// read_pro_sg after the files were found.
Dataset read_pro_sg(const ProSgFiles& files, const Execution& execution);

}  // namespace poise
