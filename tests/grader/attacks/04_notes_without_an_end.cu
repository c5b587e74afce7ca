// Attack: finds a way to the judge and notes half of something. Told: it ends within a note
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "common/exercise/exercise.h"

//+ find.inc

static void answer(const std::string& seen, const std::string& noted) {
  const auto send = reinterpret_cast<long (*)(int, const void*, unsigned long)>(
      find("write", reinterpret_cast<const void*>(&std::perror)));
  struct {
    unsigned kind;
    float value;
    unsigned long address, count, bytes;
  } header = {0, 0, seen.size(), 0, seen.size() + noted.size()};
  send(3, &header, sizeof header);
  send(3, seen.data(), seen.size());
  send(3, noted.data(), noted.size());
}

static const char seen[] =
    "{\"error\":\"\",\"unsupported\":false,\"kernels\":1,\"counted\":{\"global_load_sectors\":99,"
    "\"global_load_requests\":9,\"global_store_sectors\":99},"
    "\"fp64_operations\":0,\"tensor_instructions\":0,\"unfreed_bytes\":0,\"copied_bytes\":0,"
    "\"local_sectors\":0,\"waits\":0,\"hidden_requests\":0,\"instructions\":0,\"lane_"
    "instructions\":0,"
    "\"if_all_worked\":0,\"products\":0,\"shuffles\":0,"
    "\"most_requests\":1,\"most_products\":0,"
    "\"host\":[0,0,0,0],"
    "\"lines\":[],\"fp64_lines\":[],\"tensor_lines\":[],\"printed\":[],\"printed_total\":0,"
    "\"launches\":[[1,1,32,0]],\"hazards\":[]}";

template <class... Numbers>
static std::string notes(Numbers... numbers) {
  std::string all;
  for (const std::uint64_t number : {static_cast<std::uint64_t>(numbers)...}) {
    all.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  return all;
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  answer(seen, notes(2, 0, ~0ull));
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
