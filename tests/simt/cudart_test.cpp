// Programs that nvcc builds, run with our libcudart: what they print, what the simulator says of them, how they end.
// SIMCC and SIMT are the programs of this build, CUDART_PROGRAMS is the folder of the sources, NVCC is nvcc.
#include <driver_types.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "common/json/json.hpp"
#include "tests/catch.hpp"
#include "workbench.hpp"

using halo::test::contains;

namespace {

// For programs without kernels of their own: nvcc gives them to the host's compiler, and does not read them four times.
const std::string kHostOnly = "-x c++ -std=c++20 ";

// What was built says so, and nothing but this is said of it.
void check_all_right(const Workbench& bench, const std::string& said = "") {
  const Outcome outcome = bench.run("./program");
  CHECK(outcome.out == "all right\n");
  CHECK(outcome.err == said);
  CHECK(outcome.status == 0);
}

}  // namespace

TEST_CASE("a program that nvcc links statically runs, and its traffic is counted", "[simt]") {
  const Workbench bench;
  bench.build("vector_add.cu");
  const Outcome outcome = bench.run("SIMT_REPORT=report.json ./program");
  CHECK(outcome.status == 0);
  CHECK(outcome.out == "cudaSuccess, 0 wrong\n");
  CHECK(outcome.err.empty());
  const auto report = halo::json::Value::parse(bench.read("report.json"));
  REQUIRE(report.at("launches").elements().size() == 1);
  const auto launch = report.at("launches").elements().front();
  CHECK(launch.get<std::string>("kernel") == "add(float const*, float const*, float*, int)");
  const auto counters = launch.at("counters");
  // 1563 of the 1568 warps have a thread that adds.
  CHECK(counters.get<int>("global_load_requests") == 2 * 1563);
  CHECK(counters.get<int>("global_load_sectors") == 2 * 6250);
  CHECK(counters.get<int>("global_store_requests") == 1563);
  CHECK(counters.get<int>("global_store_sectors") == 6250);
  REQUIRE(launch.at("lines").elements().size() == 1);
  CHECK(launch.at("lines").elements().front().get<int>("line") == 6);
  // The third array is not freed.
  REQUIRE(report.at("unfreed").elements().size() == 1);
  CHECK(report.at("unfreed").elements().front().get<std::string>("name") == "device_sum");
}

TEST_CASE("memory of all kinds, copies, streams and graphs are as CUDA has them", "[simt]") {
  const Workbench bench;
  for (const char* const options : {"", "--default-stream per-thread"}) {
    const std::pair<const char*, const char*> programs[] = {
        {"memory.cu", ""},
        {"graphs.cu",
         "simt: cudaGraphLaunch: memory that a node allocated in the launch before was not freed: "
         "free it, or instantiate with cudaGraphInstantiateFlagAutoFreeOnLaunch\n"
         "simt: a second cudaGraphInstantiate: the graph has nodes that allocate or free memory: "
         "it "
         "can't be copied, and nothing of it be taken away\n"},
        {"textures.cu",
         "simt: cudaMallocArray: a texel of 32, 32, 32 and 0 bits and kind 2 is not in the "
         "simulator\n"
         "simt: cudaMallocArray: an extent of 1048576, the most is 131072\n"}};
    for (const auto& [source, said] : programs) {
      INFO(source << " " << options);
      bench.build(source, options);
      check_all_right(bench, said);
    }
  }
}

TEST_CASE("what may not be called while a stream is being captured is refused", "[simt]") {
  const Workbench bench;
  bench.build("capture.cu");
  const Outcome outcome = bench.run("./program");
  CHECK(outcome.out == "all right\n");
  CHECK(outcome.status == 0);
  CHECK_THAT(
      outcome.err,
      contains(
          "simt: cudaMalloc: not while a stream is being captured; the capture is now invalid. "
          "Call it before cudaStreamBeginCapture"));
}

