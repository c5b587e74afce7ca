// The worst lines in words: what they cost, and what about their lanes makes it so.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>

#include "common/trace/trace.hpp"

namespace halo::trace {

namespace {

constexpr std::int64_t kSector = 32;
constexpr std::int64_t kBanks = 32;

std::string with_commas(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

// 4.67, 12.5, 32.
std::string figure(double value) {
  char text[32];
  if (value >= 99.95) return with_commas(static_cast<std::uint64_t>(value + 0.5));
  std::snprintf(text, sizeof text, value < 9.995 ? "%.2f" : "%.1f", value);
  std::string shown = text;
  while (shown.back() == '0') shown.pop_back();
  if (shown.back() == '.') shown.pop_back();
  return shown;
}

std::string plural(std::uint64_t number, const std::string& word) {
  return with_commas(number) + " " + word + (number == 1 ? "" : "s");
}

std::string triple(const json::Value& three) {
  const auto values = three.get<std::vector<std::uint64_t>>();
  std::string text;
  std::size_t last = values.size();
  while (last > 1 && values[last - 1] == 1) --last;
  for (std::size_t i = 0; i < last; ++i) {
    text += (i == 0 ? "" : " x ") + std::to_string(values[i]);
  }
  return text;
}

// What a line counts, of each of the ways in which it can cost too much.
struct Way {
  const char* kind;      // of requests
  const char* word;      // what it does, of the line
  const char* requests;  // counters; empty: there is none
  const char* taken;
  const char* unit;
};
constexpr Way kWays[] = {
    {"global_load", "loads", "global_load_requests", "global_load_sectors", "sector"},
    {"global_store", "stores", "global_store_requests", "global_store_sectors", "sector"},
    {"shared_load", "loads from shared memory", "shared_load_requests", "shared_load_wavefronts",
     "wavefront"},
    {"shared_store", "stores to shared memory", "shared_store_requests", "shared_store_wavefronts",
     "wavefront"},
    {"constant_load", "loads from constant memory", "", "constant_load_requests", "address"},
};

struct Count {
  std::uint64_t requests = 0;  // 0: not known
  std::uint64_t taken = 0;
  std::uint64_t fewest = 0;
  std::uint64_t excess() const { return taken > fewest ? taken - fewest : 0; }
};

Count count_of(const Way& way, const json::Value& counters, const json::Value* fewest) {
  Count count;
  if (*way.requests != 0) count.requests = counters.get_or<std::uint64_t>(way.requests, 0);
  count.taken = counters.get_or<std::uint64_t>(way.taken, 0);
  const std::string kind = way.kind;
  if (kind.starts_with("shared_")) {
    count.fewest = count.taken - counters.get_or<std::uint64_t>(kind + "_conflicts", 0);
  } else {
    count.fewest = fewest == nullptr ? count.taken : fewest->get_or<std::uint64_t>(way.taken, 0);
  }
  return count;
}

// One lane of a request.
struct Lane {
  int lane = 0;
  std::size_t array = 0;
  std::int64_t offset = 0;
};

struct Request {
  int bytes = 0;
  std::uint64_t taken = 0;
  std::uint64_t fewest = 0;
  std::vector<Lane> lanes;
  std::string warp;  // "warp 0 of block (1, 0, 0)"
};

// But for its warp.
Request request_of(const json::Value& json) {
  Request request;
  json.at("bytes").get_to(request.bytes);
  json.at("taken").get_to(request.taken);
  json.at("fewest").get_to(request.fewest);
  for (const json::Value& run : json.at("lanes").elements()) {
    const auto numbers = run.get<std::vector<std::int64_t>>();
    for (std::int64_t i = 0; i < numbers.at(1); ++i) {
      request.lanes.push_back({static_cast<int>(numbers.at(0) + i),
                               static_cast<std::size_t>(numbers.at(2)),
                               numbers.at(3) + i * numbers.at(4)});
    }
  }
  return request;
}

std::string warp_name(const json::Value& warp) {
  const auto block = warp.get<std::vector<std::uint64_t>>("block");
  return "warp " + std::to_string(warp.get<std::uint64_t>("warp")) + " of block (" +
         std::to_string(block.at(0)) + ", " + std::to_string(block.at(1)) + ", " +
         std::to_string(block.at(2)) + ")";
}

// Of the requests of this kind that were kept of the line's worst warp, the one that takes most beyond the fewest.
Request worst_request(const json::Value& trace, const json::Value& line, const std::string& kind) {
  Request worst;
  const json::Value& warp = trace.at("warps").elements().at(line.get<std::size_t>("worst"));
  for (const json::Value& one : warp.at("requests").elements()) {
    if (one.at("line").get<int>() != line.at("line").get<int>() ||
        one.at("file").get<std::string>() != line.at("file").get<std::string>() ||
        one.at("kind").get<std::string>() != kind) {
      continue;
    }
    Request request = request_of(one);
    request.warp = warp_name(warp);
    if (worst.lanes.empty() || request.taken - request.fewest > worst.taken - worst.fewest) {
      worst = std::move(request);
    }
  }
  return worst;
}

// The distance from each lane's byte to the next one's, if it is the same for all that follow each other.
bool has_stride(const Request& request, std::int64_t& stride) {
  if (request.lanes.size() < 2) return false;
  stride = request.lanes[1].offset - request.lanes[0].offset;
  for (std::size_t i = 1; i < request.lanes.size(); ++i) {
    const Lane& before = request.lanes[i - 1];
    const Lane& now = request.lanes[i];
    if (now.array != before.array || now.lane != before.lane + 1 ||
        now.offset - before.offset != stride) {
      return false;
    }
  }
  return true;
}

// Of a copy from global to shared memory a request is kept for each side, and what both cost by the two together.
constexpr const char* kOtherSide =
    "Its own lanes need no more: the other side of the asynchronous copy does.";

bool is_in_one_array(const Request& request) {
  return std::all_of(request.lanes.begin(), request.lanes.end(),
                     [&](const Lane& lane) { return lane.array == request.lanes.front().array; });
}

std::string why_sectors(const Request& request, std::int64_t phase) {
  std::set<std::int64_t> sectors;
  for (const Lane& lane : request.lanes) {
    sectors.insert((phase + lane.offset) / kSector);
    sectors.insert((phase + lane.offset + request.bytes - 1) / kSector);
  }
  if (sectors.size() <= request.fewest && is_in_one_array(request)) return kOtherSide;
  std::int64_t stride = 0;
  const auto lanes = request.lanes.size();
  if (has_stride(request, stride)) {
    const std::int64_t apart = std::llabs(stride);
    if (apart == request.bytes) {
      const std::int64_t begin =
          (phase + std::min(request.lanes.front().offset, request.lanes.back().offset)) % kSector;
      return "Its " + plural(lanes * static_cast<std::uint64_t>(request.bytes), "byte") +
             " follow each other, but begin " + plural(static_cast<std::uint64_t>(begin), "byte") +
             " into a sector, and so touch one more.";
    }
    if (apart >= kSector) {
      return "Neighbouring lanes are " + with_commas(static_cast<std::uint64_t>(apart)) +
             " bytes apart: a sector of 32 bytes serves one lane.";
    }
    return "Neighbouring lanes are " + with_commas(static_cast<std::uint64_t>(apart)) +
           " bytes apart and take " + plural(static_cast<std::uint64_t>(request.bytes), "byte") +
           " each: of what comes, " + figure(100.0 * request.bytes / static_cast<double>(apart)) +
           " % is used.";
  }
  std::uint64_t pieces = 1;
  for (std::size_t i = 1; i < lanes; ++i) {
    const std::int64_t step = request.lanes[i].offset - request.lanes[i - 1].offset;
    if (request.lanes[i].array != request.lanes[i - 1].array ||
        (step != 0 && std::llabs(step) != request.bytes)) {
      ++pieces;
    }
  }
  if (pieces == 1) {
    return "Its bytes follow each other, but do not begin with a sector.";
  }
  return "Its " + plural(lanes, "lane") + " fall into " + plural(pieces, "piece") +
         " of memory, and each takes its sectors whole.";
}

std::string why_wavefronts(const Request& request, std::int64_t phase) {
  // Which words each bank has to give, and to whom.
  std::array<std::set<std::int64_t>, kBanks> words;
  std::array<std::vector<int>, kBanks> lanes;
  std::map<std::pair<int, std::size_t>, std::int64_t> first;  // of the lanes that go together
  bool has_conflict = false;
  const int together = 128 / std::max(request.bytes, 4);
  for (const Lane& lane : request.lanes) {
    for (std::int64_t at = 0; at < std::max(request.bytes, 4); at += 4) {
      const std::int64_t word = (phase + lane.offset + at) / 4;
      const auto bank = static_cast<std::size_t>(word % kBanks);
      if (words[bank].insert(word).second) lanes[bank].push_back(lane.lane);
      has_conflict |= first.try_emplace({lane.lane / together, bank}, word).first->second != word;
    }
  }
  if (!has_conflict && is_in_one_array(request)) return kOtherSide;
  std::size_t worst = 0;
  for (std::size_t bank = 1; bank < words.size(); ++bank) {
    if (words[bank].size() > words[worst].size()) worst = bank;
  }
  std::string text = "Bank " + std::to_string(worst) + " has " +
                     plural(words[worst].size(), "different word") + " to give, to lanes ";
  for (std::size_t i = 0; i < std::min<std::size_t>(lanes[worst].size(), 4); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(lanes[worst][i]);
  }
  text += lanes[worst].size() > 4 ? ", ..." : "";
  std::int64_t stride = 0;
  if (has_stride(request, stride) && stride % 4 == 0 && stride != 0) {
    const std::int64_t apart = std::llabs(stride) / 4;
    text +=
        "; neighbouring lanes are " + plural(static_cast<std::uint64_t>(apart), "word") + " apart";
    if (request.bytes <= 4) {
      const std::int64_t common = std::gcd(apart, kBanks);
      text += common == kBanks
                  ? ", which is the same bank again. Rows that are a word longer, " +
                        std::to_string(apart + 1) + ", would begin in 32 banks"
                  : ", which leads to " + std::to_string(kBanks / common) + " of the 32 banks";
    }
  }
  return text + ".";
}

// Empty: no more can be said than that.
std::string why_more(const std::string& kind, const Request& request, std::int64_t phase) {
  if (kind.starts_with("shared_")) return why_wavefronts(request, phase);
  return kind.starts_with("global_") ? why_sectors(request, phase) : "";
}

// The line, and what is to be said of it beneath.
std::string quoted(const Document& document, const Culprit& culprit, const TableOptions& options) {
  const auto lines = document.files.find(culprit.file);
  const auto at = static_cast<std::size_t>(culprit.line);
  const bool known = lines != document.files.end() && at >= 1 && at <= lines->second.size();
  const std::string number = std::to_string(culprit.line);
  const std::string before(number.size() < 6 ? 6 - number.size() : 0, ' ');
  std::string code = known ? lines->second[at - 1] : "(the file is not here)";
  code.erase(0, std::min(code.find_first_not_of(" \t"), code.size()));
  const std::string beneath(std::max<std::size_t>(number.size(), 6), ' ');
  return before + number + " | " + code + "\n" + beneath + " | " +
         wrapped(culprit.words, options, beneath + " | ", beneath.size() + 3) + "\n";
}

std::string sentence(const Way& way, const Count& count, const Request& request,
                     const json::Value& arrays) {
  std::string text = way.word;
  const bool known = !request.lanes.empty();
  if (known) {
    const json::Value& array = arrays.elements().at(request.lanes.front().array);
    text += std::string(" (") + array.get<std::string>("name") + ")";
  }
  const std::string unit = way.unit;
  if (count.requests > 0) {
    const auto requests = static_cast<double>(count.requests);
    text += ": " + figure(static_cast<double>(count.taken) / requests) + " " + unit +
            "s per request, " + figure(static_cast<double>(count.fewest) / requests) +
            " would do; " + with_commas(count.excess()) + " too many in " +
            plural(count.requests, "request") + ".";
  } else {
    text += ": " + with_commas(count.taken) + " different addresses in " +
            plural(count.fewest, "request") + ", and it serves one at a time.";
  }
  if (!known) return text;
  const std::int64_t phase =
      arrays.elements().at(request.lanes.front().array).get<std::int64_t>("phase");
  if (request.taken <= request.fewest) return text;
  text += " For one, " + request.warp + ": " + std::to_string(request.taken) + " for " +
          plural(request.lanes.size(), "lane") + ".";
  const std::string reason = why_more(way.kind, request, phase);
  return reason.empty() ? text : text + " " + reason;
}

}  // namespace

std::string why(const json::Value& request, const json::Value& arrays) {
  const Request one = request_of(request);
  if (one.taken <= one.fewest || one.lanes.empty()) return "";
  return why_more(request.get<std::string>("kind"), one,
                  arrays.elements().at(one.lanes.front().array).get<std::int64_t>("phase"));
}

std::vector<Culprit> culprits(const Document&, const View& view) {
  const json::Value& trace = view.launch.at("trace");
  std::map<std::pair<std::string, int>, const json::Value*> traced;
  for (const json::Value& line : trace.at("lines").elements()) {
    traced[{line.get<std::string>("file"), line.get<int>("line")}] = &line;
  }
  std::vector<Culprit> found;
  for (const json::Value& line : view.launch.at("lines").elements()) {
    Culprit culprit;
    line.at("file").get_to(culprit.file);
    line.at("line").get_to(culprit.line);
    const auto known = traced.find({culprit.file, culprit.line});
    if (known == traced.end()) continue;  // a barrier's
    for (const Way& way : kWays) {
      const Count count = count_of(way, line.at("counters"), known->second->find("fewest"));
      if (count.excess() == 0) continue;
      culprit.excess += count.excess();
      culprit.words +=
          (culprit.words.empty() ? "" : " Also ") +
          sentence(way, count, worst_request(trace, *known->second, way.kind), trace.at("arrays"));
    }
    if (culprit.excess > 0) found.push_back(std::move(culprit));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Culprit& a, const Culprit& b) { return a.excess > b.excess; });
  return found;
}

std::vector<Repeated> repeated(const View& view) {
  std::vector<Repeated> all;
  for (const json::Value& array : view.launch.at("trace").at("arrays").elements()) {
    const auto bytes = array.get<double>("bytes");
    const auto sectors = array.get_or<std::uint64_t>("fewest_load_sectors", 0);
    const double times = static_cast<double>(sectors) * kSector / bytes;
    if (bytes > 0 && times >= 1.5) all.push_back({array.get<std::string>("name"), sectors, times});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Repeated& a, const Repeated& b) { return a.sectors > b.sectors; });
  return all;
}

