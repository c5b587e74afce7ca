// The translation of CUDA C++ to C++, rule by rule: most cases are small programs that are
// preprocessed, translated, compiled with a stand-in runtime of a few lines, and run. Where the text
// itself is the contract (line numbers, sections, errors), the text is checked.
#include "common/simt/translate.hpp"

#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "common/simt/declaration.hpp"
#include "common/simt/lexer.hpp"
#include "tests/catch.hpp"

#ifndef SIMT_CXX
#define SIMT_CXX "g++"
#endif

using halo::test::contains;
using simt::translate;
using simt::TranslateError;

namespace {

namespace fs = std::filesystem;

// Runs the threads of a grid one after another, so kernels here must not need a barrier.
const char* const kRuntime = R"cu(
#pragma GCC system_header
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
inline dim3 threadIdx, blockIdx, blockDim, gridDim;
typedef void* cudaStream_t;
namespace simt {
struct launch_bounds { unsigned max_threads; };
struct Shape { dim3 grid, block; unsigned long shared; cudaStream_t stream; };
inline Shape pending[16];
inline int pending_count;
inline int launches;
inline unsigned last_bounds;
inline unsigned long last_shared;
alignas(1024) inline char shared_memory[4096];
inline void* dynamic_shared() { return shared_memory; }
template <class T> constexpr unsigned long shared_alignment() { return 16; }
inline bool on_device;  // what inside_kernel says
inline bool inside_kernel() { return on_device; }
template <class T> struct DynamicShared {
  operator T*() const { return static_cast<T*>(dynamic_shared()); }
};
inline void configure(dim3 grid, dim3 block, unsigned long shared = 0, cudaStream_t stream = 0) {
  pending[pending_count++] = Shape{grid, block, shared, stream};
}
template <class Body> void run_kernel(launch_bounds bounds, const Body& body) {
  if (pending_count == 0) __builtin_abort();
  const Shape shape = pending[--pending_count];
  ++launches;
  last_bounds = bounds.max_threads;
  last_shared = shape.shared;
  gridDim = shape.grid;
  blockDim = shape.block;
  for (unsigned b = 0; b < gridDim.x * gridDim.y; ++b)
    for (unsigned t = 0; t < blockDim.x * blockDim.y; ++t) {
      blockIdx = dim3(b % gridDim.x, b / gridDim.x);
      threadIdx = dim3(t % blockDim.x, t / blockDim.x);
      Body copy = body;
      copy();
    }
}
template <class Body> void run_kernel(const Body& body) { run_kernel(launch_bounds{0}, body); }
}  // namespace simt
inline int failures;
#define EXPECT(condition) ((condition) ? void() : void(failures = __builtin_printf( \
  "%s:%d: %s\n", __FILE__, __LINE__, #condition)))
)cu";

class Folder {
 public:
  Folder() {
    const char* parent = std::getenv("TMPDIR");
    std::string name = std::string(parent != nullptr ? parent : "/tmp") + "/translate-test-XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name)) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream in(file(name));
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

 private:
  fs::path path_;
};

struct Outcome {
  int status = -1;     // of the last command that ran
  std::string output;  // of all of them, with the folder's name left out
};

// A translated program in a folder of its own.
class Program {
 public:
  explicit Program(const std::string& source) {
    folder_.write("runtime.hpp", kRuntime);
    folder_.write("test.cu", source);
  }

  Folder& folder() { return folder_; }

  std::string translated() {
    const Outcome made = shell("-std=c++20 -E -x c++ -include runtime.hpp test.cu -o test.ii");
    INFO(made.output);
    REQUIRE(made.status == 0);
    return translate(folder_.read("test.ii"), "test.cu");
  }

  // Compiles the translation as a preprocessed or as an ordinary source file.
  Outcome compile(bool as_preprocessed = true, const std::string& more = "") {
    folder_.write("test.sim.cpp", translated());
    const std::string language = as_preprocessed ? "-x c++-cpp-output " : "-x c++ ";
    return shell("-std=c++20 -Wall -Wextra -Werror -O1 -fno-toplevel-reorder " + more + " -c " +
                 language + "test.sim.cpp -o test.o");
  }

  Outcome run() {
    Outcome outcome = compile();
    if (outcome.status != 0) return outcome;
    outcome = shell("test.o -o test");
    if (outcome.status != 0) return outcome;
    const int status =
        std::system(("cd '" + folder_.file("") + "' && ./test > output.txt 2>&1").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 255, folder_.read("output.txt")};
  }

 private:
  Outcome shell(const std::string& arguments) {
    const std::string command =
        "cd '" + folder_.file("") + "' && " SIMT_CXX " " + arguments + " > output.txt 2>&1";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 255, folder_.read("output.txt")};
  }

  Folder folder_;
};

// A program whose main() returns `failures`.
void check_program(const std::string& source) {
  Program program(source + "\n");
  const Outcome outcome = program.run();
  INFO(outcome.output);
  CHECK(outcome.status == 0);
  CHECK(outcome.output.empty());
}

// White space made uniform, for comparing short translations.
std::string squeezed(const std::string& text) {
  std::istringstream in(text);
  std::string word;
  std::string result;
  while (in >> word) result += (result.empty() ? "" : " ") + word;
  return result;
}

std::string translated(const std::string& source) { return squeezed(translate(source, "k.cu")); }

std::string error_of(const std::string& source) {
  try {
    translate(source, "k.cu");
  } catch (const TranslateError& error) {
    CHECK(std::string(error.what()) ==
          error.file + ":" + std::to_string(error.line) + ": " + error.message);
    return error.what();
  }
  return "(translated)";
}

}  // namespace

// ---- Lexer ----------------------------------------------------------------------------------------

TEST_CASE("the lexer keeps what looks like code in literals and comments apart", "[simt][lexer]") {
  const std::string source =
      "auto a = R\"x(k<<<1,2>>>(3); )\" __global__ )x\" \"k<<<\" '<' '\\'' // k<<<1,1>>>()\n"
      "/* __shared__\n int x; */ u8R\"(a\nb)\" 1'000'000 0x1p-3 1.e+5f L'\\\\' x\n";
  const simt::TokenStream tokens(source, "k.cu");
  std::vector<std::string> words;
  for (std::size_t i = 0; i < tokens.size(); ++i) words.emplace_back(tokens[i].text);
  CHECK(words == std::vector<std::string>{
                     "auto", "a", "=", "R\"x(k<<<1,2>>>(3); )\" __global__ )x\"", "\"k<<<\"", "'<'",
                     "'\\''", "u8R\"(a\nb)\"", "1'000'000", "0x1p-3", "1.e+5f", "L'\\\\'", "x"});
  CHECK(tokens[7].line == 3);
  CHECK(tokens[7].end_line == 4);
  CHECK(tokens[8].line == 4);
  // And nothing in it is translated.
  CHECK(translate(source, "k.cu") == source);
}

TEST_CASE("the lexer follows line markers", "[simt][lexer]") {
  const simt::TokenStream tokens("# 7 \"dir/a \\\"b\\\".cu\" 2\nx\n\ny\n# 3 \"s.h\" 1 3 4\nz",
                                 "k.cu");
  CHECK(tokens[0].line == 7);
  CHECK(tokens[1].line == 9);
  CHECK(tokens.files[static_cast<std::size_t>(tokens[0].file)].name == "dir/a \"b\".cu");
  CHECK(tokens[2].line == 3);
  CHECK(tokens.files[static_cast<std::size_t>(tokens[2].file)].marker == "\"s.h\" 3 4");
}

TEST_CASE("the lexer reads digraphs and angle brackets as C++ does", "[simt][lexer]") {
  const simt::TokenStream tokens("a<::b<c<d>>>::e x<:1:> <% %> <=> -> >>= <<< operator<<", "k.cu");
  std::string words;
  for (std::size_t i = 0; i < tokens.size(); ++i) words += std::string(tokens[i].text) + " ";
  CHECK(words == "a < :: b < c < d > > > :: e x [ 1 ] { } <=> -> > >= << < operator << ");
}

