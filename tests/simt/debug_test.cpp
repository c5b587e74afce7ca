// A kernel is stopped at a line, and told of, over the Debug Adapter Protocol: programs of simcc -G with SIMT_DEBUG.
#include <map>
#include <sstream>
#include <thread>

#include "common/simt/debug/client.hpp"
#include "tests/catch.hpp"
#include "workbench.hpp"

namespace {

using halo::test::contains;
using simt::debug::Json;

constexpr const char* kSource = CUDART_PROGRAMS "/debugged.cu";

int line(const char* marker) { return line_of("debugged.cu", marker); }

const Workbench& program() {
  static const Workbench bench;
  static const bool is_built = (bench.build("debugged.cu", "-G"), true);
  REQUIRE(is_built);
  return bench;
}

// The program, and who has asked to debug it.
class Running {
 public:
  explicit Running(const std::string& argument = "")
      : program_([this, command = "SIMT_DEBUG='" + listener_.path() + "' ./program " + argument] {
          outcome_ = program().run(command);
          listener_.stop();
        }),
        connection_(listener_.accept()) {}
  ~Running() {
    if (connection_ != nullptr) connection_->close();
    program_.join();
  }

  simt::debug::Connection& connection() { return *connection_; }
  // Once it has ended.
  const Outcome& outcome() {
    program_.join();
    program_ = std::thread([] {});
    return outcome_;
  }

 protected:
  std::optional<Json> next() { return connection_->receive(); }

 private:
  simt::debug::Listener listener_;
  Outcome outcome_;
  std::thread program_;
  std::unique_ptr<simt::debug::Connection> connection_;
};

// What an editor does.
class Editor : public Running {
 public:
  explicit Editor(const Json& launch, const std::vector<int>& lines = {},
                  const std::string& argument = "")
      : Running(argument) {
    CHECK(ask("initialize").get<bool>("supportsConfigurationDoneRequest"));
    ask("launch", launch);
    breaks = set_breaks(lines);
    ask("configurationDone");
  }

  Json set_breaks(const std::vector<int>& lines, const std::string& path = kSource) {
    Json all = Json::array();
    for (const int one : lines) all.push_back(Json::object({{"line", one}}));
    return ask("setBreakpoints",
               Json::object({{"source", Json::object({{"path", path}})}, {"breakpoints", all}}))
        .at("breakpoints");
  }
  Json answer(const std::string& command, const Json& arguments) {
    const int number = ++asked_;
    connection().send(Json::object(
        {{"seq", number}, {"type", "request"}, {"command", command}, {"arguments", arguments}}));
    for (;;) {
      const Json message = receive();
      if (message.get_or<int>("request_seq", 0) == number) return message;
    }
  }
  Json ask(const std::string& command, const Json& arguments = Json::object()) {
    const Json its = answer(command, arguments);
    INFO(command << ": " << its.dump());
    REQUIRE(its.get<bool>("success"));
    return its.at("body");
  }
  std::string refusal(const std::string& command, const Json& arguments) {
    const Json its = answer(command, arguments);
    REQUIRE(!its.get<bool>("success"));
    return its.get<std::string>("message");
  }
  // The line at which a thread stops next; `reason` is kept.
  int stop() {
    while (!has_stopped_) receive();
    has_stopped_ = false;
    return frames().at(0).get<int>("line");
  }
  int go_on(const char* how) {
    ask(how, Json::object({{"threadId", thread}}));
    return stop();
  }
  std::vector<Json> frames() {
    return ask("stackTrace", Json::object({{"threadId", thread}})).at("stackFrames").elements();
  }
  std::string value(const std::string& expression, std::size_t frame = 0) {
    return ask("evaluate", about(expression, frame)).get<std::string>("result");
  }
  Json about(const std::string& expression, std::size_t frame = 0) {
    return Json::object(
        {{"expression", expression}, {"frameId", frames().at(frame).get<int>("id")}});
  }
  Json variables(int reference) {
    return ask("variables", Json::object({{"variablesReference", reference}})).at("variables");
  }
  // The rest of what it says.
  const Outcome& run_on() {
    connection().send(Json::object({{"seq", ++asked_},
                                    {"type", "request"},
                                    {"command", "continue"},
                                    {"arguments", Json::object({{"threadId", thread}})}}));
    return end();
  }
  const Outcome& end() {
    while (const std::optional<Json> message = next()) note(*message);
    return outcome();
  }

