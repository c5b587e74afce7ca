#include "common/simt/cudart/graphs.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "common/simt/cudart/allocations.hpp"
#include "common/simt/cudart/calls.hpp"
#include "common/simt/cudart/launches.hpp"
#include "common/simt/cudart/module.hpp"
#include "common/simt/cudart/operations.hpp"
#include "common/simt/cudart/recording.hpp"
#include "common/simt/cudart/streams.hpp"
#include "common/simt/cudart/timeline.hpp"
#include "common/simt/cudart/waiting.hpp"

// A copy that is ready to be launched.
struct CUgraphExec_st {
  std::shared_ptr<CUgraph_st> graph;  // as long as a launch of it is pending
  unsigned long long flags = 0;
  // Where its last launch ends: the next one comes behind it, on any stream.
  struct Last {
    simt::cudart::timeline::Clock clock;
    simt::cudart::waiting::Ticket ticket = 0;
  };
  std::shared_ptr<Last> last = std::make_shared<Last>();
};

// Of the program: given to its function when nobody keeps it any more.
struct CUuserObject_st {
  void* its = nullptr;
  cudaHostFn_t destroy = nullptr;
  unsigned count = 0;
};

namespace simt::cudart {
namespace {

using Node = CUgraphNode_st;

std::set<cudaUserObject_t>& all_objects() {
  static auto& instance = *new std::set<cudaUserObject_t>;
  return instance;
}

void drop(cudaUserObject_t object, unsigned count) {
  object->count -= std::min(count, object->count);
  if (object->count != 0) return;
  all_objects().erase(object);
  object->destroy(object->its);
  delete object;
}

// Instantiated and not destroyed.
std::set<cudaGraphExec_t>& all_ready() {
  static auto& instance = *new std::set<cudaGraphExec_t>;
  return instance;
}
bool is_ready(cudaGraphExec_t ready) { return all_ready().contains(ready); }
using Graph = CUgraph_st;

// What kernels set and conditional nodes ask.
struct Condition {
  unsigned value = 0;
  std::optional<unsigned> at_launch = std::nullopt;  // what it is set to when its graph is launched
};
std::map<cudaGraphConditionalHandle, Condition>& conditions() {
  static std::map<cudaGraphConditionalHandle, Condition> all;
  return all;
}

// The copy knows of each node which one it was made of.
std::unique_ptr<Graph> duplicate(const Graph& graph) {
  auto made = std::make_unique<Graph>();
  std::map<const Node*, Node*> copies;
  for (const auto& node : graph.nodes) {
    auto its = std::make_unique<Node>();
    its->type = node->type;
    its->graph = made.get();
    its->work = node->work;
    its->parameters = node->parameters;
    if (node->child != nullptr) its->child = duplicate(*node->child);
    for (const auto& body : node->bodies) its->bodies.push_back(duplicate(*body));
    its->original = node.get();
    its->is_enabled = node->is_enabled;
    copies[node.get()] = its.get();
    made->nodes.push_back(std::move(its));
  }
  for (const auto& node : graph.nodes) {
    for (const Node* const before : node->dependencies) {
      copies.at(node.get())->dependencies.push_back(copies.at(before));
    }
  }
  made->objects = graph.objects;
  for (const auto& [object, count] : made->objects) object->count += count;
  return made;
}

// Each node behind those that it depends on; of several that can be next, the one that was added first. Empty if the
// edges go round.
std::vector<Node*> in_order(const Graph& graph) {
  std::vector<Node*> order;
  std::map<const Node*, bool> is_done;
  while (order.size() < graph.nodes.size()) {
    const std::size_t before = order.size();
    for (const auto& node : graph.nodes) {
      const auto done = [&](const Node* one) { return is_done[one]; };
      if (is_done[node.get()] ||
          !std::all_of(node->dependencies.begin(), node->dependencies.end(), done)) {
        continue;
      }
      is_done[node.get()] = true;
      order.push_back(node.get());
    }
    if (order.size() == before) return {};
  }
  return order;
}

// What a launch does is there until it has ended.
using Owner = std::shared_ptr<const Graph>;
cudaError_t run(const Graph& graph, const Owner& owner);

// A body goes round while the condition holds, or runs once, or none does. Who asks for the condition next is here, so all
// of the body has ended then.
cudaError_t run_conditional(const Node& node, const Owner& owner) {
  const GraphOnStream on(number_of(nullptr), true);
  const cudaConditionalNodeParams& its = node.parameters.conditional;
  const unsigned& value = conditions().at(its.handle).value;
  if (its.type == cudaGraphCondTypeWhile) {
    while (value != 0 && spoilt() == cudaSuccess) {
      if (const cudaError_t error = run(*node.bodies[0], owner); error != cudaSuccess) return error;
    }
    return cudaSuccess;
  }
  const std::size_t chosen = its.type == cudaGraphCondTypeSwitch ? value : value == 0 ? 1 : 0;
  return chosen < node.bodies.size() ? run(*node.bodies[chosen], owner) : cudaSuccess;
}

void set_conditions_for_launch(const Graph& graph) {
  for (const auto& node : graph.nodes) {
    if (node->type != cudaGraphNodeTypeConditional) continue;
    Condition& its = conditions().at(node->parameters.conditional.handle);
    its.value = its.at_launch.value_or(its.value);
    for (const auto& body : node->bodies) set_conditions_for_launch(*body);
  }
}

// The streams of a launch whose nodes are no chain: nothing but its edges orders them. A node goes on where one that it
// depends on has ended, if no other has yet.
class Branches {
 public:
  Branches() : on_(number_of(nullptr)), before_(timeline::record(on_)) {}
  ~Branches() {
    for (const int its : all_) {
      timeline::wait(on_, timeline::record(its));
      timeline::destroy_stream(its);
    }
  }
  Branches(const Branches&) = delete;
  Branches& operator=(const Branches&) = delete;

