// What the tripwires say of a file: LOOK SOURCE PREPROCESSED SYMBOLS ROOT TOOLKIT NAME, the first three files. NAME
// is what the compiler was called with.
#include <cstdio>
#include <stdexcept>

#include "common/data/file.hpp"
#include "common/exercise/tripwires.hpp"

int main(int argc, char** argv) {
  using namespace halo;
  if (argc != 7) return 2;
  try {
    CompiledFile file;
    file.text = data::read_file(argv[1]);
    file.preprocessed = data::read_file(argv[2]);
    file.symbols = data::read_file(argv[3]);
    file.root = argv[4];
    file.toolkit = argv[5];
    file.name = argv[6];
    file.is_program = file.text.find("\nint main(") != std::string::npos;
    const Tripped tripped = look_at(file);
    if (!tripped.refusal.empty()) std::printf("%s\n", tripped.refusal.c_str());
    return tripped.refusal.empty() ? 0 : 1;
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