  Json breaks;
  std::int64_t thread = 0;
  std::string reason, text, output;

 private:
  Json receive() {
    const std::optional<Json> message = next();
    REQUIRE(message);
    note(*message);
    return *message;
  }
  void note(const Json& message) {
    if (message.get_or<std::string>("event", "") == "stopped") {
      const Json& body = message.at("body");
      reason = body.get<std::string>("reason");
      text = body.get_or<std::string>("text", "");
      thread = body.get<std::int64_t>("threadId");
      has_stopped_ = true;
    }
    if (message.get_or<std::string>("event", "") == "output") {
      output += message.at("body").get<std::string>("output");
    }
  }

  int asked_ = 0;
  bool has_stopped_ = false;
};

Json thread_of(int block, int thread) {
  return Json::object({{"block", block}, {"thread", thread}});
}

}  // namespace

TEST_CASE("the chosen thread stops at a line, and its variables are told", "[simt]") {
  Editor editor(thread_of(1, 5), {line("store")});
  CHECK(editor.stop() == line("store"));
  CHECK(editor.reason == "breakpoint");
  const std::vector<Json> frames = editor.frames();
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].get<std::string>("name") == "sums");
  CHECK(frames[0].at("source").get<std::string>("path") == kSource);

  CHECK(editor.value("i") == "37");
  CHECK(editor.value("n") == "64");
  CHECK(editor.value("four") == "{x = 37, y = 2, z = 3, w = 4}");
  CHECK(editor.value("pair.right[1]") == "7");
  CHECK(editor.value("colour") == "green");
  CHECK(editor.value("is_inside") == "true");
  CHECK(editor.value("grid[1]") == "{2, 3}");
  CHECK(editor.value("tile[threadIdx.x]") == "37");
  CHECK(editor.value("tile[31]") == "63");
  CHECK(editor.value("counts[2]") == "340");
  CHECK(editor.value("in[3]") == "3");
  CHECK(editor.value("*in") == "0");
  CHECK(editor.value("weights") == "{1, 2, 3}");
  CHECK(editor.value("blockIdx") == "{x = 1, y = 0, z = 0}");
  CHECK(editor.value("blockDim.x") == "32");
  // 37 + 2 * 38 + 3 * 39, and the triangle.
  CHECK(editor.value("total") == "233");

  const Json scopes =
      editor.ask("scopes", Json::object({{"frameId", frames[0].get<int>("id")}})).at("scopes");
  REQUIRE(scopes.elements().size() == 3);
  std::map<std::string, Json> locals;
  for (const Json& one :
       editor.variables(scopes.elements()[0].get<int>("variablesReference")).elements()) {
    locals[one.get<std::string>("name")] = one;
  }
  CHECK(locals.contains("total"));
  CHECK(!locals.contains("k"));  // its loop is over
  CHECK(locals.at("grid").get<std::string>("type") == "double[2][2]");
  const Json tile = locals.at("tile");
  CHECK(tile.get<int>("indexedVariables") == 32);
  const Json some = editor.ask(
      "variables", Json::object({{"variablesReference", tile.get<int>("variablesReference")},
                                 {"start", 4},
                                 {"count", 2}}));
  REQUIRE(some.at("variables").elements().size() == 2);
  CHECK(some.at("variables").elements()[1].get<std::string>("name") == "[5]");
  CHECK(some.at("variables").elements()[1].get<std::string>("value") == "37");

  const Outcome& outcome = editor.run_on();
  CHECK(outcome.status == 0);
  CHECK(outcome.out == program().run("./program").out);
  CHECK_THAT(outcome.out, contains(" 233\n"));
}

TEST_CASE("steps go over a barrier, into a function and out of it", "[simt]") {
  Editor editor(thread_of(0, 3), {line("meet")});
  CHECK(editor.stop() == line("meet"));
  // The other threads of the warp wait at the next line's begin at the earliest: all have filled their part.
  CHECK(editor.go_on("next") == line("behind"));
  CHECK(editor.reason == "step");
  CHECK(editor.value("tile[31]") == "31");
  CHECK(editor.go_on("next") == line("behind") + 1);
  CHECK(editor.go_on("next") == line("add"));
  CHECK(editor.value("k") == "0");
  CHECK(editor.go_on("stepIn") == line("in weighted"));
  const std::vector<Json> frames = editor.frames();
  REQUIRE(frames.size() == 2);
  CHECK(frames[0].get<std::string>("name") == "weighted");
  CHECK(frames[1].get<int>("line") == line("add"));
  CHECK(editor.value("value") == "3");
  CHECK(editor.value("tile[3]", 1) == "3");
  CHECK(editor.go_on("stepOut") == line("add"));
  CHECK(editor.go_on("next") == line("behind") + 1);
  CHECK(editor.go_on("next") == line("add"));
  CHECK(editor.value("k") == "1");
  CHECK(editor.value("total") == "3");
  editor.set_breaks({line("inlined")});
  CHECK(editor.go_on("continue") == line("inlined"));
  CHECK(editor.go_on("next") == line("inlined") + 1);
  CHECK(editor.run_on().status == 0);
}

