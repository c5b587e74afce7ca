#include "common/simt/cudart/fat_binary.hpp"

#include <zstd.h>

#include <cctype>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace simt::cudart {
namespace {

// As nvcc's fatbinary_section.h and what it writes have it.
struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const void* fat_binary;
  const void* const* units;  // of version 2 (nvcc -rdc=true): a list that ends with a null
};
constexpr std::uint32_t kWrapperMagic = 0x466243b1;
constexpr std::uint32_t kLinkedVersion = 2;

struct Header {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_bytes;
  std::uint64_t bytes;  // of all entries
};
constexpr std::uint32_t kFatMagic = 0xba55ed50;

struct Entry {
  std::uint16_t kind;
  std::uint16_t version;
  std::uint32_t header_bytes;
  std::uint64_t bytes;  // of what follows
  std::uint32_t compressed_bytes;
  std::uint32_t unknown_20;
  std::uint16_t minor;
  std::uint16_t major;
  std::uint32_t architecture;
  std::uint32_t name_at;
  std::uint32_t name_bytes;
  std::uint64_t flags;
  std::uint64_t unknown_48;
  std::uint64_t uncompressed_bytes;
};
static_assert(sizeof(Entry) == 64);
constexpr std::uint16_t kPtx = 1;
constexpr std::uint64_t kLz4 = 0x2000;
constexpr std::uint64_t kZstd = 0x8000;

template <class T>
T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::string unpacked(const Entry& entry, const std::byte* data) {
  if ((entry.flags & kLz4) != 0) {
    throw NoPtx(
        "its PTX is packed with LZ4: build it with nvcc of CUDA 13, or with nvcc "
        "--no-compress");
  }
  if ((entry.flags & kZstd) == 0) {
    return {reinterpret_cast<const char*>(data), static_cast<std::size_t>(entry.bytes)};
  }
  std::string text(static_cast<std::size_t>(entry.uncompressed_bytes), '\0');
  const std::size_t packed = entry.compressed_bytes != 0 ? entry.compressed_bytes : entry.bytes;
  const std::size_t bytes = ZSTD_decompress(text.data(), text.size(), data, packed);
  if (ZSTD_isError(bytes)) {
    throw NoPtx(std::string("its PTX cannot be unpacked: ") + ZSTD_getErrorName(bytes));
  }
  text.resize(bytes);
  return text;
}

std::string ptx_of(const void* fat_binary) {
  const auto* at = static_cast<const std::byte*>(fat_binary);
  const auto header = read<Header>(at);
  if (header.magic != kFatMagic) throw NoPtx("its device code is in no form that is known here");
  at += header.header_bytes;
  const std::byte* const end = at + header.bytes;
  std::string text;
  std::uint32_t newest = 0;
  std::set<std::uint32_t> machine_code;
  while (at < end) {
    const auto entry = read<Entry>(at);
    if (entry.kind != kPtx) {
      machine_code.insert(entry.architecture);
    } else if (entry.architecture >= newest) {
      newest = entry.architecture;
      text = unpacked(entry, at + entry.header_bytes);
    }
    at += entry.header_bytes + entry.bytes;
  }
  text.resize(std::strlen(text.c_str()));  // it is filled up with zeros
  if (text.empty()) {
    std::string which;
    for (const std::uint32_t one : machine_code) {
      which += (which.empty() ? "" : ", ") + ("sm_" + std::to_string(one));
    }
    throw NoPtx("it has machine code for " + (which.empty() ? "no GPU" : which) +
                " and no PTX, which is what runs here: build it with simcc, or with nvcc "
                "-gencode arch=compute_90,code=compute_90");
  }
  return text;
}

// ---- Several units in one text ----

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}

std::string_view word_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_of_name(text[end])) ++end;
  return text.substr(at, end - at);
}