// ---- Kernels --------------------------------------------------------------------------------------

TEST_CASE("arguments that a kernel uses are named before its body", "[simt][kernel]") {
  const auto named = [](const std::string& parameters, const std::string& body) {
    const std::string out = translated("__global__ void k(" + parameters + ") {" + body + "}");
    const std::size_t begin = out.find("-> void {") + 9;
    return out.substr(begin, out.find("use(") - begin);
  };
  CHECK(named("int x, unsigned int y, const S z", "use(x, y, z);") ==
        " (void)x; (void)y; (void)z;");
  CHECK(named("const float* __restrict__ p, int a[3], int d = 3", "use(p, a, d);") ==
        " (void)p; (void)a; (void)d;");
  CHECK(named("n::V<int, 3> v, struct S s, typename T::type t, S const c", "use(v, s, t, c);") ==
        " (void)v; (void)s; (void)t; (void)c;");
  // Not what has no name, or one in the midst of its type; and not what the body leaves alone, which the
  // compiler warns of.
  CHECK(named("int, n::T, const S, V<int>, struct S, int x", "use(T, S, V);").empty());
  CHECK(named("void (*f)(int), A... rest, void", "use(f, rest...);").empty());
}

TEST_CASE("a kernel's body becomes a closure on the same lines", "[simt][kernel]") {
  CHECK(translated("__global__ void k(int* p) { *p = 1; }") ==
        "__attribute__((noipa)) void k(int* p) { ::simt::run_kernel([=]() mutable "
        "__attribute__((flatten)) -> void { (void)p; *p = 1; }); }");
  CHECK(translated("__global__ void k() {}") ==
        "__attribute__((noipa)) void k() { ::simt::run_kernel([=]() mutable "
        "__attribute__((flatten)) -> void {}); }");
  const std::string lines = "__global__\nvoid k(\n  int* p)\n{\n  *p\n  = 1;\n}\nint x;\n";
  const std::string out = translate(lines, "k.cu");
  CHECK(std::count(out.begin(), out.end(), '\n') == 8);
  CHECK(out.find("int x;") == out.rfind("\n", out.size() - 2) + 1);
}

TEST_CASE("kernels of all kinds run", "[simt][kernel]") {
  check_program(R"cu(
#define BODY(v) { if (blockIdx.x == 0) out[threadIdx.x] = (v); else return; }
struct Pair { int a, b; };
namespace deep { inline namespace one {
template <typename T, int N = (3 > 2) ? 4 : 5> __global__ void scaled(T* out, const T factor);
template <typename T, int N> __global__ void scaled(T* out, const T factor) BODY(factor * N)
} }
static __global__ void plain(int* out) BODY(1)
__global__ static inline void plain_too(int* out) BODY(2)
extern "C" __global__ void c_linkage(int* out) BODY(3)
extern "C" { __global__ void c_linkage_too(int* out) BODY(4) }
__global__ void __launch_bounds__(128) bounds_behind(int* out) BODY(5)
__launch_bounds__(64, 2) __global__ void bounds_ahead(int* out) BODY(6)
__global__ __launch_bounds__(sizeof(Pair) == 8 ? 32 : 1) void bounds_between(int* out) BODY(7)
void __global__ type_ahead(int* out) BODY(8)
[[maybe_unused]] __global__ void attributed(int* out) BODY(9)
__global__ void defaults(int* out, Pair p = {4, 6}, int more = int{0}) BODY(p.a + p.b + more)
__global__ void empty() {}
__global__ void empty_with_line() {
}
__global__ auto trailing(int* out) -> void BODY(11)
__global__ void (grouped)(int* out) BODY(12)
__global__ void constants(int* out, const __grid_constant__ Pair p, int n) {
  n += p.b;  // a parameter is a copy, and can be written
  out[threadIdx.x] = n;
}
template <typename... T> __global__ void pack(int* out, T... values) BODY((0 + ... + values))
template <> __global__ void deep::scaled<short, 9>(short* out, const short factor) BODY(factor)
template __global__ void deep::scaled<long>(long*, const long);
template <typename T> requires requires(T t) { t + t; }
__global__ void constrained(T* out) requires(sizeof(T) > 1) BODY(13)
template <typename T>
__global__ void more_constrained(T* out) requires requires(T t) { t + t; } && (sizeof(T) > 1) BODY(17)
class Friendly {
  int secret = 14;
  friend __global__ void reader(int* out, Friendly f);
  template <typename T> friend __global__ void template_reader(T* out, Friendly f);
};
__global__ void reader(int* out, Friendly f) BODY(f.secret)
template <typename T> __global__ void template_reader(T* out, Friendly f) BODY(f.secret + 1)
__global__ void local_names(int* out) {
  constexpr int N = 4;
  struct Local { int v[N]; int sum() const { int s = 0; for (int x : v) s += x; return s; } };
  const Local local = {{1, 2, 3, 4}};
  auto add = [&](int a) { return a + local.sum(); };
  switch (N) { case 4: out[0] = add(6); break; default: return; }
}
int main() {
  int v[4] = {};
  long w[4] = {};
  short s[4] = {};
  plain<<<2, 1>>>(v); EXPECT(v[0] == 1);
  plain_too<<<2, 2>>>(v); EXPECT(v[1] == 2);
  c_linkage<<<1, 1>>>(v); EXPECT(v[0] == 3);
  c_linkage_too<<<1, 1>>>(v); EXPECT(v[0] == 4);
  bounds_behind<<<1, 1>>>(v); EXPECT(v[0] == 5 && simt::last_bounds == 128);
  bounds_ahead<<<1, 1>>>(v); EXPECT(v[0] == 6 && simt::last_bounds == 64);
  bounds_between<<<1, 1>>>(v); EXPECT(v[0] == 7 && simt::last_bounds == 32);
  type_ahead<<<1, 1>>>(v); EXPECT(v[0] == 8 && simt::last_bounds == 0);
  attributed<<<1, 1>>>(v); EXPECT(v[0] == 9);
  defaults<<<1, 1>>>(v); EXPECT(v[0] == 10);
  empty<<<1, 1>>>();
  empty_with_line<<<3, 1>>>();
  trailing<<<1, 1>>>(v); EXPECT(v[0] == 11);
  grouped<<<1, 1>>>(v); EXPECT(v[0] == 12);
  constants<<<1, 4>>>(v, Pair{1, 2}, 3); EXPECT(v[3] == 5);
  pack<<<1, 1>>>(v, 1, 2L, 'c'); EXPECT(v[0] == 3 + 'c');
  deep::scaled<<<1, 1>>>(w, 5L); EXPECT(w[0] == 20);
  deep::scaled<short, 9><<<1, 1>>>(s, short{3}); EXPECT(s[0] == 3);
  constrained<<<1, 1>>>(v); EXPECT(v[0] == 13);
  more_constrained<<<1, 1>>>(v); EXPECT(v[0] == 17);
  reader<<<1, 1>>>(v, {}); EXPECT(v[0] == 14);
  template_reader<<<1, 1>>>(v, Friendly()); EXPECT(v[0] == 15);
  local_names<<<1, 1>>>(v); EXPECT(v[0] == 16);
  EXPECT(simt::launches == 23);
  return failures;
}
)cu");
}

TEST_CASE("a kernel's name for itself is its own", "[simt][kernel]") {
  check_program(R"cu(
__global__ void named(const char** out) { out[0] = __func__; out[1] = __PRETTY_FUNCTION__; }
int main() {
  const char* names[2];
  named<<<1, 1>>>(names);
  EXPECT(__builtin_strcmp(names[0], "named") == 0 && __builtin_strcmp(names[1], "named") == 0);
  EXPECT(__builtin_strcmp(__func__, "main") == 0);
  return failures;
}
)cu");
}