TEST_CASE("a program finds the library however it is linked", "[simt]") {
  const Workbench bench;
  const std::string folder = std::filesystem::path(CUDART).parent_path().string();
  const std::string source = " '" CUDART_PROGRAMS "/vector_add.cu'";
  REQUIRE(bench.run("'" SIMCC "' -c -o part.o" + source).status == 0);
  REQUIRE(bench.run("'" SIMCC "' -rdc=true -c -o apart.o" + source).status == 0);
  // As CMake asks for the link of the device's code.
  std::ofstream(bench.path() / "words.rsp")
      << "-L\"/usr/lib\" apart.o -lcudadevrt -lcudart_static\n";
  const std::string links[] = {
      "'" SIMCC "' part.o -lcudart_static -o program",
      "'" SIMCC "' part.o /elsewhere/libcudart_static.a -o program",
      "g++ part.o -o program '" CUDART "'",
      "'" SIMCC
      "' -dlink --options-file words.rsp -o linked.o && "
      "g++ apart.o linked.o -o program -L'" +
          folder + "' -lcudadevrt '" CUDART "'",
      "'" SIMCC "' -dlink apart.o -o linked.o && g++ apart.o linked.o -o program '" CUDART "'",
  };
  for (const std::string& link : links) {
    const Outcome made = bench.run(link);
    INFO(link << ": " << made.err);
    REQUIRE(made.status == 0);
    CHECK(bench.run("./program").out == "cudaSuccess, 0 wrong\n");
  }
}

TEST_CASE("a limit that leaves no addresses for device memory is named", "[simt]") {
  const Workbench bench;
  bench.build("vector_add.cu");
  CHECK_THAT(bench.run("ulimit -v 8000000; ./program").err, contains("ulimit -v unlimited"));
}

TEST_CASE("arrays have their names wherever a program is run", "[simt]") {
  const Workbench bench;
  const Outcome outcome =
      bench.run("mkdir part elsewhere && cp '" CUDART_PROGRAMS "/faults.cu' part && '" SIMCC
                "' -o program part/faults.cu && (cd elsewhere && ../program past_the_end)");
  CHECK_THAT(outcome.err, contains("error: out_of_bounds of numbers in past_the_end"));
}

TEST_CASE("cuBLAS computes on the host, and says so", "[simt]") {
  if (!std::filesystem::exists(CUBLAS)) halo::test::skip("CUDA's headers of cuBLAS are not here");
  const Workbench bench;
  bench.build("cublas.cu", kHostOnly + "-lcublas -lcublasLt");
  CHECK(bench.run("./program").out == "all right\n");
  const Outcome outcome = bench.run("./program ours");
  CHECK(outcome.out == "all right\n");
  CHECK(outcome.err ==
        "simt: note: cuBLAS is a plain implementation on the host here: its results are right to "
        "rounding, its traffic is not counted\n"
        "simt: cuBLAS: a GPU has no product of bytes with 2 rows, 2 columns and leading dimensions "
        "2, 2 and 2: make them multiples of 4\n"
        "simt: cuBLAS: a GPU has no product of bytes with 2 rows, 2 columns and leading dimensions "
        "4, 4 and 2: make them multiples of 4\n"
        "simt: cuBLAS: numbers of type 28 are not in the simulator\n"
        "simt: cublasLt: epilogue 512 is not in the simulator\n"
        "simt: cublasSswap is not in the simulator\n"
        "simt: cuBLAS in a stream that is captured is not in the simulator\n");
  CHECK(outcome.status == 0);
  const Outcome beyond = bench.run("./program beyond");
  CHECK_THAT(beyond.err, contains("error: invalid_copy"));
  CHECK(beyond.status == 3);
}

TEST_CASE("the driver's functions do what the runtime's do", "[simt]") {
  const Workbench bench;
  bench.build("driver.cu", kHostOnly + "-lcuda");
  const std::string source = " '" CUDART_PROGRAMS "/loaded.cu' ";
  REQUIRE(bench.run("'" SIMCC "' -fatbin -o code.fatbin" + source).status == 0);
  const Outcome outcome = bench.run("./program code.fatbin");
  CHECK(outcome.out == "all right\n");
  CHECK_THAT(outcome.err, !contains("note: endless_kernel"));
  CHECK(outcome.status == 0);
  const Outcome late = bench.run("./program code.fatbin late");
  CHECK_THAT(late.err, contains("note: endless_kernel") &&
                           contains("idle is loaded by cuModuleGetFunction while another"));
  CHECK(late.status == 0);
  const Outcome stray = bench.run("./program code.fatbin stray");
  CHECK_THAT(stray.err, contains("error: invalid_copy of small in cuMemcpyHtoD"));
  CHECK(stray.status == 3);
  const Outcome gap = bench.run("./program code.fatbin gap");
  CHECK_THAT(gap.err, contains("error: out_of_bounds of cuMemMap in scale"));
  CHECK(gap.status == 3);
  const Outcome unwritten = bench.run("./program code.fatbin unwritten");
  CHECK(unwritten.out == "all right\n");
  CHECK_THAT(unwritten.err, contains("error: endless_kernel in host code: a stream waits here"));
  CHECK(unwritten.status == 3);
}