// Names of variables and functions that no other unit may name: their definitions begin a line without .visible,
// .weak or .extern.
std::set<std::string_view> private_names(std::string_view text) {
  std::set<std::string_view> names;
  for (std::size_t line = 0; line < text.size();) {
    const std::size_t next = std::min(text.find('\n', line), text.size() - 1) + 1;
    std::string_view its = text.substr(line, next - line);
    line = next;
    const bool is_function = its.starts_with(".func");
    if (!is_function && !its.starts_with(".global ") && !its.starts_with(".const ") &&
        !its.starts_with(".shared ")) {
      continue;
    }
    if (is_function) {
      // .func (.param .b32 result) name(: what it returns stands in parentheses, and may be missing.
      const std::size_t open = its.find('(');
      if (open != its.npos && its.substr(0, open).find_first_not_of(" .func\t") == its.npos) {
        its.remove_prefix(std::min(its.find(')'), its.size() - 1) + 1);
      } else {
        its.remove_prefix(std::string_view(".func").size());
      }
      const std::size_t at = its.find_first_not_of(" \t");
      if (at != its.npos) names.insert(word_at(its, at));
      continue;
    }
    // .global .align 4 .b8 name[4] = ...: the first word that is no directive and no number.
    for (std::size_t at = its.find(' '); at < its.size(); ++at) {
      if (its[at] == ' ' || its[at] == '\t') continue;
      const std::string_view word = word_at(its, at + (its[at] == '.' ? 1 : 0));
      if (its[at] != '.' && !std::isdigit(static_cast<unsigned char>(its[at]))) {
        names.insert(word);
        break;
      }
      at += word.size();
    }
  }
  return names;
}

std::string renamed(std::string_view text, const std::map<std::string_view, std::string>& names) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (!is_of_name(text[at])) {
      result += text[at++];
      continue;
    }
    const std::string_view word = word_at(text, at);
    const auto found = names.find(word);
    result += found == names.end() ? word : std::string_view(found->second);
    at += word.size();
  }
  return result;
}

}  // namespace

std::string joined(const std::vector<std::string>& texts) {
  if (texts.size() == 1) return texts.front();
  std::string all;
  std::set<std::string, std::less<>> taken;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::map<std::string_view, std::string> names;
    for (const std::string_view name : private_names(texts[i])) {
      if (!taken.emplace(name).second) names[name] = std::string(name) + "$" + std::to_string(i);
    }
    all += names.empty() ? texts[i] : renamed(texts[i], names);
    all += '\n';
  }
  return all;
}

bool is_linked(const void* address) {
  Wrapper wrapper;
  std::memcpy(&wrapper, address, sizeof wrapper);
  return wrapper.version == kLinkedVersion && wrapper.units != nullptr;
}

std::string ptx_of_wrapper(const void* address) {
  Wrapper wrapper;
  std::memcpy(&wrapper, address, sizeof wrapper);
  if (wrapper.magic != kWrapperMagic) {
    throw NoPtx("its device code is in no form that is known here");
  }
  std::vector<std::string> texts;
  if (is_linked(address)) {
    for (const void* const* unit = wrapper.units; *unit != nullptr; ++unit) {
      texts.push_back(ptx_of(*unit));
    }
  } else {
    texts.push_back(ptx_of(wrapper.fat_binary));
  }
  return joined(texts);
}

std::string ptx_of_image(const void* image) {
  const auto* const text = static_cast<const char*>(image);
  // Four bytes can be read only where the first are no text that ends before.
  if (std::strncmp(text,
                   "\x7f"
                   "ELF",
                   4) == 0) {
    throw NoPtx(
        "it is machine code for one GPU, and PTX is what runs here: use nvcc -ptx or -fatbin");
  }
  if (std::strncmp(text, "\x50\xed\x55\xba", 4) == 0) return ptx_of(image);
  if (std::strncmp(text, "\xb1\x43\x62\x46", 4) == 0) return ptx_of_wrapper(image);
  return text;
}

}  // namespace simt::cudart
