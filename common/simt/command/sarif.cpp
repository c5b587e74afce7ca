#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "common/simt/command/reports.hpp"

namespace simt::command {
namespace {

using halo::json::Value;

Value text(std::string_view words) { return Value::object({{"text", words}}); }

// "Uninitialized shared read"
std::string words_of(std::string kind) {
  for (char& c : kind) {
    if (c == '_') c = ' ';
  }
  kind[0] = static_cast<char>(kind[0] - 'a' + 'A');
  return kind;
}

std::string uri(const std::string& path) {
  std::string encoded;
  for (const char c : path) {
    static constexpr std::string_view kPlain = "-._~/+@";
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || kPlain.find(c) != kPlain.npos;
    if (is_plain) {
      encoded += c;
    } else {
      static constexpr char kDigits[] = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(c);
      encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return encoded;
}

// Below the repository's root, which is the current folder, or anywhere.
Value artifact(const std::string& path) {
  if (std::filesystem::path(path).is_absolute()) {
    return Value::object({{"uri", "file://" + uri(path)}});
  }
  return Value::object({{"uri", uri(path)}, {"uriBaseId", "%SRCROOT%"}});
}

Value location(const std::string& file, int line) {
  Value physical = Value::object({{"artifactLocation", artifact(file)}});
  if (line > 0) physical["region"] = Value::object({{"startLine", line}});
  return Value::object({{"physicalLocation", std::move(physical)}});
}

// A line's words without the blanks; empty if the file is not here.
class Sources {
 public:
  std::string line(const std::string& file, int number) {
    const auto [found, is_new] = lines_.try_emplace(file);
    if (is_new) {
      std::ifstream in(file);
      for (std::string text; std::getline(in, text);) {
        std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
        found->second.push_back(text);
      }
    }
    const auto index = static_cast<std::size_t>(number - 1);
    return index < found->second.size() ? found->second[index] : "";
  }

 private:
  std::map<std::string, std::vector<std::string>> lines_;
};

Value rule(const std::string& kind) {
  const Hazard hazard = *hazard_named(kind);
  Value tags = Value::array();
  tags.push_back("cuda");
  return Value::object(
      {{"id", kind},
       {"shortDescription", text(words_of(kind))},
       {"fullDescription", text(description(hazard))},
       {"help", text(std::string(description(hazard)) + " " + advice(hazard))},
       {"defaultConfiguration", Value::object({{"level", is_note(hazard) ? "note" : "error"}})},
       {"properties", Value::object({{"tags", std::move(tags)}})}});
}

// The other place, where it is told, is a link to the related location.
std::string with_link(std::string message, const std::string& place) {
  const std::size_t at = message.find("at " + place);
  if (at != message.npos) message.replace(at + 3, place.size(), "[" + place + "](1)");
  return message;
}

Value result(const Merged& one, std::size_t rule_index, const std::string& fingerprint) {
  const Finding& f = one.finding;
  // Code scanning refuses a file that has a result without a place: without lines it is the program.
  Value place = f.file.empty() ? location(one.program, 1) : location(f.file, f.line);
  place["logicalLocations"].push_back(
      Value::object({{"fullyQualifiedName", one.kernel}, {"kind", "function"}}));
  Value json = Value::object(
      {{"ruleId", f.kind},
       {"ruleIndex", rule_index},
       {"level", f.is_note() ? "note" : "error"},
       {"message", text(report::title(f) + " in " + one.kernel + ": " +
                        with_link(f.message, f.other_file + ":" + std::to_string(f.other_line)))}});
  json["locations"].push_back(std::move(place));
  if (!f.other_file.empty()) {
    Value other = location(f.other_file, f.other_line);
    other["id"] = 1;
    other["message"] = text("the other side");
    json["relatedLocations"].push_back(std::move(other));
  }
  json["occurrenceCount"] = f.count;
  json["partialFingerprints"] = Value::object({{"place/v1", fingerprint}});
  // An empty list says of the others that nobody suppresses them.
  json["suppressions"] = Value::array();
  if (one.suppressed) {
    // Without a status, which editions of the schema name differently: it counts as accepted.
    json["suppressions"].push_back(
        Value::object({{"kind", "external"},
                       {"justification", one.suppressed->reason},
                       {"location", location(one.suppressed->file, one.suppressed->line)}}));
  }
  return json;
}

}  // namespace

Value sarif(const Reports& reports, bool has_suppressed) {
  std::vector<Merged> findings = reports.findings();
  if (!has_suppressed) {
    std::erase_if(findings, [](const Merged& one) { return one.suppressed.has_value(); });
  }
  std::map<std::string, std::size_t> indices;
  for (const Merged& one : findings) indices.emplace(one.finding.kind, 0);
  Value rules = Value::array();
  std::size_t next = 0;
  for (auto& [kind, index] : indices) {
    rules.push_back(rule(kind));
    index = next++;
  }
  Value results = Value::array();
  Sources sources;
  std::map<std::string, int> seen;
  for (const Merged& one : findings) {
    // What stands in the lines and not where, so that it is the same after lines were added above.
    const Finding& f = one.finding;
    std::string print = f.kind + "|" + f.file + "|" + short_name(one.kernel) + "|" + f.array + "|" +
                        sources.line(f.file, f.line) + "|" +
                        sources.line(f.other_file, f.other_line);
    print += "|" + std::to_string(++seen[print]);
    results.push_back(result(one, indices.at(f.kind), print));
  }
  Value driver = Value::object({{"name", "simt"}, {"rules", std::move(rules)}});
  Value run = Value::object(
      {{"tool", Value::object({{"driver", std::move(driver)}})},
       {"originalUriBaseIds",
        Value::object(
            {{"%SRCROOT%", Value::object({{"description", text("the repository's root")}})}})},
       {"results", std::move(results)}});
  Value log = Value::object(
      {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}});
  log["runs"].push_back(std::move(run));
  return log;
}

}  // namespace simt::command
