#include "common/simt/runtime/program_image.hpp"

#include <backtrace.h>
#include <cxxabi.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "common/simt/runtime/runtime.hpp"

// Sections that the translator fills; absent (null) in a program without such variables.
extern "C" {
extern char __start_simt_constant[] __attribute__((weak));
extern char __stop_simt_constant[] __attribute__((weak));
extern char __start_simt_device[] __attribute__((weak));
extern char __stop_simt_device[] __attribute__((weak));
__thread char simt_tls_anchor = 1;
}

namespace simt {
namespace {

[[noreturn]] void give_up(const char* why) {
  std::fprintf(stderr, "simt: cannot read this program's own symbols: %s\n", why);
  std::_Exit(2);
}

bool starts_with(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

// The variable's own name: what follows the last "::" that is not inside brackets.
std::string last_component(const std::string& demangled) {
  int depth = 0;
  for (std::size_t i = demangled.size(); i-- > 1;) {
    char c = demangled[i];
    if (c == ')' || c == '>' || c == '}') ++depth;
    if (c == '(' || c == '<' || c == '{') --depth;
    if (depth == 0 && c == ':' && demangled[i - 1] == ':') return demangled.substr(i + 1);
  }
  return demangled;
}

// The runtime's own thread-local variables with C names, and the compiler's.
bool is_builtin(const std::string& name) {
  return name == "__tls_guard" || name == "threadIdx" || name == "blockIdx" || name == "blockDim" ||
         name == "gridDim" || name == "warpSize";
}

bool is_guard(const std::string& name) { return starts_with(name, "simt_guard_"); }

}  // namespace

std::string demangle(const char* mangled) {
  int status = 0;
  char* text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string result = status == 0 && text ? text : mangled;
  std::free(text);
  return result;
}

const ProgramImage& ProgramImage::get() {
  static const ProgramImage& image = *new ProgramImage;
  return image;
}

ProgramImage::ProgramImage() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (bytes.size() < sizeof(ElfW(Ehdr)) || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) {
    give_up("/proc/self/exe is not readable as an ELF file");
  }
  auto* header = reinterpret_cast<const ElfW(Ehdr)*>(bytes.data());