  int stream_of(const Node& node) {
    int its = -1;
    for (const Node* const other : node.dependencies) {
      if (its < 0 && ends_.contains(other)) its = ends_.extract(other).mapped();
    }
    if (its < 0) {
      its = timeline::create_stream(true);
      timeline::wait(its, before_);
      all_.push_back(its);
    }
    ends_[&node] = its;
    return its;
  }
  void begin(const Node& node, int stream) {
    for (const Node* const other : node.dependencies) timeline::wait(stream, done_.at(other));
  }
  void end(const Node& node, int stream) { done_[&node] = timeline::record(stream); }

 private:
  int on_;
  timeline::Clock before_;
  std::vector<int> all_;
  std::map<const Node*, int> ends_;  // where nothing goes on yet
  std::map<const Node*, timeline::Clock> done_;
};

bool is_chain(const std::vector<Node*>& order) {
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::vector<Node*>& before = order[i]->dependencies;
    if (std::find(before.begin(), before.end(), order[i - 1]) == before.end()) return false;
  }
  return true;
}

cudaError_t run(const Node& node, const Owner& owner) {
  if (!node.is_enabled) return cudaSuccess;
  if (node.child != nullptr) return run(*node.child, owner);
  if (node.type == cudaGraphNodeTypeConditional) return run_conditional(node, owner);
  return node.work ? node.work() : cudaSuccess;
}

using Tickets = std::vector<waiting::Ticket>;

// Does the work, or keeps it, if a kernel before it waits for others.
cudaError_t do_after(int stream, const Tickets& before, const Work& work) {
  if (!waiting::holds(stream) && std::none_of(before.begin(), before.end(), waiting::waits)) {
    const GraphOnStream on(stream, is_in_body());
    return work();
  }
  waiting::put(stream, work, before);
  return cudaSuccess;
}

cudaError_t run_branches(const std::vector<Node*>& order, const Owner& owner) {
  const int on = number_of(nullptr);
  const auto branches = std::make_shared<Branches>();
  std::map<const Node*, waiting::Ticket> tickets;
  Tickets all;
  for (const Node* const node : order) {
    const int stream = branches->stream_of(*node);
    Tickets before;
    for (const Node* const other : node->dependencies) before.push_back(tickets.at(other));
    const cudaError_t error = do_after(stream, before, [=] {
      branches->begin(*node, stream);
      return run(*node, owner);
    });
    if (error != cudaSuccess) return error;
    if (spoilt() != cudaSuccess) return cudaSuccess;  // the calls after this one answer it
    do_after(stream, {}, [=] {
      branches->end(*node, stream);
      return cudaSuccess;
    });
    all.push_back(tickets[node] = waiting::last_on(stream));
  }
  // Who comes behind the graph comes behind all of it.
  return do_after(on, all, [branches, owner] { return cudaSuccess; });
}

cudaError_t run(const Graph& graph, const Owner& owner) {
  const std::vector<Node*> order = in_order(graph);
  if (!is_recording() && !is_chain(order)) return run_branches(order, owner);
  const int on = number_of(nullptr);
  for (const Node* const node : order) {
    const cudaError_t error = do_after(on, {}, [=] { return run(*node, owner); });
    if (error != cudaSuccess) return error;
    if (spoilt() != cudaSuccess) return cudaSuccess;  // the calls after this one answer it
  }
  return cudaSuccess;
}

bool are_alike(const Graph& one, const Graph& other) {
  std::map<const Node*, const Node*> its;
  if (one.nodes.size() != other.nodes.size()) return false;
  for (std::size_t i = 0; i < one.nodes.size(); ++i) its[one.nodes[i].get()] = other.nodes[i].get();
  return std::all_of(its.begin(), its.end(), [&](const auto& pair) {
    const auto& [a, b] = pair;
    std::set<const Node*> before;
    for (const Node* const from : a->dependencies) before.insert(its.at(from));
    return a->type == b->type &&
           before == std::set<const Node*>(b->dependencies.begin(), b->dependencies.end());
  });
}

// The program knows the nodes of what is ready, whatever it was updated to, by those of the graph that it was made of.
void keep_handles(Graph& updated, const Graph& before) {
  for (std::size_t i = 0; i < std::min(updated.nodes.size(), before.nodes.size()); ++i) {
    Node &its = *updated.nodes[i], &old = *before.nodes[i];
    its.original = old.original;
    its.is_enabled = old.is_enabled;
    if (its.child != nullptr && old.child != nullptr) keep_handles(*its.child, *old.child);
    for (std::size_t k = 0; k < std::min(its.bodies.size(), old.bodies.size()); ++k) {
      keep_handles(*its.bodies[k], *old.bodies[k]);
    }
  }
}

bool is_of(const Graph& graph, const Node* node) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [&](const auto& one) { return one.get() == node; });
}

// The copy of a graph's node in what was instantiated of it; null if there is none.
Node* in_copy(const Graph& copy, const Node* original) {
  const auto found = std::find_if(copy.nodes.begin(), copy.nodes.end(),
                                  [&](const auto& one) { return one->original == original; });
  return found == copy.nodes.end() ? nullptr : found->get();
}

cudaError_t add(const char* name, cudaGraphNode_t* node, cudaGraph_t graph,
                const cudaGraphNode_t* dependencies, std::size_t count, cudaGraphNodeType type,
                Body<cudaError_t(Node&)> set_up) {
  return call(name, [&]() -> cudaError_t {
    if (node == nullptr || graph == nullptr || (count > 0 && dependencies == nullptr)) {
      return cudaErrorInvalidValue;
    }
    const std::vector<Node*> before(dependencies, dependencies + count);
    if (!std::all_of(before.begin(), before.end(),
                     [&](const Node* one) { return is_of(*graph, one); })) {
      return cudaErrorInvalidValue;
    }
    Node& made = add_node(*graph, type, before, nullptr);
    if (const cudaError_t error = set_up(made); error != cudaSuccess) {
      graph->nodes.pop_back();
      return error;
    }
    *node = &made;
    return cudaSuccess;
  });
}

bool is_of_memory(const Node& node) {
  return node.type == cudaGraphNodeTypeMemAlloc || node.type == cudaGraphNodeTypeMemFree;
}
// The memory that nodes allocate is of one graph and one executable of it: GPUs make no copy of such a graph, and take no
// node or edge away.
cudaError_t check_no_memory(const char* name, const Graph& graph) {
  const auto is_its = [](const auto& node) { return is_of_memory(*node); };
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(), is_its)) return cudaSuccess;
  explain("graph with memory",
          "%s: the graph has nodes that allocate or free memory: it can't be copied, and nothing "
          "of it be taken away",
          name);
  return cudaErrorNotSupported;
}

