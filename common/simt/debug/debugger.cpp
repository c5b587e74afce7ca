#include "common/simt/debug/debugger.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>

#include "common/simt/debug/connection.hpp"
#include "common/simt/debug/frames.hpp"
#include "common/simt/debug/stops.hpp"

namespace simt::debug {
namespace {

using machine::Step;
using machine::Warp;
using Named = std::vector<std::pair<std::string, Value>>;

constexpr std::uint64_t kMostElements = 1024;  // of an array, where nobody says which
constexpr std::int64_t kProgram = 1;  // what no thread of a block is, in the list of threads
constexpr std::int64_t kFirstThread = 2;

// A thread, its block and itself counted through.
struct Who {
  std::uint64_t block = 0;
  unsigned thread = 0;
  bool operator==(const Who&) const = default;
};

int connected(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    std::fprintf(stderr, "simt: SIMT_DEBUG=%s: no debugger listens there: %s\n", path,
                 std::strerror(errno));
    std::_Exit(2);
  }
  return socket;
}

// One thread runs kernels, and waits where one is stopped; another answers what is asked.
struct State {
  enum class Mode : std::uint8_t { run, into, over, out };
  // What a number in the list of variables stands for.
  struct Parts {
    std::optional<Value> of;  // else all of a scope
    std::size_t frame = 0;
    std::string scope;
  };

  static State* the_state;

  explicit State(int socket) : connection(socket) {}

  // ---- The thread that runs kernels ----

  static const Step* hook(const Step* step, Warp& warp) {
    State& state = *the_state;
    const machine::Execute its = state.originals[static_cast<std::size_t>(step - state.first)];
    state.look(step, warp);
    return its(step, warp);
  }

  Who who(const Warp& warp, int lane) const {
    return {machine::linear(warp.block->index, launch->grid.blocks),
            warp.index * machine::kLanes + static_cast<unsigned>(lane)};
  }
  std::string name_of(const Who& one) const {
    return "thread " +
           machine::coordinates(machine::place_at(one.thread, launch->grid.threads).triple()) +
           " of block " +
           machine::coordinates(machine::place_at(one.block, launch->grid.blocks).triple());
  }

  // The lane of the chosen thread if it is among those that run, else -1.
  int chosen_lane(const Warp& warp) const {
    if (!chosen || chosen->thread / machine::kLanes != warp.index) return -1;
    const unsigned lane = chosen->thread % machine::kLanes;
    if ((warp.active >> lane & 1) == 0) return -1;
    if (machine::linear(warp.block->index, launch->grid.blocks) != chosen->block) return -1;
    return static_cast<int>(lane);
  }
  // Of the lanes that run the first that was asked for, else -1.
  int asked_lane(const Warp& warp) const {
    if (asked_block && machine::linear(warp.block->index, launch->grid.blocks) != *asked_block)
      return -1;
    int found = -1;
    machine::each_lane(warp.active, [&](std::size_t lane) {
      const unsigned thread = warp.index * machine::kLanes + static_cast<unsigned>(lane);
      if (found < 0 && (!asked_thread || thread == *asked_thread)) found = static_cast<int>(lane);
    });
    return found;
  }

  void look(const Step* step, Warp& warp) {
    current_warp = &warp;
    current_step = step;
    if (has_news.exchange(false, std::memory_order_relaxed)) {
      std::unique_lock lock(mutex);
      if (is_to_pause) {
        int lane = chosen_lane(warp);
        if (lane < 0) lane = std::countr_zero(warp.active);
        return stop("pause", "paused", warp, lane, lock);
      }
    }
    const auto number = static_cast<std::size_t>(step->site);
    const Site& site = sites[number];
    const bool is_break = breaks[number] != 0 || (site.is_entry && stops_on_entry);
    int lane = chosen_lane(warp);
    if (!chosen && is_break) {
      lane = asked_lane(warp);
      // Whoever was chosen is stopped again only when it has gone on.
      last_site = -1;
    }
    if (lane < 0) return;
    // A lane that waited for others tries the same instruction again.
    const bool is_again = chosen && step->site == last_site;
    last_site = step->site;
    if (is_again) return;
    const bool has_stepped = mode != Mode::run && steps_to(site, warp, lane);
    if (!has_stepped && !is_break) return;
    std::unique_lock lock(mutex);
    stop(is_break ? site.is_entry && breaks[number] == 0 ? "entry" : "breakpoint" : "step", "",
         warp, lane, lock);
  }

