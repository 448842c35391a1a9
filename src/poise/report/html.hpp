#pragma once

#include <string>

#include "poise/study/results.hpp"

namespace poise {

/// report.html: one self-contained page. The conclusion first, then the tables (plain HTML, readable without
/// scripts), the plots (Vega, embedded), data and options. Its content security policy forbids every request.
std::string study_html(const StudyResults& results);

}  // namespace poise