TEST_CASE("a kernel as a class member is refused", "[simt][kernel]") {
  CHECK(error_of("struct S {\n int a;\n static __global__ void k();\n};") ==
        "k.cu:3: a kernel as a member of a class is not CUDA C++: move it out of the class");
}

// ---- Launches -------------------------------------------------------------------------------------

TEST_CASE("a launch becomes a call behind its configuration", "[simt][launch]") {
  CHECK(translated("void f() { k<<<g, b>>>(a); }") ==
        "void f() { (::simt::configure(g, b), k(a)); }");
  CHECK(translated("void f() { ns::k<T, 3> <<< g, b, 0, s >>> (a, b); }") ==
        "void f() { (::simt::configure(g, b, 0, s), ns::k<T, 3>(a, b)); }");
  CHECK(translated("void f() { if (x) (c ? k : l)<<<1, 1>>>(); }") ==
        "void f() { if (x) (::simt::configure(1, 1), (c ? k : l)()); }");
  CHECK(translated("void f() { return ::k<<<1, 1>>>(); }") ==
        "void f() { return (::simt::configure(1, 1), ::k()); }");
  CHECK(translated("void f() { for (;;) static_cast<F>(p)<<<1, 1>>>(); }") ==
        "void f() { for (;;) (::simt::configure(1, 1), static_cast<F>(p)()); }");
}

TEST_CASE("what only looks like a launch is left alone", "[simt][launch]") {
  for (const char* source : {"struct S { friend S& operator<< <>(S&, int); };",
                             "auto f = &operator<<<int>;", "int x = a << b >> c;",
                             "A<B<C<int>>> x(1);", "bool b = a<b>>>c;", "x = \"k<<<1, 1>>>()\";"}) {
    CHECK(translated(source) == source);
  }
}

TEST_CASE("launches of all kinds reach the kernel", "[simt][launch]") {
  check_program(R"cu(
template <int N> struct Bar { static constexpr int value = N; };
template <typename T> struct Foo { static constexpr int value = T::value; };
template <typename T, typename U> struct Two { enum { value = 2 }; };
__managed__ int total;
__global__ void add(int v) { total += v; }
__global__ void add_two(int v, int w) { total += v + w; }
__global__ void overloaded(int) { total += 100; }
__global__ void overloaded(double) { total += 1000; }
template <typename T> __global__ void typed() { total += T::value; }
template <typename T> __global__ void deduced(T v) { total += v; }
template <typename F> __global__ void apply(F f) { f(threadIdx.x); }
namespace outer { namespace inner { __global__ void add(int v) { total += 2 * v; } } }
typedef void (*Kernel)(int);
struct Table { Kernel kernel; Kernel kernels[2]; Kernel get() { return kernel; } };
template <typename T> Kernel choose() { return add; }
template <int N> dim3 grid_of() { return dim3(N); }
#define LAUNCH(kernel, grid, block, ...) kernel<<<grid, block>>>(__VA_ARGS__)
#define SHAPE <<<1, 1>>>
#define OPEN <<<
#define CLOSE >>>
int run() { outer::inner::add<<<1, 1>>>(1); return 5; }
template <typename T> void from_template(T v) { deduced<T><<<1, 1>>>(v); }
int main() {
  const auto expect = [](int line, int value) {
    if (total != value) failures = __builtin_printf("line %d: %d\n", line, total);
    total = 0;
  };
#define TOTAL(value) expect(__LINE__, value)
  typed<Foo<Bar<3>>><<<1, 2>>>(); TOTAL(6);
  typed<Foo<Bar<3> > > <<<1, 2>>> (); TOTAL(6);
  typed<Bar<(4 > 3)>><<<1, 1>>>(); TOTAL(1);
  typed<Bar<(1 << 3)>><<<1, 1>>>(); TOTAL(8);
  typed<Bar<1 << 3>><<<1, 1>>>(); TOTAL(8);
  add<<<Bar<2>::value, 1>>>(1); TOTAL(2);
  add<<<1, Foo<Bar<4>>::value>>>(1); TOTAL(4);
  add<<<1, Two<Foo<Bar<4>>, Bar<1>>::value>>>(1); TOTAL(2);
  add<<<1, sizeof(Two<Foo<Bar<4>>, Bar<1>>)>>>(1); TOTAL(1);
  add<<<grid_of<3>(), 1>>>(1); TOTAL(3);
  { int n = 9; add<<<n < 3 ? 1 : 2, n > 3 ? 3 : 1>>>(1); TOTAL(6); }
  { int n = 9; add<<<(n + 7) >> 3, n >> 3>>>(1); TOTAL(2); }
  { int n = 1; add<<<n<<2, 1>>>(1); TOTAL(4); }
  add<<<{2, 2}, {3, 1}>>>(1); TOTAL(12);
  add<<<dim3(2, 2), dim3{2}, 4 * sizeof(float), nullptr>>>(1); TOTAL(8);
  EXPECT(simt::last_shared == 16);
  add<<<
    2,
    1
  >>>(
    1
  ); TOTAL(2);
  overloaded<<<1, 1>>>(1); TOTAL(100);
  overloaded<<<1, 1>>>(1.0); TOTAL(1000);
  deduced<<<1, 1>>>(short{7}); TOTAL(7);
  from_template(3L); TOTAL(3);
  bool which = true;
  (which ? add : outer::inner::add)<<<1, 1>>>(1); TOTAL(1);
  if (!which) (add)<<<1, 1>>>(1); else (outer::inner::add)<<<1, 1>>>(1);
  TOTAL(2);
  if (which) add<<<1, 1>>>(1);
  TOTAL(1);
  which ? add<<<1, 1>>>(3) : add<<<1, 1>>>(4); TOTAL(3);
  Kernel pointer = add;
  pointer<<<1, 1>>>(1); TOTAL(1);
  (*pointer)<<<1, 1>>>(1); TOTAL(1);
  Table table = {add, {add, outer::inner::add}}, *tables = &table;
  table.kernel<<<1, 1>>>(1); TOTAL(1);
  tables->kernels[which]<<<1, 1>>>(1); TOTAL(2);
  tables[0].get()<<<1, 1>>>(1); TOTAL(1);
  choose<Foo<Bar<1>>>()<<<1, 1>>>(1); TOTAL(1);
  static_cast<Kernel>(add)<<<1, 1>>>(1); TOTAL(1);
  ::add<<<1, 1>>>(1); TOTAL(1);
  outer::inner::add<<<1, 1>>>(1); TOTAL(2);
  ::outer::inner::add<<<1, 1>>>(1); TOTAL(2);
  add<<<1, 1>>>(run()); TOTAL(7);  // a launch in a launch's arguments
  add_two<<<run(), 1>>>(run(), 1); TOTAL(2 + 2 + 30);
  LAUNCH(add, 2, 2, 1); TOTAL(4);
  LAUNCH((which ? add : add), dim3(2), 2, run()); TOTAL(22);
  LAUNCH(typed<Foo<Bar<3>>>, 1, 1); TOTAL(3);
  add SHAPE (5); TOTAL(5);
  typed<Foo<Bar<3>>> OPEN 1, 2 CLOSE (); TOTAL(6);
  auto later = [&](int n) { for (int i = 0; i < n; ++i) add<<<1, 1>>>(i); return n; };
  later(4); TOTAL(6);
  add<<<1, 1>>>([](int n) { add<<<1, n>>>(1); return 1; }(4)); TOTAL(5);
  auto four = [](int n) { return n + 1; }(3);
  add<<<1, 1>>>(four); TOTAL(4);
  apply<<<1, 4>>>([=] __device__ (int i) { total += i; }); TOTAL(6);
  apply<<<1, 4>>>([] __host__ __device__ (int i) mutable { total += 2 * i; }); TOTAL(12);
  switch (later(1)) { case 1: add<<<1, 1>>>(1); break; default: add<<<1, 1>>>(2); }
  TOTAL(1);
  do add<<<1, 1>>>(1); while (total < 3);
  TOTAL(3);
  return failures;
}
)cu");
}

