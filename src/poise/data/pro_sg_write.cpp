#include <list>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/data/log/text.hpp"
#include "poise/data/pro_sg.hpp"
#include "poise/storage/atomic_file.hpp"
#include "poise/storage/new_folder.hpp"

namespace poise {

namespace fs = std::filesystem;

namespace {

/// Each id must be one line of unique_sid.txt and read back unchanged.
void check_item_ids(const Ids& items) {
  for (std::int64_t i = 0; i < items.size(); ++i) {
    const std::string_view id = items[i];
    if (!id.empty() && id.find('\n') == std::string_view::npos && !id.ends_with('\r')) continue;
    fail(ErrorKind::input, "the item id {} {}, which the pro-sg layout cannot hold; {}", logs::shown(id),
         id.empty() ? "is empty" : "holds a line end", "rename it, or leave the export out");
  }
}

/// The files of the layout, written under temporary names until all of them are complete.
class ProSgWriter {
 public:
  ProSgWriter(fs::path folder, bool values, std::uint64_t rows, const Execution& execution)
      : folder_(std::move(folder)),
        made_(folder_),
        values_(values),
        progress_(execution.observer, "exporting", rows, "rows") {}

  void write_items(const Ids& items) {
    AtomicFile& file = add("unique_sid.txt");
    fmt::memory_buffer text;
    for (std::int64_t i = 0; i < items.size(); ++i) {
      fmt::format_to(fmt::appender(text), "{}\n", items[i]);
      if (text.size() > buffer_size || i + 1 == items.size()) flush(file, text);
    }
  }

  void write_rows(const char* name, const CsrView& matrix, std::int64_t first_uid) {
    AtomicFile& file = add(name);
    file.write(values_ ? "uid,sid,value\n" : "uid,sid\n");
    fmt::memory_buffer text;
    std::uint64_t rows = 0;
    for (std::int64_t u = 0; u < matrix.rows; ++u) {
      const auto items = matrix.row(u);
      const auto row_values = matrix.row_values(u);
      for (std::size_t k = 0; k < items.size(); ++k) {
        fmt::format_to(fmt::appender(text), "{},{}", first_uid + u, items[k]);
        if (values_) fmt::format_to(fmt::appender(text), ",{}", row_values.empty() ? 1.0F : row_values[k]);
        text.push_back('\n');
      }
      rows += items.size();
      if (text.size() > buffer_size || u + 1 == matrix.rows) {
        flush(file, text);
        progress_.advance(std::exchange(rows, 0));
      }
    }
  }

  void commit() {
    std::size_t done = 0;
    try {
      for (AtomicFile& file : files_) {
        file.commit();
        ++done;
      }
    } catch (...) {
      // In an existing folder a file may have replaced another, which cannot be undone.
      std::error_code ignored;
      for (std::size_t k = 0; k < done && made_.made(); ++k) fs::remove(folder_ / names_[k], ignored);
      throw;
    }
    made_.keep();
  }

 private:
  static constexpr std::size_t buffer_size = 1U << 20U;

  AtomicFile& add(const char* name) {
    names_.emplace_back(name);
    return files_.emplace_back(folder_ / name);
  }
  static void flush(AtomicFile& file, fmt::memory_buffer& text) {
    file.write(std::string_view(text.data(), text.size()));
    text.clear();
  }

  fs::path folder_;
  NewFolder made_;
  bool values_;
  Progress progress_;
  std::vector<std::string> names_;
  std::list<AtomicFile> files_;  // destroyed before the folder
};

}  // namespace

void write_pro_sg(const fs::path& folder, const Dataset& dataset, bool values, const Execution& execution) {
  if (dataset.split != SplitKind::users) {
    fail(ErrorKind::usage, "the pro-sg layout holds a split by users; use {} users with {}", "split"_p,
         "export-pro-sg"_p);
  }
  check_item_ids(dataset.items);
  const HeldOut& validation = *dataset.validation;
  const HeldOut& test = *dataset.test;
  const std::int64_t validation_first = dataset.train.rows;
  const std::int64_t test_first = validation_first + validation.targets.rows;
  const std::int64_t rows = dataset.train.entries() + validation.fold_in.entries() +
                            validation.targets.entries() + test.fold_in.entries() + test.targets.entries();
  ProSgWriter writer(folder, values, rows, execution);
  writer.write_rows("train.csv", dataset.train.view(), 0);
  writer.write_rows("validation_tr.csv", validation.fold_in.view(), validation_first);
  writer.write_rows("validation_te.csv", validation.targets.view(), validation_first);
  writer.write_rows("test_tr.csv", test.fold_in.view(), test_first);
  writer.write_rows("test_te.csv", test.targets.view(), test_first);
  writer.write_items(dataset.items);
  stop_if_asked(execution.observer);
  writer.commit();
}

}  // namespace poise