// ---- What nodes of each type are set up with ----

cudaError_t set_up_kernel(Node& node, const cudaKernelNodeParams* parameters) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  if (parameters->extra != nullptr) {
    explain("extra", "cudaGraphAddKernelNode: arguments by `extra` are not in the simulator");
    return cudaErrorNotSupported;
  }
  return launch_of(*parameters, node.work, node.parameters);
}

cudaError_t set_up_copy(Node& node, const cudaMemcpy3DParms* parameters) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  node.parameters.copy = *parameters;
  node.work = copy_of(*parameters);
  return only_checked(node.work);
}

// As one row.
cudaMemcpy3DParms row_of(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  cudaMemcpy3DParms its{};
  its.srcPtr = {const_cast<void*>(from), bytes, bytes, 1};
  its.dstPtr = {to, bytes, bytes, 1};
  its.extent = {bytes, 1, 1};
  its.kind = kind;
  return its;
}

cudaError_t set_up_memset(Node& node, const cudaMemsetParams* parameters) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  node.parameters.set = *parameters;
  node.work = set_of(*parameters);
  return only_checked(node.work);
}

cudaError_t set_up_host(Node& node, const cudaHostNodeParams* parameters) {
  if (parameters == nullptr || parameters->fn == nullptr) return cudaErrorInvalidValue;
  node.parameters.host = *parameters;
  node.work = call_of(*parameters);
  return cudaSuccess;
}

cudaError_t set_up_child(Node& node, const Graph* child) {
  if (child == nullptr) return cudaErrorInvalidValue;
  const cudaError_t error = check_no_memory("cudaGraphAddChildGraphNode", *child);
  if (error != cudaSuccess) return error;
  node.child = duplicate(*child);
  return cudaSuccess;
}

cudaError_t set_up_record(Node& node, cudaEvent_t event) {
  node.parameters.event = event;
  node.work = record_of(event);
  return cudaSuccess;
}

cudaError_t set_up_wait(Node& node, cudaEvent_t event) {
  node.parameters.event = event;
  node.work = wait_of(event);
  return cudaSuccess;
}

cudaError_t set_up_allocation(Node& node, cudaMemAllocNodeParams* parameters) {
  if (parameters == nullptr || parameters->bytesize == 0) return cudaErrorInvalidValue;
  const cudaMemPoolProps& pool = parameters->poolProps;
  if (pool.allocType != cudaMemAllocationTypePinned ||
      pool.location.type != cudaMemLocationTypeDevice || !is_device(pool.location.id)) {
    return cudaErrorInvalidValue;
  }
  parameters->dptr = reinterpret_cast<void*>(allocate(parameters->bytesize, MemoryKind::graph));
  node.parameters.memory = parameters->dptr;
  node.parameters.bytes = parameters->bytesize;
  node.work = [taken = parameters->dptr] {
    take_graph_memory(taken, true);
    return cudaSuccess;
  };
  return cudaSuccess;
}

cudaError_t set_up_free(Node& node, void* pointer) {
  const auto frees = [&](const auto& other) {
    return other->type == cudaGraphNodeTypeMemFree && other->parameters.memory == pointer;
  };
  const auto& all = node.graph->nodes;
  if (block_at(pointer) == nullptr || std::any_of(all.begin(), all.end(), frees)) {
    return cudaErrorInvalidValue;
  }
  node.parameters.memory = pointer;
  node.work = [pointer] {
    take_graph_memory(pointer, false);
    return cudaSuccess;
  };
  return cudaSuccess;
}

cudaError_t set_up_conditional(Node& node, cudaConditionalNodeParams& parameters) {
  const unsigned most = parameters.type == cudaGraphCondTypeWhile ? 1
                        : parameters.type == cudaGraphCondTypeIf  ? 2
                                                                  : ~0u;
  if (!conditions().contains(parameters.handle) || parameters.size == 0 || parameters.size > most) {
    return cudaErrorInvalidValue;
  }
  for (unsigned i = 0; i < parameters.size; ++i) {
    node.body_pointers.push_back(node.bodies.emplace_back(std::make_unique<Graph>()).get());
  }
  parameters.phGraph_out = node.body_pointers.data();
  node.parameters.conditional = parameters;
  return cudaSuccess;
}

// With arguments that stay as long as the node is not changed.
cudaKernelNodeParams kernel_of(Node& node) {
  cudaKernelNodeParams its = node.parameters.kernel;
  Kernel& kernel = *find_kernel(its.func);
  // What was captured has a handle, and programs compare this with the name of a kernel.
  its.func = const_cast<void*>(host_function_of(kernel));
  node.argument_pointers.clear();
  std::vector<std::uint64_t> places = ptx::parameter_places(*kernel.function());
  places.pop_back();  // the end
  for (const std::uint64_t at : places) {
    node.argument_pointers.push_back(node.parameters.arguments.data() + at);
  }
  its.kernelParams = node.argument_pointers.data();
  return its;
}

cudaError_t set_up_attributes(Node& node, std::vector<cudaLaunchAttribute> attributes) {
  const std::vector<cudaLaunchAttribute> before =
      std::exchange(node.parameters.attributes, attributes);
  const cudaKernelNodeParams its = kernel_of(node);
  const cudaError_t error = set_up_kernel(node, &its);
  if (error != cudaSuccess) node.parameters.attributes = before;
  return error;
}

// A kernel's parameters of the second version are those of the first, and more that is not here.
cudaKernelNodeParams first_version(const cudaKernelNodeParamsV2& its) {
  return {its.func, its.gridDim, its.blockDim, its.sharedMemBytes, its.kernelParams, its.extra};
}