TEST_CASE("a function that calls itself has its variables at each call", "[simt]") {
  Editor editor(thread_of(0, 0), {line("in triangle")});
  editor.stop();
  editor.go_on("continue");
  CHECK(editor.go_on("continue") == line("in triangle"));
  const std::vector<Json> frames = editor.frames();
  REQUIRE(frames.size() == 4);
  CHECK(editor.value("here", 0) == "0");
  CHECK(editor.value("here", 1) == "1");
  CHECK(editor.value("here", 2) == "2");
  CHECK(frames[3].get<std::string>("name") == "sums");
  CHECK(editor.value("i", 3) == "0");
  CHECK(editor.go_on("stepOut") == line("in triangle") + 1);
  CHECK(editor.value("n") == "1");
}

TEST_CASE("without a choice the first thread stops; others of its block can be looked at",
          "[simt]") {
  Editor editor(Json::object({{"stopOnEntry", true}}));
  CHECK(editor.stop() == line("begin"));
  CHECK(editor.reason == "entry");
  CHECK(editor.value("threadIdx.x") == "0");
  const Json threads = editor.ask("threads").at("threads");
  REQUIRE(threads.elements().size() == 32);
  CHECK(threads.elements()[7].get<std::string>("name") == "thread (7,0,0) of block (0,0,0)");
  CHECK(editor.go_on("next") == line("begin") + 1);
  editor.thread = threads.elements()[7].get<std::int64_t>("id");
  CHECK(editor.value("threadIdx.x") == "7");
  CHECK(editor.value("i") == "7");
  // From now on it is the one that steps, and that breakpoints stop. CUDA's own headers are not stepped into.
  CHECK(editor.go_on("stepIn") == line("begin") + 2);
  editor.set_breaks({line("store")});
  CHECK(editor.go_on("continue") == line("store"));
  CHECK(editor.value("threadIdx.x") == "7");
}

TEST_CASE("a finding stops the thread that it is about", "[simt]") {
  Editor editor(Json::object(), {}, "r");
  CHECK(editor.stop() == line("races"));
  CHECK(editor.reason == "exception");
  CHECK_THAT(editor.text, contains("reads shared memory that its block has not written"));
  CHECK(editor.go_on("continue") <= line("races"));
  CHECK_THAT(editor.text, contains("which is read, without a barrier between, by thread ("));
}

TEST_CASE("a kernel that goes on and on is paused", "[simt]") {
  Editor editor(Json::object(), {}, "g");
  editor.ask("pause");
  editor.stop();
  CHECK(editor.reason == "pause");
  CHECK(editor.value("rounds") == "2000000000");
}

TEST_CASE("what there is not is said in one line", "[simt]") {
  Editor editor(thread_of(0, 99), {line("begin"), 1000});
  REQUIRE(editor.breaks.elements().size() == 2);
  CHECK(editor.breaks.elements()[0].get<bool>("verified"));
  CHECK(!editor.breaks.elements()[1].get<bool>("verified"));
  CHECK(editor.breaks.elements()[1].get<std::string>("message") ==
        "debugged.cu has no device code at line 1000 or after it");
  // The thread does not exist: nothing stops.
  CHECK(editor.end().status == 0);
  CHECK(editor.output ==
        "the last of sums is thread 31 of block 1: there is no thread 99 of block 0\n");

  Editor other(thread_of(0, 1), {line("begin")});
  other.stop();
  CHECK(other.refusal("evaluate", other.about("nothing")) == "there is no variable nothing here");
  CHECK(other.refusal("evaluate", other.about("tile[32]")) == "tile has 32 elements, and no [32]");
  CHECK(other.refusal("evaluate", other.about("four.a")) == "four has no member a");
  CHECK_THAT(other.refusal("evaluate", other.about("n +")), contains("'n +' is not understood"));
  CHECK(other.refusal("restartFrame", Json::object()) ==
        "the simulator's debugger has no restartFrame");
  CHECK(other.set_breaks({3}, "/elsewhere/other.cu").elements()[0].get<std::string>("message") ==
        "other.cu has no device code that was compiled with -G");
  const Outcome alone = program().run("SIMT_DEBUG=/nowhere ./program");
  CHECK(alone.status == 2);
  CHECK(alone.err ==
        "simt: SIMT_DEBUG=/nowhere: no debugger listens there: No such file or directory\n");
}