TEST_CASE("a launch over several lines keeps every token's line", "[simt][launch]") {
  // Each line has an error of its own; g++ must name the line it stands on in the source.
  Program program(R"cu(
__global__ void k(int, int) {}
int main() {
  k<<<missing_4,
      missing_5>>>(
      missing_6,
      1);
  missing_8();
}
)cu");
  const Outcome outcome = program.compile();
  INFO(outcome.output);
  CHECK(outcome.status != 0);
  for (const char* place : {"test.cu:4", "test.cu:5", "test.cu:6", "test.cu:8"}) {
    CHECK_THAT(outcome.output, contains(place));
  }
  CHECK_THAT(outcome.output, !contains("test.cu:7"));
}

TEST_CASE("launches that cannot be read are refused with their line", "[simt][launch]") {
  CHECK(error_of("void f() {\n 3<<<1, 1>>>();\n}") ==
        "k.cu:2: cannot tell which kernel is launched here: put the expression in parentheses");
  CHECK(error_of("void f() { k<<<1, 1>>>; }") ==
        "k.cu:1: this launch has a <<< without >>>( behind it");
  CHECK(error_of("void f() { k<<< >>>(); }") ==
        "k.cu:1: this launch needs a grid and a block: <<<grid, block>>>");
}

TEST_CASE("launches from device code are refused", "[simt][launch]") {
  const std::string message =
      ": a launch from device code (dynamic parallelism) is outside the simulator's subset: launch "
      "this kernel from the host";
  CHECK(error_of("__global__ void k() {\n  if (1) { k<<<1, 1>>>(); }\n}") == "k.cu:2" + message);
  CHECK(error_of("struct S {\n __device__ S() : a{1} {\n k<<<1, 1>>>(); } int a; };") ==
        "k.cu:3" + message);
  CHECK(error_of("auto f = [] __device__ () {\n k<<<1, 1>>>(); };") == "k.cu:2" + message);
  CHECK(error_of("__host__ __device__ void f() { k<<<1, 1>>>(); }") == "(translated)");
  CHECK(error_of("__device__ int f() { return 1; } void g() { k<<<1, 1>>>(); }") == "(translated)");
}

TEST_CASE("library copies in device code become counted ones", "[simt][device]") {
  const auto body = [](const std::string& source) {
    const std::string out = translated("__device__ void f() { " + source + " }");
    return out.substr(11, out.size() - 13);
  };
  CHECK(body("memcpy(a, b, 4);") == "::simt::device_memcpy(a, b, 4);");
  CHECK(body("::memset(a, 0, n);") == "::simt::device_memset(a, 0, n);");
  CHECK(body("p.memcpy(a); q->memset(b); mine::memcpy(c);") ==
        "p.memcpy(a); q->memset(b); mine::memcpy(c);");
  CHECK(translated("void f() { memcpy(a, b, 4); }") ==
        "void f() { ::simt::host_memcpy(a, b, 4); }");
}

// ---- Shared memory --------------------------------------------------------------------------------

TEST_CASE("__shared__ variables become thread-local ones", "[simt][shared]") {
  const auto body = [](const std::string& source) {
    const std::string out = translated("__device__ void f() { " + source + " }");
    const std::string text = out.substr(11, out.size() - 13);
    // Behind the variables lies a guard, so that one past an array's end is not its neighbour.
    const std::string guard =
        " __constinit static thread_local __attribute__((used)) char simt_guard_0[64];";
    REQUIRE(text.size() > guard.size());
    CHECK(text.substr(text.size() - guard.size()) == guard);
    return text.substr(0, text.size() - guard.size());
  };
  const std::string storage = "__constinit static thread_local ";
  CHECK(body("__shared__ float x[3], y;") == storage +
                                                 "float x[3] __attribute__((aligned("
                                                 "::simt::shared_alignment<float[ 3 ]>()))), y;");
  CHECK(body("static __shared__ float x;") == storage + "float x;");
  CHECK(body("__shared__ static float x;") == storage + "float x;");
  CHECK(body("volatile __shared__ float x;") == storage + "volatile float x;");
  CHECK(body("float __shared__ x[2];") ==
        storage + "float x[2] __attribute__((aligned(::simt::shared_alignment<float[ 2 ]>())));");
  CHECK(body("__shared__ alignas(16) float x;") == "alignas(16) " + storage + "float x;");
  CHECK(body("__device__ __shared__ float x;") == storage + "float x;");
  CHECK(body("if (a) g(); __shared__ A<(1 > 0)>::B x[1][2];") ==
        "if (a) g(); " + storage +
            "A<(1 > 0)>::B x[1][2] __attribute__((aligned("
            "::simt::shared_alignment<A < ( 1 > 0 ) > :: B[ 1 ][ 2 ]>())));");
  // A > in the bounds ends no list of template arguments.
  CHECK(body("__shared__ float x[2][n > 4 ? n : 4];") ==
        storage +
            "float x[2][n > 4 ? n : 4] __attribute__((aligned("
            "::simt::shared_alignment<float[ 2 ][(n > 4 ? n : 4)]>())));");
}

TEST_CASE("__shared__ variables of all kinds work", "[simt][shared]") {
  check_program(R"cu(
template <typename T, int N> struct Array { T v[N]; };
struct Vector {
  float x, y;
  Vector() = default;
  __device__ Vector(float a, float b) : x(a), y(b) {}
};
union Word { int i; float f; };
namespace ns { typedef unsigned int uint; }
__device__ int* counter() { static __shared__ int count[2]; return count; }
template <typename T> __device__ T* of_template() { __shared__ T own[4]; return own; }
template <typename T, int N> __global__ void typed(T* out) {
  constexpr int M = N + 1;
  __shared__ T tile[N][M];
  __shared__ Array<Array<T, N>, M> nested, *pointer;
  volatile __shared__ T shy;
  __shared__ volatile T shy_too[N], shy_three;
  tile[1][2] = T(7);
  pointer = &nested;
  pointer->v[M - 1].v[N - 1] = tile[1][2];
  shy_three = nested.v[M - 1].v[N - 1];
  shy_too[0] = shy_three;
  shy = shy_too[0];
  of_template<T>()[0] = shy;
  out[0] = of_template<T>()[0];
  static_assert(sizeof tile == N * M * sizeof(T));
}
__global__ void kinds(int* out) {
  __shared__ struct { int a; float b[2]; } anonymous, array[2];
  __shared__ union { int i; float f; } either;
  __shared__ struct Named { int a; } named;
  __shared__ enum Colour { red, green } colour;
  __shared__ Vector vectors[2];
  __shared__ Word word;
  __shared__ struct Named later[2];
  __shared__ alignas(32) unsigned char aligned[32];
  alignas(64) __shared__ unsigned char more_aligned[3];
  __shared__ __align__(128) double most_aligned[2];
  __attribute__((aligned(16))) __shared__ char by_attribute;
  __shared__ unsigned long long int wide;
  float __shared__ type_ahead[2];
  __shared__ ns::uint bits;
  __shared__ int *pointers[2], (*row)[2], plain;
  for (int i = 0; i < 2; ++i) { __shared__ int in_block; in_block = i; out[0] = in_block; }
  int matrix[1][2] = {{3, 4}};
  auto in_lambda = [&] { __shared__ int own; own = 5; return own; };
  anonymous.a = 1; array[1].b[1] = 2; either.f = 0; named.a = 3; colour = green;
  vectors[1] = Vector(1, 2); word.i = 0; later[0].a = 1; type_ahead[1] = 2; bits = 1; wide = 1;
  by_attribute = 1; plain = 9; pointers[0] = &plain; row = matrix;
  counter()[1] = 6;
  out[1] = anonymous.a + int(array[1].b[1]) + either.i + named.a + colour + int(vectors[1].y) +
           word.i + later[0].a + int(type_ahead[1]) + int(bits) + int(wide) + by_attribute;
  out[2] = *pointers[0] + (*row)[1] + in_lambda() + counter()[1];
  out[3] = reinterpret_cast<unsigned long>(aligned) % 32 == 0 &&
           reinterpret_cast<unsigned long>(more_aligned) % 64 == 0 &&
           reinterpret_cast<unsigned long>(most_aligned) % 128 == 0;
}
int main() {
  int v[4] = {};
  float f = 0;
  typed<int, 3><<<1, 1>>>(v); EXPECT(v[0] == 7);
  typed<float, 5><<<1, 1>>>(&f); EXPECT(f == 7);
  kinds<<<1, 1>>>(v);
  EXPECT(v[0] == 1 && v[1] == 15 && v[2] == 24 && v[3] == 1);
  return failures;
}
)cu");
}