TEST_CASE("who loads the driver by its name finds it", "[simt]") {
  const Workbench bench;
  const std::string program = "'" SIMT "' run python3 '" CUDART_PROGRAMS "/driver.py' ";
  const Outcome outcome = bench.run(program + "8");
  CHECK(outcome.out == "[1, 2, 3, 4, 5, 6, 7, 8]\n");
  CHECK_THAT(outcome.err, contains("no context is current") && !contains("cuOfTomorrow"));
  CHECK(outcome.status == 0);
  const Outcome beyond = bench.run(program + "9");
  CHECK_THAT(beyond.err, contains("out_of_bounds"));
  CHECK(beyond.status == 3);
}

TEST_CASE("cuRAND's host functions give NVIDIA's numbers, and say where they run", "[simt]") {
  if (!std::filesystem::exists(CURAND)) halo::test::skip("CUDA's headers of cuRAND are not here");
  const Workbench bench;
  bench.build("curand.cu", kHostOnly + "-lcurand");
  const Outcome outcome = bench.run("./program");
  CHECK(outcome.out == "all right\n");
  CHECK_THAT(outcome.err,
             contains("their numbers are cuRAND's") && contains("generator 201 is not") &&
                 contains("curandSetQuasiRandomGeneratorDimensions is not in the simulator"));
  CHECK(outcome.status == 0);
  const Outcome beyond = bench.run("./program beyond");
  CHECK_THAT(beyond.err, contains("error: invalid_copy"));
  CHECK(beyond.status == 3);
}

TEST_CASE("what NVRTC compiles for one GPU runs as PTX", "[simt]") {
  if (!std::filesystem::exists(NVRTC)) halo::test::skip("NVRTC is not here");
  const Workbench bench;
  bench.build("nvrtc.cu", "-lnvrtc -lcuda");
  for (const char* const start : {"./program", "'" SIMT "' run ./program"}) {
    const Outcome outcome = bench.run(start);
    CHECK(outcome.out == "0 1 2 3\n");
    CHECK_THAT(outcome.err, contains("written.cu:3: error: out_of_bounds of data in count") &&
                                !contains("simt: "));
    CHECK(outcome.status == 3);
  }
}

TEST_CASE("tensor maps are made by the driver's name, which -lcuda finds here", "[simt]") {
  const Workbench bench;
  bench.build("tensor_maps.cu", kHostOnly + "-lcuda");
  const Outcome outcome = bench.run("./program");
  CHECK(outcome.out == "all right\n");
  CHECK(outcome.err == "simt: cuTensorMapEncodeTiled: a row of a tile is a multiple of 16 bytes\n");
  CHECK(outcome.status == 0);
}

TEST_CASE("a copy by a tensor map of TF32 rounds, and one with FTZ flushes", "[simt]") {
  const Workbench bench;
  bench.build("tensor_map_types.cu", "-std=c++20 -lcuda");
  check_all_right(bench);
}

TEST_CASE("a runtime without the driver's library says so", "[simt]") {
  const Workbench bench;
  std::ofstream(bench.path() / "asks.cu")
      << "#include <cstdio>\n"
         "int main() {\n"
         "  void* function = nullptr;\n"
         "  std::puts(cudaGetErrorName(cudaGetDriverEntryPointByVersion(\n"
         "      \"cuInit\", &function, 12000, cudaEnableDefault, nullptr)));\n"
         "}\n";
  std::filesystem::create_directory(bench.path() / "alone");
  const std::filesystem::path alone = bench.path() / "alone" / "libcudart.so.13";
  std::filesystem::copy_file(CUDART, alone);
  REQUIRE(
      bench
          .run("'" SIMCC "' -c -o asks.o asks.cu && g++ asks.o -o program '" + alone.string() + "'")
          .status == 0);
  const Outcome outcome = bench.run("./program");
  CHECK(outcome.out == "cudaErrorInsufficientDriver\n");
  CHECK(outcome.err == "simt: libcuda.so.1 is not there (./halo toolkit builds it)\n");
}

