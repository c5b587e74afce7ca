#include "common/simt/cudart/host_lines.hpp"

#include <backtrace.h>
#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include "common/simt/cudart/module.hpp"
#include "common/simt/ptx/module.hpp"
#include "common/simt/report/lines.hpp"

// Calls of dl_iterate_phdr in this library, libbacktrace's too, come here (meson.build).
using TakeLibrary = int(dl_phdr_info*, std::size_t, void*);
extern "C" int __real_dl_iterate_phdr(TakeLibrary* take, void* out);
extern "C" int __wrap_dl_iterate_phdr(TakeLibrary* take, void* out);

namespace simt::cudart {
namespace {

// Thrust calls itself some dozens of times before it calls the runtime.
constexpr std::size_t kMostCallers = 64;

// Where a library lies, so that its frames are left out. Found by an address in it.
struct Range {
  std::uintptr_t begin = 0, end = 0;
};

int take_range(dl_phdr_info* info, std::size_t, void* out) {
  const std::uintptr_t here = static_cast<Range*>(out)->begin;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || here - begin >= segment.p_memsz) continue;
    *static_cast<Range*>(out) = {begin, begin + segment.p_memsz};
    return 1;
  }
  return 0;
}

// This library, and those that are loaded later and call its parts.
struct Libraries {
  std::array<Range, 4> ranges;
  std::atomic<std::size_t> count{0};

  void add(const void* code) {
    Range its{reinterpret_cast<std::uintptr_t>(code), 0};
    const std::size_t number = count;
    if (number == ranges.size() || dl_iterate_phdr(&take_range, &its) == 0) return;
    ranges[number] = its;
    count = number + 1;
  }
};
Libraries& libraries() {
  static Libraries& instance = *[] {
    auto* const own = new Libraries;
    own->add(reinterpret_cast<const void*>(&callers_of_runtime));
    return own;
  }();
  return instance;
}

bool is_own(std::uintptr_t address) {
  const Libraries& own = libraries();
  const auto has = [&](const Range& one) { return address - one.begin < one.end - one.begin; };
  return std::any_of(own.ranges.begin(),
                     own.ranges.begin() + static_cast<std::ptrdiff_t>(own.count), has);
}

_Unwind_Reason_Code note_frame(_Unwind_Context* context, void* out) {
  auto& callers = *static_cast<std::vector<std::uintptr_t>*>(out);
  // What a signal interrupted is no call: its address is that of the instruction, not of the one behind it.
  int is_instruction = 0;
  std::uintptr_t address = _Unwind_GetIPInfo(context, &is_instruction);
  if (is_instruction != 0) ++address;
  if (address == 0) return _URC_END_OF_STACK;
  if (is_own(address)) return _URC_NO_REASON;
  callers.push_back(address);
  return callers.size() < kMostCallers ? _URC_NO_REASON : _URC_END_OF_STACK;
}

void ignore_error(void*, const char*, int) {}

// No line of the languages' libraries is told, and where their debug information is installed (libc6-dbg), unpacking it takes longer than most
// programs run.
bool is_of_language(const char* library) {
  const std::string_view name =
      std::string_view(library).substr(std::string_view(library).rfind('/') + 1);
  constexpr std::array kNames = {"ld-linux", "libc.",       "libdl.",    "libgcc_s.",
                                 "libm.",    "libpthread.", "libstdc++."};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](const char* one) { return name.starts_with(one); });
}

// While this thread asks libbacktrace; nobody else who lists libraries, such as who unwinds the stack, is to miss some.
thread_local constinit bool reads_debug_information = false;
struct ReadsDebugInformation {
  ReadsDebugInformation() { reads_debug_information = true; }
  ~ReadsDebugInformation() { reads_debug_information = false; }
};

backtrace_state* debug_information() {
  static backtrace_state* const state = backtrace_create_state(nullptr, 1, &ignore_error, nullptr);
  return state;
}

