// What is said of a trace, on reports that are written by hand.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/data/file.hpp"
#include "common/trace/trace.hpp"
#include "tests/catch.hpp"

namespace {

using namespace halo;
using test::contains;
namespace fs = std::filesystem;

// A folder with a source file and a report beside it.
class Folder {
 public:
  Folder() {
    path_ = fs::temp_directory_path() / ("halo-trace-test-" + std::to_string(getpid()));
    fs::create_directories(path_ / "sub");
    write("k.cu", "one\ntwo <b>\n  tile[t] = input[t];\n</script>\n");
  }
  ~Folder() { fs::remove_all(path_); }

  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// A launch with one request of each kind that is given.
std::string launch(const std::string& counters, const std::string& fewest,
                   const std::string& requests, const std::string& arrays) {
  return R"json({"kernel": "void a::(anonymous namespace)::k<2, b::c>(float*)", "grid": [8, 1, 1],
 "block": [32, 2, 1], "shared_bytes": 0, "counters": )json" +
         counters +
         R"(, "findings": [], "lines": [{"file": "sub/../k.cu", "line": 3, "counters": )" +
         counters + R"(}], "trace": {"arrays": )" + arrays +
         R"(, "warps": [{"block": [1, 0, 0], "warp": 1, "steps": 9, "requests": )" + requests +
         R"(}], "lines": [{"file": "sub/../k.cu", "line": 3, "fewest": )" + fewest +
         R"(, "first": 0, "middle": -1, "worst": 0}]}})";
}

std::string report(const std::string& launches) {
  return R"({"schema_version": 1, "launches": [)" + launches + "]}";
}

std::string request(const std::string& kind, int bytes, int taken, int fewest,
                    const std::string& lanes) {
  return R"({"step": 4, "kind": ")" + kind + R"(", "file": "sub/../k.cu", "line": 3, "bytes": )" +
         std::to_string(bytes) + R"(, "taken": )" + std::to_string(taken) + R"(, "fewest": )" +
         std::to_string(fewest) + R"(, "lanes": )" + lanes + "}";
}

constexpr const char* kInput =
    R"([{"name": "input", "space": "global", "bytes": 4096, "phase": 0}])";
constexpr const char* kTile = R"([{"name": "tile", "space": "shared", "bytes": 4096, "phase": 0}])";

std::string said(const Folder& folder, const std::string& text) {
  const fs::path file = folder.write("r.json", text);
  return trace::explain(trace::read({{"k", file}}, {folder.path(), folder.path()}), 3, {});
}

}  // namespace

TEST_CASE("a load that begins within a sector is told with its line") {
  const Folder folder;
  const std::string text = said(
      folder,
      report(launch(R"({"global_load_requests": 100, "global_load_sectors": 500})",
                    R"({"global_load_sectors": 400})",
                    "[" + request("global_load", 4, 5, 4, "[[0, 32, 0, 4, 4]]") + "]", kInput)));
  CAPTURE(text);
  CHECK_THAT(text,
             contains("k, k<2, b::c>: grid 8, block 32 x 2, loads 5 sectors per request.\n") ||
                 contains("k<2, b::c>: grid 8, block 32 x 2"));
  CHECK_THAT(text, contains("  k.cu\n") && contains("     3 | tile[t] = input[t];\n"));
  CHECK_THAT(text, contains("5 sectors per request, 4 would do; 100 too many in 100 requests"));
  CHECK_THAT(text, contains("warp 1 of block (1, 0, 0): 5 for 32 lanes"));
  CHECK_THAT(text, contains("begin 4 bytes into a sector"));
}

TEST_CASE("lanes that are far apart are told with their distance") {
  const Folder folder;
  const auto load = [&](const std::string& lanes, int taken) {
    return said(folder,
                report(launch(R"({"global_load_requests": 1, "global_load_sectors": 32})",
                              R"({"global_load_sectors": 4})",
                              "[" + request("global_load", 4, taken, 4, lanes) + "]", kInput)));
  };
  CHECK_THAT(load("[[0, 32, 0, 0, 64]]", 32),
             contains("64 bytes apart: a sector of 32 bytes serves one lane"));
  CHECK_THAT(load("[[0, 32, 0, 0, 8]]", 8), contains("of what comes, 50 % is used"));
  CHECK_THAT(load("[[0, 16, 0, 0, 4], [16, 16, 0, 1000, 4]]", 5), contains("fall into 2 pieces"));
}

