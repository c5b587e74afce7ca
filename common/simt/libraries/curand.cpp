// cuRAND's host functions for XORWOW, MRG32k3a and Philox, on the host: the generators are those that CUDA's own header has for
// device code, and which of their sequences a number comes from is as the guide says and as NVIDIA's library does on the host.
// Results are copied to the device in the generator's stream; unlike cuRAND, a call waits for it. Nothing is counted.
#include <cuda_runtime.h>
#include <curand.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#define QUALIFIERS static inline
#include <curand_kernel.h>

namespace {

// Of one call: which numbers, and what is made of them.
struct Wanted {
  enum Kind { bits, uniform, normal } kind;
  double mean = 0, deviation = 1;
  bool is_exponent = false;
};

class Numbers {
 public:
  virtual ~Numbers() = default;
  virtual void seed(unsigned long long seed, unsigned long long offset) = 0;
  virtual void fill(unsigned int* to, std::size_t count, const Wanted& wanted) = 0;
  virtual void fill(float* to, std::size_t count, const Wanted& wanted) = 0;
  virtual void fill(double* to, std::size_t count, const Wanted& wanted) = 0;
  /// Of those that are normally distributed.
  virtual bool needs_pairs() const { return true; }
};

template <class T>
T shaped(T value, const Wanted& wanted) {
  value = static_cast<T>(wanted.mean) + static_cast<T>(wanted.deviation) * value;
  return wanted.is_exponent ? std::exp(value) : value;
}

// So many sequences, of which each gives the next number in its turn, or the next two that are normally distributed.
template <class State>
class InTurn : public Numbers {
 public:
  explicit InTurn(std::size_t sequences) : states_(sequences) {}
  void seed(unsigned long long seed, unsigned long long offset) override {
    seed_ = seed;
    begin_ = now_ = offset;
  }
  void fill(unsigned int* to, std::size_t count, const Wanted&) override {
    for (std::size_t i = 0; i < count; ++i) to[i] = curand(next());
  }
  void fill(float* to, std::size_t count, const Wanted& wanted) override {
    if (wanted.kind == Wanted::uniform) {
      for (std::size_t i = 0; i < count; ++i) to[i] = curand_uniform(next());
      return;
    }
    for (std::size_t i = 0; i + 1 < count; i += 2) {
      const float2 two = curand_normal2(next());
      to[i] = shaped(two.x, wanted);
      to[i + 1] = shaped(two.y, wanted);
    }
  }
  void fill(double* to, std::size_t count, const Wanted& wanted) override {
    if (wanted.kind == Wanted::uniform) {
      for (std::size_t i = 0; i < count; ++i) to[i] = curand_uniform_double(next());
      return;
    }
    for (std::size_t i = 0; i + 1 < count; i += 2) {
      const double2 two = curand_normal2_double(next());
      to[i] = shaped(two.x, wanted);
      to[i + 1] = shaped(two.y, wanted);
    }
  }

 private:
  State* next() {
    State& its = states_[now_ % states_.size()];
    // Its first turn.
    if (now_ - begin_ < states_.size()) {
      curand_init(seed_, now_ % states_.size(), now_ / states_.size(), &its);
    }
    ++now_;
    return &its;
  }

  std::vector<State> states_;
  unsigned long long seed_ = 0, begin_ = 0, now_ = 0;
};

// Philox: four numbers after each other are of one sequence. Where a number comes from follows from its place alone.
class Philox : public Numbers {
 public:
  void seed(unsigned long long seed, unsigned long long offset) override {
    seed_ = seed;
    now_ = offset;
  }
  bool needs_pairs() const override { return false; }
  void fill(unsigned int* to, std::size_t count, const Wanted&) override {
    four_by_four(to, count, 4, [](auto* state, unsigned int* four) {
      const uint4 its = curand4(state);
      four[0] = its.x, four[1] = its.y, four[2] = its.z, four[3] = its.w;
    });
  }
  void fill(float* to, std::size_t count, const Wanted& wanted) override {
    four_by_four(to, count, 4, [&](auto* state, float* four) {
      const bool is_uniform = wanted.kind == Wanted::uniform;
      const float4 its = is_uniform ? curand_uniform4(state) : curand_normal4(state);
      four[0] = its.x, four[1] = its.y, four[2] = its.z, four[3] = its.w;
      for (int i = 0; i < 4 && !is_uniform; ++i) four[i] = shaped(four[i], wanted);
    });
  }
  void fill(double* to, std::size_t count, const Wanted& wanted) override {
    four_by_four(to, count, 8, [&](auto* state, double* four) {
      const bool is_uniform = wanted.kind == Wanted::uniform;
      for (int i = 0; i < 4; i += 2) {
        const double2 two =
            is_uniform ? curand_uniform2_double(state) : curand_normal2_double(state);
        four[i] = two.x, four[i + 1] = two.y;
      }
      for (int i = 0; i < 4 && !is_uniform; ++i) four[i] = shaped(four[i], wanted);
    });
  }

 private:
  static constexpr unsigned long long kSequences = 65536;

  // `words` are those that four numbers take.
  template <class T, class Draw>
  void four_by_four(T* to, std::size_t count, unsigned int words, Draw draw) {
    T four[4];
    for (std::size_t i = 0; i < count; ++i, ++now_) {
      if (i == 0 || now_ % 4 == 0) {
        curandStatePhilox4_32_10_t state;
        const unsigned long long group = now_ / 4;
        curand_init(seed_, group % kSequences, group / kSequences * words, &state);
        draw(&state, four);
      }
      to[i] = four[now_ % 4];
    }
  }