  static std::uint64_t depth_of(const Site& site, const Warp& warp, int lane) {
    return std::uint64_t{warp.depths[static_cast<std::size_t>(lane)]} << 32 | site.depth;
  }

  // Whether a thread that steps is to stop here.
  bool steps_to(const Site& site, const Warp& warp, int lane) {
    const std::uint64_t depth = depth_of(site, warp, lane);
    if (depth < from_depth) {
      if (mode == Mode::out) return true;
      // It is back in the middle of the line with the call.
      from_depth = depth;
      from_line = site.line;
      return false;
    }
    if (!site.is_code || mode == Mode::out) return false;
    if (depth > from_depth) return mode == Mode::into;
    return site.line.line != from_line.line || site.line.file != from_line.file;
  }

  void stop(const std::string& reason, const std::string& text, Warp& warp, int lane,
            std::unique_lock<std::mutex>& lock) {
    chosen = who(warp, lane);
    if (const Step* const at = step_of(warp, lane); at != nullptr) last_site = at->site;
    mode = Mode::run;
    is_to_pause = false;
    is_stopped = true;
    shown.clear();
    tables.clear();
    Json body = Json::object(
        {{"reason", reason}, {"threadId", number_of(*chosen)}, {"allThreadsStopped", true}});
    if (!text.empty()) {
      body["description"] = text;
      body["text"] = text;
    }
    tell("stopped", body);
    goes_on.wait(lock, [&] { return !is_stopped; });
  }

  // Where a lane is; null if it has ended.
  const Step* step_of(const Warp& warp, int lane) const {
    if (&warp == current_warp && (warp.active >> lane & 1) != 0) return current_step;
    for (const machine::Group& one : warp.others) {
      if ((one.lanes >> lane & 1) == 0) continue;
      return one.state == machine::Group::State::in_block ? one.at - 1 : one.at;
    }
    return nullptr;
  }

  // ---- The thread that answers ----

  std::int64_t number_of(const Who& one) const {
    return kFirstThread +
           static_cast<std::int64_t>(one.block * launch->grid.threads.count() + one.thread);
  }

  void tell(const char* event, const Json& body) {
    connection.send(
        Json::object({{"seq", ++sent}, {"type", "event"}, {"event", event}, {"body", body}}));
  }
  void say(const std::string& text) {
    tell("output", Json::object({{"category", "console"}, {"output", text + "\n"}}));
  }

  void serve() {
    while (const std::optional<Json> message = connection.receive()) {
      const std::lock_guard lock(mutex);
      Json response = Json::object({{"seq", ++sent}, {"type", "response"}});
      response["request_seq"] = message->get_or<std::int64_t>("seq", 0);
      const auto command = message->get_or<std::string>("command", "");
      response["command"] = command;
      try {
        const Json* const arguments = message->find("arguments");
        response["body"] = answer(command, arguments == nullptr ? Json::object() : *arguments);
        response["success"] = true;
      } catch (const std::runtime_error& error) {
        response["success"] = false;
        response["message"] = error.what();
      }
      connection.send(response);
      if (command == "initialize") tell("initialized", Json::object());
      if (command == "disconnect" || command == "terminate") break;
      if (wakes) {
        wakes = false;
        goes_on.notify_all();
      }
    }
    // Whoever looked on is gone.
    std::_Exit(1);
  }