TEST_CASE("bank conflicts are told with their bank, and with what would help") {
  const Folder folder;
  const auto conflict = [&](const std::string& lanes, int wavefronts) {
    return said(
        folder,
        report(launch(R"({"shared_load_requests": 2, "shared_load_wavefronts": 64,
                                  "shared_load_conflicts": 62})",
                      "{}", "[" + request("shared_load", 4, wavefronts, 1, lanes) + "]", kTile)));
  };
  const std::string column = conflict("[[0, 32, 0, 8, 128]]", 32);
  CAPTURE(column);
  CHECK_THAT(column, contains("32 wavefronts per request, 1 would do; 62 too many in 2 requests"));
  CHECK_THAT(column, contains("Bank 2 has 32 different words to give, to lanes 0, 1, 2, 3, ..."));
  CHECK_THAT(column, contains("Rows that are a word longer, 33, would begin in 32 banks"));
  CHECK_THAT(conflict("[[0, 32, 0, 0, 8]]", 2),
             contains("2 words apart, which leads to 16 of the 32 banks"));
}

TEST_CASE("what an asynchronous copy costs by its other side is not put down to this one") {
  const Folder folder;
  const std::string other = "the other side of the asynchronous copy does";
  const auto stored = [&](int bytes, int wavefronts, const std::string& lanes) {
    return said(folder,
                report(launch(
                    R"({"shared_store_requests": 1, "shared_store_wavefronts": 9,
                                  "shared_store_conflicts": 8})",
                    "{}", "[" + request("shared_store", bytes, wavefronts, bytes / 4, lanes) + "]",
                    kTile)));
  };
  CHECK_THAT(stored(4, 2, "[[0, 32, 0, 0, 4]]"), contains(other));
  CHECK_THAT(stored(16, 8, "[[0, 32, 0, 16, 16]]"), contains(other));
  CHECK_THAT(stored(16, 8, "[[0, 32, 0, 0, 32]]"), !contains(other));
  CHECK_THAT(stored(4, 2, "[[0, 32, 0, 0, 8]]"), !contains(other));
  const auto loaded = [&](const std::string& lanes) {
    return said(folder,
                report(launch(R"({"global_load_requests": 1, "global_load_sectors": 20})",
                              R"({"global_load_sectors": 16})",
                              "[" + request("global_load", 16, 20, 16, lanes) + "]", kInput)));
  };
  CHECK_THAT(loaded("[[0, 32, 0, 0, 16]]"), contains(other));
  CHECK_THAT(loaded("[[0, 32, 0, 16, 16]]"), contains("begin 16 bytes into a sector"));
}

TEST_CASE("constant memory that lanes read at different places is told") {
  const Folder folder;
  CHECK_THAT(
      said(folder,
           report(launch(R"({"constant_load_requests": 64})", R"({"constant_load_requests": 2})",
                         "[" + request("constant_load", 4, 32, 1, "[[0, 32, 0, 0, 4]]") + "]",
                         kInput))),
      contains("64 different addresses in 2 requests, and it serves one at a time"));
}

TEST_CASE("an array that is asked for again and again is told") {
  const Folder folder;
  const auto load = [&](int sectors) {
    return said(folder,
                report(launch(R"({"global_load_requests": 200, "global_load_sectors": 800})",
                              R"({"global_load_sectors": 800})", "[]",
                              R"([{"name": "input", "space": "global", "bytes": 4096, "phase": 0,
                                 "fewest_load_sectors": )" +
                                  std::to_string(sectors) + "}]")));
  };
  CHECK_THAT(load(1152), contains("input is asked for 9 times over, in 1,152 sectors at least."));
  CHECK_THAT(load(128), !contains("times over"));
}

TEST_CASE("a kernel without waste is told so, and its atomics count for nothing") {
  const Folder folder;
  CHECK_THAT(said(folder,
                  report(launch(
                      R"({"global_store_requests": 3, "global_store_sectors": 12,
                                  "global_atomic_requests": 5})",
                      R"({"global_store_sectors": 12})",
                      "[" + request("global_store", 4, 4, 4, "[[0, 32, 0, 0, 4]]") + "]", kInput))),
             contains("No line takes more sectors or wavefronts than its bytes need."));
}

