// A worker that speaks the protocol and says what no worker says: WORKER WHAT. Without WHAT it would be right.
#include <unistd.h>

#include <cstring>
#include <map>
#include <string>

#include "common/exercise/wire.hpp"

using namespace halo::exercises;

namespace {

std::string what;

std::string hello() {
  if (what == "text") return "not JSON";
  if (what == "depth") return std::string(100'000, '[');
  const std::string inputs = what == "many inputs"  ? "1000000000"
                             : what == "no integer" ? "1.5"
                             : what == "negative"   ? "-1"
                                                    : "1";
  return "{\"backend\":\"" + std::string(what == "backend" ? "abacus" : "sim") +
         "\",\"unavailable\":\"" + (what == "unavailable" ? "no\\u0007 simulator" : "") +
         "\",\"observes\":true,\"times\":false,\"blind\":\"\",\"not_counted\":\"\"," +
         "\"not_searched\":\"\",\"guard_cells\":" +
         (what == "guard cells" ? "1000000000000" : "0") + ",\"inputs\":" + inputs +
         ",\"outputs\":1,\"whole\":" + (what == "whole" ? "[]" : "[false]") +
         ",\"numbers\":1,\"on_the_host\":false}";
}

std::string seen() {
  if (what == "wrong observation") return "{\"error\":[]}";
  const std::string error =
      what == "control characters" ? "a bell\\u0007\\u001b[2J\\nand a line" : "";
  const std::string kernels = what == "negative kernels" ? "-7" : "1";
  const std::string counted = what == "negative counts" ? "{\"global_load_sectors\":-1}"
                              : what == "large counts"
                                  ? "{\"global_load_sectors\":99999999999999999999999}"
                              : what == "small counts" ? "{\"global_load_sectors\":1,"
                                                         "\"global_load_requests\":1}"
                                                       : "{\"global_load_sectors\":8,"
                                                         "\"global_load_requests\":2,"
                                                         "\"global_store_sectors\":8}";
  return "{\"error\":\"" + error + "\",\"unsupported\":false,\"kernels\":" + kernels +
         ",\"counted\":" + counted +
         ",\"fp64_operations\":0,\"tensor_instructions\":0,\"unfreed_bytes\":0,\"copied_bytes\":"
         "0,\"local_sectors\":0,\"waits\":0,\"hidden_requests\":0,\"instructions\":0,"
         "\"lane_instructions\":0,\"if_all_worked\":0,\"products\":0,"
         "\"shuffles\":0,"
         "\"most_requests\":1,\"most_products\":0," +
         "\"host\":[0,0,0,0],\"lines\":[],\"fp64_lines\":[],\"tensor_lines\":[],\"printed\":[]," +
         "\"printed_total\":0,\"launches\":[" + (what == "no launch" ? "" : "[1,1,64,0]") +
         "],\"hazards\":[]}";
}

}  // namespace

int main(int argc, char** argv) {
  what = argc > 1 ? argv[1] : "";
  std::map<std::uint64_t, std::string> memory;
  std::uint64_t next = 4096;
  const auto cells = [&](std::uint64_t address) -> std::pair<std::string&, std::size_t> {
    auto at = std::prev(memory.upper_bound(address));
    return {at->second, static_cast<std::size_t>(address - at->first)};
  };
  while (const std::optional<Request> request = receive_request(kSocket)) {
    Answer answer;
    switch (request->ask) {
      case Ask::hello:
        answer.bytes = hello();
        break;
      case Ask::allocate:
        answer.number = what == "same address" ? 4096 : what == "no address" ? 0 : next;
        if (what == "last address") answer.number = ~std::uint64_t{0} - 3;
        memory[answer.number].resize(static_cast<std::size_t>(request->count));
        next += (request->count + 255) / 256 * 256;
        break;
      case Ask::copy_in: {
        auto [to, at] = cells(request->address);
        to.replace(at, request->bytes.size(), request->bytes);
        break;
      }
      case Ask::copy_out: {
        auto [from, at] = cells(request->address);
        answer.bytes = from.substr(at, static_cast<std::size_t>(request->count));
        if (what == "fewer bytes") answer.bytes.pop_back();
        break;
      }
      case Ask::poison: {
        auto [to, at] = cells(request->address);
        for (std::uint64_t i = 0; i < request->count; ++i) {
          std::memcpy(to.data() + at + i * sizeof(float), &request->value, sizeof(float));
        }
        break;
      }
      case Ask::run: {
        const RemoteCall call = call_from_text(request->bytes);
        const auto bytes = static_cast<std::size_t>(call.numbers.at(0)) * sizeof(float);
        auto [from, begin] = cells(call.inputs.at(0));
        const std::string copied = from.substr(begin, bytes);
        auto [to, at] = cells(call.outputs.at(0));
        to.replace(at, bytes, copied);
        if (what == "too much") answer.bytes.assign(std::size_t{1} << 25, ' ');
        if (what == "a byte now and then") {
          for (int i = 0; i < 100; ++i) {
            if (write(kSocket, "", 1) != 1) return 1;
            usleep(200'000);
          }
        }
        if (what == "closes its ears") pause();
        if (answer.bytes.empty()) answer.bytes = seen();
        break;
      }
      default:
        answer.number = 1;
    }
    try {
      send(kSocket, answer);
    } catch (const Gone&) {
      return 1;
    }
  }
  return 0;
}