TEST_CASE("a __shared__ variable is per thread of the host, and without a guard",
          "[simt][shared]") {
  Program program(R"cu(
struct Vector { float x, y; Vector() = default; Vector(const Vector& o) : x(o.x), y(o.y) {} };
__global__ void k(float* out) { __shared__ Vector tile[4]; tile[0].x = *out; *out = tile[0].x; }
)cu");
  REQUIRE(program.compile(true, "-S").status == 0);
  const std::string assembly = program.folder().read("test.o");
  CHECK_THAT(assembly, contains(".tbss"));
  CHECK_THAT(assembly, contains("4tile"));
  CHECK_THAT(assembly, !contains("_ZGVZ"));
}

TEST_CASE("__shared__ in places where CUDA has none is refused", "[simt][shared]") {
  CHECK(
      error_of("__global__ void k() {\n __shared__ int a,\n n = 3; }") ==
      "k.cu:3: __shared__ variable 'n' cannot have an initialiser: let one thread assign it, then "
      "call __syncthreads()");
  CHECK_THAT(error_of("__global__ void k() { __shared__ S s{}; }"), contains("initialiser"));
  CHECK_THAT(error_of("__global__ void k() { __shared__ int s(3); }"), contains("initialiser"));
  CHECK(
      error_of("\n__shared__ int a[3];") ==
      "k.cu:2: a __shared__ variable at namespace scope is outside the simulator's subset: declare "
      "it in the kernel");
  CHECK_THAT(error_of("struct S { __shared__ int a; };"), contains("data member"));
}

TEST_CASE("dynamic shared memory of all kinds is found", "[simt][shared]") {
  check_program(R"cu(
typedef unsigned char byte;
extern __shared__ float of_file[];
namespace ns { extern __align__(16) __shared__ int of_namespace[][4]; }
struct Pair { int a, b; };
template <typename T> struct Memory {
  __device__ operator T*() { extern __shared__ int raw[]; return (T*)raw; }
};
__global__ void plain(int* out) { extern __shared__ int s[]; s[3] = 4; out[0] = s[3]; }
__global__ void orders(int* out) {
  __shared__ extern int first[];
  volatile extern __shared__ int second[];
  extern volatile __shared__ unsigned long long int third[];
  extern __shared__ __align__(16) byte fourth[];
  extern __shared__ alignas(16) byte fifth[];
  alignas(8) extern __shared__ byte sixth[];
  extern __shared__ __attribute__((aligned(32))) struct Pair seventh[];
  extern __shared__ float rows[][8], flat[], cubes[][2][3], *pointers[], unused[];
  first[0] = 1; second[1] = 2; third[1] = 3; fourth[16] = 4; fifth[17] = 5; sixth[18] = 6;
  seventh[3].a = 7; rows[1][1] = 8; cubes[2][1][2] = 9;
  pointers[10] = &rows[1][1];
  out[0] = first[0] + second[1] + int(third[1]) + fourth[16] + fifth[17] + sixth[18] + seventh[3].a;
  out[1] = int(flat[9]) + int(cubes[2][1][2]) + int(*pointers[10]);
  out[2] = sizeof(rows[0]) == 32 && sizeof(cubes[0]) == 24;
  const float* cast = reinterpret_cast<float*>(fourth);
  out[3] = cast == flat;
}
template <typename T> __global__ void typed(T* out) {
  extern __shared__ T s[];
  T* half = s + 2;
  half[0] = *out;
  out[0] = *reinterpret_cast<T*>(&s[2]);
}
__device__ int read(int i) { return (int)of_file[i]; }
__device__ int shadowed(float* of_file) { return (int)of_file[0]; }
__global__ void in_file(int* out, float* mine) {
  of_file[threadIdx.x] = threadIdx.x + 1;
  float* casted = (float*)of_file;
  int* as_int = reinterpret_cast<int*>(of_file);
  out[threadIdx.x] = read(threadIdx.x) + shadowed(mine) + (casted == of_file) + (as_int != nullptr);
  if (threadIdx.x == 0) { float of_file = 2; out[3] = int(of_file); }
}
namespace ns {
__global__ void rows(int* out) { of_namespace[1][2] = 3; out[0] = (*(of_namespace + 1))[2]; }
}
template <typename T> __global__ void by_class(T* out) { T* s = Memory<T>(); s[0] = 5; out[0] = s[0]; }
int main() {
  int v[4] = {};
  float f[1] = {10};
  plain<<<1, 1, 64>>>(v); EXPECT(v[0] == 4 && simt::last_shared == 64);
  orders<<<1, 1, 256>>>(v); EXPECT(v[0] == 28 && v[1] == 25 && v[2] == 1 && v[3] == 1);
  typed<<<1, 1>>>(f); EXPECT(f[0] == 10);
  in_file<<<1, 3, 64>>>(v, f); EXPECT(v[0] == 13 && v[2] == 15 && v[3] == 2);
  ns::rows<<<1, 1>>>(v); EXPECT(v[0] == 3);
  by_class<<<1, 1>>>(f); EXPECT(f[0] == 5);
  return failures;
}
)cu");
}

TEST_CASE("dynamic shared memory that is no open array is refused", "[simt][shared]") {
  CHECK(error_of("__global__ void k() {\n extern __shared__ int n; }") ==
        "k.cu:2: extern __shared__ 'n' must be an array without a size, such as extern __shared__ "
        "float n[];");
}

// ---- Constant and global variables ----------------------------------------------------------------

TEST_CASE("__constant__ and __device__ variables get their section and a guard",
          "[simt][symbols]") {
  const std::string constant = "static __attribute__((section(\"simt_constant\"), used)) ";
  const std::string device =
      "static __attribute__((section(\"simt_device\"), used, aligned(256))) ";
  const std::string behind = "static __attribute__((section(\"simt_device\"), used)) ";
  const auto guard = [](const std::string& storage) {
    return " " + storage + "char simt_guard_0[64];";
  };
  CHECK(translated("__constant__ float M[9];") == constant + "float M[9];" + guard(constant));
  CHECK(translated("__constant__ const float M[] = {1, 2};") ==
        constant + "float M[] = {1, 2};" + guard(constant));
  CHECK(translated("static const __constant__ A<const int> M;") ==
        constant + "A<const int> M;" + guard(constant));
  CHECK(translated("__constant__ const char* const names[] = {\"a\"};") ==
        constant + "const char* names[] = {\"a\"};" + guard(constant));
  CHECK(translated("__constant__ alignas(16) float M[4];") ==
        "alignas(16) " + constant + "float M[4];" + guard(constant));
  CHECK(translated("extern \"C\" __constant__ float M[4];") ==
        constant + "float M[4];" + guard(constant));
  CHECK(translated("__device__ int count = 0, more[2];") ==
        device + "int count = 0, more[2];" + guard(behind));
  CHECK(translated("int __device__ count(3);") == device + "int count(3);" + guard(behind));
  const std::string managed = " " + behind + "char simt_guard_managed_0[64];";
  CHECK(translated("__device__ __managed__ int x;") == device + "int x;" + managed);
  CHECK(translated("__managed__ int x;") == device + "int x;" + managed);
  CHECK(translated("__device__ float (*const op)(float, float) = add;") ==
        device + "float (* op)(float, float) = add;" + guard(behind));
  CHECK(translated("__device__ void f() { static int n; }") ==
        "void f() { " + device + "int n;" + guard(behind) + " }");
}

