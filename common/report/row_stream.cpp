#include "common/report/row_stream.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "common/report/json.hpp"

namespace halo {

namespace {

int descriptor_of_environment() {
  const char* text = std::getenv(kStreamVariable);
  if (text == nullptr) return -1;
  int descriptor = -1;
  const char* end = text + std::strlen(text);
  if (std::from_chars(text, end, descriptor).ptr != end || descriptor < 0) return -1;
  // Not for programs that this one starts; and -1 if there is no such descriptor.
  return fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 ? descriptor : -1;
}

}  // namespace

RowStream& RowStream::to_starter() {
  static RowStream stream(descriptor_of_environment());
  return stream;
}

RowStream RowStream::taken_from_starter() {
  RowStream taken(descriptor_of_environment());
  unsetenv(kStreamVariable);
  return taken;
}

void RowStream::head(const Results& results) {
  if (open()) write(head_line(results));
}

void RowStream::rows(const std::vector<Row>& rows) {
  if (!open()) return;
  for (const Row& row : rows) write(row_line(row));
}

void RowStream::begin(const Row& row) {
  if (open()) write(begin_line(row));
}

void RowStream::progress(const std::string& text) {
  if (open()) write(progress_line(text));
}

void RowStream::line(const std::string& json) {
  if (open()) write(json);
}

void RowStream::write(const std::string& line) {
  const std::string text = line + "\n";
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = ::write(descriptor_, text.data() + at, text.size() - at);
    if (written >= 0) {
      at += static_cast<std::size_t>(written);
    } else if (errno != EINTR) {
      descriptor_ = -1;  // nobody listens any more
      return;
    }
  }
}

}  // namespace halo