cudaError_t set_up_any(Node& node, cudaGraphNodeParams* parameters) {
  switch (parameters->type) {
    case cudaGraphNodeTypeKernel: {
      const cudaKernelNodeParams kernel = first_version(parameters->kernel);
      return set_up_kernel(node, &kernel);
    }
    case cudaGraphNodeTypeMemcpy:
      return set_up_copy(node, &parameters->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: {
      const cudaMemsetParamsV2& its = parameters->memset;
      const cudaMemsetParams set{its.dst,         its.pitch, its.value,
                                 its.elementSize, its.width, its.height};
      return set_up_memset(node, &set);
    }
    case cudaGraphNodeTypeHost: {
      const cudaHostNodeParams host{parameters->host.fn, parameters->host.userData};
      return set_up_host(node, &host);
    }
    case cudaGraphNodeTypeGraph:
      return set_up_child(node, parameters->graph.graph);
    case cudaGraphNodeTypeEmpty:
      return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent:
      return set_up_wait(node, parameters->eventWait.event);
    case cudaGraphNodeTypeMemAlloc: {
      cudaMemAllocNodeParams its{};
      its.poolProps = parameters->alloc.poolProps;
      its.bytesize = parameters->alloc.bytesize;
      const cudaError_t error = set_up_allocation(node, &its);
      parameters->alloc.dptr = its.dptr;
      return error;
    }
    case cudaGraphNodeTypeMemFree:
      return set_up_free(node, parameters->free.dptr);
    case cudaGraphNodeTypeEventRecord:
      return set_up_record(node, parameters->eventRecord.event);
    case cudaGraphNodeTypeConditional:
      return set_up_conditional(node, parameters->conditional);
    default:
      break;
  }
  explain("node type", "nodes of graphs of type %d are not in the simulator",
          static_cast<int>(parameters->type));
  return cudaErrorNotSupported;
}

// What a node does may be another thing of the same type, without new memory or bodies.
cudaError_t change_any(Node& node, cudaGraphNodeParams* parameters) {
  if (parameters == nullptr || parameters->type != node.type ||
      node.type == cudaGraphNodeTypeConditional || node.type == cudaGraphNodeTypeMemAlloc ||
      node.type == cudaGraphNodeTypeMemFree) {
    return cudaErrorInvalidValue;
  }
  return set_up_any(node, parameters);
}

// ---- Questions ----

const char* type_name(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeMemcpy:
      return "MEMCPY";
    case cudaGraphNodeTypeMemset:
      return "MEMSET";
    case cudaGraphNodeTypeHost:
      return "HOST";
    case cudaGraphNodeTypeGraph:
      return "GRAPH";
    case cudaGraphNodeTypeWaitEvent:
      return "EVENT WAIT";
    case cudaGraphNodeTypeEventRecord:
      return "EVENT RECORD";
    case cudaGraphNodeTypeMemAlloc:
      return "MEM ALLOC";
    case cudaGraphNodeTypeMemFree:
      return "MEM FREE";
    case cudaGraphNodeTypeConditional:
      return "CONDITIONAL";
    default:
      return "EMPTY";
  }
}

// The graph as Graphviz reads it, those in its nodes as boxes of their own. `graphs`: how many have been drawn.
void draw(std::ostream& out, const Graph& graph, int& graphs) {
  const std::string name = "graph_" + std::to_string(++graphs);
  out << "subgraph cluster_" << graphs << " {\nlabel=\"" << name << "\"\n";
  std::map<const Node*, std::string> names;
  for (const auto& node : graph.nodes) {
    const std::string number = std::to_string(names.size());
    const bool is_kernel = node->type == cudaGraphNodeTypeKernel;
    names[node.get()] = "\"" + name + "_node_" + number + "\"";
    out << names[node.get()] << "[label=\"" << number << "\\n"
        << (is_kernel ? find_kernel(node->parameters.kernel.func)->name : type_name(node->type))
        << "\"]\n";
  }
  for (const auto& node : graph.nodes) {
    for (const Node* const before : node->dependencies) {
      out << names.at(before) << " -> " << names.at(node.get()) << "\n";
    }
  }
  for (const auto& node : graph.nodes) {
    if (node->child != nullptr) draw(out, *node->child, graphs);
    for (const auto& body : node->bodies) draw(out, *body, graphs);
  }
  out << "}\n";
}

// As these functions answer: how many there are, or as many as there is room for.
cudaError_t list(const std::vector<Node*>& from, cudaGraphNode_t* to, std::size_t* count) {
  if (count == nullptr) return cudaErrorInvalidValue;
  if (to == nullptr) {
    *count = from.size();
    return cudaSuccess;
  }
  for (std::size_t i = 0; i < *count; ++i) to[i] = i < from.size() ? from[i] : nullptr;
  *count = std::min(*count, from.size());
  return cudaSuccess;
}

// A call on a node of this type.
cudaError_t on_node(const char* name, cudaGraphNode_t node, cudaGraphNodeType type,
                    Body<cudaError_t(Node&)> body) {
  return call(name, [&]() -> cudaError_t {
    return node != nullptr && node->type == type ? body(*node) : cudaErrorInvalidValue;
  });
}

cudaError_t event_of(const char* name, cudaGraphNode_t node, cudaGraphNodeType type,
                     cudaEvent_t* event) {
  return on_node(name, node, type, [&](Node& its) {
    if (event == nullptr) return cudaErrorInvalidValue;
    *event = its.parameters.event;
    return cudaSuccess;
  });
}

// A copy of a variable, as one row.
cudaError_t with_symbol(const void* symbol, std::size_t offset, Body<cudaError_t(void*)> use) {
  void* address = nullptr;
  const cudaError_t error = cudaGetSymbolAddress(&address, symbol);
  return error == cudaSuccess ? use(static_cast<char*>(address) + offset) : error;
}

// A call on the copy of a node in what was instantiated.
cudaError_t on_copy(const char* name, cudaGraphExec_t ready, cudaGraphNode_t node,
                    Body<cudaError_t(Node&)> body) {
  return call(name, [&]() -> cudaError_t {
    Node* const its = is_ready(ready) ? in_copy(*ready->graph, node) : nullptr;
    return its != nullptr ? body(*its) : cudaErrorInvalidValue;
  });
}

