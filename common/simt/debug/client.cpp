#include "common/simt/debug/client.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace simt::debug {
namespace {

namespace fs = std::filesystem;

constexpr int kListed = 5;  // lines before and behind
constexpr const char* kHelp =
    "break LINE   delete   continue   next   step   finish   print NAME   locals   list   where   "
    "thread BLOCK THREAD   quit";

Json thread_of(const Wanted& wanted) {
  Json all = Json::object();
  if (wanted.block) all["block"] = *wanted.block;
  if (wanted.thread) all["thread"] = *wanted.thread;
  return all;
}

// The program has ended.
struct Gone {};

class Terminal {
 public:
  Terminal(Connection& program, std::istream& in, std::ostream& out)
      : program_(program), in_(in), out_(out) {}

  bool has_ever_stopped() const { return thread_ != 0; }

  void run(const Wanted& wanted) {
    ask("initialize", Json::object({{"adapterID", "simt"}}));
    Json how = thread_of(wanted);
    how["stopOnEntry"] = wanted.line == 0;
    ask("launch", how);
    file_ = wanted.file;
    if (wanted.line != 0) set_break(wanted.line);
    ask("configurationDone");
    wait();
    if (wanted.is_batch) {
      for (const char* const name : {"threadIdx", "blockIdx"})
        out_ << name << " = " << value(name) << "\n";
      show_locals();
      show_stack();
      return;
    }
    out_ << kHelp << "\n";
    std::string last;
    for (std::string line; out_ << "(debug) " << std::flush && std::getline(in_, line);) {
      if (line.find_first_not_of(' ') == line.npos) line = last;  // once more
      last = line;
      try {
        if (!command(line)) return;
      } catch (const std::runtime_error& error) {
        out_ << error.what() << "\n";
      }
    }
  }

 private:
  // What came of it. Throws std::runtime_error for what cannot be.
  Json ask(const char* command, const Json& arguments = Json::object()) {
    const int number = ++asked_;
    program_.send(Json::object(
        {{"seq", number}, {"type", "request"}, {"command", command}, {"arguments", arguments}}));
    for (;;) {
      const Json message = next_message();
      if (message.get_or<int>("request_seq", 0) != number) continue;
      if (message.get_or<bool>("success", false)) return message.at("body");
      throw std::runtime_error(message.get_or<std::string>("message", "it cannot be done"));
    }
  }
  Json next_message() {
    std::optional<Json> message = program_.receive();
    if (!message) throw Gone{};
    const auto event = message->get_or<std::string>("event", "");
    if (event == "output") out_ << message->at("body").get<std::string>("output");
    if (event == "stopped") {
      stop_ = message->at("body");
      has_stopped_ = true;
    }
    return std::move(*message);
  }

  void wait() {
    while (!has_stopped_) next_message();
    has_stopped_ = false;
    thread_ = stop_.get<std::int64_t>("threadId");
    if (const Json* const text = stop_.find("text")) out_ << text->get<std::string>() << "\n";
    std::string name;
    for (const Json& one : ask("threads").at("threads").elements()) {
      if (one.get<std::int64_t>("id") == thread_) name = one.get<std::string>("name");
    }
    const std::vector<Json> frames = stack();
    if (frames.empty()) return;
    file_ = frames[0].at("source").get<std::string>("path");
    line_ = frames[0].get<int>("line");
    out_ << name << ": " << place_of(frames[0]) << "\n";
    show_lines(line_, line_);
  }
  void go_on(const char* command) {
    ask(command, Json::object({{"threadId", thread_}}));
    wait();
  }

  std::vector<Json> stack() {
    return ask("stackTrace", Json::object({{"threadId", thread_}})).at("stackFrames").elements();
  }
  static std::string place_of(const Json& frame) {
    return frame.at("source").get<std::string>("name") + ":" +
           std::to_string(frame.get<int>("line")) + " in " + frame.get<std::string>("name");
  }
  void show_stack() {
    int number = 0;
    for (const Json& one : stack()) out_ << "#" << number++ << " " << place_of(one) << "\n";
  }
  void show_locals() {
    const Json scopes = ask("scopes", Json::object({{"frameId", stack().at(0).get<int>("id")}}));
    const Json variables =
        ask("variables",
            Json::object({{"variablesReference",
                           scopes.at("scopes").elements().at(0).get<int>("variablesReference")}}));
    for (const Json& one : variables.at("variables").elements()) {
      out_ << one.get<std::string>("name") << " = " << one.get<std::string>("value") << "\n";
    }
  }
  std::string value(const std::string& name) {
    return ask("evaluate",
               Json::object({{"expression", name}, {"frameId", stack().at(0).get<int>("id")}}))
        .get<std::string>("result");
  }
  void show_lines(int first, int last) {
    std::ifstream file(file_);
    std::string line;
    for (int number = 1; number <= last && std::getline(file, line); ++number) {
      if (number < first) continue;
      out_ << (number == line_ && first != last ? "> " : "  ") << number << "\t" << line << "\n";
    }
  }
  void set_break(int line) {
    if (line != 0) breaks_.insert(line);
    Json all = Json::array();
    for (const int one : breaks_) all.push_back(Json::object({{"line", one}}));
    const Json told =
        ask("setBreakpoints",
            Json::object({{"source", Json::object({{"path", file_}})}, {"breakpoints", all}}));
    std::set<int> there;
    for (const Json& one : told.at("breakpoints").elements()) {
      if (one.get<bool>("verified")) {
        there.insert(one.get<int>("line"));
      } else {
        out_ << one.get<std::string>("message") << "\n";
      }
    }
    breaks_ = there;
    if (breaks_.empty()) return;
    out_ << "stops at line";
    for (const int one : breaks_) out_ << " " << one;
    out_ << "\n";
  }

