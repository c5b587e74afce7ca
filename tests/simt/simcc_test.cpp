// The simcc driver from outside: its command line, its files, its exit status, and that a program
// made of several kinds of input runs. SIMCC_PATH is the simcc of this build.
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "tests/catch.hpp"

using halo::test::contains;

namespace {

namespace fs = std::filesystem;

struct Outcome {
  int status = -1;
  std::string out;
  std::string err;
  std::size_t error_lines() const {
    return static_cast<std::size_t>(std::count(err.begin(), err.end(), '\n'));
  }
};

// A folder with a space in its name, in which commands run; TMPDIR is a folder in it.
class Workbench {
 public:
  Workbench() {
    const char* parent = std::getenv("TMPDIR");
    std::string name = std::string(parent != nullptr ? parent : "/tmp") + "/simcc test-XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
    fs::create_directory(path_ / "temporary");
  }
  ~Workbench() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  fs::path path(const std::string& name) const { return path_ / name; }
  bool exists(const std::string& name) const { return fs::exists(path(name)); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream in(path(name));
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

  Outcome run(const std::string& command) const {
    const std::string shell = "cd '" + path_.string() +
                              "' && export TMPDIR=\"$PWD/temporary\" && " + command +
                              " > out.txt 2> err.txt < /dev/null";
    const int status = std::system(shell.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 255, read("out.txt"), read("err.txt")};
  }
  Outcome simcc(const std::string& arguments) const {
    const Outcome outcome = run("'" SIMCC_PATH "' " + arguments);
    INFO(outcome.err);
    CHECK(fs::is_empty(path("temporary")));  // whatever happened
    return outcome;
  }

 private:
  fs::path path_;
};

const char* const kDouble = R"cu(#include "double.hpp"
__global__ void twice(int* p) { p[threadIdx.x] *= 2; }
int twice_on_device(int x) {
  int* p;
  cudaMalloc(&p, sizeof x);
  cudaMemcpy(p, &x, sizeof x, cudaMemcpyHostToDevice);
  twice<<<1, 1>>>(p);
  cudaMemcpy(&x, p, sizeof x, cudaMemcpyDeviceToHost);
  cudaFree(p);
  return x;
}
)cu";

}  // namespace

TEST_CASE("simcc explains itself", "[simt][simcc]") {
  const Workbench bench;
  const Outcome help = bench.simcc("--help");
  CHECK(help.status == 0);
  CHECK(help.err.empty());
  for (const char* word : {"--translate", "--keep", "always -O1", "SIMT_REPORT", "Exit status"}) {
    CHECK_THAT(help.out, contains(word));
  }
  const Outcome version = bench.simcc("--version");
  CHECK(version.status == 0);
  CHECK_THAT(version.out, contains("simcc "));
}

TEST_CASE("wrong use of simcc is one line and status 2", "[simt][simcc]") {
  const Workbench bench;
  bench.write("a.cu", "__global__ void k() {}\n");
  bench.write("b.cu", "__global__ void l() {}\n");
  bench.write("notes.txt", "");
  fs::create_directory(bench.path("folder.cu"));
  const struct {
    const char* arguments;
    const char* message;
  } cases[] = {
      {"", "no input files; try simcc --help"},
      {"-lm", "no input files"},
      {"missing.cu", "missing.cu: No such file or directory"},
      {"missing.o", "missing.o: No such file or directory"},
      {"notes.txt", "notes.txt: unknown kind of file"},
      {"folder.cu", "folder.cu: is a folder"},
      {"- ", "not standard input"},
      {"a.cu -o", "-o: a value is missing"},
      {"a.cu -I", "-I: a value is missing"},
      {"a.cu -s", "-s: the simulator finds kernels in the program's symbol table"},
      {"a.cu -fsanitize=address", "-fsanitize=address: sanitizers do not go"},
      {"a.cu -flto", "-flto: link-time"},
      {"a.cu -shared", "-shared: kernels run only from a program"},
      {"a.cu -E", "-E: simcc makes objects and programs only"},
      {"a.cu -arch=sm_75", "-arch=sm_75: this is an option of nvcc"},
      {"a.cu -x fortran", "-x fortran: the languages are"},
      {"a.cu b.cu -c -o both.o", "-o with -c takes one source file"},
      {"-c -lm a.cu -o a.cu", "a.cu: is both input and output"},
      {"--translate a.cu", "--translate needs -o"},
      {"--translate a.cu b.cu -o out.cpp", "--translate takes one .cu file"},
      {"a.cu --depfile a.d", "--depfile goes with --translate"},
  };
  for (const auto& [arguments, message] : cases) {
    const Outcome outcome = bench.simcc(arguments);
    INFO(arguments << "\n" << outcome.err);
    CHECK(outcome.status == 2);
    CHECK_THAT(outcome.err, contains("simcc: ") && contains(message));
    CHECK(outcome.error_lines() == 1);
    CHECK(outcome.out.empty());
  }
  CHECK(bench.read("a.cu") == "__global__ void k() {}\n");
}

