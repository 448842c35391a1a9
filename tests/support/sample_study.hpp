#pragma once

#include "poise/study/results.hpp"

namespace poise::test {

/// An invented study with everything that a study can have: two data sets (one with a name that no format
/// likes, one beside the paper's), ranks 10, 100 and full, all models, a down-weighted row, a row that did
/// not converge, a tie.
StudyResults sample_study();

/// The report of a search of one model, on data without a test part.
StudyResults untested_search();

/// The sample when its time ran out: of "films" one model was being searched, one is not trained, one not
/// begun.
StudyResults unfinished_study();

/// The paper's own figures as a study of its three data sets.
StudyResults paper_study();

}  // namespace poise::test