// What the graph's nodes allocate is not there any more: the program has freed it, or the launch does.
cudaError_t take_back_memory(const Graph& graph, bool is_freed_by_launch) {
  for (const auto& node : graph.nodes) {
    if (node->type != cudaGraphNodeTypeMemAlloc) continue;
    const Block* const block = block_at(node->parameters.memory);
    if (block == nullptr || !block->is_taken) continue;
    if (!is_freed_by_launch) {
      explain("graph memory in use",
              "cudaGraphLaunch: memory that a node allocated in the launch before was not freed: "
              "free it, or instantiate with cudaGraphInstantiateFlagAutoFreeOnLaunch");
      return cudaErrorInvalidValue;
    }
    take_graph_memory(node->parameters.memory, false);
  }
  return cudaSuccess;
}

cudaError_t instantiate(cudaGraphExec_t* ready, cudaGraph_t graph, unsigned long long flags) {
  if (ready == nullptr || graph == nullptr) return cudaErrorInvalidValue;
  if (!graph->ready.expired()) {
    const cudaError_t error = check_no_memory("a second cudaGraphInstantiate", *graph);
    if (error != cudaSuccess) return error;
  }
  if (!graph->nodes.empty() && in_order(*graph).empty()) return cudaErrorInvalidValue;
  for (const auto& node : graph->nodes) {
    if (node->type != cudaGraphNodeTypeMemset) continue;
    if (const cudaError_t error = only_checked(node->work); error != cudaSuccess) return error;
  }
  *ready = new CUgraphExec_st{duplicate(*graph), flags};
  graph->ready = (*ready)->graph;
  all_ready().insert(*ready);
  return cudaSuccess;
}

}  // namespace

}  // namespace simt::cudart

CUgraph_st::~CUgraph_st() {
  for (const auto& [object, count] : objects) simt::cudart::drop(object, count);
}