TEST_CASE("kernels launch kernels, which run when they have ended", "[simt]") {
  const Workbench bench;
  bench.build("children.cu", "-rdc=true");
  check_all_right(bench);
}

TEST_CASE("what one kernel launches races with what it does afterwards and launches besides",
          "[simt]") {
  const Workbench bench;
  bench.build("beside_children.cu", "-rdc=true");
  const Outcome right = bench.run("./program");
  CHECK(right.err.empty());
  CHECK(right.status == 0);
  const auto at = [](const char* marker) {
    return "beside_children.cu:" + std::to_string(line_of("beside_children.cu", marker));
  };
  const Outcome writes = bench.run("./program writes");
  CHECK_THAT(writes.err, contains(at("READS") + ": error: race of values in child"));
  CHECK_THAT(writes.err, contains(at("AFTER child") + " after it has launched this kernel"));
  CHECK(writes.status == 3);
  const Outcome reads = bench.run("./program reads");
  CHECK_THAT(reads.err, contains(at("WRITES") + ": error: race of out in grandchild"));
  CHECK_THAT(reads.err, contains(at("AFTER grandchild") + " after it has launched this kernel"));
  CHECK(reads.status == 3);
  // As in one grid: what the update finds decides again.
  const Outcome updates = bench.run("./program updates");
  CHECK_THAT(updates.err, contains(at("TESTS") + ": note: read_beside_atomic of values in lowers"));
  CHECK_THAT(updates.err, contains(at("AFTER test") + " after it has launched this kernel"));
  CHECK(updates.status == 0);
  const Outcome counts = bench.run("./program counts");
  CHECK_THAT(counts.err, contains(at("UPDATES") + ": error: race of count in child"));
  CHECK_THAT(counts.err, contains(at("AFTER updater") + " after it has launched this kernel"));
  CHECK(counts.status == 3);
  const Outcome moves = bench.run("./program moves");
  CHECK_THAT(moves.err, contains(at("COPIES") + ": error: race of values"));
  CHECK_THAT(moves.err,
             contains("cudaMemcpyAsync of a kernel reads values, which copies writes at"));
  CHECK_THAT(moves.err, contains(at("AFTER copy") + " after it has asked for it"));
  CHECK_THAT(moves.err, contains(at("FILLS") + ": error: race of values in fill"));
  CHECK_THAT(moves.err, contains(at("SETS") + " beside this kernel"));
  CHECK(moves.status == 3);
  // And what it has launched on different streams, with each other.
  for (const char* const which : {"streams", "blocks"}) {
    const Outcome races = bench.run(std::string("./program ") + which);
    CHECK_THAT(races.err, contains(at("FILLS") + ": error: race of values in fill"));
    CHECK_THAT(races.err, contains(at("FILLS") + " beside this kernel"));
    CHECK(races.status == 3);
  }
  const Outcome of_host = bench.run("./program host");
  CHECK_THAT(of_host.err, contains("unordered_streams of values in fill"));
  CHECK(of_host.status == 3);
}

TEST_CASE("several devices have memory, variables and streams of their own", "[simt]") {
  const Workbench bench;
  bench.build("devices.cu");
  const Outcome outcome = bench.run("SIMT_DEVICES=2 ./program");
  CHECK(outcome.out == "all right\n");
  CHECK(outcome.err ==
        "simt: cudaLaunchKernel: the stream is of device 0, and cudaSetDevice has chosen device 1\n"
        "simt: cudaEventRecord: the event was created on device 0, the stream is of device 1\n");
  CHECK(outcome.status == 0);
  const Outcome closed = bench.run("SIMT_DEVICES=2 ./program closed");
  CHECK(closed.out == "all right\n");
  CHECK_THAT(closed.err, contains("error: invalid_address of others in add") &&
                             contains("call cudaMemPoolSetAccess()"));
  CHECK(closed.status == 3);
  CHECK_THAT(bench.run("SIMT_DEVICES=0 ./program").err, contains("from 1 to 16"));
}

