// `simcc ARGUMENT...`: nvcc, whose programs run in the simulator: with PTX in them, lines of device and host code, and
// our libcudart in place of NVIDIA's. Any of nvcc's own arguments may follow.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/simt/cudart/installation.hpp"
#include "common/simt/cudart/toolkit.hpp"
#include "common/simt/cudart/words.hpp"

namespace {

namespace fs = std::filesystem;

// nvcc's linker of device code reads no text where it is told to look for an archive, as CMake tells it.
void add(std::vector<std::string>& words, const std::string& word) {
  for (const std::string library : {"cudart", "cublas", "cublasLt", "curand"}) {
    if (word == "-l" + library + "_static" || word.ends_with("/lib" + library + "_static.a")) {
      words.push_back("-l" + library);
      return;
    }
  }
  words.push_back(word);
}

// Of a file with options: words between blanks, which quotes keep together.
std::vector<std::string> words_of_file(const std::string& name) {
  std::ifstream file(name);
  if (!file) {
    throw std::runtime_error(name + " cannot be read");
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> words = simt::quoted_words(text);
  std::erase(words, "");
  return words;
}

// What `option` says of one of these names, as NAME=VALUE or in the next word, to which `i` goes on then.
std::optional<std::string> value_of(std::initializer_list<std::string_view> names,
                                    const std::vector<std::string>& all, std::size_t& i) {
  for (const std::string_view name : names) {
    if (all[i] == name && i + 1 < all.size()) return all[++i];
    if (all[i].starts_with(name) && all[i].substr(name.size()).starts_with('=')) {
      return all[i].substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

// With those of the files of options that they name, which may name others.
std::vector<std::string> with_files(const std::vector<std::string>& words, int depth = 0) {
  if (depth == 100) throw std::runtime_error("files of options name each other");
  std::vector<std::string> all;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (const auto files = value_of({"--options-file", "-optf"}, words, i)) {
      std::istringstream names(*files);
      for (std::string name; std::getline(names, name, ',');) {
        for (std::string& word : with_files(words_of_file(name), depth + 1)) {
          all.push_back(std::move(word));
        }
      }
    } else {
      all.push_back(words[i]);
    }
  }
  return all;
}

// The user's options, for nvcc.
struct Options {
  std::vector<std::string> words;
  bool is_debug = false, names_host_compiler = false;
};
Options told(int argc, char** argv) {
  const std::vector<std::string> all = with_files({argv + 1, argv + argc});
  Options options;
  bool is_cubin = false, names_output = false;
  fs::path source, folder;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string& option = all[i];
    // What runs here is PTX of one kind. Code for other GPUs costs time, and nvcc refuses old ones.
    if (value_of(
            {"-arch", "--gpu-architecture", "-code", "--gpu-code", "-gencode", "--generate-code"},
            all, i)) {
      continue;
    }
    // Of link-time optimization PTX knows nothing.
    if (option.starts_with("-dlto") || option.starts_with("--dlink-time-opt") || option == "-lto" ||
        option == "--lto") {
      continue;
    }
    // Machine code cannot run here: in its file is PTX.
    if (option == "-cubin" || option == "--cubin") {
      is_cubin = true;
      options.words.push_back("-fatbin");
      continue;
    }
    if (const auto name = value_of({"-odir", "--output-directory"}, all, i)) {
      folder = *name;
      options.words.insert(options.words.end(), {"-odir", *name});
      continue;
    }
    if (option.ends_with(".cu") || option.ends_with(".ptx")) source = option;
    names_output |= option == "-o" || option.starts_with("--output-file");
    options.is_debug |= option == "-G" || option == "--device-debug";
    options.names_host_compiler |=
        option.starts_with("-ccbin") || option.starts_with("--compiler-bindir");
    add(options.words, option);
  }
  if (is_cubin && !names_output) {
    options.words.push_back("-o");
    options.words.push_back(folder / (source.stem().string() + ".cubin"));
  }
  return options;
}

// By itself nvcc takes gcc, which need not be there.
std::string find_host_compiler() {
  if (access(SIMT_HOST_COMPILER, X_OK) == 0) return SIMT_HOST_COMPILER;
  for (const fs::path& program : simt::on_path("g++")) {
    if (access(program.c_str(), X_OK) == 0) return program;
  }
  throw std::runtime_error(
      "no g++ was found, which compiles the host's code: install it (Debian, Ubuntu: apt install "
      "g++), or name another with -ccbin");
}

}  // namespace

int main(int argc, char** argv) try {
  const fs::path toolkit =
      simt::simulated_toolkit(simt::library_folder(), simt::variable("SIMT_NVCC"));
  const std::string nvcc = toolkit / "bin" / "nvcc";
  std::vector<std::string> words = {nvcc, "-gencode", "arch=compute_90a,code=compute_90a",
                                    "-Xcompiler", "-g", "-include", toolkit / "dropped_names.h",
                                    // Before the toolkit's, which Makefiles name.
                                    "-I", toolkit / "older", "-L", toolkit / "lib64",
                                    // NVIDIA's other libraries, which the program names when it
                                    // starts, refer to more of cuBLAS than ours has.
                                    "-Xlinker", "--allow-shlib-undefined"};
  const Options options = told(argc, argv);
  if (!options.is_debug) words.push_back("-lineinfo");  // -G has lines by itself, and warns of it
  // Behind ours: the last may lack its value.
  words.insert(words.end(), options.words.begin(), options.words.end());
  if (!options.names_host_compiler && simt::variable("NVCC_CCBIN").empty()) {
    setenv("NVCC_CCBIN", find_host_compiler().c_str(), 1);
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(nvcc.c_str(), arguments.data());
  throw std::runtime_error(nvcc + " cannot be started: " + std::strerror(errno));
} catch (const std::exception& error) {
  std::fprintf(stderr, "simcc: %s\n", error.what());
  return 2;
}