  Json answer(const std::string& command, const Json& its) {
    if (command == "initialize") {
      return Json::object(
          {{"supportsConfigurationDoneRequest", true}, {"supportsEvaluateForHovers", true}});
    }
    if (command == "launch" || command == "attach") {
      if (its.find("block") != nullptr) asked_block = its.get<std::uint64_t>("block");
      if (its.find("thread") != nullptr) asked_thread = its.get<unsigned>("thread");
      stops_on_entry = its.get_or<bool>("stopOnEntry", false);
    } else if (command == "setBreakpoints") {
      return set_breakpoints(its);
    } else if (command == "configurationDone") {
      is_configured = true;
      wakes = true;
    } else if (command == "threads") {
      return threads();
    } else if (command == "pause") {
      is_to_pause = !is_stopped;
      has_news = true;
    } else if (command == "continue" || command == "next" || command == "stepIn" ||
               command == "stepOut") {
      go_on(command, its.get_or<std::int64_t>("threadId", kProgram));
      if (command == "continue") return Json::object({{"allThreadsContinued", true}});
    } else if (command == "stackTrace") {
      return stack(its.get<std::int64_t>("threadId"));
    } else if (command == "scopes") {
      return scopes(its.get<std::size_t>("frameId"));
    } else if (command == "variables") {
      return variables(its);
    } else if (command == "evaluate") {
      return evaluated(its);
    } else if (command == "setExceptionBreakpoints") {
      return Json::object({{"breakpoints", Json::array()}});
    } else if (command != "disconnect" && command != "terminate") {
      throw Unknown("the simulator's debugger has no " + command);
    }
    return Json::object();
  }

  Json set_breakpoints(const Json& its) {
    const auto path = its.at("source").get<std::string>("path");
    const std::string file = lines.file(path);
    std::set<int>& wanted = wanted_lines[file];
    wanted.clear();
    Json all = Json::array();
    const Json* const breakpoints = its.find("breakpoints");
    for (const Json& one : breakpoints == nullptr ? std::vector<Json>{} : breakpoints->elements()) {
      const int line = one.get<int>("line");
      const int found = file.empty() ? 0 : lines.at_or_behind(file, line);
      Json told = Json::object({{"verified", found != 0}});
      if (found != 0) {
        wanted.insert(found);
        told["line"] = found;
      } else {
        told["line"] = line;
        const std::string name = std::filesystem::path(path).filename().string();
        told["message"] = file.empty() ? name + " has no device code that was compiled with -G"
                                       : name + " has no device code at line " +
                                             std::to_string(line) + " or after it";
      }
      all.push_back(told);
    }
    set_breaks();
    return Json::object({{"breakpoints", all}});
  }
  // A kernel may run meanwhile: it reads bytes one by one.
  void set_breaks() {
    for (std::size_t i = 0; i < sites.size(); ++i) {
      const auto its = wanted_lines.find(sites[i].line.file);
      const bool is_wanted = sites[i].is_first && its != wanted_lines.end() &&
                             its->second.contains(sites[i].line.line);
      breaks[i] = is_wanted ? 1 : 0;
    }
  }

  void require_stop() const {
    if (!is_stopped) throw Unknown("no thread is stopped");
  }

  // Throws Unknown.
  void require_there(const Who& one) const {
    if (one.thread >= launch->grid.threads.count() || one.block >= launch->grid.blocks.count()) {
      throw Unknown("the last of " + launch->name + " is thread " +
                    std::to_string(launch->grid.threads.count() - 1) + " of block " +
                    std::to_string(launch->grid.blocks.count() - 1) + ": there is no thread " +
                    std::to_string(one.thread) + " of block " + std::to_string(one.block));
    }
  }
  // Of the block that is stopped. Throws Unknown.
  Warp& warp_of(const Who& one) const {
    require_stop();
    require_there(one);
    machine::Block& block = *current_warp->block;
    if (one.block != machine::linear(block.index, launch->grid.blocks)) {
      throw Unknown("block " + std::to_string(one.block) + " is not the one that is stopped");
    }
    return block.warps[one.thread / machine::kLanes];
  }
  Who who_is(std::int64_t number) const {
    require_stop();
    if (number < kFirstThread) return *chosen;
    const auto linear = static_cast<std::uint64_t>(number - kFirstThread);
    const std::uint64_t each = launch->grid.threads.count();
    return {linear / each, static_cast<unsigned>(linear % each)};
  }

