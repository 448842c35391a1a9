#include "poise/serve/models.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <malloc.h>
#include <sys/stat.h>

#include "poise/base/error.hpp"

namespace poise::serve {

Models::Models(std::vector<ModelSource> sources, Held held, ItemFilters filters, int threads)
    : sources_(std::move(sources)),
      held_(held),
      filters_(std::move(filters)),
      threads_(threads),
      read_(states()),
      seen_(read_) {
  ModelSet models;
  for (const ModelSource& source : sources_)
    models.push_back(ServedModel::open(source.name, source.path, held_, filters_, threads_));
  models_ = std::make_shared<const ModelSet>(std::move(models));
}

Models::Models(ModelSet models) : models_(std::make_shared<const ModelSet>(std::move(models))) {}

std::shared_ptr<const ModelSet> Models::now() const {
  const std::lock_guard lock(mutex_);
  return models_;
}

std::vector<Reloaded> Models::reload() {
  const std::lock_guard lock(reloading_);
  return read_again();
}

std::vector<Reloaded> Models::reload_if_changed() {
  const std::lock_guard lock(reloading_);
  std::vector<FileState> present = states();
  const bool still = present == seen_;
  seen_ = std::move(present);
  return still && seen_ != read_ ? read_again() : std::vector<Reloaded>();
}

std::vector<Reloaded> Models::read_again() {
  read_ = seen_ = states();
  ModelSet models = *now();
  std::vector<Reloaded> result;
  for (std::size_t k = 0; k < sources_.size(); ++k) {
    Reloaded outcome{.name = sources_[k].name, .problem = {}};
    try {
      models[k] = ServedModel::open(sources_[k].name, sources_[k].path, held_, filters_, threads_);
      outcome.taken = true;
    } catch (const std::bad_alloc&) {
      outcome.problem = "there is not enough memory for a second copy of the model";
    } catch (const std::exception& error) {
      outcome.problem = error.what();
    }
    result.push_back(std::move(outcome));
  }
  auto next = std::make_shared<const ModelSet>(std::move(models));
  {
    const std::lock_guard lock(mutex_);
    models_.swap(next);
  }
  next.reset();
#ifdef __GLIBC__
  // Otherwise the memory of models before stays with the process, in pieces.
  static_cast<void>(malloc_trim(0));
#endif
  return result;
}

Models::FileState Models::state_of(const std::filesystem::path& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = status.st_size,
          .modified = status.st_mtim.tv_sec * std::int64_t{1'000'000'000} + status.st_mtim.tv_nsec};
}

std::vector<Models::FileState> Models::states() const {
  std::vector<FileState> result;
  for (const ModelSource& source : sources_) result.push_back(state_of(source.path));
  return result;
}

std::shared_ptr<const ServedModel> find_model(const ModelSet& models, std::string_view name) {
  const auto found = std::ranges::find_if(models, [&](const auto& model) { return model->name() == name; });
  return found == models.end() ? nullptr : *found;
}

}  // namespace poise::serve