namespace simt::cudart {

bool set_condition(cudaGraphConditionalHandle handle, unsigned value) {
  const auto found = conditions().find(handle);
  if (found == conditions().end()) return false;
  found->second.value = value;
  return true;
}

CUgraphNode_st& add_node(CUgraph_st& graph, cudaGraphNodeType type,
                         const std::vector<CUgraphNode_st*>& dependencies, Work work) {
  auto made = std::make_unique<Node>();
  made->type = type;
  made->graph = &graph;
  made->dependencies = dependencies;
  made->work = std::move(work);
  return *graph.nodes.emplace_back(std::move(made));
}

extern "C" {

// ---- Graphs ----

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int flags) {
  return call("cudaGraphCreate", [&] {
    if (graph == nullptr || flags != 0) return cudaErrorInvalidValue;
    *graph = new Graph;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphClone(cudaGraph_t* copy, cudaGraph_t original) {
  return call("cudaGraphClone", [&] {
    if (copy == nullptr || original == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = check_no_memory("cudaGraphClone", *original);
    if (error != cudaSuccess) return error;
    *copy = duplicate(*original).release();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call("cudaGraphDestroy", [&] {
    if (graph == nullptr) return cudaErrorInvalidValue;
    delete graph;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original,
                                     cudaGraph_t copy) {
  return call("cudaGraphNodeFindInClone", [&] {
    if (node == nullptr || copy == nullptr) return cudaErrorInvalidValue;
    *node = in_copy(*copy, original);
    return *node != nullptr ? cudaSuccess : cudaErrorInvalidValue;
  });
}

// ---- Nodes ----

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaKernelNodeParams* parameters) {
  return add("cudaGraphAddKernelNode", node, graph, dependencies, count, cudaGraphNodeTypeKernel,
             [&](Node& its) { return set_up_kernel(its, parameters); });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemcpy3DParms* parameters) {
  return add("cudaGraphAddMemcpyNode", node, graph, dependencies, count, cudaGraphNodeTypeMemcpy,
             [&](Node& its) { return set_up_copy(its, parameters); });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, std::size_t count,
                                     void* to, const void* from, std::size_t bytes,
                                     cudaMemcpyKind kind) {
  const cudaMemcpy3DParms parameters = row_of(to, from, bytes, kind);
  return cudaGraphAddMemcpyNode(node, graph, dependencies, count, &parameters);
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* dependencies, std::size_t count,
                                           const void* symbol, const void* from, std::size_t bytes,
                                           std::size_t offset, cudaMemcpyKind kind) {
  return with_symbol(symbol, offset, [&](void* to) {
    return cudaGraphAddMemcpyNode1D(node, graph, dependencies, count, to, from, bytes, kind);
  });
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* dependencies, std::size_t count,
                                             void* to, const void* symbol, std::size_t bytes,
                                             std::size_t offset, cudaMemcpyKind kind) {
  return with_symbol(symbol, offset, [&](void* from) {
    return cudaGraphAddMemcpyNode1D(node, graph, dependencies, count, to, from, bytes, kind);
  });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemsetParams* parameters) {
  return add("cudaGraphAddMemsetNode", node, graph, dependencies, count, cudaGraphNodeTypeMemset,
             [&](Node& its) { return set_up_memset(its, parameters); });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, std::size_t count,
                                 const cudaHostNodeParams* parameters) {
  return add("cudaGraphAddHostNode", node, graph, dependencies, count, cudaGraphNodeTypeHost,
             [&](Node& its) { return set_up_host(its, parameters); });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, std::size_t count,
                                       cudaGraph_t child) {
  return add("cudaGraphAddChildGraphNode", node, graph, dependencies, count, cudaGraphNodeTypeGraph,
             [&](Node& its) { return set_up_child(its, child); });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, std::size_t count) {
  return add("cudaGraphAddEmptyNode", node, graph, dependencies, count, cudaGraphNodeTypeEmpty,
             [](Node&) { return cudaSuccess; });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* dependencies, std::size_t count,
                                        cudaEvent_t event) {
  return add("cudaGraphAddEventRecordNode", node, graph, dependencies, count,
             cudaGraphNodeTypeEventRecord, [&](Node& its) { return set_up_record(its, event); });
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* dependencies, std::size_t count,
                                      cudaEvent_t event) {
  return add("cudaGraphAddEventWaitNode", node, graph, dependencies, count,
             cudaGraphNodeTypeWaitEvent, [&](Node& its) { return set_up_wait(its, event); });
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, std::size_t count,
                                     cudaMemAllocNodeParams* parameters) {
  return add("cudaGraphAddMemAllocNode", node, graph, dependencies, count,
             cudaGraphNodeTypeMemAlloc,
             [&](Node& its) { return set_up_allocation(its, parameters); });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* dependencies, std::size_t count,
                                    void* pointer) {
  return add("cudaGraphAddMemFreeNode", node, graph, dependencies, count, cudaGraphNodeTypeMemFree,
             [&](Node& its) { return set_up_free(its, pointer); });
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                             const cudaGraphNode_t* dependencies, const cudaGraphEdgeData*,
                             std::size_t count, cudaGraphNodeParams* parameters) {
  if (parameters == nullptr) return record(cudaErrorInvalidValue);
  return add("cudaGraphAddNode", node, graph, dependencies, count, parameters->type,
             [&](Node& its) { return set_up_any(its, parameters); });
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned int value, unsigned int flags) {
  return call("cudaGraphConditionalHandleCreate", [&] {
    if (handle == nullptr || graph == nullptr || flags > cudaGraphCondAssignDefault) {
      return cudaErrorInvalidValue;
    }
    *handle = conditions().size() + 1;
    conditions()[*handle] = {
        value, flags == cudaGraphCondAssignDefault ? std::optional(value) : std::nullopt};
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return call("cudaGraphDestroyNode", [&] {
    if (node == nullptr) return cudaErrorInvalidValue;
    Graph& graph = *node->graph;
    const cudaError_t error = check_no_memory("cudaGraphDestroyNode", graph);
    if (error != cudaSuccess) return error;
    for (const auto& other : graph.nodes) std::erase(other->dependencies, node);
    std::erase_if(graph.nodes, [&](const auto& one) { return one.get() == node; });
    return cudaSuccess;
  });
}

// ---- Edges ----

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                     std::size_t count) {
  return call("cudaGraphAddDependencies", [&] {
    if (graph == nullptr) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_of(*graph, from[i]) || !is_of(*graph, to[i]) || from[i] == to[i]) {
        return cudaErrorInvalidValue;
      }
      std::vector<Node*>& its = to[i]->dependencies;
      if (std::find(its.begin(), its.end(), from[i]) != its.end()) return cudaErrorInvalidValue;
      its.push_back(from[i]);
    }
    return cudaSuccess;
  });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                        std::size_t count) {
  return call("cudaGraphRemoveDependencies", [&] {
    if (graph == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = check_no_memory("cudaGraphRemoveDependencies", *graph);
    if (error != cudaSuccess) return error;
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_of(*graph, to[i]) || std::erase(to[i]->dependencies, from[i]) == 0) {
        return cudaErrorInvalidValue;
      }
    }
    return cudaSuccess;
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return call("cudaGraphGetNodes", [&] {
    if (graph == nullptr) return cudaErrorInvalidValue;
    std::vector<Node*> all;
    for (const auto& node : graph->nodes) all.push_back(node.get());
    return list(all, nodes, count);
  });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return call("cudaGraphGetRootNodes", [&] {
    if (graph == nullptr) return cudaErrorInvalidValue;
    std::vector<Node*> roots;
    for (const auto& node : graph->nodes) {
      if (node->dependencies.empty()) roots.push_back(node.get());
    }
    return list(roots, nodes, count);
  });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* data, std::size_t* count) {
  return call("cudaGraphGetEdges", [&] {
    if (graph == nullptr || count == nullptr) return cudaErrorInvalidValue;
    std::vector<Node*> begins, ends;
    for (const auto& node : graph->nodes) {
      for (Node* const before : node->dependencies) {
        begins.push_back(before);
        ends.push_back(node.get());
      }
    }
    std::size_t room = *count;
    if (data != nullptr) std::fill_n(data, std::min(room, begins.size()), cudaGraphEdgeData{});
    const cudaError_t error = list(begins, from, &room);
    return error == cudaSuccess ? list(ends, to, count) : error;
  });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return call("cudaGraphNodeGetType", [&] {
    if (node == nullptr || type == nullptr) return cudaErrorInvalidValue;
    *type = node->type;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies,
                                         cudaGraphEdgeData* data, std::size_t* count) {
  return call("cudaGraphNodeGetDependencies", [&] {
    if (node == nullptr || count == nullptr) return cudaErrorInvalidValue;
    if (data != nullptr) std::fill_n(data, *count, cudaGraphEdgeData{});
    return list(node->dependencies, dependencies, count);
  });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* dependents,
                                           cudaGraphEdgeData* data, std::size_t* count) {
  return call("cudaGraphNodeGetDependentNodes", [&] {
    if (node == nullptr || count == nullptr) return cudaErrorInvalidValue;
    if (data != nullptr) std::fill_n(data, *count, cudaGraphEdgeData{});
    std::vector<Node*> behind;
    for (const auto& other : node->graph->nodes) {
      const auto& its = other->dependencies;
      if (std::find(its.begin(), its.end(), node) != its.end()) behind.push_back(other.get());
    }
    return list(behind, dependents, count);
  });
}

// ---- What nodes do ----

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) {
  return on_node("cudaGraphKernelNodeGetParams", node, cudaGraphNodeTypeKernel, [&](Node& its) {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    *parameters = kernel_of(its);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const cudaKernelNodeParams* parameters) {
  return on_node("cudaGraphKernelNodeSetParams", node, cudaGraphNodeTypeKernel,
                 [&](Node& its) { return set_up_kernel(its, parameters); });
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* parameters) {
  return on_node("cudaGraphMemcpyNodeGetParams", node, cudaGraphNodeTypeMemcpy, [&](Node& its) {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    *parameters = its.parameters.copy;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                         const cudaMemcpy3DParms* parameters) {
  return on_node("cudaGraphMemcpyNodeSetParams", node, cudaGraphNodeTypeMemcpy,
                 [&](Node& its) { return set_up_copy(its, parameters); });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                           std::size_t bytes, cudaMemcpyKind kind) {
  const cudaMemcpy3DParms parameters = row_of(to, from, bytes, kind);
  return cudaGraphMemcpyNodeSetParams(node, &parameters);
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol,
                                                 const void* from, std::size_t bytes,
                                                 std::size_t offset, cudaMemcpyKind kind) {
  return with_symbol(symbol, offset, [&](void* to) {
    return cudaGraphMemcpyNodeSetParams1D(node, to, from, bytes, kind);
  });
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to,
                                                   const void* symbol, std::size_t bytes,
                                                   std::size_t offset, cudaMemcpyKind kind) {
  return with_symbol(symbol, offset, [&](void* from) {
    return cudaGraphMemcpyNodeSetParams1D(node, to, from, bytes, kind);
  });
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* parameters) {
  return on_node("cudaGraphMemsetNodeGetParams", node, cudaGraphNodeTypeMemset, [&](Node& its) {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    *parameters = its.parameters.set;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters) {
  return on_node("cudaGraphMemsetNodeSetParams", node, cudaGraphNodeTypeMemset,
                 [&](Node& its) { return set_up_memset(its, parameters); });
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* parameters) {
  return on_node("cudaGraphHostNodeGetParams", node, cudaGraphNodeTypeHost, [&](Node& its) {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    *parameters = its.parameters.host;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
  return on_node("cudaGraphHostNodeSetParams", node, cudaGraphNodeTypeHost,
                 [&](Node& its) { return set_up_host(its, parameters); });
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  return on_node("cudaGraphChildGraphNodeGetGraph", node, cudaGraphNodeTypeGraph, [&](Node& its) {
    if (graph == nullptr) return cudaErrorInvalidValue;
    *graph = its.child.get();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                           cudaMemAllocNodeParams* parameters) {
  return on_node("cudaGraphMemAllocNodeGetParams", node, cudaGraphNodeTypeMemAlloc, [&](Node& its) {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    *parameters = {};
    parameters->dptr = its.parameters.memory;
    parameters->bytesize = its.parameters.bytes;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  return on_node("cudaGraphMemFreeNodeGetParams", node, cudaGraphNodeTypeMemFree, [&](Node& its) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    *static_cast<void**>(pointer) = its.parameters.memory;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* parameters) {
  return call("cudaGraphNodeSetParams", [&] {
    return node != nullptr ? change_any(*node, parameters) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            cudaLaunchAttributeValue* value) {
  return on_node("cudaGraphKernelNodeGetAttribute", node, cudaGraphNodeTypeKernel, [&](Node& its) {
    if (value == nullptr) return cudaErrorInvalidValue;
    *value = {};
    for (const cudaLaunchAttribute& one : its.parameters.attributes) {
      if (one.id == id) *value = one.val;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            const cudaLaunchAttributeValue* value) {
  return on_node("cudaGraphKernelNodeSetAttribute", node, cudaGraphNodeTypeKernel, [&](Node& its) {
    if (value == nullptr) return cudaErrorInvalidValue;
    std::vector<cudaLaunchAttribute> attributes = its.parameters.attributes;
    std::erase_if(attributes, [&](const cudaLaunchAttribute& one) { return one.id == id; });
    cudaLaunchAttribute& set = attributes.emplace_back();
    set.id = id;
    set.val = *value;
    return set_up_attributes(its, std::move(attributes));
  });
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  return on_node("cudaGraphKernelNodeCopyAttributes", to, cudaGraphNodeTypeKernel, [&](Node& its) {
    if (from == nullptr || from->type != its.type) return cudaErrorInvalidValue;
    return set_up_attributes(its, from->parameters.attributes);
  });
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return event_of("cudaGraphEventRecordNodeGetEvent", node, cudaGraphNodeTypeEventRecord, event);
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return on_node("cudaGraphEventRecordNodeSetEvent", node, cudaGraphNodeTypeEventRecord,
                 [&](Node& its) { return set_up_record(its, event); });
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return event_of("cudaGraphEventWaitNodeGetEvent", node, cudaGraphNodeTypeWaitEvent, event);
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return on_node("cudaGraphEventWaitNodeSetEvent", node, cudaGraphNodeTypeWaitEvent,
                 [&](Node& its) { return set_up_wait(its, event); });
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int) {
  return call("cudaGraphDebugDotPrint", [&] {
    if (graph == nullptr || path == nullptr) return cudaErrorInvalidValue;
    std::ofstream file(path);
    int graphs = 0;
    file << "digraph dot {\n";
    draw(file, *graph, graphs);
    file << "}\n";
    return file.flush() ? cudaSuccess : cudaErrorOperatingSystem;
  });
}

// ---- What graphs keep ----

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* its, cudaHostFn_t destroy,
                                 unsigned int count, unsigned int flags) {
  return call("cudaUserObjectCreate", [&] {
    if (object == nullptr || destroy == nullptr || count == 0 ||
        flags != cudaUserObjectNoDestructorSync) {
      return cudaErrorInvalidValue;
    }
    *object = new CUuserObject_st{its, destroy, count};
    all_objects().insert(*object);
    return cudaSuccess;
  });
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count) {
  return call("cudaUserObjectRetain", [&] {
    if (!all_objects().contains(object) || count == 0) return cudaErrorInvalidValue;
    object->count += count;
    return cudaSuccess;
  });
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count) {
  return call("cudaUserObjectRelease", [&] {
    if (!all_objects().contains(object) || count == 0) return cudaErrorInvalidValue;
    drop(object, count);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                      unsigned int count, unsigned int flags) {
  return call("cudaGraphRetainUserObject", [&] {
    if (graph == nullptr || !all_objects().contains(object) || count == 0 ||
        flags > cudaGraphUserObjectMove) {
      return cudaErrorInvalidValue;
    }
    graph->objects[object] += count;
    if (flags != cudaGraphUserObjectMove) object->count += count;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                       unsigned int count) {
  return call("cudaGraphReleaseUserObject", [&] {
    if (graph == nullptr || count == 0) return cudaErrorInvalidValue;
    const auto found = graph->objects.find(object);
    if (found == graph->objects.end() || found->second < count) return cudaErrorInvalidValue;
    found->second -= count;
    if (found->second == 0) graph->objects.erase(found);
    drop(object, count);
    return cudaSuccess;
  });
}

// ---- Ready to be launched ----

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph,
                                 unsigned long long flags) {
  return outside_capture("cudaGraphInstantiate", [&] { return instantiate(ready, graph, flags); });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* ready, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(ready, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* ready, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* parameters) {
  if (parameters == nullptr) return record(cudaErrorInvalidValue);
  const cudaError_t error = cudaGraphInstantiate(ready, graph, parameters->flags);
  parameters->errNode_out = nullptr;
  parameters->result_out =
      error == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
  return error;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t ready, cudaStream_t stream) {
  return on_stream("cudaGraphUpload", stream,
                   [&] { return is_ready(ready) ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t ready, cudaStream_t stream) {
  return on_stream("cudaGraphLaunch", stream, [&]() -> cudaError_t {
    if (const cudaError_t error = check_not_captured(stream); error != cudaSuccess) return error;
    if (!is_ready(ready)) return cudaErrorInvalidValue;
    const int number = number_of(stream);
    const auto last = ready->last;
    const bool frees = (ready->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0;
    const auto launch = [number, last, frees, owner = Owner(ready->graph)] {
      if (const cudaError_t error = take_back_memory(*owner, frees); error != cudaSuccess) {
        return error;
      }
      const GraphOnStream on(number, false);
      timeline::wait(number, last->clock);
      set_conditions_for_launch(*owner);
      return run(*owner, owner);
    };
    if (waiting::waits(last->ticket)) {
      waiting::put(number, launch, {last->ticket});
    } else if (const cudaError_t error = in_order(stream, launch); error != cudaSuccess) {
      return error;
    }
    const cudaError_t error = in_order(stream, [number, last] {
      last->clock = timeline::record(number);
      return cudaSuccess;
    });
    last->ticket = waiting::last_on(number);
    return error;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t ready) {
  return outside_capture("cudaGraphExecDestroy", [&] {
    if (all_ready().erase(ready) == 0) return cudaErrorInvalidValue;
    delete ready;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t ready, unsigned long long* flags) {
  return call("cudaGraphExecGetFlags", [&] {
    if (!is_ready(ready) || flags == nullptr) return cudaErrorInvalidValue;
    *flags = ready->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
  return on_copy("cudaGraphExecKernelNodeSetParams", ready, node,
                 [&](Node& its) { return set_up_kernel(its, parameters); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* parameters) {
  return on_copy("cudaGraphExecMemcpyNodeSetParams", ready, node,
                 [&](Node& its) { return set_up_copy(its, parameters); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t ready, cudaGraphNode_t node,
                                               void* to, const void* from, std::size_t bytes,
                                               cudaMemcpyKind kind) {
  const cudaMemcpy3DParms parameters = row_of(to, from, bytes, kind);
  return cudaGraphExecMemcpyNodeSetParams(ready, node, &parameters);
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t ready, cudaGraphNode_t node,
                                                     const void* symbol, const void* from,
                                                     std::size_t bytes, std::size_t offset,
                                                     cudaMemcpyKind kind) {
  return with_symbol(symbol, offset, [&](void* to) {
    return cudaGraphExecMemcpyNodeSetParams1D(ready, node, to, from, bytes, kind);
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t ready, cudaGraphNode_t node,
                                                       void* to, const void* symbol,
                                                       std::size_t bytes, std::size_t offset,
                                                       cudaMemcpyKind kind) {
  return with_symbol(symbol, offset, [&](void* from) {
    return cudaGraphExecMemcpyNodeSetParams1D(ready, node, to, from, bytes, kind);
  });
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t node,
                                       cudaGraphNodeParams* parameters) {
  return on_copy("cudaGraphExecNodeSetParams", ready, node,
                 [&](Node& its) { return change_any(its, parameters); });
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t ready, cudaGraphNode_t node,
                                                 cudaEvent_t event) {
  return on_copy("cudaGraphExecEventRecordNodeSetEvent", ready, node,
                 [&](Node& its) { return set_up_record(its, event); });
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t ready, cudaGraphNode_t node,
                                               cudaEvent_t event) {
  return on_copy("cudaGraphExecEventWaitNodeSetEvent", ready, node,
                 [&](Node& its) { return set_up_wait(its, event); });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t node,
                                             const cudaMemsetParams* parameters) {
  return on_copy("cudaGraphExecMemsetNodeSetParams", ready, node,
                 [&](Node& its) { return set_up_memset(its, parameters); });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters) {
  return on_copy("cudaGraphExecHostNodeSetParams", ready, node,
                 [&](Node& its) { return set_up_host(its, parameters); });
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t node,
                                                 cudaGraph_t child) {
  return on_copy("cudaGraphExecChildGraphNodeSetParams", ready, node,
                 [&](Node& its) { return set_up_child(its, child); });
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t ready, cudaGraphNode_t node,
                                    unsigned int enabled) {
  return on_copy("cudaGraphNodeSetEnabled", ready, node, [&](Node& its) {
    its.is_enabled = enabled != 0;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t ready, cudaGraphNode_t node,
                                    unsigned int* enabled) {
  return on_copy("cudaGraphNodeGetEnabled", ready, node, [&](Node& its) {
    if (enabled == nullptr) return cudaErrorInvalidValue;
    *enabled = its.is_enabled ? 1 : 0;
    return cudaSuccess;
  });
}

// The nodes must be as many, of the same types, and with the same edges.
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t ready, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result) {
  return call("cudaGraphExecUpdate", [&] {
    if (!is_ready(ready) || graph == nullptr) return cudaErrorInvalidValue;
    const bool fits = are_alike(*ready->graph, *graph);
    if (result != nullptr) {
      *result = {};
      result->result = fits ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged;
    }
    if (!fits) return cudaErrorGraphExecUpdateFailure;
    std::shared_ptr<Graph> updated = duplicate(*graph);
    keep_handles(*updated, *ready->graph);
    ready->graph = std::move(updated);
    return cudaSuccess;
  });
}

}  // extern "C"

}  // namespace simt::cudart
