#include "tests/data/files.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace halo::test {

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

FullDisk::FullDisk(std::size_t bytes) {
  rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  old_limit_ = limit.rlim_cur;
  limit.rlim_cur = bytes;
  // Without this the first write beyond the limit ends the program.
  old_handler_ = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
}

FullDisk::~FullDisk() {
  rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = old_limit_;
  setrlimit(RLIMIT_FSIZE, &limit);
  signal(SIGXFSZ, old_handler_);
}

Unprivileged::Unprivileged() : was_root_(geteuid() == 0) {
  constexpr uid_t kNobody = 65534;
  if (was_root_ && seteuid(kNobody) != 0) skip("root may do everything, and cannot be anyone else");
}

Unprivileged::~Unprivileged() {
  if (was_root_ && seteuid(0) != 0) std::abort();
}

std::string little(std::uint64_t value, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

std::string big(std::uint64_t value, int count) {
  std::string bytes = little(value, count);
  std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

std::string npy(const std::string& descr, const std::string& shape, const std::string& values,
                int version, const std::string& order) {
  const std::string header = "{'descr': '" + descr + "', 'fortran_order': " + order +
                             ", 'shape': " + shape + ", }          \n";
  return "\x93NUMPY" + little(static_cast<std::uint64_t>(version), 2) +
         little(header.size(), version == 1 ? 2 : 4) + header + values;
}

std::string wav(int channels, int bits, const std::string& values, int rate) {
  const auto frame = static_cast<std::uint64_t>(channels * bits / 8);
  return "RIFF" + little(36 + values.size(), 4) + "WAVEfmt " + little(16, 4) + little(1, 2) +
         little(static_cast<std::uint64_t>(channels), 2) +
         little(static_cast<std::uint64_t>(rate), 4) +
         little(static_cast<std::uint64_t>(rate) * frame, 4) + little(frame, 2) +
         little(static_cast<std::uint64_t>(bits), 2) + "data" + little(values.size(), 4) + values;
}

}  // namespace halo::test
