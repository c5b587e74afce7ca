// Graphs of work: put together by calls or captured from streams, copied when they are instantiated, and done in an order
// that their edges allow.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "common/simt/cudart/operations.hpp"

namespace simt::cudart {

using Work = std::function<cudaError_t()>;

/// What a node can tell of itself, or be changed to; as its type says.
struct NodeParameters {
  cudaKernelNodeParams kernel{};          // its arguments are in `arguments`
  std::vector<std::byte> arguments = {};  // packed as PTX has them
  std::vector<cudaLaunchAttribute> attributes = {};
  cudaMemcpy3DParms copy{};
  cudaMemsetParams set{};
  cudaHostNodeParams host{};
  cudaEvent_t event = nullptr;
  void* memory = nullptr;  // allocated or freed
  std::size_t bytes = 0;
  cudaConditionalNodeParams conditional{};  // its graphs are in `bodies`
};

}  // namespace simt::cudart

struct CUgraphNode_st {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  CUgraph_st* graph = nullptr;  // whose it is
  std::vector<CUgraphNode_st*> dependencies;
  simt::cudart::Work work;  // of types that do nothing: none
  simt::cudart::NodeParameters parameters;
  std::unique_ptr<CUgraph_st> child;                     // of a node that is a graph
  std::vector<std::unique_ptr<CUgraph_st>> bodies = {};  // of a conditional node
  const CUgraphNode_st* original = nullptr;              // of which this is a copy
  bool is_enabled = true;
  std::vector<void*> argument_pointers = {};    // that cudaGraphKernelNodeGetParams gave out
  std::vector<CUgraph_st*> body_pointers = {};  // that cudaGraphAddNode gave out
};

struct CUgraph_st {
  CUgraph_st() = default;
  ~CUgraph_st();
  CUgraph_st(const CUgraph_st&) = delete;
  CUgraph_st& operator=(const CUgraph_st&) = delete;

  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;  // in the order in which they were added
  std::map<cudaUserObject_t, unsigned> objects;        // that it keeps, and how often
  std::weak_ptr<CUgraph_st> ready;  // its copy in the executable that was made of it last
};

namespace simt::cudart {

/// Null parts of `dependencies` are left out.
CUgraphNode_st& add_node(CUgraph_st& graph, cudaGraphNodeType type,
                         const std::vector<CUgraphNode_st*>& dependencies, Work work);

/// By a kernel, cudaGraphSetConditional: false if there is no such handle.
bool set_condition(cudaGraphConditionalHandle handle, unsigned value);

// What nodes do, and kernels ask for, while the host goes on: copies.cpp.
Work copy_of(const cudaMemcpy3DParms& parameters, const Issue& by = {"a graph's copy", nullptr});
Work set_of(const cudaMemsetParams& parameters, const Issue& by = {"a graph's memset", nullptr});

}  // namespace simt::cudart