  void go_on(const std::string& command, std::int64_t number) {
    const Who one = who_is(number);
    Warp& warp = warp_of(one);
    const int lane = static_cast<int>(one.thread % machine::kLanes);
    const Step* const at = step_of(warp, lane);
    if (at != nullptr && at->site >= 0) {
      const Site& site = sites[static_cast<std::size_t>(at->site)];
      chosen = one;
      last_site = at->site;
      from_line = site.line;
      from_depth = depth_of(site, warp, lane);
      mode = command == "next"      ? Mode::over
             : command == "stepIn"  ? Mode::into
             : command == "stepOut" ? Mode::out
                                    : Mode::run;
    }
    // A finding may have stopped another than was asked for.
    if (mode == Mode::run && asked_block && asked_thread &&
        Who{*asked_block, *asked_thread} != one) {
      chosen.reset();
    }
    is_stopped = false;
    wakes = true;
  }

  Json threads() const {
    Json all = Json::array();
    const auto add = [&](std::int64_t number, const std::string& name) {
      all.push_back(Json::object({{"id", number}, {"name", name}}));
    };
    if (!is_stopped) add(kProgram, "the program");
    if (is_stopped) {
      for (const Warp& warp : current_warp->block->warps) {
        machine::each_lane(warp.live, [&](std::size_t lane) {
          const Who one = who(warp, static_cast<int>(lane));
          add(number_of(one), name_of(one));
        });
      }
    }
    return Json::object({{"threads", all}});
  }

  Json stack(std::int64_t number) {
    const Who one = who_is(number);
    Warp& warp = warp_of(one);
    const int lane = static_cast<int>(one.thread % machine::kLanes);
    Json all = Json::array();
    if (const Step* const at = step_of(warp, lane); at != nullptr) {
      for (const Frame& frame : frames(*program, warp, lane, at->site)) {
        const DeviceLine& line = sites[static_cast<std::size_t>(frame.site)].line;
        const std::string name =
            frame.function == nullptr ? frame.body->function->name : frame.function->name;
        shown.push_back(frame);
        all.push_back(Json::object(
            {{"id", shown.size()},
             {"name", name},
             {"line", line.line},
             {"column", 1},
             {"source",
              Json::object({{"name", std::filesystem::path(line.file).filename().string()},
                            {"path", line.file}})}}));
      }
    }
    return Json::object({{"stackFrames", all}, {"totalFrames", all.elements().size()}});
  }

  const Frame& frame_at(std::size_t number) const {
    require_stop();
    if (number == 0 || number > shown.size()) throw Unknown("there is no such frame");
    return shown[number - 1];
  }

  Json scopes(std::size_t frame) {
    frame_at(frame);
    Json all = Json::array();
    for (const char* const name : {"Locals", "Thread", "Globals"}) {
      tables.push_back({{}, frame, name});
      all.push_back(Json::object(
          {{"name", name}, {"variablesReference", tables.size()}, {"expensive", false}}));
    }
    return Json::object({{"scopes", all}});
  }

  // A value as the protocol has it.
  Json told(const Value& value, std::size_t frame, const char* text) {
    Json all = Json::object({{text, text_of(value)}});
    all["type"] = value.type == nullptr ? "" : value.type->name;
    all["variablesReference"] = 0;
    if (!has_parts(value)) return all;
    tables.push_back({value, frame, ""});
    all["variablesReference"] = tables.size();
    if (elements(value) != 0) all["indexedVariables"] = elements(value);
    return all;
  }

