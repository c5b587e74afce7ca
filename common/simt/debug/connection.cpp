#include "common/simt/debug/connection.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

namespace simt::debug {
namespace {

constexpr std::string_view kLength = "Content-Length: ";
constexpr std::size_t kLongest = 16 << 20;

}  // namespace

Connection::~Connection() {
  ::close(in_);
  if (out_ != in_) ::close(out_);
}

void Connection::close() { shutdown(in_, SHUT_RDWR); }

std::optional<Json> Connection::receive() {
  for (;;) {
    const std::size_t end = read_.find("\r\n\r\n");
    if (end != read_.npos) {
      const std::size_t at = read_.find(kLength);
      std::size_t bytes = 0;
      if (at >= end) return {};
      const char* const digits = read_.data() + at + kLength.size();
      std::from_chars(digits, read_.data() + end, bytes);
      if (bytes == 0 || bytes > kLongest) return {};
      if (read_.size() >= end + 4 + bytes) {
        const std::string text = read_.substr(end + 4, bytes);
        read_.erase(0, end + 4 + bytes);
        try {
          return Json::parse(text);
        } catch (const halo::json::Error&) {
          return {};
        }
      }
    }
    char some[4096];
    const ssize_t got = read(in_, some, sizeof some);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return {};
    read_.append(some, static_cast<std::size_t>(got));
  }
}

bool Connection::send(const Json& message) {
  const std::string text = message.dump();
  const std::string all = std::string(kLength) + std::to_string(text.size()) + "\r\n\r\n" + text;
  for (std::size_t sent = 0; sent < all.size();) {
    // A socket that is gone is no signal; a pipe is not a socket.
    ssize_t put = ::send(out_, all.data() + sent, all.size() - sent, MSG_NOSIGNAL);
    if (put < 0 && errno == ENOTSOCK) put = write(out_, all.data() + sent, all.size() - sent);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    sent += static_cast<std::size_t>(put);
  }
  return true;
}

}  // namespace simt::debug
