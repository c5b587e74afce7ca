// From a kernel's own description (kernel.h) to the variant that the harness runs.
#pragma once

#include <stdexcept>
#include <string>

#include "common/harness/kernel.h"

namespace halo {

namespace conv {
class ConvLayer;
class PoolingLayer;
class Softmax;
class Transform;
}  // namespace conv
struct Conv1dStage;
struct Conv2dStage;
template <class Problem>
struct OperationStage;

// Adds a kernel to its stage. `source` is the path of its file from the root of the repository.
void add(Conv1dStage& stage, const char* name, const char* source, const Conv1dKernel& kernel);
void add(Conv2dStage& stage, const char* name, const char* source, const LayerKernel& kernel);
void add(OperationStage<conv::PoolingLayer>& stage, const char* name, const char* source,
         const PoolingKernel& kernel);
void add(OperationStage<conv::Transform>& stage, const char* name, const char* source,
         const TransformKernel& kernel);
void add(OperationStage<conv::Softmax>& stage, const char* name, const char* source,
         const SoftmaxKernel& kernel);

// A layer's numbers as a kernel takes them.
LayerNumbers numbers_of(const conv::ConvLayer& layer);
LayerNumbers numbers_of(const conv::PoolingLayer& layer);

// The stage's variant of this name, to give it what its kernel does not say: its costs. Throws
// std::logic_error if there is none.
template <class Stage>
auto& variant(Stage& stage, const std::string& name) {
  for (auto& one : stage.variants) {
    if (one.name == name) return one;
  }
  throw std::logic_error(stage.name + " has no variant " + name);
}

// `description`, with the word that marks it in a list if it is tuned.
inline std::string described(const char* description, bool tuned) {
  return (tuned ? "tuned: " : "") + std::string(description);
}

}  // namespace halo
