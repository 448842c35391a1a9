#include <algorithm>
#include <string>
#include <vector>

#include "poise/data/log/layout.hpp"

namespace poise::logs {

ColumnRole role_of(std::string_view name) {
  static const std::vector<std::string_view> users = {
      "user",      "userid",     "uid",      "userno",     "customer",  "customerid",     "customerno",
      "client",    "clientid",   "reviewer", "reviewerid", "member",    "memberid",       "visitor",
      "visitorid", "listenerid", "username", "account",    "accountid", "profileid",      "personid",
      "readerid",  "playerid",   "cust",     "custid",     "custno",    "customernumber", "customercode",
      "buyer",     "buyerid",    "shopper",  "shopperid",  "usernumber"};
  static const std::vector<std::string_view> items = {
      "item",       "itemid",     "iid",         "sid",       "itemno",        "movie",     "movieid",
      "film",       "filmid",     "product",     "productid", "stockcode",     "asin",      "parentasin",
      "sku",        "song",       "songid",      "track",     "trackid",       "artist",    "artistid",
      "album",      "albumid",    "book",        "bookid",    "isbn",          "game",      "gameid",
      "business",   "businessid", "video",       "videoid",   "article",       "articleid", "animeid",
      "location",   "locationid", "poi",         "poiid",     "contentid",     "skuid",     "skucode",
      "itemcode",   "itemnumber", "productcode", "productno", "productnumber", "articleno", "articlenumber",
      "articlecode"};
  static const std::vector<std::string_view> values = {
      "rating",   "ratings", "score",   "value",      "count",   "plays",       "playcount",  "weight",
      "quantity", "stars",   "overall", "preference", "listens", "listencount", "bookrating", "strength"};
  static const std::vector<std::string_view> times = {
      "time",       "timestamp",     "date",           "when",           "datetime",   "ts",
      "unixtime",   "unixtimestamp", "createdat",      "createdtime",    "eventtime",  "eventdate",
      "ratingtime", "reviewtime",    "unixreviewtime", "ratingdate",     "reviewdate", "orderdate",
      "orderedat",  "invoicedate",   "purchasedate",   "purchasedat",    "viewedat",   "playedat",
      "clickedat",  "visittime",     "checkintime",    "transactiondate"};
  std::string plain;
  for (const char c : name) {
    if (c == ' ' || c == '\t' || c == '_' || c == '-') continue;
    plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  const auto among = [&](const std::vector<std::string_view>& list) {
    return std::find(list.begin(), list.end(), plain) != list.end();
  };
  if (among(users)) return ColumnRole::user;
  if (among(items)) return ColumnRole::item;
  if (among(times)) return ColumnRole::time;
  return among(values) ? ColumnRole::value : ColumnRole::unknown;
}

}  // namespace poise::logs