// Called from the innermost function on, which may be inlined.
int take_line(void* out, std::uintptr_t, const char* file, int line, const char* function) {
  auto& its = *static_cast<HostLine*>(out);
  // A launch calls a function of the kernel's own name, which nvcc makes and puts in the kernel's line.
  if (function != nullptr && is_kernel(function)) return 0;
  // The C library's own files are told as "./signal/...", what nvcc makes of launches as "/tmp/....stub.c".
  if (file == nullptr || line == 0 || report::is_of_toolkit(file) ||
      std::string(file).starts_with("./") ||
      std::string(file).find("/sysdeps/") != std::string::npos ||
      std::string(file).ends_with(".stub.c")) {
    return 0;
  }
  its = {file, line};
  return 1;
}

// Debug information of the host may name a file from the folder where it was compiled, and the program run in another. What
// device code says of that folder tells which it was; empty: nothing does.
std::string whole_name(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  const std::string folder = "/" + file.substr(0, slash == file.npos ? 0 : slash + 1);
  for (const Kernel* const kernel : all_kernels()) {
    try {
      for (const std::string& one : kernel->module->ptx().files) {
        const std::size_t at = one.rfind(folder);
        if (at == one.npos) continue;
        const std::string whole = one.substr(0, at + 1) + file;
        if (std::ifstream(whole)) return whole;
      }
    } catch (const std::exception&) {
      // It has no PTX, or none that can be read.
    }
  }
  return "";
}

std::string read_line(const HostLine& where) {
  std::ifstream file(where.file);
  if (!file) file.open(whole_name(where.file));
  std::string text;
  for (int i = 0; i < where.line && std::getline(file, text); ++i) {
  }
  return file.good() || file.eof() ? text : "";
}

// Every conflict of thousands asks for the array's name: where it was allocated, and what is written there.
const HostLine& line_of_caller(std::uintptr_t caller) {
  static std::mutex mutex;
  static auto& lines = *new std::map<std::uintptr_t, HostLine>;
  const std::lock_guard lock(mutex);
  const auto [its, is_new] = lines.try_emplace(caller);
  if (is_new) {
    const ReadsDebugInformation reads;
    // One less lies in the call.
    backtrace_pcinfo(debug_information(), caller - 1, &take_line, &ignore_error, &its->second);
    its->second.caller = caller;
  }
  return its->second;
}
const std::string& text_of_line(const HostLine& where) {
  static std::mutex mutex;
  static auto& texts = *new std::map<std::pair<std::string, int>, std::string>;
  const std::lock_guard lock(mutex);
  const auto [its, is_new] = texts.try_emplace({where.file, where.line});
  if (is_new) its->second = read_line(where);
  return its->second;
}

// Of another process: how its places are told, no address is so small.
struct Told {
  std::map<std::uint64_t, ToldPlace> places;
  std::map<std::uintptr_t, HostVariable> variables;  // by where they begin
  std::uint64_t now = 0;
};
Told& told() {
  static Told& instance = *new Told;
  return instance;
}
const ToldPlace* told_place(const std::vector<std::uintptr_t>& callers) {
  if (callers.size() != 1 || told().places.empty()) return nullptr;
  const auto found = told().places.find(callers.front());
  return found == told().places.end() ? nullptr : &found->second;
}

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

}  // namespace

void leave_out_frames_of(const void* code) { libraries().add(code); }

namespace {
thread_local constinit const std::vector<std::uintptr_t>* callers_then = nullptr;
}  // namespace

CallersOf::CallersOf(const std::vector<std::uintptr_t>& callers)
    : before_(std::exchange(callers_then, &callers)) {}
CallersOf::~CallersOf() { callers_then = before_; }

std::vector<std::uintptr_t> callers_of_runtime() {
  if (callers_then != nullptr) return *callers_then;
  if (told().now != 0) return {static_cast<std::uintptr_t>(told().now)};
  std::vector<std::uintptr_t> callers;
  callers.reserve(kMostCallers);
  _Unwind_Backtrace(&note_frame, &callers);
  return callers;
}

void tell_place(std::uint64_t number, ToldPlace place) { told().places[number] = std::move(place); }
void set_place(std::uint64_t number) { told().now = number; }

HostLine line_of_call(const std::vector<std::uintptr_t>& callers) {
  if (const ToldPlace* const its = told_place(callers)) return its->line;
  HostLine line;
  for (const std::uintptr_t caller : callers) {
    line = line_of_caller(caller);
    if (!line.file.empty()) break;
  }
  return line;
}