  // The first object that the loader lists is the program itself.
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<std::uintptr_t*>(out) = info->dlpi_addr;
        return 1;
      },
      &load_address_);

  auto* segments = reinterpret_cast<const ElfW(Phdr)*>(bytes.data() + header->e_phoff);
  for (int i = 0; i < header->e_phnum; ++i) {
    const auto& segment = segments[i];
    if (segment.p_type == PT_TLS) tls_size_ = segment.p_memsz;
  }

  auto* sections = reinterpret_cast<const ElfW(Shdr)*>(bytes.data() + header->e_shoff);
  const char* section_names = bytes.data() + sections[header->e_shstrndx].sh_offset;
  for (int i = 0; i < header->e_shnum; ++i) {
    const std::string name = section_names + sections[i].sh_name;
    const std::uintptr_t begin = load_address_ + sections[i].sh_addr;
    // By sections: constants may lie in one segment with the code.
    const auto flags = sections[i].sh_flags;
    if ((flags & SHF_ALLOC) && !(flags & (SHF_EXECINSTR | SHF_TLS))) {
      data_ranges_.emplace_back(begin, begin + sections[i].sh_size);
    }
    if (name == ".data" || name == ".bss") {
      variable_ranges_.emplace_back(begin, begin + sections[i].sh_size);
    } else if (name == ".rodata") {
      constant_ranges_.emplace_back(begin, begin + sections[i].sh_size);
    }
  }
  const ElfW(Shdr)* symbols = nullptr;
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type == SHT_SYMTAB) symbols = &sections[i];
  }
  if (!symbols) give_up("it was stripped; build it without -s and do not run strip on it");
  const char* names = bytes.data() + sections[symbols->sh_link].sh_offset;
  auto* table = reinterpret_cast<const ElfW(Sym)*>(bytes.data() + symbols->sh_offset);
  const std::size_t count = symbols->sh_size / sizeof(ElfW(Sym));

  const auto constant_begin = reinterpret_cast<std::uintptr_t>(__start_simt_constant);
  const auto constant_end = reinterpret_cast<std::uintptr_t>(__stop_simt_constant);
  const auto device_begin = reinterpret_cast<std::uintptr_t>(__start_simt_device);
  const auto device_end = reinterpret_cast<std::uintptr_t>(__stop_simt_device);

  std::map<std::uintptr_t, bool> guards;  // each follows its variables; true: they are __managed__
  for (std::size_t i = 0; i < count; ++i) {
    const auto& symbol = table[i];
    const char* name = names + symbol.st_name;
    const unsigned type = symbol.st_info & 0xf;
    if (symbol.st_shndx == SHN_UNDEF) continue;
    if (type == STT_FUNC && symbol.st_size) {
      std::uintptr_t begin = load_address_ + symbol.st_value;
      functions_.push_back({begin, begin + symbol.st_size, name});
    } else if (type == STT_TLS) {
      if (std::strcmp(name, "simt_tls_anchor") == 0) {
        tls_anchor_offset_ = symbol.st_value;
        continue;
      }
      // A local variable's symbol is _ZZ <function> E <name>; at namespace scope it is plain.
      std::string full = demangle(name);
      if (starts_with(full, "simt::") || starts_with(full, "std::") || is_builtin(full)) continue;
      SharedArray array;
      array.offset = symbol.st_value;
      array.size = symbol.st_size;
      array.name = last_component(full);
      array.symbol = name;
      if (is_guard(array.name)) continue;
      shared_.push_back(std::move(array));
    } else if (type == STT_OBJECT && symbol.st_size) {
      std::uintptr_t begin = load_address_ + symbol.st_value;
      std::string full = demangle(name);
      std::string own = last_component(full);
      if (is_guard(own)) {
        guards.emplace(begin, starts_with(own, "simt_guard_managed_"));
        continue;
      }
      if (begin >= constant_begin && begin < constant_end) {
        constants_.push_back({begin, symbol.st_size, own, false});
      } else if (begin >= device_begin && begin < device_end) {
        device_.push_back({begin, symbol.st_size, own, false});
      } else {
        host_objects_.push_back({begin, symbol.st_size, own, false});
      }
    }
  }
  std::sort(functions_.begin(), functions_.end(),
            [](const Function& a, const Function& b) { return a.begin < b.begin; });
  auto by_begin = [](const DeviceVariable& a, const DeviceVariable& b) {
    return a.begin < b.begin;
  };
  std::sort(constants_.begin(), constants_.end(), by_begin);
  std::sort(device_.begin(), device_.end(), by_begin);
  std::sort(host_objects_.begin(), host_objects_.end(), by_begin);
  for (DeviceVariable& variable : device_) {
    const auto guard = guards.lower_bound(variable.begin);
    variable.managed = guard != guards.end() && guard->second;
  }
  std::sort(shared_.begin(), shared_.end(),
            [](const SharedArray& a, const SharedArray& b) { return a.offset < b.offset; });
}

const ProgramImage::Function* ProgramImage::function_at(std::uintptr_t address) const {
  auto it = std::upper_bound(functions_.begin(), functions_.end(), address,
                             [](std::uintptr_t a, const Function& f) { return a < f.begin; });
  if (it == functions_.begin()) return nullptr;
  --it;
  return address < it->end ? &*it : nullptr;
}

std::string ProgramImage::function_symbol(std::uintptr_t address) const {
  const Function* const function = function_at(address);
  return function ? function->mangled : "";
}

std::size_t ProgramImage::code_bytes() const {
  std::uintptr_t end = load_address_;
  for (const Function& function : functions_) end = std::max(end, function.end);
  return end - load_address_;
}