TEST_CASE("simcc needs a folder for temporary files and a compiler", "[simt][simcc]") {
  const Workbench bench;
  bench.write("a.cu", "__global__ void k() {}\n");
  const Outcome folder = bench.run("TMPDIR=/no/such/folder '" SIMCC_PATH "' a.cu");
  CHECK(folder.status == 2);
  CHECK_THAT(folder.err, contains("/no/such/folder") && contains("set TMPDIR"));
  const Outcome compiler = bench.run("SIMT_CXX=no-such-g++ '" SIMCC_PATH "' a.cu");
  CHECK(compiler.status == 2);
  CHECK_THAT(compiler.err, contains("cannot run no-such-g++") && contains("SIMT_CXX"));
  CHECK(fs::is_empty(bench.path("temporary")));
}

TEST_CASE("errors in the source name its file and line, status 1", "[simt][simcc]") {
  const Workbench bench;
  bench.write("a b.cu", "\n__global__ void k() { int x = missing; }\n");
  const Outcome compiler = bench.simcc("'a b.cu' -o program");
  CHECK(compiler.status == 1);
  CHECK_THAT(compiler.err, contains("a b.cu:2:") && contains("missing"));

  bench.write("a b.cu", "#include \"none.h\"\n");
  const Outcome preprocessor = bench.simcc("'a b.cu' -o program");
  CHECK(preprocessor.status == 1);
  CHECK_THAT(preprocessor.err, contains("a b.cu:1:") && contains("none.h"));

  bench.write("a b.cu", "\n\n__global__ void k() { asm(\"bar.sync 0;\"); }\n");
  const Outcome subset = bench.simcc("'a b.cu' -o program");
  CHECK(subset.status == 1);
  CHECK_THAT(subset.err, contains("a b.cu:3: inline assembly in device code is outside"));
  CHECK(subset.error_lines() == 1);
  CHECK(!bench.exists("program"));

  bench.write("out.sim.cpp", "old");
  CHECK(bench.simcc("--translate 'a b.cu' -o out.sim.cpp --depfile out.d").status == 1);
  CHECK(bench.read("out.sim.cpp") == "old");
  CHECK(!bench.exists("out.d"));
}

TEST_CASE("--translate writes the source and its dependencies", "[simt][simcc]") {
  const Workbench bench;
  fs::create_directory(bench.path("in clude"));
  bench.write("in clude/double.hpp", "int twice_on_device(int x);\n");
  bench.write("a.cu", kDouble);
  const Outcome outcome =
      bench.simcc("--translate a.cu -o out.sim.cpp --depfile out.d -std=c++20 -I 'in clude'");
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(outcome.err.empty());
  CHECK_THAT(bench.read("out.sim.cpp"),
             contains("(::simt::configure(1, 1), twice(p));") && contains("\"a.cu\""));
  const std::string dependencies = bench.read("out.d");
  CHECK(dependencies.starts_with("out.sim.cpp: a.cu"));
  CHECK_THAT(dependencies, contains("in\\ clude/double.hpp") && contains("cuda_runtime.h"));
}

