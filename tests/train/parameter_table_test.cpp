#include "poise/train/parameter_table.hpp"

#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "poise/base/error.hpp"

namespace poise {
namespace {

/// An id stands for one parameter, every one that a family reads is declared, and every one that is declared
/// is read.
TEST(ParameterTable, HasWhatFamiliesRead) {
  std::set<std::string> ids;
  std::set<std::string> keywords;
  for (const ModelParameter& each : parameter_table()) {
    EXPECT_TRUE(ids.insert(each.is.id).second) << each.is.id;
    EXPECT_TRUE(keywords.insert(each.is.python_keyword()).second) << each.is.python_keyword();
    EXPECT_FALSE(families_with(each.is.id).empty()) << each.is.id;
    EXPECT_FALSE(help_of(each).empty()) << each.is.id;
  }
  for (const auto& family : families()) {
    for (const FamilyParameter& each : family->parameters)
      EXPECT_TRUE(ids.contains(std::string(each.id))) << each.id;
  }
}

/// A value that was set is the one that is read back, and it is another than before.
TEST(ParameterTable, ValuesReadBack) {
  for (const ModelParameter& each : parameter_table()) {
    ModelParameters parameters;
    const std::string usual = value_text(parameters, each);
    const std::string other = !each.is.names.empty() ? each.is.names[each.is.names.front() == usual ? 1 : 0]
                              : usual == "false"     ? "true"
                                                     : "7";
    set_value(parameters, each.is.id, other);
    EXPECT_EQ(value_text(parameters, each), other) << each.is.id;
    EXPECT_NE(value_text({}, each), other) << each.is.id;
    if (other != "true") {
      EXPECT_THROW(set_value(parameters, each.is.id, "seven"), Error) << each.is.id;
    }
  }
}

/// The names of a choice stand in the order of its enumerators.
TEST(ParameterTable, NamesAreThoseOfTheEnumerators) {
  ModelParameters parameters;
  for (const Regularizer regularizer :
       {Regularizer::weight_decay, Regularizer::dropout, Regularizer::data_weight_decay}) {
    set_value(parameters, "regularizer", regularizer_name(regularizer));
    EXPECT_EQ(parameters.regularizer, regularizer);
  }
  for (const Scheme scheme : {Scheme::none, Scheme::constant, Scheme::inverse_popularity, Scheme::column}) {
    set_value(parameters, "weighting", scheme_name(scheme));
    EXPECT_EQ(parameters.weighting.scheme, scheme);
  }
  set_value(parameters, "start", "random");
  EXPECT_EQ(parameters.start, Start::random);
  EXPECT_THROW(set_value(parameters, "regularizer", "ridge"), Error);
}

TEST(ParameterTable, FilesReadBack) {
  for (std::size_t k = 0; k < families().size(); ++k) {
    ModelParameters parameters;
    parameters.family = static_cast<Family>(k);
    for (const FamilyParameter& each : family_of(parameters).parameters) {
      if (each.id == "start") set_value(parameters, each.id, "random");
      if (each.id == "lambda-exponent") set_value(parameters, each.id, "0.25");
    }
    EXPECT_EQ(option_texts(parameters_of(option_texts(parameters))), option_texts(parameters));
  }
  std::map<std::string, std::string> texts = option_texts({});
  texts.erase("lambda");
  EXPECT_THROW(parameters_of(texts), Error);
}

TEST(ParameterTable, WhatPythonCallsThem) {
  EXPECT_EQ(keyword_name("lambda"), "regularization");
  EXPECT_EQ(keyword_name("lambda-exponent"), "regularization_exponent");
  EXPECT_EQ(keyword_name("rank"), "factors");
  EXPECT_EQ(keyword_name("rounds"), "iterations");
  EXPECT_EQ(keyword_name("seed"), "random_state");
  EXPECT_EQ(keyword_name("threads"), "num_threads");
  EXPECT_EQ(keyword_name("memory-limit"), "memory_limit");
}

TEST(ParameterTable, HelpSaysWhoseItIs) {
  EXPECT_EQ(help_of(parameter_of("rank")), "For awmf and wmf: columns of U and V");
  EXPECT_EQ(help_of(parameter_of("lambda")), "L2 regularization");
  EXPECT_TRUE(
      help_of(parameter_of("lambda-exponent")).starts_with("For full-rank: regularize an item by lambda"));
  EXPECT_EQ(usual_text(parameter_of("tolerance")), "1e-6");
}

}  // namespace
}  // namespace poise
