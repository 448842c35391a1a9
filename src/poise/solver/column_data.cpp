#include "poise/solver/column_data.hpp"

namespace poise {

ColumnData::ColumnData(const ColumnProblem& problem, Backend& backend, const Execution& execution)
    : problem_(problem), backend_(backend), execution_(execution) {
  pins_.push_back(backend.pin(problem.columns.view()));
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
    observed_ = observed_weights(problem_, of_entries ? users_of() : CsrView(), execution_.threads);
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
  if (weight_corrections_.empty()) weight_corrections_ = weight_corrections(users_of(), observed());
  for (std::size_t k = 0; k < items.size(); ++k) result[k] *= weight_corrections_[items[k]];
  return result;
}

}  // namespace poise