TEST_CASE("simcc builds a program of all kinds of input", "[simt][simcc]") {
  const Workbench bench;
  fs::create_directory(bench.path("in clude"));
  bench.write("in clude/double.hpp", "int twice_on_device(int x);\n");
  bench.write("the kernel.cu", kDouble);
  bench.write("main.cpp",
              "#include <cuda_runtime.h>\n#include \"double.hpp\"\nint added();\n"
              "int main() { return twice_on_device(VALUE) + added() + (cudaSuccess != 0); }\n");
  bench.write("added.kernel", "__global__ void k(int* p) { *p = 3; }\nint added() { return 3; }\n");

  // An object first, with dependencies as g++ writes them.
  const Outcome object =
      bench.simcc("-c 'the kernel.cu' -I'in clude' -MD -std=c++20 -Wall -Wextra -Werror");
  INFO(object.err);
  REQUIRE(object.status == 0);
  REQUIRE(bench.exists("the kernel.o"));
  CHECK_THAT(bench.read("the kernel.d"), contains("the\\ kernel.o:") && contains("double.hpp"));

  const Outcome program = bench.simcc(
      "-v --keep -O3 -I 'in clude' -DVALUE=21 main.cpp 'the kernel.o' -x cu added.kernel -x none "
      "-lm -o 'a program'");
  INFO(program.err);
  REQUIRE(program.status == 0);
  CHECK(bench.run("'./a program'").status == 45);
  CHECK_THAT(bench.read("added.sim.cpp"), contains("::simt::run_kernel"));

  // What -v tells: ordinary C++ is left alone, kernels keep -O1, the link knows no sanitizer.
  std::istringstream lines(program.err);
  int cxx = 0, kernels = 0, links = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto has = [&](const char* word) { return line.find(word) != std::string::npos; };
    if (has(" -E ")) {
      CHECK(has("-D__CUDACC__"));
    } else if (has("c++-cpp-output")) {
      ++kernels;
      CHECK((has("-fsanitize=thread") && has(" -O1 ") && !has("-O3")));
    } else if (has("-c ")) {
      ++cxx;
      CHECK((has("main.cpp") && has("-O3") && !has("-fsanitize") && !has("__CUDACC__")));
    } else if (has("-lboost_context")) {
      ++links;
      CHECK((!has("-fsanitize") && has("-lm")));
    }
  }
  CHECK(cxx == 1);
  CHECK(kernels == 1);
  CHECK(links == 1);
}

// Says where each part of it was compiled for.
const char* const kTwoWorlds = R"cu(
#include <cstdio>
#ifdef __CUDA_ARCH__
#define WHERE "device"
#else
#define WHERE "host"
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
__device__ double add(double*, double) { return wrong; }
#elif defined(__CUDA_ARCH__)
__device__ double add(double* sum, double value) { return atomicAdd(sum, value); }
#endif
#if __CUDA_ARCH__ < 600
__device__ double helper(double) { return wrong; }
#endif
__host__ __device__ const char* where() { return WHERE; }
template <typename T> __host__ __device__ T twice(T value) {
#if __CUDA_ARCH__ >= 700
  return value * 2 + T(threadIdx.x);
#else
  return value + value;
#endif
}
struct Both {
  int value;
  __host__ __device__ Both() : value{0} {
#ifdef __CUDA_ARCH__
    value = __CUDA_ARCH__;
#else
    value = 1;
#endif
  }
};
const char* in_host() { return WHERE; }
__global__ void k(int* out, double* sum) {
#if __CUDA_ARCH__ >= 700
  out[threadIdx.x] = Both().value * 1000 + twice(100);
  out[threadIdx.x + 4] = where()[0];
  add(sum, 0.5);
#else
  out[0] = wrong;
#endif
}
int main() {
#ifdef __CUDA_ARCH__
  return 9;
#endif
  int *out, values[8];
  double *sum, total = 0;
  cudaMalloc(&out, sizeof values);
  cudaMalloc(&sum, sizeof total);
  cudaMemset(sum, 0, sizeof total);
  k<<<1, 4>>>(out, sum);
  cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost);
  cudaMemcpy(&total, sum, sizeof total, cudaMemcpyDeviceToHost);
  std::printf("%d %d %c %g, %s %s %d %d\n", values[0], values[3], values[5], total, in_host(), where(),
              twice(100), Both().value);
}
)cu";