TEST_CASE("the heap of device code", "[simt][symbols]") {
  const auto in_device = [](const std::string& code) {
    return translated("__device__ void f(P* p) { " + code + " }");
  };
  const auto made = [](const std::string& code) { return "void f(P* p) { " + code + " }"; };
  CHECK_THAT(
      in_device("p = (P*)malloc(4); free(p);"),
      Catch::Matchers::EndsWith(made("p = (P*)::simt::device_malloc(4); ::simt::device_free(p);")));
  CHECK_THAT(in_device("p = new P; delete p;"),
             Catch::Matchers::EndsWith(made("p = new (::simt::device_heap) P; "
                                            "::simt::DeviceDelete<false>{} ->* p;")));
  CHECK_THAT(in_device("p = new P[n]; delete[] p;"),
             Catch::Matchers::EndsWith(made("p = new (::simt::device_heap) P[n]; "
                                            "::simt::DeviceDelete<true>{} ->* p;")));
  CHECK_THAT(in_device("new (p) P; q.free(p); q->malloc(1);"),
             Catch::Matchers::EndsWith(made("new (p) P; q.free(p); q->malloc(1);")));
  CHECK(translated("void f() { free(malloc(4)); delete new P; }") ==
        "void f() { free(malloc(4)); delete new P; }");
}

TEST_CASE("extern and constant-expression variables get no section", "[simt][symbols]") {
  CHECK(translated("extern __constant__ float M[9];") == "extern float M[9];");
  CHECK(translated("extern __constant__ const float M[9];") == "extern float M[9];");
  CHECK(translated("__constant__ const int N = 3;") == "const int N = 3;");
  CHECK(translated("__device__ static constexpr float pi = 3.14f;") ==
        "static constexpr float pi = 3.14f;");
  // The definition of a variable declared extern must stay the same variable.
  CHECK_THAT(
      translated("extern __device__ int n; __device__ int n;"),
      contains(
          "extern int n; __attribute__((section(\"simt_device\"), used, aligned(256))) int n;"));
  CHECK(translated("__device__ void f() { static const int t[] = {1, 2}; }") ==
        "void f() { static const int t[] = {1, 2}; }");
}

TEST_CASE("variables of all kinds lie in their sections", "[simt][symbols]") {
  check_program(R"cu(
extern char __start_simt_constant[], __stop_simt_constant[];
extern char __start_simt_device[], __stop_simt_device[];
typedef unsigned long Address;
template <typename T> bool constant(T& v) {
  return Address(&v) >= Address(__start_simt_constant) &&
         Address(&v) + sizeof v + 64 <= Address(__stop_simt_constant);
}
template <typename T> __host__ __device__ bool device(T& v) {
  return Address(&v) >= Address(__start_simt_device) &&
         Address(&v) + sizeof v + 64 <= Address(__stop_simt_device);
}
struct Params { int a; float b[2]; };
namespace std2 { template <typename T, int N> struct array { T v[N]; }; }
__device__ float twice(float x) { return 2 * x; }
typedef float (*Function)(float);
__constant__ float bare[9];
__constant__ const float filled[3] = {1, 2, 3};
const __constant__ float ahead[] = {1, 2};
static __constant__ int a = 1, b[2] = {1, 2}, c;
__constant__ constexpr float expressions[2] = {1, 2};
__constant__ const unsigned long long int big[1] = {1};
__constant__ Params params = {1, {2, 3}};
__constant__ struct { int x, y; } anonymous = {1, 2};
__constant__ std2::array<std2::array<const int, 2>, 3> nested = {};
__constant__ const float* pointer;
__constant__ const float* const fixed_pointer = filled;
__constant__ const char* const words[] = {"a", "b"};
__constant__ Function function = twice;
__constant__ float (*function_pointer)(float) = &twice;
__constant__ float (*const functions[2])(float) = {twice, twice};
__constant__ alignas(32) float aligned[3];
__constant__ int matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
namespace ns { __constant__ int inner = 4; namespace { __device__ int hidden; } }
namespace ns { inline __constant__ int inlined = 4; }
extern "C" { __constant__ int c_constant; }
__device__ int counter, *counters[2];
__device__ volatile int flag = 3;
__device__ __managed__ int managed = 5;
__managed__ float managed_too[3];
extern __device__ int declared;
__device__ int declared = 6;
__device__ const int size = 4;
__device__ constexpr int more = size + 1;
struct Box {
  int v[more];
  __host__ __device__ Box() : v{1, 2} {}
  __device__ ~Box();
  __device__ explicit operator bool() const { return v[0] != 0; }
  __host__ __device__ int& operator[](int i) { return v[i]; }
  __device__ Box& operator=(const Box&) = default;
  template <typename T> __device__ static T of(T x) { return x; }
  __device__ int operator()(int x) const;
  __device__ friend bool operator==(const Box& p, const Box& q) { return p.v[0] == q.v[0]; }
};
__device__ Box::~Box() {}
__device__ int Box::operator()(int x) const { return v[0] + x; }
__device__ Function get() { return twice; }
__device__ float (*get_pointer(int))(float) { return twice; }
__device__ auto trailing(int x) -> decltype(x + 1) { return x + 1; }
__host__ __device__ constexpr std2::array<int, 2> make(int x) { return {x, x + 1}; }
template <typename T> __device__ __forceinline__ T square(T x) { return x * x; }
template <typename T, typename U = decltype(T{} + 1)>
__noinline__ __device__ U plus(T x) { return x + 1; }
__device__ int defaulted(Params p = {1, {2, 3}}, int* = nullptr) { return p.a; }
template __device__ int square<int>(int);
template <> __device__ double square<double>(double x) { return x; }
struct Tree { int root; __device__ int leaf() { return root; } };
__global__ void use(int* out) {
  static int calls;
  static __device__ int marked = 10;
  ++calls;
  ++marked;
  Box box;
  out[0] = calls + marked + box[1] + (box ? 1 : 0) + Box::of(1) + box(1);
  out[1] = square(3) + plus(1) + int(get()(2)) + int(get_pointer(1)(1)) + trailing(1) + make(1).v[1];
  out[2] = defaulted() + int(square(2.0)) + (device(calls) && device(marked)) + Tree{3}.leaf();
  counter += int(bare[0]) + more;
  int local[size] = {};
  out[3] = local[3] + counter + int(expressions[1]);
}
int main() {
  EXPECT(constant(bare) && constant(filled) && constant(ahead) && constant(a) && constant(b));
  EXPECT(constant(c) && constant(expressions) && constant(big) && constant(params));
  EXPECT(constant(anonymous) && constant(nested) && constant(pointer) && constant(fixed_pointer));
  EXPECT(constant(words) && constant(function) && constant(function_pointer) && constant(functions));
  EXPECT(constant(aligned) && constant(matrix) && constant(ns::inner) && constant(ns::inlined));
  EXPECT(constant(c_constant));
  EXPECT(device(counter) && device(counters) && device(flag) && device(managed));
  EXPECT(device(managed_too) && device(declared) && device(ns::hidden));
  EXPECT(Address(aligned) % 32 == 0);
  filled[1] = 9;  // writable, and what a host copies in is read back
  matrix[1][1] = 7;
  EXPECT(filled[1] == 9 && matrix[1][1] == 7);
  int v[4] = {};
  use<<<1, 2>>>(v);
  EXPECT(v[0] == 2 + 12 + 2 + 1 + 1 + 2);
  EXPECT(v[1] == 9 + 2 + 4 + 2 + 2 + 2);
  EXPECT(v[2] == 1 + 2 + 1 + 3);
  EXPECT(v[3] == 2 * more + 2);
  return failures;
}
)cu");
}

