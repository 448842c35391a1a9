#pragma once

#include "poise/base/parallel.hpp"
#include "poise/data/interactions.hpp"
#include "poise/data/log/read_inputs.hpp"
#include "poise/data/log_reader.hpp"

namespace poise::logs {

/// Whether a file that begins with these bytes is an SQLite database.
bool is_sqlite(std::string_view sample);

/// The rows of options.query over each database, in order, as one log. Databases are opened for reading
/// alone, and the query must be one statement that only reads. Columns as in delimited text with a header;
/// where their names are not known, the first is the user, the second the item, and a third the value if it
/// holds numbers that are no Unix times. NULL is an empty id; a blob, or a text with a NUL, is a bad row. An
/// error names database and row, counted from 1; an interrupt ends the query.
Interactions read_sqlite(const std::vector<LogInput>& inputs, const LogOptions& options,
                         const Execution& execution);

}  // namespace poise::logs
