#include "poise/train/certificate_json.hpp"

#include "poise/base/json_number.hpp"

namespace poise {

using Json = nlohmann::ordered_json;

Json to_json(const Certificate& certificate, bool full_rank) {
  Json json = {{"absolute", certificate.absolute}, {"relative", certificate.relative}};
  if (full_rank) json["worst_column"] = certificate.worst_column;
  json["sampled"] = false;  // the certificate covers every column
  json["verified_columns"] = certificate.verified_columns;
  json["probability"] = certificate.probability;
  if (certificate.share) {
    json["explained_share"] = {certificate.share->low, certificate.share->high};
    json["explained_share_level"] = certificate.share->level;
    json["explained_share_columns"] = certificate.share->columns;
    json["explained_share_proven"] = certificate.share->proven;
  }
  return json;
}

Certificate certificate_from_json(const Json& json) {
  Certificate certificate;
  certificate.absolute = number_of_json(json.at("absolute"));
  certificate.relative = number_of_json(json.at("relative"));
  if (json.contains("worst_column")) certificate.worst_column = number_of_json(json["worst_column"]);
  certificate.verified_columns = json.at("verified_columns").get<std::int64_t>();
  certificate.probability = json.at("probability").get<double>();
  if (json.contains("explained_share")) {
    certificate.share = {.low = json["explained_share"].at(0).get<double>(),
                         .high = json["explained_share"].at(1).get<double>(),
                         .level = json.at("explained_share_level").get<double>(),
                         .proven = json.at("explained_share_proven").get<double>(),
                         .columns = json.at("explained_share_columns").get<std::int64_t>()};
  }
  return certificate;
}

}  // namespace poise
