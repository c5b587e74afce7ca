#include "common/simt/cudart/toolkit.hpp"

#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "common/simt/cudart/dropped_members.hpp"
#include "common/simt/cudart/installation.hpp"

namespace simt {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::vector<fs::path> on_path(const char* program) {
  std::vector<fs::path> all;
  std::istringstream folders(variable("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    all.push_back(fs::path(folder) / program);
  }
  return all;
}

namespace {

constexpr int kOldestRelease = 13;

// How the folder's name begins, which is made. The number changes with what is in it: one of another simcc in this place is
// not taken. Findings are not told of files below "/cuda" (report/lines.cpp).
constexpr const char* kNameBegins = "cuda-4-";

// Set while others are asked. A script that is called nvcc and calls simcc would ask itself for ever.
constexpr const char* kAsks = "SIMT_ASKS_FOR_NVCC";

// What a program says, on both streams.
std::string said_by(const fs::path& program, const std::string& arguments) {
  std::string quoted = "'";
  for (const char c : program.string()) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  setenv(kAsks, "1", 1);
  std::FILE* const pipe = popen((quoted + "' " + arguments + " 2>&1").c_str(), "r");
  unsetenv(kAsks);
  if (pipe == nullptr) return "";
  std::string said;
  char part[1024];
  while (std::fgets(part, sizeof part, pipe) != nullptr) said += part;
  pclose(pipe);
  return said;
}

// What is between `before` and the line's end.
std::string rest_of_line(const std::string& text, const std::string& before) {
  const std::size_t at = text.find(before);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + before.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

struct Nvcc {
  fs::path program;
  std::string release;  // "13.0, V13.0.88"; empty: it is none
  int major() const { return std::atoi(release.c_str()); }
};

// simcc may itself be called nvcc.
Nvcc asked(const fs::path& program) {
  std::error_code error;
  if (access(program.c_str(), X_OK) != 0 || fs::equivalent(program, "/proc/self/exe", error)) {
    return {program, ""};
  }
  return {program, rest_of_line(said_by(program, "--version"), ", release ")};
}

std::vector<std::string> matching(const std::string& pattern) {
  glob_t names = {};
  glob(pattern.c_str(), 0, nullptr, &names);
  std::vector<std::string> found(names.gl_pathv, names.gl_pathv + names.gl_pathc);
  globfree(&names);
  return found;
}

std::vector<fs::path> candidates() {
  std::vector<fs::path> all = on_path("nvcc");
  all.push_back("/usr/local/cuda/bin/nvcc");
  // Where pip puts it: beside simcc, if pip has brought that too; in this environment; for this user.
  const fs::path own = program_folder();
  const std::string packages = "/lib/python3*/site-packages";
  for (const std::string& place :
       {(own / "../../..").lexically_normal().string(), variable("VIRTUAL_ENV") + packages,
        variable("HOME") + "/.local" + packages}) {
    for (const std::string& one : matching(place + "/nvidia/cu[1-9][0-9]/bin/nvcc")) {
      all.push_back(one);
    }
  }
  all.push_back(SIMT_BUILD_NVCC);
  return all;
}

Nvcc find_nvcc(const std::string& wanted) {
  if (!variable(kAsks).empty()) throw std::runtime_error("this is simcc, not nvcc");
  if (!wanted.empty()) {
    const Nvcc its = asked(wanted);
    if (its.major() >= kOldestRelease) return its;
    throw std::runtime_error("SIMT_NVCC=" + wanted + " is no nvcc of CUDA 13 or newer");
  }
  std::string older;
  for (const fs::path& one : candidates()) {
    Nvcc its = asked(one);
    if (its.major() >= kOldestRelease) return its;
    if (its.major() > 0) older = " (" + one.string() + " is " + its.release + ")";
  }
  throw std::runtime_error("no nvcc of CUDA 13 or newer was found" + older +
                           ": put it on PATH, or name it in SIMT_NVCC; `pip install "
                           "nvidia-cuda-nvcc nvidia-cuda-cccl` brings one");
}

// Of the toolkit at `root`, the first of these that there is.
fs::path first_of(const fs::path& root, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    for (const std::string& one : matching((root / name).string())) return one;
  }
  return {};
}

void write(const fs::path& name, const std::string& text) {
  std::ofstream file(name, std::ios::binary);
  file << text << std::flush;
  if (!file)
    throw fs::filesystem_error("cannot be written", name,
                               std::make_error_code(std::errc::io_error));
}

// All but the libraries of these names.
void link_all(const fs::path& from, const fs::path& to,
              const std::vector<std::string>& others = {}) {
  for (const fs::directory_entry& one : fs::directory_iterator(from)) {
    const std::string name = one.path().filename();
    const std::string library = name.substr(0, name.find_first_of("._"));
    if (std::find(others.begin(), others.end(), library) != others.end()) continue;
    fs::create_symlink(one.path(), to / name);
  }
}

// Our libraries have no soname: what is linked with one by its whole name finds it by that, whoever calls the linker. CMake,
// for one, takes no run path from nvcc. The runtime is linked statically unless nvcc is told otherwise.
void lead_to(const fs::path& library, const fs::path& folder, const std::string& name) {
  const std::string script = "INPUT(\"" + library.string() + "\")\n";
  write(folder / (name + ".so"), script);
  write(folder / (name + "_static.a"), script);
  if (const fs::path link = folder / library.filename(); !fs::exists(link)) {
    fs::create_symlink(library, link);
  }
}

// nvcc looks for libraries in the stubs first.
void lead_to_driver(const fs::path& library, const fs::path& libraries, const fs::path& folder) {
  write(folder / "libcuda.so", "INPUT(\"" + library.string() + "\")\n");
  if (!fs::exists(libraries / "stubs")) return;
  fs::create_directory(folder / "stubs");
  link_all(libraries / "stubs", folder / "stubs", {"libcuda"});
}

// What stands in place of NVIDIA's libraries, or before them. Each is there only if it was built.
struct OurLibrary {
  const char* name;  // NVIDIA's
  const char* file;
  bool is_before = false;
};
constexpr OurLibrary kOurs[] = {{"libcublas", "libcublas.so.13"},
                                {"libcublasLt", "libcublas.so.13"},
                                {"libcurand", "libcurand.so.10"},
                                {"libnvrtc", "libsimt-nvrtc.so", true}};

std::vector<OurLibrary> our_libraries(const fs::path& library_folder) {
  std::vector<OurLibrary> all(std::begin(kOurs), std::end(kOurs));
  std::erase_if(all, [folder = libraries_folder(library_folder)](const OurLibrary& one) {
    return !fs::exists(folder / one.file);
  });
  return all;
}

// NVIDIA's own is asked after ours.
void lead_to_both(const fs::path& library, const fs::path& folder, const std::string& name) {
  for (const std::string& theirs : matching((folder / name).string() + ".so.[0-9]*")) {
    fs::remove(folder / (name + ".so"));
    write(folder / (name + ".so"),
          "INPUT(\"" + library.string() + "\" \"" + fs::canonical(theirs).string() + "\")\n");
    return;
  }
}

// Headers that come before the toolkit's. In one that is not written as we know it nothing is changed.
void write_older(const fs::path& include, const fs::path& folder) {
  std::ifstream file(include / "driver_types.h");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string word = "reserved[";
  const std::size_t begin = text.find("struct __device_builtin__ cudaDeviceProp\n");
  const std::size_t at = text.find(word, begin);
  if (begin == std::string::npos || at > text.find("};", begin)) return;
  const std::size_t number = at + word.size();
  const int places = std::atoi(text.c_str() + number);
  std::string members;
  for (const DroppedMember& one : kDroppedMembers) members += std::string(one.name) + ", ";
  const int left = places - static_cast<int>(std::size(kDroppedMembers));
  if (left <= 0) return;
  text.replace(number, text.find(']', number) - number, std::to_string(left));
  text.insert(at, members);
  fs::create_directories(folder / "crt");
  const std::string ours = "#pragma GCC system_header\n";
  write(folder / "driver_types.h", ours + text);
  // What nvcc includes by itself or programs name: the toolkit's headers take that of their own folder.
  const std::string types = ours + "#include <driver_types.h>\n";
  write(folder / "cuda_runtime.h", types + "#include_next <cuda_runtime.h>\n");
  write(folder / "cuda_runtime_api.h", types + "#include_next <cuda_runtime_api.h>\n");
  // In what nvcc gives to the host's compiler, where it includes nothing else.
  write(folder / "crt" / "host_runtime.h", ours +
                                               "#ifndef __CUDA_INTERNAL_COMPILATION__\n"
                                               "#define __CUDA_INTERNAL_COMPILATION__\n"
                                               "#include <driver_types.h>\n"
                                               "#undef __CUDA_INTERNAL_COMPILATION__\n"
                                               "#endif\n"
                                               "#include_next <crt/host_runtime.h>\n");
}

void make(const fs::path& made, const fs::path& library_folder, const Nvcc& nvcc) {
  // A script may have been called, or what stands before the compiler: it says itself where it is.
  const std::string said = rest_of_line(said_by(nvcc.program, "-v __simt"), "TOP=");
  const fs::path root = fs::weakly_canonical(
      !said.empty() ? fs::path(said) : nvcc.program.parent_path().parent_path());
  const fs::path include =
      first_of(root, {"include/cuda_runtime.h", "targets/*/include/cuda_runtime.h"});
  if (include.empty()) {
    throw std::runtime_error("nvcc is at " + root.string() +
                             ", but no CUDA headers: install them too (pip install "
                             "nvidia-cuda-runtime, or the whole toolkit)");
  }
  fs::create_directories(made / "lib64");
  // A folder, not a link to one: nvcc looks in bin/.. for the rest.
  fs::create_directory(made / "bin");
  link_all(root / "bin", made / "bin");
  fs::create_directory_symlink(include.parent_path(), made / "include");
  write_older(include.parent_path(), made / "older");
  fs::create_directory_symlink(root / "nvvm", made / "nvvm");
  fs::create_directory_symlink("lib64", made / "lib");
  std::vector<std::string> replaced = {"libcudart", "libcudadevrt", "libcuda", "stubs"};
  for (const OurLibrary& one : our_libraries(library_folder)) {
    if (!one.is_before) replaced.push_back(one.name);
  }
  const fs::path libraries = first_of(root, {"lib64", "lib", "targets/*/lib"});
  if (!libraries.empty()) link_all(libraries, made / "lib64", replaced);
  lead_to(library_folder / kCudart, made / "lib64", "libcudart");
  lead_to_driver(libraries_folder(library_folder) / kDriver, libraries, made / "lib64");
  for (const OurLibrary& one : our_libraries(library_folder)) {
    const auto lead = one.is_before ? lead_to_both : lead_to;
    lead(libraries_folder(library_folder) / one.file, made / "lib64", one.name);
  }
  fs::create_symlink(library_folder / "libcudadevrt.a", made / "lib64" / "libcudadevrt.a");
  fs::create_symlink(library_folder / "dropped_names.h", made / "dropped_names.h");
}

bool is_whole(const fs::path& folder) { return fs::exists(folder / "bin" / "nvcc"); }

// Under another name first: another simcc may make it, or look for it, at the same time.
void make_whole(const fs::path& folder, const fs::path& library_folder, const Nvcc& nvcc) {
  const fs::path made = folder.string() + "." + std::to_string(getpid());
  std::error_code error;
  try {
    make(made, library_folder, nvcc);
  } catch (const std::exception&) {
    fs::remove_all(made, error);
    throw;
  }
  if (!is_whole(folder)) fs::remove_all(folder);
  fs::rename(made, folder, error);
  if (error) fs::remove_all(made);
}

// Empty if the user has none.
fs::path cache_folder() {
  const std::string cache = variable("XDG_CACHE_HOME"), home = variable("HOME");
  if (cache.starts_with('/')) return fs::path(cache) / "simt";
  if (home.starts_with('/')) return fs::path(home) / ".cache" / "simt";
  return {};
}

}  // namespace

fs::path simulated_toolkit(const fs::path& library_folder, const std::string& wanted) {
  const Nvcc nvcc = find_nvcc(wanted);
  const std::string library = library_folder.string();
  if (library.find_first_of("\"\n") != std::string::npos) {
    throw std::runtime_error(library +
                             ": linkers do not take this name: move it to another folder");
  }
  std::string made_of =
      library + '\n' + nvcc.program.string() + '\n' + nvcc.release + '\n' + kDriver;
  for (const OurLibrary& one : our_libraries(library_folder))
    made_of += std::string("\n") + one.file;
  const std::string name = kNameBegins + std::to_string(std::hash<std::string>{}(made_of));
  std::vector<fs::path> folders = {library_folder / name};
  if (const fs::path cache = cache_folder(); !cache.empty()) {
    // CMake takes no folder from nvcc that has a blank in its name, nvcc itself no file that has a comma.
    const bool is_odd = library.find_first_of(" ,") != std::string::npos;
    folders.insert(is_odd ? folders.begin() : folders.end(), cache / name);
  }
  for (const fs::path& folder : folders) {
    if (is_whole(folder)) return folder;
  }
  for (const fs::path& folder : folders) {
    try {
      make_whole(folder, library_folder, nvcc);
      return folder;
    } catch (const fs::filesystem_error&) {
      // Perhaps the next.
    }
  }
  throw std::runtime_error("neither " + library +
                           " nor a cache can be written: set XDG_CACHE_HOME " +
                           "to a folder that can");
}

}  // namespace simt