TEST_CASE("a program loads device code while it runs", "[simt]") {
  const Workbench bench;
  bench.build("library.cu", kHostOnly);
  const std::string source = " '" CUDART_PROGRAMS "/loaded.cu' ";
  REQUIRE(bench.run("'" SIMCC "' -ptx -o code.ptx" + source).status == 0);
  REQUIRE(bench.run("'" SIMCC "' -fatbin -o code.fatbin" + source).status == 0);
  // Where machine code is wanted of simcc, as PyCUDA does, there is PTX.
  REQUIRE(bench.run("'" SIMCC "' --cubin -arch sm_75" + source).status == 0);
  for (const char* const file : {"code.ptx", "code.fatbin", "loaded.cubin"}) {
    INFO(file);
    const Outcome outcome = bench.run(std::string("./program ") + file);
    CHECK(outcome.out == "all right\n");
    CHECK(outcome.status == 0);
  }
  // Machine code alone is refused with a reason.
  REQUIRE(bench.run("'" NVCC "' -cubin -arch=sm_90 -o code.cubin" + source).status == 0);
  CHECK_THAT(bench.run("./program code.cubin").err, contains("use nvcc -ptx or -fatbin"));
}

TEST_CASE("conditional nodes of graphs run what kernels choose", "[simt]") {
  const Workbench bench;
  bench.build("conditions.cu", "-rdc=true");
  check_all_right(bench);
}

TEST_CASE("results, findings and counters are the same on any number of threads", "[simt]") {
  const Workbench bench;
  bench.build("threads.cu");
  const auto run = [&](const std::string& threads) {
    return bench.run("SIMT_THREADS=" + threads + " SIMT_REPORT=report.json ./program");
  };
  const Outcome one = run("1");
  const std::string report = bench.read("report.json");
  // The last block's number stays; and there is something to tell of each way to be wrong.
  CHECK_THAT(one.out, contains("number 63\n") && contains("all right\n"));
  CHECK_THAT(one.err, contains("race between blocks") && contains("uninitialized_global_read") &&
                          contains("out_of_bounds"));
  for (const char* const threads : {"2", "5"}) {
    INFO(threads);
    const Outcome more = run(threads);
    CHECK(more.out == one.out);
    CHECK(more.err == one.err);
    CHECK(bench.read("report.json") == report);
  }
}

TEST_CASE("what CUDA 13 dropped and textbooks use is there", "[simt]") {
  const Workbench bench;
  // As Makefiles do, which name the toolkit's headers.
  bench.build("dropped_names.cu",
              "-I '" CUDA_INCLUDE "' -DSIZE=" + std::to_string(sizeof(cudaDeviceProp)));
  const Outcome outcome = bench.run("./program");
  CHECK(outcome.out == "all right\n");
  CHECK(outcome.status == 0);
}

TEST_CASE("wrong use has CUDA's errors, and says what is wrong", "[simt]") {
  const Workbench bench;
  bench.build("errors.cu");
  const Outcome outcome = bench.run("./program");
  CHECK(outcome.out == "all right\n");
  CHECK_THAT(outcome.err, contains("a block of 128 threads, but its __launch_bounds__ allow 64"));
  CHECK_THAT(outcome.err, contains("524304 bytes of local memory per thread, the limit is 524288"));
  CHECK_THAT(outcome.err, contains("error: invalid_copy in cudaMemcpy"));
  CHECK(outcome.status == 3);
  const Outcome lacking = bench.run("./program lacking");
  CHECK(lacking.out == "all right\n");
  CHECK_THAT(lacking.err, contains("cudaIpcGetEventHandle is not in the simulator"));
}