TEST_CASE("the line with most waste comes first") {
  const Folder folder;
  const std::string two_lines = R"json({"kernel": "k()", "grid": [1, 1, 1], "block": [32, 1, 1],
 "shared_bytes": 0, "counters": {}, "findings": [], "lines": [
  {"file": "k.cu", "line": 1, "counters":
   {"shared_store_requests": 1, "shared_store_wavefronts": 3, "shared_store_conflicts": 2}},
  {"file": "k.cu", "line": 2, "counters":
   {"shared_load_requests": 1, "shared_load_wavefronts": 9, "shared_load_conflicts": 8}},
  {"file": "k.cu", "line": 3, "counters": {"barriers": 4}}],
 "trace": {"arrays": [], "warps": [{"block": [0, 0, 0], "warp": 0, "steps": 2, "requests": []}],
  "lines": [
  {"file": "k.cu", "line": 1, "fewest": {}, "first": 0, "middle": -1, "worst": 0},
  {"file": "k.cu", "line": 2, "fewest": {}, "first": 0, "middle": -1, "worst": 0}]}})json";
  const fs::path file = folder.write("r.json", report(two_lines));
  const trace::Document document = trace::read({{"k", file}}, {folder.path(), folder.path()});
  const std::vector<trace::Culprit> all = trace::culprits(document, document.views.at(0));
  REQUIRE(all.size() == 2);
  CHECK((all[0].line == 2 && all[0].excess == 8));
  CHECK((all[1].line == 1 && all[1].excess == 2));
  CHECK_THAT(trace::explain(document, 1, {}), contains("and 1 line more"));
}

TEST_CASE("several kernels are told apart by their names") {
  const Folder folder;
  const auto named = [](const std::string& kernel) {
    return R"({"kernel": ")" + kernel +
           R"(", "grid": [1, 1, 1], "block": [32, 1, 1], "counters": {}, "findings": [],
 "lines": [], "trace": {"arrays": [], "warps": [], "lines": []}})";
  };
  const fs::path two = folder.write(
      "two.json",
      report(named("void x::a<1, (y::Z)2>(float const*)") + "," + named("x::b(int (*)(int))")));
  const fs::path one = folder.write("one.json", report(named("c")));
  const trace::Places places{folder.path(), folder.path()};
  const trace::Document alone = trace::read({{"p", two}}, places);
  CHECK(alone.views.at(0).name == "a<1, (y::Z)2>");
  CHECK(alone.views.at(1).name == "b");
  const trace::Document both = trace::read({{"p", two}, {"q", one}}, places);
  CHECK(both.views.at(1).name == "p, b");
  CHECK(both.views.at(2).name == "q");
}

TEST_CASE("what is no trace is one line") {
  const Folder folder;
  const trace::Places places{folder.path(), folder.path()};
  for (const char* text :
       {"{", "[]", R"({"launches": 3})", R"({"launches": []})",
        R"({"launches": [{"kernel": "k"}]})", R"({"launches": [{"kernel": "k", "trace": {}}]})"}) {
    CAPTURE(text);
    const fs::path file = folder.write("r.json", text);
    try {
      trace::read({{"k", file}}, places);
      FAIL("it was read");
    } catch (const trace::NoTrace& error) {
      CHECK(std::string(error.what()).find('\n') == std::string::npos);
    }
  }
  CHECK_THROWS_AS(trace::read({{"k", folder.path() / "none.json"}}, places), data::DataError);
}

TEST_CASE("no text of a source or a title can end the page's script or begin a tag") {
  const Folder folder;
  const fs::path file = folder.write(
      "r.json",
      report(launch(R"({"global_load_requests": 1, "global_load_sectors": 5})",
                    R"({"global_load_sectors": 4})",
                    "[" + request("global_load", 4, 5, 4, "[[0, 32, 0, 4, 4]]") + "]", kInput)));
  const trace::Document document = trace::read({{"k", file}}, {folder.path(), folder.path()});
  const std::string page = trace::page(document, {"<i>@DATA@</i>", "\"&\"", false});
  CHECK_THAT(page, contains("&lt;i&gt;@DATA@&lt;/i&gt;") && contains("&quot;&amp;&quot;"));
  CHECK_THAT(page, contains("two \\u003cb>") && contains("\\u003c/script>"));
  // Its own two scripts end, and nothing else does.
  std::size_t ends = 0;
  for (std::size_t at = page.find("</script>"); at != std::string::npos;
       at = page.find("</script>", at + 1)) {
    ++ends;
  }
  CHECK(ends == 2);
}