  // False: the user wants no more.
  bool command(const std::string& line) {
    std::istringstream words(line);
    std::string word, rest;
    words >> word >> std::ws;
    std::getline(words, rest);
    const auto is = [&](std::string_view name, std::size_t least = 1) {
      return word.size() >= least && name.starts_with(word);
    };
    if (word.empty() || is("help")) {
      out_ << kHelp << "\n";
    } else if (is("quit")) {
      return false;
    } else if (is("break")) {
      const int number = std::atoi(rest.c_str());
      if (number <= 0)
        throw std::runtime_error("break LINE: a line of " + fs::path(file_).filename().string());
      set_break(number);
    } else if (is("delete")) {
      breaks_.clear();
      set_break(0);
    } else if (is("continue") || is("run")) {
      go_on("continue");
    } else if (is("next")) {
      go_on("next");
    } else if (is("step")) {
      go_on("stepIn");
    } else if (is("finish")) {
      go_on("stepOut");
    } else if (is("print")) {
      const std::string text = value(rest);  // may throw, and then nothing is to stand before it
      out_ << rest << " = " << text << "\n";
    } else if (is("locals", 2)) {
      show_locals();
    } else if (is("list")) {
      show_lines(line_ - kListed, line_ + kListed);
    } else if (is("where") || word == "bt") {
      show_stack();
    } else if (is("thread")) {
      const Json told = ask("evaluate", Json::object({{"expression", line}, {"context", "repl"}}));
      if (has_stopped_) {
        wait();
      } else {
        out_ << told.get<std::string>("result") << "\n";
      }
    } else {
      throw std::runtime_error("there is no command " + word + ": " + kHelp);
    }
    return true;
  }

  Connection& program_;
  std::istream& in_;
  std::ostream& out_;
  int asked_ = 0;
  Json stop_;
  bool has_stopped_ = false;
  std::int64_t thread_ = 0;
  std::string file_;
  int line_ = 0;
  std::set<int> breaks_;
};

}  // namespace

Listener::Listener() {
  std::string folder = (fs::temp_directory_path() / "simt-debug-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr)
    throw std::runtime_error("no folder can be made in " + folder);
  folder_ = folder;
  path_ = folder_ + "/socket";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path_.size() >= sizeof address.sun_path)
    throw std::runtime_error(path_ + ": too long for a socket");
  std::memcpy(address.sun_path, path_.c_str(), path_.size());
  socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(socket_, 1) != 0) {
    throw std::runtime_error(path_ + ": " + std::strerror(errno));
  }
}

Listener::~Listener() {
  close(socket_);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::unique_ptr<Connection> Listener::accept() {
  const int its = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
  return its < 0 ? nullptr : std::make_unique<Connection>(its);
}

void Listener::stop() { shutdown(socket_, SHUT_RDWR); }

bool talk(Connection& program, const Wanted& wanted, std::istream& in, std::ostream& out) {
  Terminal terminal(program, in, out);
  try {
    terminal.run(wanted);
  } catch (const Gone&) {
    out << "the program has ended" << std::endl;
  }
  return terminal.has_ever_stopped();
}

void relay(const std::shared_ptr<Connection>& editor, const std::shared_ptr<Connection>& program,
           const Wanted& wanted) {
  // It may wait for the editor when the program has long ended.
  std::thread([editor, program, thread = thread_of(wanted)] {
    while (std::optional<Json> message = editor->receive()) {
      const auto command = message->get_or<std::string>("command", "");
      if (command == "launch" || command == "attach") {
        Json& its = (*message)["arguments"];
        for (const halo::json::Member& one : thread.members()) {
          if (its.find(one.name) == nullptr) its[one.name] = one.value;
        }
      }
      if (!program->send(*message)) return;
    }
    program->close();
  }).detach();
  while (const std::optional<Json> message = program->receive()) editor->send(*message);
  editor->send(Json::object({{"seq", 0}, {"type", "event"}, {"event", "terminated"}}));
}

Meeting attend(Listener& listener, const Wanted& wanted, bool is_for_editor) {
  const std::shared_ptr<Connection> program = listener.accept();
  if (program == nullptr) return Meeting::none;
  if (is_for_editor) {
    relay(std::make_shared<Connection>(STDIN_FILENO, STDOUT_FILENO), program, wanted);
    return Meeting::attended;
  }
  return talk(*program, wanted, std::cin, std::cout) ? Meeting::attended : Meeting::unstopped;
}

}  // namespace simt::debug