std::string variable_in_call(const std::vector<std::uintptr_t>& callers, const AllCallers& all) {
  if (const ToldPlace* const its = told_place(callers)) return its->variable;
  const HostLine where = line_of_call(callers);
  if (where.file.empty()) return "";
  const std::string& text = text_of_line(where);
  // cudaMalloc(&name, cudaMalloc((void**)&name, cuMemAlloc(&object.member, &names[i]
  const auto call_from = [&](std::size_t at) {
    return std::min(text.find("cuda", at), text.find("cuMem", at));
  };
  std::vector<std::size_t> names, others;  // of calls that allocate, and of all the rest
  for (std::size_t at = call_from(0); at != text.npos; at = call_from(at + 1)) {
    const std::size_t open = text.find('(', at), next = call_from(at + 1);
    const std::size_t address = open == text.npos ? text.npos : text.find('&', open);
    if (address == text.npos || address > next) continue;
    const std::size_t begin = text.find_first_not_of(" (", address + 1);
    const bool allocates = text.substr(at, open - at).find("lloc") != std::string::npos;
    if (begin != text.npos) (allocates ? names : others).push_back(begin);
  }
  if (names.empty()) names = std::move(others);
  if (names.empty()) return "";
  std::size_t number = 0;
  if (names.size() > 1) {
    // Calls of a line stand in the code as they do there.
    std::set<std::uintptr_t> before;
    for (const std::vector<std::uintptr_t>& other : all()) {
      const HostLine its = line_of_call(other);
      if (its.file == where.file && its.line == where.line && its.caller < where.caller) {
        before.insert(its.caller);
      }
    }
    number = std::min(before.size(), names.size() - 1);
  }
  const std::size_t begin = names[number];
  std::size_t end = begin;
  while (end < text.size() && (is_of_word(text[end]) || text.substr(end, 2) == "->" ||
                               (text[end] == '>' && text[end - 1] == '-') || text[end] == '.')) {
    ++end;
  }
  if (end < text.size() && text[end] == '[') {
    const std::size_t close = text.find(']', end);
    if (close != text.npos) end = close + 1;
  }
  return text.substr(begin, end - begin);
}

void tell_host_variable(HostVariable its) {
  const std::uintptr_t begin = its.begin;
  told().variables[begin] = std::move(its);
}

HostVariable host_variable_at(std::uintptr_t address) {
  const auto behind = told().variables.upper_bound(address);
  if (behind != told().variables.begin()) {
    const HostVariable& its = std::prev(behind)->second;
    if (address - its.begin < its.bytes) return its;
  }
  if (!told().places.empty()) return {};
  if (const Symbol* const its = find_symbol(reinterpret_cast<const void*>(address))) {
    return {ptx::variable_name(its->symbol), address, its->bytes, true};
  }
  HostVariable found;
  const auto take = [](void* out, std::uintptr_t wanted, const char* symbol, std::uintptr_t begin,
                       std::uintptr_t bytes) {
    if (symbol == nullptr || wanted - begin >= bytes) return;
    const std::string all = ptx::demangled(symbol);
    // A constant in a function is "f(int)::table".
    const std::string_view kind = all.starts_with(kTable) ? kTable : "";
    const std::string_view name = ptx::without_scope(std::string_view(all).substr(kind.size()));
    *static_cast<HostVariable*>(out) = {std::string(kind).append(name), begin, bytes};
  };
  const ReadsDebugInformation reads;
  backtrace_syminfo(debug_information(), address, take, &ignore_error, &found);
  return found;
}

}  // namespace simt::cudart

int __wrap_dl_iterate_phdr(TakeLibrary* take, void* out) {
  if (!simt::cudart::reads_debug_information) return __real_dl_iterate_phdr(take, out);
  using Asked = std::pair<TakeLibrary*, void*>;
  Asked asked{take, out};
  return __real_dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t bytes, void* its) {
        if (simt::cudart::is_of_language(library->dlpi_name)) return 0;
        const Asked& asker = *static_cast<Asked*>(its);
        return asker.first(library, bytes, asker.second);
      },
      &asked);
}