std::string explain(const Document& document, std::size_t most_lines, const TableOptions& options) {
  std::string text;
  for (const View& view : document.views) {
    const json::Value& counters = view.launch.at("counters");
    const auto counted = [&](const char* name) { return counters.get_or<std::uint64_t>(name, 0); };
    std::string head = view.name;
    if (view.name.find(view.short_kernel) == std::string::npos) head += ", " + view.short_kernel;
    head +=
        ": grid " + triple(view.launch.at("grid")) + ", block " + triple(view.launch.at("block"));
    for (const Way& way : kWays) {
      if (*way.requests == 0 || std::string(way.unit) != "sector") continue;
      if (const std::uint64_t requests = counted(way.requests); requests > 0) {
        head += std::string(", ") + way.word + " " +
                figure(static_cast<double>(counted(way.taken)) / static_cast<double>(requests)) +
                " sectors per request";
      }
    }
    if (counted("shared_load_requests") + counted("shared_store_requests") > 0) {
      head += ", " + plural(counted("shared_load_conflicts") + counted("shared_store_conflicts"),
                            "bank conflict");
    }
    text += (text.empty() ? "" : "\n") + wrapped(head + ".", options, "  ") + "\n";
    for (const Repeated& one : repeated(view)) {
      text += "  " +
              wrapped(one.array + " is asked for " + figure(one.times) + " times over, in " +
                          plural(one.sectors, "sector") + " at least.",
                      options, "  ") +
              "\n";
    }
    const std::vector<Culprit> all = culprits(document, view);
    if (all.empty()) {
      text += "  No line takes more sectors or wavefronts than its bytes need.\n";
      continue;
    }
    std::string file;
    for (std::size_t i = 0; i < std::min(most_lines, all.size()); ++i) {
      if (all[i].file != file) text += "  " + all[i].file + "\n";
      file = all[i].file;
      text += quoted(document, all[i], options);
    }
    if (all.size() > most_lines) {
      text += "  and " + plural(all.size() - most_lines, "line") + " more, each with less\n";
    }
  }
  return text;
}

}  // namespace halo::trace
