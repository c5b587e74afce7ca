// Attack: fills the disk. Told: wrote a file of more than
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  (void)argc, (void)argv;
  std::FILE* file = std::fopen(argv[argc > 3 ? 3 : 0], "w");
  if (file == nullptr) return 2;
  const std::vector<char> piece(1 << 20, '1');
  while (std::fwrite(piece.data(), 1, piece.size(), file) == piece.size()) {
  }
  return 0;
}
