// Rows that share what they say alike, and whole again.
#include "common/report/compact_rows.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace halo {

namespace {

using Json = json::Value;

// These say which variant it is, and stand in its rows as well.
constexpr const char* kNames[] = {"stage", "backend", "variant"};
// Of these rows may share some members. Any other object is shared whole or not at all: the order of
// its members tells something too.
constexpr const char* kParts[] = {"check", "hazards", "traffic", "coverage", "time"};

bool is_among(const std::string& name, const auto& names) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// What both say.
Json common(const Json& a, const Json& b) {
  Json both = Json::object();
  for (const auto& [name, value] : a.members()) {
    const Json* const other = b.find(name);
    if (!other) continue;
    if (value.dump() == other->dump()) {
      both[name] = value;
    } else if (is_among(name, kParts)) {
      if (const Json inner = common(value, *other); !inner.empty()) both[name] = inner;
    }
  }
  return both;
}

// What a row says and its variant doesn't.
Json own(const Json& row, const Json& shared) {
  Json rest = Json::object();
  for (const auto& [name, value] : row.members()) {
    const Json* const said = shared.find(name);
    if (!said || is_among(name, kNames)) {
      rest[name] = value;
    } else if (value.dump() != said->dump()) {
      rest[name] = own(value, *said);
    }
  }
  return rest;
}

// The row with what its variant says.
Json whole(const Json& row, Json shared) {
  for (const auto& [name, value] : row.members()) {
    Json& place = shared[name];
    if (!place.is_object() || !value.is_object()) {
      place = value;
    } else {
      for (const auto& [inner, held] : value.members()) place[inner] = held;
    }
  }
  return shared;
}

std::string names_of(const Json& row) {
  std::string names;
  for (const char* name : kNames) names += row.get<std::string>(name) + '\n';
  return names;
}

std::string list(const char* name, const std::vector<const std::string*>& lines) {
  std::string text = " \"" + std::string(name) + "\": [";
  const char* separator = "\n";
  for (const std::string* line : lines) {
    text += separator + *line;
    separator = ",\n";
  }
  return text + (lines.empty() ? "]" : "\n ]");
}

}  // namespace

void CompactRows::add(Json row) {
  const auto [place, is_new] = places_.try_emplace(names_of(row), variants_.size());
  if (is_new) {
    // A row says which problem it is of, even if there is only one.
    Json shared = own(row, Json::object({{"problem", row.at("problem")}}));
    variants_.push_back({std::move(shared), "", {}});
  }
  Variant& variant = variants_[place->second];
  variant.shared = common(variant.shared, row);
  if (std::string text = variant.shared.dump(); text != variant.text || variant.rows.size() == 1) {
    variant.text = std::move(text);
    for (const std::size_t i : variant.rows) rows_[i].text.clear();
  }
  variant.rows.push_back(rows_.size());
  rows_.push_back({std::move(row), place->second, ""});
}

std::string CompactRows::text() {
  std::vector<const std::string*> variants, rows;
  for (const Variant& variant : variants_) {
    if (variant.rows.size() > 1) variants.push_back(&variant.text);
  }
  for (Row& row : rows_) {
    const Variant& variant = variants_[row.variant];
    if (row.text.empty()) {
      row.text = (variant.rows.size() > 1 ? own(row.whole, variant.shared) : row.whole).dump();
    }
    rows.push_back(&row.text);
  }
  return (variants.empty() ? "" : list("variants", variants) + ",\n") + list("rows", rows);
}

std::vector<Json> whole_rows(const Json& file) {
  std::map<std::string, const Json*> variants;
  if (const Json* const found = file.find("variants")) {
    for (const Json& shared : found->elements()) variants[names_of(shared)] = &shared;
  }
  std::vector<Json> rows;
  for (const Json& row : file.at("rows").elements()) {
    try {
      const auto shared = variants.find(names_of(row));
      rows.push_back(shared == variants.end() ? row : whole(row, *shared->second));
    } catch (const json::Error& error) {
      throw json::Error("row " + std::to_string(rows.size() + 1) + ": " + error.what());
    }
  }
  return rows;
}

}  // namespace halo