TEST_CASE("a terminal's user has the same by words", "[simt]") {
  Running running;
  std::istringstream in(
      "break " + std::to_string(line("add")) +
      "\ncontinue\nstep\nprint value\nprint nothing\nwhere\nthread 0 4\nlocals\nthread 0 77\nfly\n"
      "break 1000\ndelete\nlist\ncontinue\n");
  std::ostringstream out;
  CHECK(simt::debug::talk(running.connection(),
                          {.block = 0, .thread = 2, .file = kSource, .line = line("begin")}, in,
                          out));
  const std::string said = out.str();
  for (const std::string& one :
       {"thread (2,0,0) of block (0,0,0): debugged.cu:" + std::to_string(line("begin")) +
            " in sums\n",
        std::string("in weighted\n"), std::string("value = 2\n"),
        std::string(") there is no variable nothing here\n"),
        "#1 debugged.cu:" + std::to_string(line("add")) + " in sums\n",
        std::string("thread (4,0,0) of block (0,0,0): "), std::string("product = "),
        std::string("there is no thread 77 of block 0\n"), std::string("there is no command fly"),
        std::string("no device code at line 1000"),
        std::string("float product = value * weights[which];"),
        std::string("the program has ended\n")}) {
    CHECK_THAT(said, contains(one));
  }
  CHECK(running.outcome().status == 0);
}

TEST_CASE("a terminal's user who names a thread that there is not has seen nothing", "[simt]") {
  Running running;
  std::istringstream in;
  std::ostringstream out;
  CHECK_FALSE(simt::debug::talk(running.connection(), {.block = 99, .thread = 2, .file = kSource},
                                in, out));
  CHECK(out.str() ==
        "the last of sums is thread 31 of block 1: there is no thread 2 of block 99\n"
        "the program has ended\n");
  CHECK(running.outcome().status == 0);
}

TEST_CASE("simt debug says in one line that there is no such program", "[simt]") {
  const Outcome outcome = program().run("'" SIMT "' debug ./nothing");
  CHECK(outcome.status == 2);
  CHECK(outcome.err == "simt: ./nothing cannot be started: No such file or directory\n");
  CHECK(program().run("'" SIMT "' debug --wrong ./program").err ==
        "simt: there is no option --wrong before the program's name\n");
}

TEST_CASE("simt debug of a program without a kernel says so, and does not end well") {
  const Outcome outcome = program().run("'" SIMT "' debug true");
  CHECK(outcome.status == 2);
  CHECK(outcome.err == "simt: true launched no kernel in the simulator: did simcc compile it?\n");
  CHECK(program().run("'" SIMT "' debug false").status == 1);
}

TEST_CASE("simt debug starts a program for a terminal or an editor", "[simt]") {
  const Outcome terminal =
      program().run("(printf 'next\\nprint i\\ncontinue\\n' | '" SIMT "' debug ./program)");
  CHECK(terminal.status == 0);
  CHECK_THAT(terminal.out,
             contains("i = 0\n") && contains(" of sums has ended\nthe program has ended\n"));

  std::ofstream words(program().path() / "words");
  for (const char* const command : {"initialize", "launch", "configurationDone"}) {
    const std::string text =
        Json::object({{"seq", 1}, {"type", "request"}, {"command", command}}).dump();
    words << "Content-Length: " << text.size() << "\r\n\r\n" << text;
  }
  words.close();
  // The editor stays there.
  const Outcome editor = program().run("mkfifo line && (exec 3<>line; cat words >&3; '" SIMT
                                       "' debug --dap ./program <&3)");
  CHECK(editor.status == 0);
  CHECK_THAT(editor.out,
             contains("\"event\":\"initialized\"") && contains("\"event\":\"terminated\""));
  // What the program prints is no message.
  CHECK(editor.err == program().run("./program").out);
}
