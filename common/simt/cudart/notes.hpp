// The form of what is noted: numbers and texts, one behind the other. Private to recording.cpp and replay.cpp.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace simt::cudart {

enum class Note : std::uint64_t {
  place,
  host_variable,
  module,
  allocation,
  release,
  copy,
  copy_from_host,
  set,
  launch,
  limit,
  free_in_order,
  refusal,
  stream,
  end_of_stream,
  event,
  wait,
  order_of_blocking_streams,
  host_waits,
  host_waits_for_all,
  shared_memory,
  host_task,
  end_of_host_task,
};

class NoteWriter {
 public:
  template <class... Numbers>
  void add(Note note, Numbers... numbers) {
    number(static_cast<std::uint64_t>(note));
    (number(static_cast<std::uint64_t>(numbers)), ...);
  }
  void number(std::uint64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view value) {
    number(value.size());
    bytes_.append(value);
  }
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
};

/// Throws std::runtime_error where the notes end too early.
class NoteReader {
 public:
  explicit NoteReader(std::string_view bytes) : rest_(bytes) {}

  bool is_at_end() const { return rest_.empty(); }
  std::uint64_t number() {
    std::uint64_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view text() { return take(number()); }

 private:
  std::string_view take(std::uint64_t bytes) {
    if (bytes > rest_.size()) throw std::runtime_error("it ends within a note");
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

  std::string_view rest_;
};

}  // namespace simt::cudart