TEST_CASE("device code sees __CUDA_ARCH__, and host code does not", "[simt][simcc]") {
  const Workbench bench;
  bench.write("a.cu", kTwoWorlds);
  const Outcome built = bench.simcc("-std=c++17 -Wall -Wextra -Werror a.cu -o program");
  INFO(built.err);
  REQUIRE(built.status == 0);
  CHECK(bench.run("./program").out == "900200 900203 d 2, host host 200 1\n");
  REQUIRE(bench.simcc("-D__CUDA_ARCH__=750 -std=c++20 a.cu -o program").status == 0);
  CHECK(bench.run("./program").out == "750200 750203 d 2, host host 200 1\n");

  // What is wrong there has its own line.
  bench.write(
      "a.cu",
      "__global__ void k(int* p) {\n#ifdef __CUDA_ARCH__\n  *p = 1;\n  *p = none;\n#endif\n}\n"
      "void f() {\n#ifndef __CUDA_ARCH__\n  int i = nothing;\n#endif\n}\n");
  const Outcome failed = bench.simcc("a.cu -c");
  CHECK(failed.status == 1);
  CHECK_THAT(failed.err, contains("a.cu:4:") && contains("a.cu:9:"));
}

TEST_CASE("a stand-in of the user's is found ahead of a refused header", "[simt][simcc]") {
  const Workbench bench;
  fs::create_directories(bench.path("mine"));
  bench.write("a.cu", "#include <cublas_v2.h>\nint main() { return cublasAnswer(); }\n");
  const Outcome refused = bench.simcc("a.cu -o program");
  CHECK(refused.status == 1);
  CHECK_THAT(refused.err, contains("<cublas_v2.h> is outside the simulator's subset"));
  bench.write("mine/cublas_v2.h", "inline int cublasAnswer() { return 42; }\n");
  const Outcome built = bench.simcc("a.cu -Imine -o program");
  INFO(built.err);
  REQUIRE(built.status == 0);
  CHECK(bench.run("./program").status == 42);

  // NVIDIA's own headers are no stand-ins, though many a makefile names their folder.
  fs::create_directories(bench.path("toolkit/crt"));
  bench.write("toolkit/crt/host_runtime.h", "");
  bench.write("toolkit/cuda_pipeline.h", "#error the toolkit's\n");
  bench.write("a.cu", "#include <cuda_pipeline.h>\nint main() {}\n");
  const Outcome ours = bench.simcc("a.cu -I toolkit -o program");
  INFO(ours.err);
  CHECK(ours.status == 0);
  // Nor where the environment names them, as the modules of clusters do.
  bench.write("a.cu", "#include <cuda_pipeline.h>\n#include <own.h>\nint main() {}\n");
  bench.write("mine/own.h", "");
  for (const std::string variable : {"CPATH", "CPLUS_INCLUDE_PATH"}) {
    const Outcome same = bench.run(variable + "=toolkit:mine '" SIMCC_PATH "' a.cu -o program");
    INFO(same.err);
    CHECK(same.status == 0);
  }
  CHECK(bench.run("CPATH=toolkit '" SIMCC_PATH "' a.cu -o program").status == 1);  // no own.h
}

TEST_CASE("more __constant__ data than a GPU has is refused", "[simt][simcc]") {
  const Workbench bench;
  const auto refusal = [&](const std::string& variables) {
    bench.write("a.cu", variables + "int main() {}\n");
    const Outcome outcome = bench.simcc("-c a.cu -o a.o");
    CHECK(outcome.status == (outcome.err.empty() ? 0 : 1));
    CHECK(bench.exists("a.o") == outcome.err.empty());
    bench.run("rm -f a.o");
    return outcome.err;
  };
  CHECK(refusal("__constant__ float table[20000];\n") ==
        "a.cu: error: too much __constant__ data: 80000 bytes (table 80000), a GPU has 65536\n");
  CHECK_THAT(refusal("namespace n { __constant__ float one[10000]; }\n"
                     "static __constant__ char two[40000];\n__device__ float more[100000];\n"),
             contains("80000 bytes") && contains("n::one 40000") && contains("two 40000"));
  CHECK(refusal("__constant__ char one[65532];\n__constant__ int two;\n").empty());
}