  unsigned long long seed_ = 0, now_ = 0;
};

constexpr std::size_t kXorwowSequences = 4096, kMrgSequences = 81920, kOldMrgSequences = 4096;

std::unique_ptr<Numbers> numbers_of(curandRngType type, curandOrdering order) {
  switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
    case CURAND_RNG_PSEUDO_XORWOW:
      return std::make_unique<InTurn<curandStateXORWOW_t>>(kXorwowSequences);
    case CURAND_RNG_PSEUDO_MRG32K3A:
      return std::make_unique<InTurn<curandStateMRG32k3a_t>>(
          order == CURAND_ORDERING_PSEUDO_LEGACY ? kOldMrgSequences : kMrgSequences);
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
      return std::make_unique<Philox>();
    default:
      return nullptr;
  }
}

void say_once_what_this_is() {
  static std::atomic_flag is_said;
  if (is_said.test_and_set()) return;
  std::fputs(
      "simt: note: cuRAND's host functions run on the host here: their numbers are cuRAND's, their "
      "traffic is not counted\n",
      stderr);
}

}  // namespace

struct curandGenerator_st {
  curandRngType type;
  bool is_of_host;
  std::unique_ptr<Numbers> numbers;
  unsigned long long seed = 0, offset = 0;
  cudaStream_t stream = nullptr;
};

namespace {

curandStatus_t create(curandGenerator_t* generator, curandRngType type, bool is_of_host) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  std::unique_ptr<Numbers> numbers = numbers_of(type, CURAND_ORDERING_PSEUDO_DEFAULT);
  if (numbers == nullptr) {
    std::fprintf(stderr,
                 "simt: curandCreateGenerator: generator %d is not in the simulator, only XORWOW, "
                 "MRG32K3A and PHILOX4_32_10\n",
                 static_cast<int>(type));
    return CURAND_STATUS_TYPE_ERROR;
  }
  *generator = new curandGenerator_st{type, is_of_host, std::move(numbers)};
  (*generator)->numbers->seed(0, 0);
  return CURAND_STATUS_SUCCESS;
}

template <class T>
curandStatus_t generate(curandGenerator_t generator, T* to, std::size_t count,
                        const Wanted& wanted) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  if (count == 0) return CURAND_STATUS_SUCCESS;
  if (to == nullptr) return CURAND_STATUS_LAUNCH_FAILURE;
  if (wanted.kind == Wanted::normal && count % 2 != 0 && generator->numbers->needs_pairs()) {
    return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  }
  say_once_what_this_is();
  if (generator->is_of_host) {
    generator->numbers->fill(to, count, wanted);
    return CURAND_STATUS_SUCCESS;
  }
  try {
    std::vector<T> values(count);
    generator->numbers->fill(values.data(), count, wanted);
    const bool is_copied =
        cudaMemcpyAsync(to, values.data(), count * sizeof(T), cudaMemcpyHostToDevice,
                        generator->stream) == cudaSuccess;
    return is_copied && cudaStreamSynchronize(generator->stream) == cudaSuccess
               ? CURAND_STATUS_SUCCESS
               : CURAND_STATUS_LAUNCH_FAILURE;
  } catch (const std::bad_alloc&) {
    return CURAND_STATUS_ALLOCATION_FAILED;
  }
}

// From the beginning.
curandStatus_t set(curandGenerator_t generator, unsigned long long seed,
                   unsigned long long offset) {
  generator->seed = seed;
  generator->offset = offset;
  generator->numbers->seed(seed, offset);
  return CURAND_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType type) {
  return create(generator, type, false);
}

curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType type) {
  return create(generator, type, true);
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  delete generator;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetVersion(int* version) {
  if (version == nullptr) return CURAND_STATUS_OUT_OF_RANGE;
  *version = CURAND_VERSION;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  generator->stream = stream;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                  unsigned long long seed) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  return set(generator, seed, generator->offset);
}

curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  return set(generator, generator->seed, offset);
}

curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering order) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  if (order != CURAND_ORDERING_PSEUDO_DEFAULT && order != CURAND_ORDERING_PSEUDO_BEST &&
      order != CURAND_ORDERING_PSEUDO_LEGACY) {
    return CURAND_STATUS_OUT_OF_RANGE;
  }
  generator->numbers = numbers_of(generator->type, order);
  return set(generator, generator->seed, generator->offset);
}

// They are there.
curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  return generator == nullptr ? CURAND_STATUS_NOT_INITIALIZED : CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* to, std::size_t count) {
  return generate(generator, to, count, {Wanted::bits});
}

curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* to, std::size_t count) {
  return generate(generator, to, count, {Wanted::uniform});
}

curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* to,
                                           std::size_t count) {
  return generate(generator, to, count, {Wanted::uniform});
}

curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* to, std::size_t count,
                                    float mean, float deviation) {
  return generate(generator, to, count, {Wanted::normal, mean, deviation});
}

curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* to,
                                          std::size_t count, double mean, double deviation) {
  return generate(generator, to, count, {Wanted::normal, mean, deviation});
}

curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* to, std::size_t count,
                                       float mean, float deviation) {
  return generate(generator, to, count, {Wanted::normal, mean, deviation, true});
}

curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* to,
                                             std::size_t count, double mean, double deviation) {
  return generate(generator, to, count, {Wanted::normal, mean, deviation, true});
}

}  // extern "C"
