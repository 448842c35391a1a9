#pragma once

#include <array>

#include "poise/data/dataset.hpp"
#include "poise/data/log/read_inputs.hpp"

namespace poise {

/// The files of the csv layout of Liang et al., in the order in which they are read.
inline constexpr std::array<const char*, 6> pro_sg_names = {
    "unique_sid.txt", "train.csv", "validation_tr.csv", "validation_te.csv", "test_tr.csv", "test_te.csv"};

/// These files, on disk or in memory.
using ProSgFiles = std::array<logs::LogInput, pro_sg_names.size()>;

/// read_pro_sg after the files were found.
Dataset read_pro_sg(const ProSgFiles& files, const Execution& execution);

}  // namespace poise
