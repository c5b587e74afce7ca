#include <sstream>

#include "common/data/file.hpp"
#include "common/trace/trace.hpp"

namespace halo::trace {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

// Files of one document: each is read once.
class Files {
 public:
  Files(const Places& places, Document& document) : places_(places), document_(document) {}

  // What the file is called.
  std::string shown(const std::string& named) {
    const auto [known, is_new] = shown_.try_emplace(named);
    if (!is_new) return known->second;
    const fs::path path = (places_.base / named).lexically_normal();
    const std::string from_root = path.lexically_relative(places_.root).string();
    known->second = from_root.empty() || from_root.starts_with("..") ? path.string() : from_root;
    std::vector<std::string>& lines = document_.files[known->second];
    try {
      lines = lines_of(data::read_file(path.string()));
    } catch (const data::DataError&) {
      // The figures are shown all the same.
    }
    return known->second;
  }

 private:
  const Places& places_;
  Document& document_;
  std::map<std::string, std::string> shown_;
};

// "tile<32>" of "void a::(anonymous namespace)::tile<32>(float const*)".
std::string short_kernel(const std::string& kernel) {
  int depth = 0;
  std::size_t end = kernel.size();  // of the name: the last parenthesis outside < >
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    if (kernel[i] == '<') ++depth;
    if (kernel[i] == '>') --depth;
    if (kernel[i] == '(' && depth == 0 && !kernel.substr(i).starts_with("(anonymous")) {
      end = i;
      break;
    }
  }
  depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < end; ++i) {
    if (kernel[i] == '<') ++depth;
    if (kernel[i] == '>') --depth;
    if (depth == 0 && (kernel[i] == ' ' || kernel[i] == ':')) begin = i + 1;
  }
  return kernel.substr(begin, end - begin);
}

void rename(json::Value& launch, const char* list, Files& files) {
  json::Value renamed = json::Value::array();
  for (json::Value one : launch.at(list).elements()) {
    for (const char* name : {"file", "other_file"}) {
      if (const json::Value* file = one.find(name); file != nullptr) {
        const std::string named = file->get<std::string>();
        if (!named.empty()) one[name] = files.shown(named);
      }
    }
    renamed.push_back(std::move(one));
  }
  launch[list] = std::move(renamed);
}

void rename_trace(json::Value& launch, Files& files) {
  json::Value trace = launch.at("trace");
  rename(trace, "lines", files);
  json::Value warps = json::Value::array();
  for (json::Value warp : trace.at("warps").elements()) {
    rename(warp, "requests", files);
    warps.push_back(std::move(warp));
  }
  trace["warps"] = std::move(warps);
  launch["trace"] = std::move(trace);
}

}  // namespace

Document read(const std::vector<Traced>& traced, const Places& places) {
  Document document;
  Files files(places, document);
  for (const Traced& one : traced) {
    json::Value report;
    try {
      report = json::Value::parse(data::read_file(one.report.string()));
    } catch (const json::Error& error) {
      throw NoTrace(one.report.string() + " is no report of the simulator: " + error.what());
    }
    const std::size_t first = document.views.size();
    try {
      for (const json::Value& entry : report.at("launches").elements()) {
        if (entry.find("trace") == nullptr) continue;
        json::Value launch = entry;
        rename(launch, "lines", files);
        rename(launch, "findings", files);
        rename_trace(launch, files);
        document.views.push_back(
            {one.name, short_kernel(launch.get<std::string>("kernel")), std::move(launch)});
      }
    } catch (const json::Error& error) {
      throw NoTrace(one.report.string() + " is no report of the simulator: " + error.what());
    }
    if (document.views.size() == first) {
      throw NoTrace(one.name + ": no kernel was launched, so there is nothing to be drawn");
    }
    // Several kernels of one program are told apart by theirs.
    if (document.views.size() - first > 1) {
      for (std::size_t i = first; i < document.views.size(); ++i) {
        View& view = document.views[i];
        view.name = traced.size() == 1 ? view.short_kernel : view.name + ", " + view.short_kernel;
      }
    }
  }
  return document;
}

}  // namespace halo::trace
