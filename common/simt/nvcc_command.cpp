// `simnvcc ARGUMENT...`: nvcc, whose programs run in the simulator: with PTX in them, lines of device and host code, and
// our libcudart in place of NVIDIA's. Any of nvcc's own arguments may follow.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  const std::string folder = SIMT_CUDART_FOLDER;
  std::vector<std::string> words = {SIMT_NVCC, "-gencode", "arch=compute_90,code=compute_90",
                                    "-lineinfo", "-Xcompiler", "-g", "-include", SIMT_DROPPED_NAMES,
                                    "-L" + folder,
                                    // A program finds the library that it was linked with.
                                    "-Xlinker", "-rpath=" + folder};
  words.insert(words.end(), argv + 1, argv + argc);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  setenv("NVCC_CCBIN", SIMT_HOST_COMPILER, 0);  // -ccbin comes before it
  execv(SIMT_NVCC, arguments.data());
  std::fprintf(stderr, "simnvcc: %s cannot be started: %s\n", SIMT_NVCC, std::strerror(errno));
  return 2;
}
