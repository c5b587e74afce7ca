// The program that has the device when an exercise is graded: its memory, its kernels, its counts. There is nothing of the
// student's in it but PTX. What the worker's host code asks of the device, the worker notes, and here it is done.
#include "common/exercise/served.hpp"
#include "common/simt/simulator.hpp"

namespace halo::exercises {

namespace {

// What was seen of the work, or why there is none of it.
std::string observed(Backend& backend, const std::string& recorded) {
  std::string refusal;
  Observation seen = backend.run([&] {
    try {
      simt::simulator()->replay(recorded);
    } catch (const std::runtime_error& error) {
      refusal = error.what();
    }
    return 0;
  });
  if (!refusal.empty()) seen.error = refusal;
  return to_text(seen, backend);
}

}  // namespace

}  // namespace halo::exercises

int main() {
  using namespace halo::exercises;
  Served served;
  return serve([&](const Request& request) {
    Answer answer;
    if (served.answer(request, answer)) return answer;
    if (request.ask == Ask::hello) answer.bytes = served.description().dump();
    if (request.ask == Ask::replay) answer.bytes = observed(served.backend(), request.bytes);
    return answer;
  });
}
