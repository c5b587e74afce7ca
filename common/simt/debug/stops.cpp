#include "common/simt/debug/stops.hpp"

#include <filesystem>
#include <tuple>

#include "common/simt/debug/frames.hpp"

namespace simt::debug {
namespace {

namespace fs = std::filesystem;

// nvcc -G gives no column to what enters a function, and no line to what it made by itself.
bool is_code(const ptx::Module& module, const ptx::Instruction& one) {
  if (one.location < 0) return false;
  const ptx::Location& here = module.locations[static_cast<std::size_t>(one.location)];
  return here.line != 0 && here.column != 0 &&
         !report::is_of_toolkit(module.files[static_cast<std::size_t>(here.file)]);
}

fs::path plain(const fs::path& path) {
  std::error_code ignored;
  const fs::path found = fs::weakly_canonical(path, ignored);
  return found.empty() ? path : found;
}

}  // namespace

void Lines::add(const ptx::Module& module) {
  for (const ptx::Function& function : module.functions) {
    for (const ptx::Instruction& one : function.body) {
      if (!is_code(module, one)) continue;
      const DeviceLine line = report::line_of(module, one);
      lines_[line.file].insert(line.line);
    }
  }
}

std::string Lines::file(const std::string& path) const {
  for (const auto& [file, lines] : lines_) {
    if (plain(file) == plain(path)) return file;
  }
  // An editor may have found it in another folder.
  for (const auto& [file, lines] : lines_) {
    if (fs::path(file).filename() == fs::path(path).filename()) return file;
  }
  return "";
}

int Lines::at_or_behind(const std::string& file, int line) const {
  const auto its = lines_.find(file);
  if (its == lines_.end()) return 0;
  const auto found = its->second.lower_bound(line);
  return found == its->second.end() ? 0 : *found;
}

std::vector<Site> sites_of(const ptx::Module& module, const machine::Code& code,
                           const DebugInfo& info) {
  std::vector<Site> all(code.sites.size());
  std::set<std::tuple<const machine::Body*, std::string, int>> begun;
  bool has_entry = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Site& its = all[i];
    its.line = report::line_of(module, *code.sites[i]);
    its.is_code = is_code(module, *code.sites[i]);
    // Code that nvcc made by itself belongs to what is before it.
    if (its.line.line == 0 && i > 0) its.line = all[i - 1].line;
    const machine::Body* const body = body_at(code, static_cast<std::int32_t>(i));
    std::int32_t site = static_cast<std::int32_t>(i);
    for (const machine::Body* at = body; at != nullptr;) {
      const int line = code.sites[static_cast<std::size_t>(site)]->line;
      if (const Function* const function = info.function_at(line); function != nullptr) {
        for (const Range& one : function->inlined) its.depth += one.has(line) ? 1 : 0;
      }
      site = at->call_site;
      at = at->outer < 0 ? nullptr : &code.bodies[static_cast<std::size_t>(at->outer)];
      if (at != nullptr) ++its.depth;
    }
    if (!its.is_code) continue;
    its.is_first = begun.emplace(body, its.line.file, its.line.line).second;
    its.is_entry = !has_entry && body != nullptr && body == code.bodies.data();
    has_entry |= its.is_entry;
  }
  return all;
}

}  // namespace simt::debug
