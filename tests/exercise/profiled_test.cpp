// What Nsight Compute's words are taken for.
#include "common/exercise/profiled.hpp"

#include <map>
#include <stdexcept>

#include "tests/catch.hpp"

using namespace halo;
using test::contains;

namespace {

const char* const kMetrics[] = {
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
    "smsp__sass_inst_executed_op_shared_ld.sum",
    "smsp__inst_executed_op_ldsm.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "smsp__sass_inst_executed_op_shared_st.sum",
    "smsp__inst_executed_op_ldgsts.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum",
    "smsp__inst_executed_op_shared_atom.sum"};

// The units' line is Nsight Compute's own; of the metric with this number a launch has `first`, the other `second`.
std::string log_with(std::size_t metric, const char* first, const char* second) {
  std::string head = "\"ID\",\"Kernel Name\"", units = "\"\",\"\"",
              one = "\"0\",\"k(const float *, int)\"", two = "\"1\",\"k\"";
  for (std::size_t i = 0; i < std::size(kMetrics); ++i) {
    head += ",\"" + std::string(kMetrics[i]) + "\"";
    units += ",\"request\"";
    one += std::string(",\"") + (i == metric ? first : "0") + "\"";
    two += std::string(",\"") + (i == metric ? second : "0") + "\"";
  }
  return "==PROF== Connected to process 7\n" + head + "\n" + units + "\n" + one + "\n" + two + "\n";
}

}  // namespace

TEST_CASE("counters of all launches are added up, by the simulator's names") {
  for (std::size_t i = 0; i < std::size(kMetrics); ++i) {
    INFO(kMetrics[i]);
    double sum = 0;
    for (const auto& [name, counted] : counters_of_ncu(log_with(i, "1,234,567", "3")))
      sum += counted;
    CHECK(sum == 1'234'570);
  }
  const auto counted = counters_of_ncu(log_with(5, "7", "8"));
  const std::map<std::string, double> by_name(counted.begin(), counted.end());
  CHECK(by_name.at("global_atomic_requests") == 15);
  CHECK(by_name.at("global_load_sectors") == 0);
}

TEST_CASE("where nothing was counted one line says why") {
  const auto why = [](const std::string& log) {
    try {
      counters_of_ncu(log);
      return std::string();
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
  };
  CHECK_THAT(why("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n"),
             contains("may not read the GPU's counters"));
  CHECK(why("==ERROR== Failed to find metric x\n") ==
        "Nsight Compute counted no launch: Failed to find metric x");
  CHECK(why("") == "Nsight Compute counted no launch");
  CHECK_THAT(why("\"ID\"\n\"\"\n\"0\"\n"), contains("does not say l1tex__t_requests"));
}
