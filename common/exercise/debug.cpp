#include "common/exercise/debug.hpp"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <thread>

#include "common/simt/debug/client.hpp"

namespace halo::exercises {

int debug(const Contract& contract, Check& check, const DebugOptions& options, std::uint64_t seed) {
  try {
    const FirstFault fault = check.first_fault();
    const simt::debug::Wanted wanted{options.block.value_or(fault.owner.block),
                                     options.thread.value_or(fault.owner.thread), options.file,
                                     options.line, options.batch};
    std::fprintf(stderr, "%s; stopping in thread %lld of block %lld\n", fault.words.c_str(),
                 static_cast<long long>(*wanted.thread), static_cast<long long>(*wanted.block));
    simt::debug::Listener listener;
    setenv("SIMT_DEBUG", listener.path().c_str(), 1);
    simt::debug::Meeting meeting = simt::debug::Meeting::none;
    std::jthread user([&] { meeting = simt::debug::attend(listener, wanted, options.dap); });
    // Before the thread is waited for, whatever comes of it.
    const struct Ended {
      simt::debug::Listener& listener;
      ~Ended() { listener.stop(); }
    } ended{listener};
    // The user's end waits for the program's.
    std::optional<Check> held(std::in_place, contract,
                              WorkerCommand{.words = {options.program}, .is_held = true},
                              options.file, seed);
    const std::string why = held->run_once(fault.problem);
    held.reset();
    listener.stop();
    user.join();
    if (meeting == simt::debug::Meeting::none) {
      throw std::runtime_error(why.empty() ? contract.name + " launched no kernel"
                                           : "no kernel was stopped: " + why);
    }
    if (meeting == simt::debug::Meeting::unstopped) {
      throw std::runtime_error(
          "no kernel was stopped there: choose another --block, --thread or --line, or leave them "
          "out");
    }
    return 0;
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}

}  // namespace halo::exercises