TEST_CASE("what a kernel does wrong is told with its line, and spoils the device", "[simt]") {
  const Workbench bench;
  bench.build("faults.cu");
  const struct {
    const char* kind;
    const char* marker;
    const char* error;
    const char* finding;
  } faults[] = {
      {"past_the_end", "past_the_end", "cudaErrorIllegalAddress",
       "error: out_of_bounds of numbers in past_the_end(int*, int): thread (31,0,0) of block "
       "(0,0,0) writes 4 bytes outside numbers (128 bytes), at byte 128"},
      {"odd_address", "odd_address", "cudaErrorMisalignedAddress", "error: misaligned of numbers"},
      {"through_null", "through_null", "cudaErrorIllegalAddress", "through a null pointer"},
      {"after_free", "through_null", "cudaErrorIllegalAddress", "error: use_after_free of others"},
      {"wrong_assertion", "wrong_assertion", "cudaErrorAssert", "Assertion `n > 5` failed."},
      {"trapped", "trapped", "cudaErrorLaunchFailure", "reaches a __trap()"},
  };
  for (const auto& fault : faults) {
    INFO(fault.kind);
    const Outcome outcome = bench.run(std::string("./program ") + fault.kind);
    CHECK(outcome.out == std::string("cudaSuccess\n") + fault.error + "\n" + fault.error + "\n");
    CHECK_THAT(outcome.err,
               contains("faults.cu:" + std::to_string(line_of("faults.cu", fault.marker)) + ": "));
    CHECK_THAT(outcome.err, contains(fault.finding));
    CHECK(outcome.status == 3);
  }
  // With -G what a header of the toolkit has is in a function of its own, or without a line of the kernel.
  bench.build("faults.cu", "-G");
  for (const auto& [marker, finding] :
       {std::pair("wrong_assertion", "failed_assert"), std::pair("updates_beyond", "out_of_bounds"),
        std::pair("half_a_barrier", "missed_barrier")}) {
    CHECK_THAT(bench.run(std::string("./program ") + marker).err,
               contains("faults.cu:" + std::to_string(line_of("faults.cu", marker)) +
                        ": error: " + finding));
  }
  const Outcome host = bench.run("./program host");
  CHECK_THAT(host.err,
             contains("faults.cu:" + std::to_string(line_of("faults.cu", "host")) +
                      ": error: host code touches numbers, which is memory of the device"));
  CHECK(host.status != 0);
}

TEST_CASE("kernels print in the order of their threads, and allocate", "[simt]") {
  const Workbench bench;
  bench.build("talk.cu");
  const Outcome outcome = bench.run("./program");
  CHECK(outcome.out ==
        "thread 0 of 3:  0.00 ab  | 123456789abcdef x%\n"
        "thread 1 of 3:  0.50 ab  | 123456789abcdef x%\n"
        "thread 2 of 3:  1.00 ab  | 123456789abcdef x%\n"
        "cudaSuccess 4960\n");
  CHECK(outcome.err.empty());
  CHECK(outcome.status == 0);
}

TEST_CASE("blocks of a cooperative launch wait for each other, and must all fit", "[simt]") {
  const Workbench bench;
  bench.build("grid_barrier.cu");
  const Outcome outcome = bench.run("./program");
  CHECK(outcome.out == "all right\n");
  CHECK_THAT(outcome.err, contains("a cooperative launch of 1000 blocks, of which h200 holds 264"));
  CHECK_THAT(outcome.err, !contains("race"));
  CHECK(outcome.status == 0);
}

TEST_CASE("blocks of a cluster that send each other data by a barrier are told nothing", "[simt]") {
  const Workbench bench;
  bench.build("cluster.cu");
  check_all_right(bench);
}

TEST_CASE("files that are linked as device code find each other and keep their own names",
          "[simt]") {
  const Workbench bench;
  bench.build("parts_one.cu parts_two.cu", "-rdc=true");
  const Outcome outcome = bench.run("./program");
  CHECK(outcome.out == "1043 42\n");
  CHECK(outcome.err.empty());
  CHECK(outcome.status == 0);
}

TEST_CASE("a program of nvcc's own runs if it has PTX, and else is told how to have it", "[simt]") {
  const Workbench bench;
  const std::string source = " '" CUDART_PROGRAMS "/vector_add.cu'";
  const struct {
    const char* options;
    bool has_ptx;
  } builds[] = {
      {"-cudart shared -gencode arch=compute_75,code=compute_75", true},
      {"-cudart shared -gencode arch=compute_75,code=compute_75 --no-compress", true},
      {"-cudart shared -gencode arch=compute_90,code=sm_90", false},
  };
  for (const auto& build : builds) {
    INFO(build.options);
    REQUIRE(bench.run(std::string("'" NVCC "' -o program ") + build.options + source).status == 0);
    const Outcome outcome = bench.run("'" SIMT "' run ./program");
    if (build.has_ptx) {
      CHECK(outcome.out == "cudaSuccess, 0 wrong\n");
    } else {
      CHECK_THAT(outcome.err, contains("it has machine code for sm_90 and no PTX"));
      CHECK_THAT(outcome.err, contains("-gencode arch=compute_90,code=compute_90"));
      CHECK(outcome.status == 1);
    }
  }
  REQUIRE(bench
              .run("'" NVCC "' -o program -cudart static -gencode arch=compute_75,code=compute_75" +
                   source)
              .status == 0);
  CHECK_THAT(bench.run("'" SIMT "' run ./program").err,
             contains("NVIDIA's own runtime library is in this program") &&
                 contains("link with -cudart shared"));
}

