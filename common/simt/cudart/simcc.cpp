// `simcc ARGUMENT...`: nvcc, whose programs run in the simulator: with PTX in them, lines of device and host code, and
// our libcudart in place of NVIDIA's. Any of nvcc's own arguments may follow.
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

// nvcc's linker of device code reads no text where it is told to look for an archive, as CMake tells it.
void add(std::vector<std::string>& words, const std::string& word) {
  const bool is_static = word == "-lcudart_static" || word.ends_with("/libcudart_static.a");
  words.push_back(is_static ? "-lcudart" : word);
}

// Of a file with options: words between blanks, which quotes keep together.
std::vector<std::string> words_of_file(const std::string& name) {
  std::ifstream file(name);
  if (!file) {
    std::fprintf(stderr, "simcc: %s cannot be read\n", name.c_str());
    std::exit(2);
  }
  std::vector<std::string> words;
  bool is_open = false, is_quoted = false;
  for (char c = 0; file.get(c);) {
    if (c == '"') {
      is_quoted = !is_quoted;
    } else if (!is_quoted && std::isspace(static_cast<unsigned char>(c)) != 0) {
      is_open = false;
    } else {
      if (!is_open) words.emplace_back();
      is_open = true;
      words.back() += c;
    }
  }
  return words;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = SIMT_CUDART_FOLDER;
  std::vector<std::string> words = {
      SIMT_NVCC,          "-gencode",   "arch=compute_90,code=compute_90",
      "-Xcompiler",       "-g",         "-include",
      SIMT_DROPPED_NAMES, "-L" + folder};
  bool is_debug = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if ((option == "--options-file" || option == "-optf") && i + 1 < argc) {
      for (const std::string& word : words_of_file(argv[++i])) add(words, word);
    } else {
      is_debug |= option == "-G" || option == "--device-debug";
      add(words, std::string(option));
    }
  }
  if (!is_debug) words.push_back("-lineinfo");  // -G has lines by itself, and warns of it
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  setenv("NVCC_CCBIN", SIMT_HOST_COMPILER, 0);  // -ccbin comes before it
  execv(SIMT_NVCC, arguments.data());
  std::fprintf(stderr, "simcc: %s cannot be started: %s\n", SIMT_NVCC, std::strerror(errno));
  return 2;
}
