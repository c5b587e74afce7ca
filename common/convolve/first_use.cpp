#include "common/convolve/first_use.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "common/convolve/measuring.hpp"
#include "common/data/file.hpp"
#include "common/gpus/present_gpu.hpp"
#include "common/harness/backend/backend.hpp"
#include "common/json/json.hpp"

namespace halo::convolve {

namespace {

using conv::ConvLayer;
using Json = json::Value;

// Another number where kernels changed so much that old times say nothing.
constexpr int kVersion = 1;

std::optional<std::string> folder_set;

std::string key_of(const ConvLayer& layer, Products products, Epilogue epilogue, Calls calls) {
  return conv::label(layer) + (products == Products::fp32 ? "" : " split_tf32") +
         (epilogue == Epilogue::none ? "" : " bias_relu") +
         (calls == Calls::packed ? "" : std::string(" ") + word_for(calls));
}

}  // namespace

FirstUses::FirstUses(std::string file) : file_(std::move(file)), entries_(read()) {}

std::vector<FirstUses::Entry> FirstUses::read() const {
  std::vector<Entry> entries;
  if (file_.empty() || !std::filesystem::exists(file_)) return entries;
  try {
    const Json all = Json::parse(data::read_file(file_));
    if (all.get<int>("version") != kVersion) return entries;
    for (const Json& one : all.at("layers").elements()) {
      entries.push_back(
          {one.get<std::string>("layer"), one.get<std::string>("variant"), one.get<double>("us")});
    }
  } catch (const std::exception&) {
    entries.clear();
  }
  return entries;
}

std::string FirstUses::fastest(const ConvLayer& layer, Products products, Epilogue epilogue,
                               Calls calls) const {
  const std::string key = key_of(layer, products, epilogue, calls);
  const auto at = std::find_if(entries_.begin(), entries_.end(),
                               [&](const Entry& one) { return one.key == key; });
  return at == entries_.end() ? "" : at->variant;
}

bool FirstUses::keep(const ConvLayer& layer, Products products, Epilogue epilogue, Calls calls,
                     const std::string& variant, double us) {
  const std::string key = key_of(layer, products, epilogue, calls);
  // What another process has added since is kept too; of two that write at the same moment one is lost, and measured again.
  entries_ = read();
  std::erase_if(entries_, [&](const Entry& one) { return one.key == key; });
  entries_.push_back({key, variant, us});
  if (file_.empty()) return false;
  Json layers = Json::array();
  for (const Entry& one : entries_) {
    layers.push_back(Json::object({{"layer", one.key}, {"variant", one.variant}, {"us", one.us}}));
  }
  const Json all = Json::object({{"version", kVersion}, {"layers", layers}});
  try {
    std::filesystem::create_directories(std::filesystem::path(file_).parent_path());
    data::write_file(file_, all.dump(1) + "\n");
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

std::string first_uses_file(const std::string& gpu) {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  std::string folder;
  if (folder_set) {
    if (folder_set->empty()) return "";
  } else if (cache != nullptr && *cache != '\0') {
    folder = cache;
  } else if (home != nullptr && *home != '\0') {
    folder = std::string(home) + "/.cache";
  } else {
    return "";
  }
  std::string name = gpu;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return (folder_set ? *folder_set : folder + "/halo") + "/convolve_" + name + ".json";
}

void keep_first_uses_in(const std::string& folder) { folder_set = folder; }

std::pair<const Conv2dVariant*, double> fastest_of(std::span<const Ranked> ranked,
                                                   const TimeOf& time_of) {
  std::pair<const Conv2dVariant*, double> best{nullptr, 1e12};
  for (const Conv2dVariant* const one : nearest(ranked, kMeasuredAtFirstUse)) {
    const std::optional<double> us = time_of(*one, best.second);
    if (us && *us < best.second) best = {one, *us};
  }
  return best;
}

const Conv2dVariant* fastest_at_first_use(const ConvLayer& layer, Products products,
                                          Epilogue epilogue, Calls calls,
                                          std::span<const Ranked> ranked) {
  static std::map<std::string, FirstUses> by_gpu;
  const std::string gpu = gpus::present_gpu().name;
  FirstUses& uses = by_gpu.try_emplace(gpu, first_uses_file(gpu)).first->second;
  const std::string known = uses.fastest(layer, products, epilogue, calls);
  for (const Ranked& one : ranked) {
    if (one.variant->name == known) return one.variant;
  }
  const std::unique_ptr<Backend> backend = make_backend();
  if (!backend->unavailable().empty() || !backend->times()) return nullptr;
  Measuring measuring(*backend);
  // Where one fails, what else this process has on the device is left alone: the rule chooses.
  bool has_failed = false;
  const auto [fastest, us] =
      fastest_of(ranked, [&](const Conv2dVariant& one, double best) -> std::optional<double> {
        if (has_failed) return {};
        try {
          return measuring.time(one, layer, best, calls);
        } catch (const std::runtime_error&) {
          has_failed = true;
          return {};
        }
      });
  if (has_failed) return nullptr;
  if (fastest != nullptr) uses.keep(layer, products, epilogue, calls, fastest->name, us);
  return fastest;
}

}  // namespace halo::convolve