TEST_CASE("a library that has NVIDIA's runtime in it is named", "[simt]") {
  const Workbench bench;
  std::ofstream(bench.path() / "theirs.cu") << "#include <cuda_runtime.h>\n"
                                               "int theirs() { return cudaFree(nullptr); }\n";
  std::ofstream(bench.path() / "main.cpp") << "int theirs();\n"
                                              "int main() { return theirs() == 0; }\n";
  REQUIRE(bench
              .run("'" NVCC
                   "' -shared -Xcompiler -fPIC -cudart static -o libtheirs.so theirs.cu && '" NVCC
                   "' -cudart none -o program main.cpp -L. -ltheirs -Xlinker -rpath=.")
              .status == 0);
  const Outcome outcome = bench.run("'" SIMT "' run ./program");
  CHECK_THAT(outcome.err,
             contains("NVIDIA's own runtime library is in libtheirs.so, and cannot run"));
  CHECK(outcome.status == 0);
}

TEST_CASE("a library that runs on a GPU only is named before main()", "[simt]") {
  const Workbench bench;
  // As cuSOLVER does it calls what our cuBLAS has not got.
  std::ofstream(bench.path() / "jpeg.cpp") << "int absent();\n"
                                              "int plan() { return 5; }\n"
                                              "int other() { return absent(); }\n";
  std::ofstream(bench.path() / "main.cu") << "int plan();\n"
                                             "int main() { return plan() + cudaFree(nullptr); }\n";
  const Outcome outcome = bench.run(
      "g++ -shared -fPIC -Wl,-soname,libnvjpeg.so.13 -o libnvjpeg.so.13 jpeg.cpp && '" SIMCC
      "' -o program main.cu -L. -l:libnvjpeg.so.13 -Xlinker -rpath=. && ./program");
  CHECK(outcome.status == 5);
  CHECK(
      outcome.err ==
      "simt: the program is linked with libnvjpeg.so.13, which the simulator has not got: what it "
      "calls there fails\n");
}

TEST_CASE("simt ptx refuses a file without PTX", "[simt]") {
  const Outcome outcome = Workbench().run(": > empty.ptx && '" SIMT "' ptx empty.ptx");
  CHECK(outcome.status == 2);
  CHECK(outcome.err == "simt: empty.ptx is no PTX: nvcc -ptx -lineinfo writes such files\n");
}

TEST_CASE("every function of NVIDIA's library is in ours", "[simt]") {
  const Workbench bench;
  const Outcome theirs = bench.run("nm -D --defined-only '" NVIDIA_CUDART "'");
  const Outcome ours = bench.run("nm -D --defined-only '" CUDART "'");
  REQUIRE(theirs.status == 0);
  std::istringstream lines(theirs.out);
  int functions = 0;
  for (std::string address, kind, name; lines >> address >> kind >> name;) {
    if (kind != "T") continue;
    ++functions;
    INFO(name);
    CHECK_THAT(ours.out, contains(" T " + name + "\n"));
  }
  CHECK(functions > 300);
}

// A program that was compiled with an older header links the names that this one makes others of.
TEST_CASE("every function that cuda.h declares is in our driver", "[simt]") {
  const Workbench bench;
  const Outcome ours = bench.run("nm -D --defined-only '" CUDA_DRIVER "'");
  const Outcome declared =
      bench.run("grep -oP 'CUDAAPI +\\Kcu[A-Z]\\w*(?= *\\()' '" CUDA_INCLUDE "/cuda.h'");
  REQUIRE(ours.status == 0);
  std::istringstream names(declared.out);
  int functions = 0;
  for (std::string name; names >> name;) {
    ++functions;
    INFO(name);
    CHECK_THAT(ours.out, contains(" T " + name + "@@"));
  }
  CHECK(functions > 400);
}