namespace {

// A kernel's body is a lambda in its host function, so its arrays are named
// _ZZZ <kernel> E [N][K] UlvE_ clEv E <array>, where <kernel> is its symbol without the leading _Z
// (or length and name, for extern "C").
bool in_kernel_body(const std::string& symbol) {
  return starts_with(symbol, "_ZZZ") && symbol.find("UlvE_clEvE") != std::string::npos;
}

}  // namespace

bool ProgramImage::owns(const std::string& kernel, const SharedArray& array) {
  if (!in_kernel_body(array.symbol)) return false;
  const std::string encoding =
      starts_with(kernel, "_Z") ? kernel.substr(2) : std::to_string(kernel.size()) + kernel;
  const std::string prefix = "_ZZZ" + encoding + "EN";
  return starts_with(array.symbol, prefix) &&
         (array.symbol.compare(prefix.size(), 10, "UlvE_clEvE") == 0 ||
          array.symbol.compare(prefix.size(), 11, "KUlvE_clEvE") == 0);
}

bool ProgramImage::may_use(const std::string& kernel, const SharedArray& array) {
  return owns(kernel, array) || !in_kernel_body(array.symbol);
}

namespace {

bool in_ranges(const std::vector<std::pair<std::uintptr_t, std::uintptr_t>>& ranges,
               std::uintptr_t address) {
  for (const auto& [begin, end] : ranges) {
    if (address >= begin && address < end) return true;
  }
  return false;
}

}  // namespace

bool ProgramImage::in_program_data(std::uintptr_t address) const {
  return in_ranges(data_ranges_, address);
}
bool ProgramImage::in_variable_data(std::uintptr_t address) const {
  return in_ranges(variable_ranges_, address);
}
bool ProgramImage::in_constant_data(std::uintptr_t address) const {
  return in_ranges(constant_ranges_, address);
}

const DeviceVariable* ProgramImage::host_object(std::uintptr_t address) const {
  auto after = std::upper_bound(host_objects_.begin(), host_objects_.end(), address,
                                [](std::uintptr_t a, const auto& v) { return a < v.begin; });
  if (after == host_objects_.begin()) return nullptr;
  --after;
  return address - after->begin < after->size ? &*after : nullptr;
}

namespace {

// Frames of the simulator's own headers are not the user's lines.
bool is_own_header(const char* file) { return std::strstr(file, "common/simt/cuda/") != nullptr; }

struct FrameSearch {
  SourceLine first;
  SourceLine found;
};

}  // namespace

SourceLine ProgramImage::line_of(std::uintptr_t program_counter) const {
  static std::mutex mutex;
  static auto& cache = *new std::map<std::uintptr_t, SourceLine>;  // asked for also at the end
  static backtrace_state* state = backtrace_create_state(
      "/proc/self/exe", 1, [](void*, const char*, int) {}, nullptr);
  std::lock_guard lock(mutex);
  auto [it, is_new] = cache.try_emplace(program_counter);
  if (!is_new) return it->second;
  FrameSearch search;
  backtrace_pcinfo(
      state, program_counter,
      [](void* data, std::uintptr_t, const char* file, int line, const char* function) {
        auto* s = static_cast<FrameSearch*>(data);
        if (!file || line == 0) return 0;
        if (s->first.line == 0) s->first = {file, line, "", is_own_header(file)};
        if (is_own_header(file)) return 0;
        s->found = {file, line, function ? function : "", s->first.in_stand_in};
        return 1;
      },
      [](void*, const char*, int) {}, &search);
  it->second = search.found.line ? search.found : search.first;
  return it->second;
}

std::size_t static_shared_bytes(const void* kernel_function) {
  const ProgramImage& image = ProgramImage::get();
  std::string kernel = image.function_symbol(reinterpret_cast<std::uintptr_t>(kernel_function));
  std::size_t bytes = 0;
  for (const SharedArray& array : image.shared_arrays()) {
    if (ProgramImage::owns(kernel, array)) bytes += array.size;
  }
  return bytes;
}

}  // namespace simt
