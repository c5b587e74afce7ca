// Functions of a library that are not here. Weak: where there is another of that name, it is taken. All take what they like:
// so their own declarations are not included.
#include <cstdio>
#include <string>

namespace {

int refuse(const char* symbol) {
  std::string name = symbol;
  // As the program has it: what the header makes of that is another version.
  if (const std::size_t version = name.find("_v2"); version != name.npos) name.erase(version, 3);
  std::fprintf(stderr, "simt: %s is not in the simulator\n", name.c_str());
  return SIMT_REFUSAL;
}

}  // namespace

extern "C" {

#define SIMT_REFUSED(name) \
  __attribute__((weak)) int name() { return refuse(#name); }
#include SIMT_DECLARED
#undef SIMT_REFUSED

}  // extern "C"
