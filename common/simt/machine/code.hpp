// A kernel ready to run: what decode() makes of a function of a module.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/simt/ptx/module.hpp"

namespace simt::machine {

inline constexpr int kLanes = 32;
inline constexpr std::uint32_t kAllLanes = 0xffff'ffff;

struct Step;
struct Warp;

/// What one step does for the active lanes of a warp. It returns the step that comes next, or null where the lanes
/// that ran cannot go on: they have ended, or wait.
using Execute = const Step* (*)(const Step*, Warp&);

/// What other threads may conclude of an access: PTX ISA 8, the memory consistency model.
enum class Order : std::uint8_t { weak, relaxed, acquire, release, acq_rel, sc };
enum class Scope : std::uint8_t { cta, cluster, gpu, sys };

/// Where an instruction says that its addresses lie.
enum class Window : std::uint8_t {
  generic,
  global,
  shared,   // of the block
  cluster,  // of any block of its cluster (.shared::cluster)
  constant,
  local,
  parameter,
  reserved,  // what the system keeps of a block's shared memory
};

/// How an access counts: as its space has it, as one that reaches other blocks (st.async), not (of an mbarrier, or joined
/// with another), as a copy past the first cache (memory::Copy), in shared memory as rounds of a load and a
/// compare-and-swap (memory::swapped), or, of half a word, as a load of that and rounds of a compare-and-swap, or one.
enum class Traffic : std::uint8_t {
  usual,
  sent,
  none,
  past_cache,
  past_cache_in_part,
  past_cache_or_zeros,
  swapped,
  half_of_word,
  half_compared
};

/// How a step passes on what nobody has written (undefined.hpp).
enum class Flow : std::uint8_t {
  unknown,   // it may use any register
  computes,  // `to` of those of `from`
  inserts,   // of these and of what `to` was
  conjoins,  // of two predicates: one that is false decides
  disjoins,  // one that holds does
  masks,     // of two words: one that is zero does
  selects,   // of two by a predicate, the third
  loads,
  stores,
  jumps,  // by its guard
  uses,   // those of `from`, for more than a value; `to` is written
};

/// One instruction, ready to run. A register is named by where it begins among a warp's registers, in bytes.
struct Step {
  Execute run = nullptr;
  std::uint32_t to = 0;
  std::uint32_t from[4] = {0, 0, 0, 0};
  std::uint32_t guard = 0;
  bool guard_negated = false;
  std::uint8_t count = 1;  // values that a lane moves at once: 4 of ld.v4
  Window window = Window::generic;
  Order order = Order::weak;
  Scope scope = Scope::gpu;
  bool has_values = true;  // of a store: they are in registers
  std::uint8_t bytes = 0;  // of a copy, or that arrive at a barrier
  Traffic traffic = Traffic::usual;
  Flow flow = Flow::unknown;
  // Of an access that counts for its neighbours too: the bytes of all, and how far before its address they begin.
  std::uint8_t joined_bytes = 0;
  std::uint8_t joined_before = 0;
  bool keeps = true;               // of an atomic operation: its result is asked for
  std::int64_t offset = 0;         // of an address; or which operation, where `run` does several
  std::int64_t source_offset = 0;  // of a copy's other address
  const Step* target = nullptr;    // of a branch
  Execute inner = nullptr;         // of a guarded step: what runs for the lanes whose guard holds
  std::int32_t site = -1;          // of the PTX: index in Code::sites
};

/// Where a step that moves memory keeps its values: the first, and further ones of a vector.
inline std::uint32_t value_slot(const Step& step, int i) {
  return i == 0 ? step.to : step.from[i - 1];
}

/// A special register (%tid.x) and where its values go when a warp begins.
struct Special {
  std::string name;
  std::uint32_t slot;
};

/// A variable of shared or local memory, and where it is in a block's or a thread's.
struct PlacedVariable {
  std::string name;
  std::uint32_t begin;
  std::uint32_t bytes;  // 0: as many as the launch gives
};

/// What others do for device code: services.hpp.
enum class Service : std::uint8_t {
  print,
  assertion,
  allocate,
  free,
  trap,
  no_image,       // a texture or surface object that there is not
  freed_image,    // or whose memory there is not
  outside_image,  // where a surface has nothing, or not at a multiple of the access's size
  // Of launches by kernels (cuda_device_runtime_api.h):
  launch_buffer,  // where the arguments go: of a kernel, its blocks and threads, and dynamic shared memory
  launch,         // of what lies in a buffer, on a stream
  copy_rows,  // cudaMemcpy2DAsync, and cudaMemcpyAsync of one row
  copy_row,
  copy_planes,  // cudaMemcpy3DAsync
  set_rows,     // cudaMemset2DAsync, and cudaMemsetAsync of one row
  set_row,
  set_planes,  // cudaMemset3DAsync
  device,      // its number, how many there are, what it has
  device_count,
  device_attribute,
  device_limit,
  runtime_version,
  function_attributes,
  occupancy,
  error_name,  // its text, where kernels can read it
  error_text,
  be_zero,      // of what one asks for: the cache's or the banks' configuration
  give_handle,  // of a stream or an event
  record_event,
  wait_for_event,
  succeed,  // nothing to do
  allocate_global,
  free_global,
  set_condition,  // of a graph's conditional node: its handle, and the value
};
struct ServiceCall {
  static constexpr std::size_t kMostArguments =
      9;  // a structure counts as its words of 4 or 8 bytes
  /// Where in a thread's own memory, and how many bytes: 0 if there is none.
  struct Value {
    std::uint64_t at = 0;
    std::size_t bytes = 0;
  };
  Service service{};
  bool is_in_frame = false;  // its arguments lie in the frame of a function that was called
  std::vector<Value> arguments;
  Value result{};
};

/// A function that is called and not put in place of its call: it calls itself, or is known by its address only. What a
/// thread keeps for it lies in a frame of local memory: results, then parameters, then its own variables.
struct CalledFunction {
  const ptx::Function* function = nullptr;
  std::size_t first = 0;    // step
  std::uint32_t frame = 0;  // bytes
  std::vector<std::pair<std::uint32_t, int>>
      registers;  // where they begin, and bytes per lane; 0: a predicate
};

/// A function's body among the steps: the kernel's, one in place of a call, or one that is called, with its variables.
struct Body {
  const ptx::Function* function = nullptr;
  std::int32_t outer = -1;   // in Code::bodies: the one that it stands in; -1: none
  std::int32_t called = -1;  // in Code::called: addresses are in a frame; -1: they are the thread's
  std::int32_t first_site = 0, end_site = 0;  // its own, and those of bodies in it
  std::int32_t call_site = -1;                // in the outer one
  std::vector<std::uint32_t> slots;  // of nvcc -G only, by register; kNoSlot: nothing uses it
  std::map<std::string_view, std::uint64_t> locals;  // .local and .param: where they begin
};
inline constexpr std::uint32_t kNoSlot = ~0u;

/// A call of such a function: what is copied between the frames.
struct CallPlan {
  struct Copy {
    std::uint64_t from, to;
    std::size_t bytes;
  };
  std::int32_t callee = -1;   // in Code::called; -1: by its address
  std::uint32_t address = 0;  // the register that holds it
  std::int32_t caller = -1;   // in Code::called; -1: the kernel
  bool parts = false;         // lanes that it sends to several functions stay apart (stay_apart)
  std::vector<Copy> arguments, results;
};

/// An access through a texture or surface object: its registers.
struct ImageAccess {
  enum class Level : std::uint8_t { first, given, by_gradients };
  enum class Boundary : std::uint8_t { trap, clamp, zero };
  int dimensions = 1;
  bool is_layered = false, is_cube = false;
  bool is_by_index = false;  // whole coordinates
  bool is_gather = false;    // one channel of four texels
  int channel = 0;
  Level level = Level::first;
  Boundary boundary = Boundary::trap;
  std::uint32_t image = 0;
  std::uint32_t at[3] = {0, 0, 0};
  std::uint32_t layer = 0;
  std::uint32_t more[6] = {0, 0, 0, 0, 0, 0};  // the level, or gradients: three each
  int count = 0;
  std::uint32_t values[4] = {0, 0, 0, 0};
  bool has_predicate = false;
  std::uint32_t predicate = 0;
};

enum class Element : std::uint8_t;

/// wgmma: what four warps multiply.
struct GroupProduct {
  Element d{}, a{}, b{};
  int columns = 8;  // of B and D
  int depth = 16;
  bool negates_a = false, negates_b = false;
  bool transposes_a = false, transposes_b = false;  // it lies in memory along the other side
  bool saturates = false;
  bool is_sparse =
      false;  // of A half is stored; `selector` says which lanes of a quad have the words that say which half
  std::uint8_t selector = 0;
  std::uint32_t sparse = 0;            // the register with them
  std::vector<std::uint32_t> results;  // registers of a lane: D
  std::vector<std::uint32_t> left;     // A; none: it is in shared memory
};

/// A copy in one piece or of a tile of a tensor (cp.async.bulk).
struct BulkCopy {
  enum class Way : std::uint8_t { from_global, to_global, to_block };
  struct Operand {
    std::uint32_t base = 0;
    std::int64_t offset = 0;
  };
  /// What becomes of a value and one that is copied onto it.
  using Combine = void (*)(std::byte* to, const std::byte* from);
  Way way = Way::from_global;
  Operand to, from, barrier;
  std::uint32_t bytes = 0;   // the register with the size
  std::uint32_t blocks = 0;  // with the mask of the blocks that it goes to
  bool is_multicast = false;
  Combine combine = nullptr;  // of a reduction
  char operation[4] = {};     // the same of tiles, whose map has the type: "add"
  std::uint8_t element_bytes = 0;
  int rank = 0;  // of a tensor, whose map is at `from` or `to`; 0: in one piece
  std::uint32_t at[5] = {0, 0, 0, 0, 0};  // registers with coordinates
  bool is_im2col = false;                 // pixels of a box, each so far from its place:
  std::uint32_t offsets[3] = {0, 0, 0};   // registers
};

struct Code {
  const ptx::Function* function = nullptr;
  std::vector<Step> steps;  // the last one ends a lane that comes there
  std::vector<const ptx::Instruction*> sites;
  /// Those of `sites` that the module does not have, and whose each is: the kernel's or that of a function it calls.
  std::deque<std::pair<ptx::Instruction, const ptx::Function*>> rewritten;
  /// Registers as a warp has them when it begins: zero, but for the constants that instructions name.
  std::vector<std::byte> registers;
  /// Those constants that are addresses of shared memory, with their bytes: a block adds where its own begins.
  std::vector<std::pair<std::uint32_t, int>> shared_addresses;
  std::vector<Special> specials;
  /// Registers that the text reads before it writes them, and their bytes: ones when a warp begins.
  std::vector<std::pair<std::uint32_t, std::size_t>> undefined;
  std::vector<PlacedVariable> shared;
  std::vector<ServiceCall> service_calls;
  std::vector<ImageAccess> image_accesses;
  std::vector<GroupProduct> group_products;
  std::vector<BulkCopy> bulk_copies;
  std::vector<CalledFunction> called;
  std::map<std::uint64_t, std::int32_t> called_at;  // by address
  std::vector<CallPlan> calls;
  std::vector<Body> bodies;         // an outer one comes first
  std::uint32_t static_shared = 0;  // bytes
  std::uint32_t local = 0;          // bytes per thread
  bool allocates = false;           // more of it, while it runs (alloca)
  std::uint32_t parameters = 0;     // bytes
  /// Of a warp's registers the 64 bits that its clock says, if it is read.
  std::optional<std::uint32_t> clock;
};

/// What a pointer to a function of the module holds.
std::uint64_t address_of_function(const ptx::Module& module, const ptx::Function& function);

/// Where the variables of a module are: of global and constant memory the addresses.
using Addresses = std::map<std::string, std::uint64_t, std::less<>>;

/// An instruction that cannot be run: "file:12: atom.add.noftz.f16x2: this form is not known".
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws Unsupported for the first instruction that has no form here.
std::unique_ptr<Code> decode(const ptx::Module& module, const ptx::Function& kernel,
                             const Addresses& addresses);

/// ptxas takes an instruction's modifiers in any order, but that of its types, layouts and spaces. Those of instructions
/// that are unknown as they stand are put into the order of a form that has them all.
void order_modifiers(ptx::Module& module);

/// Whether PTX has instructions of that name, known here or not.
bool is_opcode(std::string_view name);

/// Forms of this function's instructions that decode() would refuse, each once, in the order of the text.
std::vector<std::string> unknown_forms(const ptx::Function& function);

// Windows of the generic address space, where no memory of the host's or the device's can lie.
inline constexpr std::uint64_t kSharedWindow = 0x0400'0000'0000'0000;
inline constexpr std::uint64_t kLocalWindow = 0x0300'0000'0000'0000;
inline constexpr std::uint64_t kParameterWindow = 0x0200'0000'0000'0000;
inline constexpr std::uint64_t kConstantWindow = 0x0100'0000'0000'0000;
inline constexpr std::uint64_t kFunctionWindow = 0x0500'0000'0000'0000;
inline constexpr std::uint64_t kWindowBytes = 0x100'0000'0000;

}  // namespace simt::machine
