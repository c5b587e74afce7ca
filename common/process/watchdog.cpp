#include "common/process/watchdog.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string_view>

namespace halo {
namespace {

// A whole file of /proc; empty if its process has gone.
std::string text_of(const std::string& path) {
  std::string text;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  std::array<char, 4096> buffer;
  for (ssize_t got; (got = read(file, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(file);
  return text;
}

// Calls `see` with the names in a folder.
template <class See>
void for_each_name(const std::string& folder, See see) {
  DIR* const open = opendir(folder.c_str());
  if (open == nullptr) return;
  while (const dirent* entry = readdir(open)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") see(std::string(name));
  }
  closedir(open);
}

std::string folder_of(pid_t process) { return "/proc/" + std::to_string(process); }

// The fields of a stat file of /proc behind the name, which may hold anything; the first is the state.
std::vector<std::string> stat_fields(const std::string& folder) {
  const std::string text = text_of(folder + "/stat");
  std::vector<std::string> fields;
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return fields;
  std::size_t at = name_end + 2;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    fields.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return fields;
}

std::vector<std::string> stat_fields(pid_t process) { return stat_fields(folder_of(process)); }

// Processor seconds in the fields from `first` to before `last`: 11 and 12 are its own, 13 and 14 those of its children that
// have ended.
double seconds_in(const std::vector<std::string>& fields, std::size_t first, std::size_t last) {
  static const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  double seconds = 0;
  for (std::size_t field = first; field < std::min(last, fields.size()); ++field) {
    seconds += std::atof(fields[field].c_str()) / ticks;
  }
  return seconds;
}

void add_children(pid_t process, std::vector<pid_t>& below) {
  const std::string tasks = folder_of(process) + "/task";
  for_each_name(tasks, [&](const std::string& task) {
    const std::string children = text_of(tasks + "/" + task + "/children");
    const char* at = children.c_str();
    char* end = nullptr;
    for (long child; (child = std::strtol(at, &end, 10)) > 0; at = end) {
      below.push_back(static_cast<pid_t>(child));
    }
  });
}

// Where the kernel keeps no lists of children: of everybody his parent.
std::vector<pid_t> found_by_parents(pid_t process) {
  std::multimap<pid_t, pid_t> children;
  for_each_name("/proc", [&](const std::string& name) {
    if (name[0] < '0' || name[0] > '9') return;
    const auto one = static_cast<pid_t>(std::atoi(name.c_str()));
    const std::vector<std::string> fields = stat_fields(one);
    if (fields.size() > 1) children.emplace(std::atoi(fields[1].c_str()), one);
  });
  std::vector<pid_t> below = {process};
  for (std::size_t i = 0; i < below.size(); ++i) {
    const auto [begin, end] = children.equal_range(below[i]);
    for (auto child = begin; child != end; ++child) below.push_back(child->second);
  }
  below.erase(below.begin());
  return below;
}

std::uint64_t number_behind(const std::string& text, std::string_view name) {
  const std::size_t at = text.find(name);
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + name.size(), nullptr, 10);
}

}  // namespace

std::vector<pid_t> processes_below(pid_t process) {
  static const bool has_lists =
      access((folder_of(getpid()) + "/task/" + std::to_string(getpid()) + "/children").c_str(),
             R_OK) == 0;
  if (!has_lists) return found_by_parents(process);
  std::vector<pid_t> below;
  add_children(process, below);
  for (std::size_t i = 0; i < below.size(); ++i) add_children(below[i], below);
  return below;
}

Usage usage_of(const std::vector<pid_t>& processes) {
  Usage usage;
  std::set<std::pair<dev_t, ino_t>> seen;
  for (const pid_t process : processes) {
    const std::string status = text_of(folder_of(process) + "/status");
    const std::uint64_t own = number_behind(status, "\nRssAnon:") * 1024;
    const std::uint64_t shared = number_behind(status, "\nRssShmem:") * 1024;
    usage.threads += static_cast<int>(number_behind(status, "\nThreads:"));
    usage.processor += seconds_in(stat_fields(process), 11, 15);
    // Files that are only in memory, mapped or not, and those that are named nowhere.
    std::uint64_t in_memory = 0;
    const std::string files = folder_of(process) + "/fd";
    for_each_name(files, [&](const std::string& name) {
      struct stat file = {};
      const std::string path = files + "/" + name;
      if (stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode) || file.st_nlink > 0) return;
      if (!seen.emplace(file.st_dev, file.st_ino).second) return;
      const std::uint64_t bytes = static_cast<std::uint64_t>(file.st_blocks) * 512;
      char target[16] = {};
      const ssize_t length = readlink(path.c_str(), target, sizeof target - 1);
      (length > 0 && std::strncmp(target, "/memfd:", 7) == 0 ? in_memory : usage.unnamed) += bytes;
    });
    usage.memory += own + std::max(shared, in_memory);
  }
  return usage;
}

std::uint64_t available_memory() {
  return number_behind(text_of("/proc/meminfo"), "MemAvailable:") * 1024;
}

FolderUsage usage_of_folder(const std::string& folder, std::uint64_t most) {
  FolderUsage usage;
  std::vector<std::string> folders = {folder};
  while (!folders.empty() && usage.files <= most) {
    const std::string one = folders.back();
    folders.pop_back();
    for_each_name(one, [&](const std::string& name) {
      if (usage.files > most) return;
      struct stat file = {};
      const std::string path = one + "/" + name;
      if (lstat(path.c_str(), &file) != 0) return;
      ++usage.files;
      usage.bytes += static_cast<std::uint64_t>(file.st_blocks) * 512;
      if (S_ISDIR(file.st_mode)) folders.push_back(path);
    });
  }
  return usage;
}

Activity activity_of(const std::vector<pid_t>& processes) {
  Activity activity;
  bool any_awake = false;
  for (const pid_t process : processes) {
    const std::string name = text_of(folder_of(process) + "/comm");
    if (name == "halo-jail\n" || name == "bwrap\n") continue;
    activity.processor += seconds_in(stat_fields(process), 11, 15);
    const std::string tasks = folder_of(process) + "/task";
    for_each_name(tasks, [&](const std::string& task) {
      const std::vector<std::string> fields = stat_fields(tasks + "/" + task);
      if (fields.empty() || fields[0] == "Z" || fields[0] == "X") return;
      activity.threads[static_cast<pid_t>(std::atoi(task.c_str()))] = seconds_in(fields, 11, 13);
      any_awake = any_awake || fields[0] != "S";
    });
  }
  activity.sleeps = !any_awake && !activity.threads.empty();
  return activity;
}

}  // namespace halo
