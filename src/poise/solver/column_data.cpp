#include "poise/solver/column_data.hpp"

namespace poise {

ColumnData::ColumnData(const ColumnProblem& problem, Backend& backend, const Execution& execution)
    : problem_(problem), backend_(backend), execution_(execution) {
  pins_.push_back(backend.pin(problem.columns.view()));
  pins_.push_back(backend.pin(problem.features.rows()));
  pins_.push_back(backend.pin(problem.features.of_items()));
}

CsrView ColumnData::users_of() const {
  if (!users_of_) {
    users_of_ = weighted_transpose(problem_, execution_.threads);
    pins_.push_back(backend_.pin(users_of_->view()));
  }
  return users_of_->view();
}

void ColumnData::hold_users_once(Processes& processes) {
  users_of_ = weighted_transpose(problem_, execution_.threads);
  users_of_->own.hold_once(processes);
  users_of_->values.hold_once(processes);
  pins_.push_back(backend_.pin(users_of_->view()));
}

const std::vector<double>& ColumnData::observed() const {
  if (observed_.empty()) {
    const bool of_entries = !problem_.W->c.empty() && !problem_.on_support_of_X();
    of_users_ = observed_weights(problem_, of_entries ? users_of() : CsrView(), execution_.threads);
    observed_ = of_users_;
    for (std::size_t i = 0; i < problem_.of_features.size(); ++i)
      observed_[i] += problem_.W->b_of(static_cast<std::int64_t>(i)) * problem_.of_features[i];
  }
  return observed_;
}

const SharedSystem& ColumnData::shared_system() const {
  if (!shared_system_) shared_system_.emplace(problem_, users_of(), backend_, execution_);
  return *shared_system_;
}

std::vector<double> ColumnData::explained(std::span<const std::int32_t> items, In<float> beta,
                                          std::vector<double>* scores) const {
  std::vector<double> result(items.size());
  std::span<double> to;
  if (scores != nullptr) {
    std::int64_t entries = 0;
    for (const std::int32_t i : items) entries += users_of().row_size(i);
    scores->resize(entries);
    to = *scores;
  }
  backend_.column_form(problem_.X, users_of(), items, beta, result, to);
  if (weight_corrections_.empty()) {
    static_cast<void>(observed());
    weight_corrections_ = weight_corrections(users_of(), of_users_);
  }
  for (std::size_t k = 0; k < items.size(); ++k) result[k] *= weight_corrections_[items[k]];
  add_features(items, beta, result);
  return result;
}

template <class T>
std::vector<double> ColumnData::forms(std::span<const std::int32_t> items, In<T> p) const {
  std::vector<double> result(items.size());
  backend_.column_form(problem_.X, users_of(), items, p, result, {});
  add_features(items, p, result);
  return result;
}

template <class T>
void ColumnData::add_features(std::span<const std::int32_t> items, In<T> p,
                              std::vector<double>& forms) const {
  if (problem_.features.empty()) return;
  std::vector<double> of_features(items.size(), 0.0);
  problem_.features.add_forms(items, p, of_features, backend_, execution_);
  for (std::size_t k = 0; k < items.size(); ++k) forms[k] += problem_.W->b_of(items[k]) * of_features[k];
}

template std::vector<double> ColumnData::forms<float>(std::span<const std::int32_t>, In<float>) const;
template std::vector<double> ColumnData::forms<double>(std::span<const std::int32_t>, In<double>) const;

}  // namespace poise