  Json variables(const Json& its) {
    require_stop();
    const auto number = its.get<std::size_t>("variablesReference");
    if (number == 0 || number > tables.size()) throw Unknown("there are no such variables");
    const Parts what = tables[number - 1];
    const Frame& frame = frame_at(what.frame);
    std::uint64_t most = its.get_or<std::uint64_t>("count", 0);
    if (most == 0) most = kMostElements;
    const Named all = what.of ? parts(frame, *what.of, its.get_or<std::uint64_t>("start", 0), most)
                      : what.scope == "Locals" ? locals(*program, frame)
                      : what.scope == "Thread" ? indices(*program, frame)
                                               : globals(*program, frame);
    Json list = Json::array();
    for (const auto& [name, value] : all) {
      Json one = told(value, what.frame, "value");
      one["name"] = name.starts_with('.') ? name.substr(1) : name;
      list.push_back(one);
    }
    return Json::object({{"variables", list}});
  }

  Json evaluated(const Json& its) {
    const auto expression = its.get<std::string>("expression");
    std::istringstream words(expression);
    std::string word;
    Who one;
    if (its.get_or<std::string>("context", "") == "repl" && words >> word && word == "thread" &&
        words >> one.block >> one.thread) {
      if (is_stopped) {
        require_there(one);
        if (one.block != chosen->block) {
          asked_block = one.block;
          asked_thread = one.thread;
          return Json::object(
              {{"result", name_of(one) + " stops at the next breakpoint that it comes to"},
               {"variablesReference", 0}});
        }
        Warp& warp = warp_of(one);
        if ((warp.live >> one.thread % machine::kLanes & 1) == 0)
          throw Unknown(name_of(one) + " has ended");
        chosen = one;
        tell("stopped",
             Json::object(
                 {{"reason", "goto"}, {"threadId", number_of(one)}, {"allThreadsStopped", true}}));
      }
      asked_block = one.block;
      asked_thread = one.thread;
      return Json::object(
          {{"result", is_stopped ? name_of(one) : "chosen"}, {"variablesReference", 0}});
    }
    require_stop();
    std::size_t frame = its.get_or<std::size_t>("frameId", 0);
    if (frame == 0) {
      stack(number_of(*chosen));
      frame = shown.empty() ? 0 : 1;
    }
    return told(evaluate(*program, frame_at(frame), expression), frame, "result");
  }

  Connection connection;
  std::mutex mutex;
  std::condition_variable goes_on;
  std::int64_t sent = 0;
  bool wakes = false;  // somebody who waits for goes_on
  bool is_configured = false;
  std::optional<std::uint64_t> asked_block;
  std::optional<unsigned> asked_thread;
  bool stops_on_entry = false;
  Lines lines;
  std::set<const ptx::Module*> known;
  std::map<std::string, std::set<int>> wanted_lines;  // by file

  // Of the launch:
  std::optional<Launch> launch;
  std::map<const ptx::Module*, std::unique_ptr<DebugInfo>> infos;
  std::optional<Program> program;
  std::vector<machine::Execute> originals;  // by step
  const Step* first = nullptr;
  std::vector<Site> sites;
  std::vector<std::uint8_t> breaks;  // by site
  std::optional<Who> chosen;
  std::atomic<bool> has_news = false;
  bool is_to_pause = false;
  Mode mode = Mode::run;
  DeviceLine from_line;
  std::uint64_t from_depth = 0;
  std::int32_t last_site = -1;
  Warp* current_warp = nullptr;
  const Step* current_step = nullptr;

  // While a thread is stopped:
  bool is_stopped = false;
  std::vector<Frame> shown;
  std::vector<Parts> tables;
};

State* State::the_state = nullptr;

class Server final : public Debugger {
 public:
  explicit Server(int socket) : state_(socket) { State::the_state = &state_; }
  void begin(const Launch& launch, const std::vector<const ptx::Module*>& modules) override;
  void end() override;
  void found(const Finding& finding) override;