TEST_CASE("device variables without a place are refused", "[simt][symbols]") {
  CHECK(error_of("struct S {\n static __device__ int x; };") ==
        "k.cu:2: a data member cannot be __device__: declare the variable at namespace scope");
  CHECK_THAT(error_of("template <typename T>\n__constant__ T x;"), contains("k.cu:2: a static or"));
  CHECK_THAT(error_of("template <typename T> __global__ void k() {\n static int x; }"),
             contains("k.cu:2: a static or __device__ variable inside a template is outside"));
  CHECK_THAT(error_of("__constant__ const float a[2], *p;"),
             contains("a declaration of their own"));
}

// ---- Functions and what else has to go ------------------------------------------------------------

TEST_CASE("the keywords of functions vanish, and nothing else", "[simt][functions]") {
  CHECK(translated("__host__ __device__ int f(int x) { return x; }") ==
        "int f(int x) { return x; }");
  CHECK(translated("template <typename T> __device__ T f();") == "template <typename T> T f();");
  CHECK(translated("struct S { __device__ S(); __host__ __device__ ~S(); };") ==
        "struct S { S(); ~S(); };");
  CHECK(translated("__noinline__ __device__ void f() __attribute__((__noinline__));") ==
        "__attribute__((noinline)) void f() __attribute__((__noinline__));");
  CHECK(translated("auto f = [] __device__ (int x) { return x; };") ==
        "auto f = [] (int x) { return x; };");
  CHECK(translated("__device__ __align__(8) float x(float);") ==
        "__attribute__((aligned(8))) float x(float);");
}

TEST_CASE("pragmas for nvcc go, and take no line with them", "[simt][functions]") {
  const std::string out = translate(
      "#pragma unroll\nfor\n#pragma unroll 4\n;\n#pragma omp simd\n#pragma nv_diag_suppress 177\nx",
      "k.cu");
  CHECK(squeezed(out) == "for ; #pragma omp simd x");
  CHECK(std::count(out.begin(), out.end(), '\n') == 6);
}

TEST_CASE("inline assembly in device code is refused, but for a few instructions",
          "[simt][functions]") {
  const std::string message =
      ": inline assembly in device code is outside the simulator's subset: write the step in C++ "
      "or with an intrinsic function (it knows mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32, "
      "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32, cvt.rna.tf32.f32, "
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16, ldmatrix.sync.aligned.m8n8.x2.shared.b16 and "
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16, one to an asm statement)";
  CHECK(error_of("__global__ void k() {\n asm volatile(\"bar.sync 0;\"); }") == "k.cu:2" + message);
  CHECK(error_of("__device__ int f() { int x;\n\n __asm__(\"mov %0, 1;\" : \"=r\"(x)); }") ==
        "k.cu:3" + message);
  CHECK(error_of("__device__ void f(int& x, float y) {\n asm(\"cvt.rna.tf32.f32 %0, %1;\"\n"
                 "\"mov.b32 %0, %0;\" : \"=r\"(x) : \"f\"(y)); }") == "k.cu:2" + message);
  CHECK(error_of("__device__ void f() { asm volatile(\"\" ::: \"memory\"); }") == "(translated)");
  CHECK(error_of("void f() { asm volatile(\"nop\"); }") == "(translated)");
}

TEST_CASE("a known instruction becomes a call, its operands where they stand",
          "[simt][functions]") {
  const std::string out = translate(
      "__device__ void f(unsigned& x, float* y) {\n"
      "  asm volatile(\"cvt.rna.tf32.f32 \"\n"
      "      \"%0, %1;\\n\\t\"\n"
      "      : \"=r\"(x) : \"f\"(y[g(1, 2)])\n"
      "      : \"memory\");\n"
      "}",
      "k.cu");
  CHECK_THAT(squeezed(out), contains("::simt::ptx::cvt_rna_tf32<0, 1> ( ::simt::ptx::out_r(x) , "
                                     "::simt::ptx::in_f(y[g(1, 2)]) );"));
  CHECK(std::count(out.begin(), out.end(), '\n') == 5);
  // Only read, in another order, or read and written.
  CHECK_THAT(squeezed(translate("__device__ void f(unsigned& x, float y) { asm(\"{cvt.rna.tf32.f32 "
                                "%1, %0;}\" : \"+f\"(y), \"=&r\"(x)); }",
                                "k.cu")),
             contains("cvt_rna_tf32<1, 0>( ::simt::ptx::out_f(y), ::simt::ptx::out_r(x))"));
}

TEST_CASE("operands that a known instruction does not take are refused", "[simt][functions]") {
  const std::string statement =
      GENERATE("asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=f\"(y) : \"f\"(y));",
               "asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(x), \"=f\"(y));",
               "asm(\"cvt.rna.tf32.f32 %0, %1;\" :: \"r\"(x), \"f\"(y));",
               "asm(\"cvt.rna.tf32.f32 %0, %2;\" : \"=r\"(x) : \"f\"(y));",
               "asm(\"cvt.rna.tf32.f32 {%0}, %1;\" : \"=r\"(x) : \"f\"(y));",
               "asm(\"cvt.rna.tf32.f32 %0, %1\" : \"=r\"(x) : \"f\"(y));",
               "asm(\"cvt.rna.tf32.f32 %0;\" : \"=r\"(x));");
  INFO(statement);
  CHECK(error_of("__device__ void f(unsigned& x, float y) {\n " + statement + " }") ==
        "k.cu:2: cvt.rna.tf32.f32 takes the operands \"=r\", \"f\", as %0, %1, ... with these "
        "constraints, and a semicolon");
}

TEST_CASE("ldmatrix takes an address in brackets", "[simt][functions]") {
  const std::string kernel =
      "__device__ void f(unsigned& x, unsigned y) {\n asm(\"ldmatrix.sync.aligned.m8n8.x2.shared."
      "b16 {%0, %0}, ";
  CHECK_THAT(squeezed(translate(kernel + "[%1];\" : \"=r\"(x) : \"r\"(y)); }", "k.cu")),
             contains("::simt::ptx::ldmatrix<0, 0, 1>( ::simt::ptx::out_r(x) "));
  CHECK_THAT(
      error_of(kernel + "%1;\" : \"=r\"(x) : \"r\"(y)); }"),
      contains("k.cu:2: ldmatrix.sync.aligned.m8n8.x2.shared.b16 takes the operands {2 x \"=r\"}, "
               "[\"r\"], as %0"));
}

TEST_CASE("an mma's operands are refused where they are not its own", "[simt][functions]") {
  const auto error = [](const std::string& b, const std::string& operand) {
    return error_of(
        "__device__ void f(float& d, unsigned a) {\n asm(\"mma.sync.aligned.m16n8k4.row.col.f32."
        "tf32.tf32.f32 {%0, %0, %0, %0}, {%1, %1}, " +
        b + ", {%0, %0, %0, %0};\" : \"+f\"(d) : \"r\"(a)" + operand + "); }");
  };
  const std::string message =
      "k.cu:2: mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 takes the operands {4 x \"=f\"}, "
      "{2 x \"r\"}, {1 x \"r\"}, {4 x \"f\"}, as %0, %1, ... with these constraints, and a "
      "semicolon";
  CHECK(error("{%1}", "") == "(translated)");
  CHECK(error("%1", "") == message);
  CHECK(error("{%0}", "") == message);
  CHECK(error("{%1, %1}", "") == message);
  CHECK_THAT(error("{%1}", ", \"r\"(a)"),
             contains("has an operand %2 that mma.sync.aligned.m16n8k4"));
}

TEST_CASE("what nvcc refuses is refused, with the line and a remedy", "[simt][refused]") {
  std::ifstream in(SIMT_VERDICTS "/refused.txt");
  REQUIRE(in);
  std::string line, wanted, program;
  int programs = 0;
  const auto judge = [&] {
    INFO(program);
    CHECK_THAT(error_of(program), contains("k.cu:" + wanted));
    ++programs;
    wanted.clear();
    program.clear();
  };
  while (std::getline(in, line)) {
    if (line.starts_with("# ")) continue;
    if (line == "----") {
      judge();
    } else if (wanted.empty()) {
      wanted = line.ends_with(" (*)") ? line.substr(0, line.size() - 4) : line;
    } else {
      program += line + "\n";
    }
  }
  judge();
  CHECK(programs >= 29);
}

