// What the judge and the worker of an exercise say to each other over a socket: requests and answers, each
// a header and its bytes. The judge asks, the worker answers; nothing else is ever said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/harness/backend/backend.hpp"

namespace halo::exercises {

// The descriptor on which the worker finds its socket.
inline constexpr int kSocket = 3;

// The word with which a worker notes what is asked of the device, and does none of it: the number of its answers to hello
// and run is where in the bytes its notes begin.
inline constexpr std::string_view kRecordWord = "--record";

enum class Ask : std::uint32_t {
  hello,     // -> JSON: the backend, and of a worker the parameters of the exercise's function
  allocate,  // bytes -> an address
  release,   // an address
  name,      // an address, text
  copy_in,   // an address, the bytes
  copy_out,  // an address, bytes -> the bytes
  poison,    // an address, cells, the float
  run,       // numbers and addresses -> JSON: an observation
  time,      // the same, most calls of a round -> milliseconds of a call, for each of some rounds
  recover,   // -> whether the device is usable
  be_tiny,   // whether -> whether there is a tiny GPU
  replay,    // what a worker has noted -> JSON: an observation
};

// What a request may carry besides its kind; what it has no use for is 0 or empty.
struct Request {
  Ask ask = Ask::hello;
  std::uint64_t address = 0;
  std::uint64_t count = 0;
  float value = 0;
  std::string bytes;
};

struct Answer {
  std::string error;  // empty: it was done
  std::uint64_t number = 0;
  std::string bytes;
};

// The arguments of one call.
struct RemoteCall {
  std::vector<std::uint64_t> inputs;
  std::vector<std::uint64_t> outputs;
  std::vector<long long> numbers;
};

// Nothing came, or nothing could be sent: the other one has ended, or is silent for too long.
struct Gone {
  bool silent;
};

// What is no answer that a worker gives: the two do not understand each other any more.
struct Nonsense {
  std::string what;
};

// Called about ten times a second while the other one is waited for; it throws Gone when that is enough. Empty: it takes
// as long as it takes.
using Look = std::function<void()>;

// Both throw Gone. An answer of more than `most` bytes is Nonsense.
void send(int socket, const Request& request, const Look& look = {});
void send(int socket, const Answer& answer);
// Nothing if the other end was closed between two requests.
std::optional<Request> receive_request(int socket);
Answer receive_answer(int socket, const Look& look, std::uint64_t most);

std::string to_text(const RemoteCall& call);
RemoteCall call_from_text(const std::string& text);
std::string to_text(const Observation& seen, const Backend& backend);
// Throws std::runtime_error in one line: what a worker says is not to be trusted.
Observation observation_from_text(const std::string& text);

}  // namespace halo::exercises
