#include "common/exercise/wire.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "common/json/json.hpp"

namespace halo::exercises {

namespace {

using Json = json::Value;

// Of a request: more than the largest array of a check, and less than what a mistake in a length would ask for.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

struct Header {
  std::uint32_t kind;
  float value;
  std::uint64_t address;
  std::uint64_t count;
  std::uint64_t bytes;
};

// Waits until the socket is ready. A byte now and then is no sign of life.
void wait_for(int socket, short events, const Look& look) {
  while (look) {
    look();
    pollfd polled{socket, events, 0};
    if (poll(&polled, 1, 100) > 0) return;
  }
}

void send_all(int socket, const void* from, std::size_t bytes, const Look& look) {
  const char* at = static_cast<const char*>(from);
  while (bytes > 0) {
    wait_for(socket, POLLOUT, look);
    const ssize_t sent = ::send(socket, at, bytes, MSG_NOSIGNAL | (look ? MSG_DONTWAIT : 0));
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent <= 0) throw Gone{false};
    at += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
}

// False if the other end is closed before the first byte and `may_end`.
bool receive_all(int socket, void* to, std::size_t bytes, const Look& look, bool may_end = false) {
  char* at = static_cast<char*>(to);
  bool any = false;
  while (bytes > 0) {
    wait_for(socket, POLLIN, look);
    const ssize_t got = recv(socket, at, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      if (may_end && !any) return false;
      throw Gone{false};
    }
    any = true;
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

std::string receive_bytes(int socket, std::uint64_t count, const Look& look) {
  std::string bytes(static_cast<std::size_t>(count), '\0');
  receive_all(socket, bytes.data(), bytes.size(), look);
  return bytes;
}

}  // namespace

void send(int socket, const Request& request, const Look& look) {
  const Header header{static_cast<std::uint32_t>(request.ask), request.value, request.address,
                      request.count, request.bytes.size()};
  send_all(socket, &header, sizeof header, look);
  send_all(socket, request.bytes.data(), request.bytes.size(), look);
}

std::optional<Request> receive_request(int socket) {
  Header header;
  if (!receive_all(socket, &header, sizeof header, {}, true)) return {};
  Request request{static_cast<Ask>(header.kind), header.address, header.count, header.value, {}};
  if (header.bytes > kMostBytes) throw Gone{false};
  request.bytes = receive_bytes(socket, header.bytes, {});
  return request;
}

// An answer's error and its bytes travel as one text.
void send(int socket, const Answer& answer) {
  const Header header{0, 0, answer.number, answer.error.size(),
                      answer.error.size() + answer.bytes.size()};
  send_all(socket, &header, sizeof header, {});
  send_all(socket, answer.error.data(), answer.error.size(), {});
  send_all(socket, answer.bytes.data(), answer.bytes.size(), {});
}

Answer receive_answer(int socket, const Look& look, std::uint64_t most) {
  Header header;
  receive_all(socket, &header, sizeof header, look);
  if (header.bytes > most) {
    throw Nonsense{"it wants to say " + std::to_string(header.bytes) + " bytes where " +
                   std::to_string(most) + " are the most"};
  }
  const std::string both = receive_bytes(socket, header.bytes, look);
  if (header.count > both.size()) throw Nonsense{"an error longer than its answer"};
  const auto error = static_cast<std::size_t>(header.count);
  return {both.substr(0, error), header.address, both.substr(error)};
}

std::string to_text(const RemoteCall& call) {
  return Json::object(
             {{"inputs", call.inputs}, {"outputs", call.outputs}, {"numbers", call.numbers}})
      .dump();
}

RemoteCall call_from_text(const std::string& text) {
  const Json json = Json::parse(text);
  RemoteCall call;
  json.at("inputs").get_to(call.inputs);
  json.at("outputs").get_to(call.outputs);
  json.at("numbers").get_to(call.numbers);
  return call;
}

namespace {

Json to_json(const CounterList& counted) {
  Json json = Json::object();
  for (const auto& [name, value] : counted) {
    if (value > 0) json[name] = value;
  }
  return json;
}

CounterList counters_from(const Json& json) {
  CounterList counted;
  for (const json::Member& member : json.members()) {
    counted.emplace_back(member.name, member.value.get<std::uint64_t>());
  }
  return counted;
}

Json to_json(const std::vector<LineCounts>& lines) {
  Json json = Json::array();
  for (const LineCounts& line : lines) {
    json.push_back(Json::object(
        {{"file", line.file}, {"line", line.line}, {"counted", to_json(line.counted)}}));
  }
  return json;
}

std::vector<LineCounts> lines_from(const Json& json) {
  std::vector<LineCounts> lines;
  for (const Json& line : json.elements()) {
    lines.push_back(
        {line.get<std::string>("file"), line.get<int>("line"), counters_from(line.at("counted"))});
  }
  return lines;
}

// Tells the name and the place of each field, of what is sent and of what has come.
template <class One, class Tell>
void each_field_of_hazard(One& hazard, const Tell& tell) {
  tell("kind", hazard.kind);
  tell("file", hazard.file);
  tell("line", hazard.line);
  tell("other_file", hazard.other_file);
  tell("other_line", hazard.other_line);
  tell("block", hazard.block);
  tell("thread", hazard.thread);
  tell("array", hazard.array);
  tell("count", hazard.count);
  tell("message", hazard.message);
  tell("remedy", hazard.remedy);
  tell("call_file", hazard.call_file);
  tell("call_line", hazard.call_line);
}
template <class One, class Tell>
void each_plain_field(One& seen, const Tell& tell) {
  tell("error", seen.error);
  tell("unsupported", seen.unsupported);
  tell("kernels", seen.kernels);
  tell("fp64_operations", seen.cost.fp64_operations);
  tell("tensor_instructions", seen.cost.tensor_instructions);
  tell("unfreed_bytes", seen.cost.unfreed_bytes);
  tell("copied_bytes", seen.cost.copied_bytes);
  tell("local_sectors", seen.cost.other.local_sectors);
  tell("waits", seen.cost.other.waits);
  tell("hidden_requests", seen.cost.other.hidden_requests);
  tell("instructions", seen.cost.other.instructions);
  tell("lane_instructions", seen.cost.other.lane_instructions);
  tell("if_all_worked", seen.cost.other.if_all_worked);
  tell("products", seen.cost.other.products);
  tell("shuffles", seen.cost.other.shuffles);
  tell("most_requests", seen.cost.other.most_requests);
  tell("most_products", seen.cost.other.most_products);
  tell("printed", seen.printed.lines);
  tell("printed_total", seen.printed.total);
}

// Tells that write a field, and read it.
auto into(Json& json) {
  return [&json](const char* name, const auto& value) { json[name] = value; };
}
auto from(const Json& json) {
  return [&json](const char* name, auto& value) { json.at(name).get_to(value); };
}

}  // namespace

std::string to_text(const Observation& seen, const Backend& backend) {
  Json json = Json::object({{"counted", to_json(backend.by_name(seen.cost))},
                            {"host", std::vector{seen.cost.host.loads, seen.cost.host.stores,
                                                 seen.cost.host.products, seen.cost.host.values}},
                            {"lines", to_json(seen.lines)},
                            {"fp64_lines", to_json(seen.fp64_lines)},
                            {"tensor_lines", to_json(seen.tensor_lines)}});
  each_plain_field(seen, into(json));
  json["launches"] = Json::array();
  for (const LaunchFigures& one : seen.cost.launches) {
    json["launches"].push_back(
        Json(std::vector{one.launches, one.blocks, one.threads, one.shared_bytes}));
  }
  json["hazards"] = Json::array();
  for (const Hazard& hazard : seen.hazards) {
    Json one = Json::object();
    each_field_of_hazard(hazard, into(one));
    json["hazards"].push_back(one);
  }
  return json.dump();
}

Observation observation_from_text(const std::string& text) {
  const Json json = Json::parse(text);
  Observation seen;
  each_plain_field(seen, from(json));
  const auto host = json.get<std::array<std::uint64_t, 4>>("host");
  seen.cost.host = {host[0], host[1], host[2], host[3]};
  seen.lines = lines_from(json.at("lines"));
  seen.fp64_lines = lines_from(json.at("fp64_lines"));
  seen.tensor_lines = lines_from(json.at("tensor_lines"));
  for (const auto& [name, value] : counters_from(json.at("counted"))) {
    for (const simt::CounterField& field : simt::counter_fields()) {
      if (name == field.name) seen.cost.*field.member = value;
    }
  }
  for (const Json& one : json.at("launches").elements()) {
    const auto figures = one.get<std::array<std::uint64_t, 4>>();
    seen.cost.launches.push_back({figures[0], figures[1], figures[2], figures[3]});
  }
  for (const Json& hazard : json.at("hazards").elements()) {
    each_field_of_hazard(seen.hazards.emplace_back(), from(hazard));
  }
  return seen;
}

}  // namespace halo::exercises