TEST_CASE("what other people's headers ask for is there", "[simt][simcc]") {
  const Workbench bench;
  bench.write("a.cu", R"cu(
#include <cuda.h>
#include <cuda_runtime.h>
#include <driver_functions.h>
#if !defined(__DRIVER_TYPES_H__) || !defined(__CUDA_RUNTIME_H__) || !defined(__CUDA_RUNTIME_API_H__)
#error "helper_cuda.h checks nothing"
#endif
#if CUDA_VERSION < 12000 || __CUDACC_VER_MAJOR__ < 12 || !defined(__CUDACC_EXTENDED_LAMBDA__)
#error "an old CUDA"
#endif
__global__ void k(float4* p) {
  const float2 two{.x = 1, .y = 2};
  float3 three = {.x = two.y};
  *p = float4{.x = 1, .y = three.x, .z = 3, .w = 4};
}
int main() {
  CUdevice device = 0;
  CUresult result = CUDA_SUCCESS;
  const time_t now = time(nullptr);
  const cudaExtent extent = make_cudaExtent(1, 2, 3);
  return device + static_cast<int>(result) + (now == 0) + (extent.depth != 3);
}
)cu");
  const Outcome built = bench.simcc("-std=c++20 a.cu -o program");
  INFO(built.err);
  REQUIRE(built.status == 0);
  CHECK(bench.run("./program").status == 0);
  bench.write("a.cu", "#include <cuda.h>\nint main() { return cuInit(0); }\n");
  const Outcome driver = bench.simcc("a.cu -o program");
  CHECK(driver.status == 1);
  CHECK_THAT(driver.err,
             contains("cuInit is outside the simulator's subset") && contains("a.cu:2"));
}

// The lines of an error's messages in a file.
std::set<int> lines_of_errors(const std::string& messages, const std::string& file) {
  std::set<int> lines;
  std::istringstream in(messages);
  for (std::string line; std::getline(in, line);) {
    const std::size_t place = line.find(file + ":");
    if (place == std::string::npos || line.find("error: ") == std::string::npos) continue;
    lines.insert(std::atoi(line.c_str() + place + file.size() + 1));
  }
  return lines;
}

TEST_CASE("device code that uses the host's functions and variables is refused", "[simt][simcc]") {
  const Workbench bench;
  const Outcome refused = bench.simcc("-std=c++20 -c '" SIMT_VERDICTS "/refused.cu'");
  CHECK(refused.status == 1);
  std::set<int> wanted;
  std::ifstream in(SIMT_VERDICTS "/refused.cu");
  int number = 1;
  for (std::string line; std::getline(in, line); ++number) {
    const std::size_t place = line.find("// REFUSED ");
    if (place == std::string::npos) continue;
    wanted.insert(number);
    INFO(number << ": " << line);
    CHECK_THAT(refused.err, contains("refused.cu:" + std::to_string(number) + ":"));
    CHECK_THAT(refused.err, contains(line.substr(place + 11)));
  }
  CHECK(wanted.size() >= 24);
  CHECK(lines_of_errors(refused.err, "refused.cu") == wanted);
  CHECK_THAT(
      refused.err,
      contains("it is a function of the host, which device code cannot call (nvcc refuses it)") &&
          contains("it is a variable of the host, which device code cannot reach"));
}

TEST_CASE("what nvcc compiles is not refused", "[simt][simcc]") {
  const Workbench bench;
  const Outcome accepted =
      bench.simcc("-std=c++20 -c --expt-relaxed-constexpr '" SIMT_VERDICTS "/accepted.cu'");
  INFO(accepted.err);
  CHECK(accepted.status == 0);
  bench.write("a.cu",
              "constexpr int f(int x) { return x; }\n__global__ void k(int* p) { *p = f(*p); }\n");
  CHECK(bench.simcc("-c a.cu").status == 1);
  CHECK(bench.simcc("-c a.cu --expt-relaxed-constexpr").status == 0);
}

TEST_CASE("an interrupted simcc leaves nothing behind", "[simt][simcc]") {
  const Workbench bench;
  // A compiler that sends simcc the signal and never ends.
  bench.write("slow", "#!/bin/sh\nkill -TERM $PPID\nexec sleep 600\n");
  fs::permissions(bench.path("slow"), fs::perms::owner_all);
  bench.write("a.cu", "__global__ void k() {}\n");
  const Outcome outcome = bench.run("SIMT_CXX=./slow '" SIMCC_PATH "' a.cu");
  CHECK(outcome.status == 128 + 15);
  CHECK(fs::is_empty(bench.path("temporary")));
}