TEST_CASE("names of the host are no concern of code that uses others", "[simt][refused]") {
  // Nothing of the host's is used in device code: the text stays as it was.
  CHECK(translated("float f(float x) { return x; } __device__ float g(float x) { return x; }") ==
        "float f(float x) { return x; } float g(float x) { return x; }");
  const auto marked = [](const std::string& source) {
    return translate(source, "k.cu").find("deprecated") != std::string::npos;
  };
  CHECK(marked("int f(int x) { return x; }\n__device__ int g(int x) { return f(x); }"));
  CHECK_FALSE(
      marked("__device__ int f(int);\nint f(int x) { return x; }\n"
             "__device__ int g(int x) { return f(x); }"));
  CHECK_FALSE(marked("int a[3];\n__device__ int g() { return sizeof(a); }"));
  CHECK_FALSE(marked("struct S { S() = default; };\n__device__ void g() { S s; }"));
  CHECK_FALSE(marked("const int n = 3;\n__device__ int g() { return n; }"));
  // Constexpr functions are the host's, but for an option of nvcc's.
  const std::string constant =
      "constexpr int f(int x) { return x; }\n__device__ int g(int x) { return f(x); }";
  CHECK(marked(constant));
  CHECK(translate(constant, "k.cu", true).find("deprecated") == std::string::npos);
}

TEST_CASE("a kernel says what clusters its blocks form", "[simt][functions]") {
  CHECK_THAT(translate("__global__ void __cluster_dims__(2, 1, 1) k() {}", "k.cu", false),
             contains("launch_bounds{static_cast<unsigned>(0)}.in_clusters(2 , 1 , 1)"));
  CHECK_THAT(translate("template <int n>\n__global__ void __cluster_dims__(n)\n"
                       "__launch_bounds__(n * 32) k() {}",
                       "k.cu", false),
             contains("launch_bounds{static_cast<unsigned>(n * 32)}.in_clusters(n)"));
  CHECK(error_of("__global__ void\n__block_size__((32, 1, 1), (2, 1, 1)) k() {}") ==
        "k.cu:2: __block_size__ is outside the simulator's subset: say __cluster_dims__");
}

TEST_CASE("a missing bracket is reported where it was opened", "[simt][lines]") {
  CHECK(error_of("void f() {\n if (x) {\n}\nvoid g() {}\n") == "k.cu:1: this '{' has no partner");
  CHECK(error_of("void f() {\n g(1;\n}") == "k.cu:2: this '(' has no partner");
  CHECK(error_of("void f() {}\n}") == "k.cu:2: this '}' has no partner");
}

// ---- The file as a whole --------------------------------------------------------------------------

TEST_CASE("errors name the file that the line came from", "[simt][lines]") {
  CHECK_THAT(error_of("# 1 \"main.cu\"\nint a;\n# 40 \"lib/kernels.cuh\" 1\n\n__shared__ int x;\n"),
             contains("lib/kernels.cuh:41: "));
}

TEST_CASE("headers and macros that hold kernels and launches are translated", "[simt][lines]") {
  Program program(R"cu(
#include "kernels.cuh"
MAKE_KERNEL(made, 2)
int main() {
  int v[2] = {};
  START(made, v);
  in_header(v);
  EXPECT(v[0] == 3 && v[1] == 3);
  const int line = WHERE(v,
                         1);
  EXPECT(line == 9);
  return failures;
}
)cu");
  program.folder().write("kernels.cuh", R"cu(
#pragma once
#define MAKE_KERNEL(name, value) \
  __global__ void name(int* out) { \
    __shared__ int s[1]; \
    s[0] = value; \
    out[threadIdx.x] += s[0]; \
  }
#define START(kernel, ...) do { kernel<<<1, 2>>>(__VA_ARGS__); } while (0)
#define WHERE(p, n) (add<<<n, 1>>>(p, 0), __LINE__)
MAKE_KERNEL(one_more, 1)
__global__ void add(int* p, int n) { *p += n; }
inline void in_header(int* v) { START(one_more, v); }
)cu");
  const Outcome outcome = program.run();
  INFO(outcome.output);
  CHECK(outcome.status == 0);
  CHECK(outcome.output.empty());
}

TEST_CASE("the translation compiles as ordinary and as preprocessed C++", "[simt][lines]") {
  // With the standard library in it, and warnings on. Both must name the same lines.
  Program program(R"cu(
#include <iostream>
#include <memory>
#include <string>
#include <vector>
__constant__ const float mask[3] = {1, 2, 3};
template <typename T> __global__ void k(T* out, int n) {
  __shared__ T tile[32];
#pragma unroll
  for (int i = 0; i < n; ++i) { tile[i] = T(i) * mask[i % 3]; out[i] = tile[i]; }
}
int main() {
  std::vector<float> out(3);
  k<float><<<1,
             1>>>(out.data(), 3);
  auto owner = std::make_shared<std::string>("done");
  std::cout << *owner << '\n';
}
)cu");
  for (const bool as_preprocessed : {true, false}) {
    const Outcome outcome = program.compile(as_preprocessed);
    INFO(outcome.output);
    CHECK(outcome.status == 0);
    CHECK(outcome.output.empty());
  }
}

TEST_CASE("translating the headers of the standard library changes nothing", "[simt][lines]") {
  Program program("#include <algorithm>\n#include <iostream>\n#include <map>\n#include <thread>\n");
  const std::string out = program.translated();
  CHECK(out.size() > 100000);
  CHECK(out == program.folder().read("test.ii"));
}

// ---- Declarations ---------------------------------------------------------------------------------

TEST_CASE("variables and functions are told apart", "[simt][declaration]") {
  const auto kind = [](const std::string& source) {
    const simt::TokenStream tokens(source, "k.cu");
    return simt::parse_declaration(tokens, 0).kind;
  };
  using simt::DeclarationKind;
  for (const char* variable : {"int x;",
                               "unsigned long x = 3, *y;",
                               "A::B<int, (1 > 2)>::C x[3][4];",
                               "int x(3);",
                               "float (*f)(int, int);",
                               "float (*f[3])(int) = {a, b, c};",
                               "int (&r)[3] = a;",
                               "A x{1, 2};",
                               "struct { int a; } x, y;",
                               "struct A x;",
                               "enum E : int { a, b } x;",
                               "decltype(a + b) x;",
                               "int A::* x = &A::y;",
                               "const volatile int* const* x;",
                               "A<B<C>> x = f<int, 2>(3), y;",
                               "alignas(16) static int x;",
                               "[[maybe_unused]] int x;",
                               "template <class T> T x = T(1);",
                               "int A::x = 3;",
                               "auto x = [](int a) { return a; };"}) {
    INFO(variable);
    CHECK(kind(variable) == DeclarationKind::variable);
  }
  for (const char* function : {"int f();",
                               "int f(int x);",
                               "void f() {}",
                               "A::A(int x) : a(x) {}",
                               "A(int);",
                               "~A();",
                               "A::~A() {}",
                               "operator bool() const;",
                               "A& operator=(const A&);",
                               "A<int> operator()(int);",
                               "int (f)(int);",
                               "float (*f(int))(float);",
                               "template <class T> auto f(T x) -> decltype(x);",
                               "template <> int f<int>(int);",
                               "explicit(true) A(int);",
                               "const A* f(A a = {1}) noexcept;",
                               "template <class T> requires C<T> && (N > 3) T f(T);",
                               "std::enable_if_t<(1 > 0), int> f(A);",
                               "virtual void f() = 0;",
                               "Concept auto f(Concept auto x);",
                               "extern \"C\" int f(int);"}) {
    INFO(function);
    CHECK(kind(function) == DeclarationKind::function);
  }
}