 private:
  State state_;
};

void Server::begin(const Launch& launch, const std::vector<const ptx::Module*>& modules) {
  State& state = state_;
  std::unique_lock lock(state.mutex);
  if (state.known.empty()) std::thread([&state] { state.serve(); }).detach();
  for (const ptx::Module* const one : modules) {
    if (state.known.insert(one).second) state.lines.add(*one);
  }
  state.goes_on.wait(lock, [&] { return state.is_configured; });
  std::unique_ptr<DebugInfo>& info = state.infos[&launch.module];
  if (info == nullptr) info = std::make_unique<DebugInfo>(launch.module);
  state.launch.emplace(launch);
  state.program.emplace(Program{launch.code, launch.addresses, *info, {}});
  for (std::uint64_t i = 0; i < launch.grid.threads.count(); ++i) {
    const std::array<unsigned, 3> at = machine::place_at(i, launch.grid.threads).triple();
    state.program->threads.push_back({at[0], at[1], at[2]});
  }
  state.sites = sites_of(launch.module, launch.code, *info);
  state.breaks.assign(state.sites.size(), 0);
  state.set_breaks();
  state.chosen.reset();
  state.mode = State::Mode::run;
  if (launch.code.bodies.empty()) {
    state.say(launch.name + " was compiled without -G: it runs on");
  }
  try {
    state.require_there({state.asked_block.value_or(0), state.asked_thread.value_or(0)});
  } catch (const Unknown& error) {
    state.say(error.what());
  }
  // The first step of each instruction looks.
  std::vector<Step>& steps = launch.code.steps;
  state.first = steps.data();
  state.originals.clear();
  std::int32_t last = -1;
  for (Step& step : steps) {
    state.originals.push_back(step.run);
    if (step.site >= 0 && step.site != last) step.run = &State::hook;
    last = step.site;
  }
}

void Server::end() {
  State& state = state_;
  const std::lock_guard lock(state.mutex);
  std::vector<Step>& steps = state.launch->code.steps;
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i].run = state.originals[i];
  if (state.chosen)
    state.say(state.name_of(*state.chosen) + " of " + state.launch->name + " has ended");
  state.launch.reset();
  state.sites.clear();
  state.current_warp = nullptr;
}

void Server::found(const Finding& finding) {
  State& state = state_;
  std::unique_lock lock(state.mutex);
  if (!state.launch || state.current_warp == nullptr) return state.say(finding.message);
  const machine::Grid& grid = state.launch->grid;
  machine::Block& its = *state.current_warp->block;
  // Whoever comes second does it now.
  std::vector<Finding::Other> parties = {{finding.block, finding.thread}};
  if (finding.other) parties.insert(parties.begin(), *finding.other);
  for (const bool must_run : {true, false}) {
    for (const auto& [block, thread] : parties) {
      const std::uint64_t number = machine::linear({thread[0], thread[1], thread[2]}, grid.threads);
      if (std::array{its.index.x, its.index.y, its.index.z} != block) continue;
      if (number >= grid.threads.count()) continue;
      Warp& warp = its.warps[number / machine::kLanes];
      const auto lane = static_cast<int>(number % machine::kLanes);
      const bool runs = &warp == state.current_warp && (warp.active >> lane & 1) != 0;
      if (state.step_of(warp, lane) == nullptr || (must_run && !runs)) continue;
      return state.stop("exception", finding.message, warp, lane, lock);
    }
  }
  state.say(finding.message);
}

}  // namespace

// Never destroyed: a thread serves it to the end.
extern "C" [[gnu::visibility("default")]] Debugger* simt_debugger(const char* socket) {
  return new Server(connected(socket));
}

}  // namespace simt::debug
