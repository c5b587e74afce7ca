// The program that an exercise's file becomes: it runs what the judge asks for and answers what was seen. It
// knows no expected value, no tolerance and no points.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "common/exercise/exercise.h"
#include "common/exercise/wire.hpp"
#include "common/json/json.hpp"

namespace halo::exercises {

namespace {

template <class T>
T* at(std::uint64_t address) {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
}

class Worker {
 public:
  explicit Worker(const Exercise& exercise) : exercise_(exercise), backend_(make_backend()) {}

  Answer answer(const Request& request) {
    Answer answer;
    switch (request.ask) {
      case Ask::hello: {
        std::vector<bool> whole;
        for (int i = 0; i < exercise_.outputs(); ++i) whole.push_back(exercise_.is_whole(i));
        answer.bytes = json::Value::object({{"backend", backend_->name()},
                                            {"unavailable", backend_->unavailable()},
                                            {"observes", backend_->observes()},
                                            {"times", backend_->times()},
                                            {"blind", backend_->blind_reason()},
                                            {"not_counted", backend_->not_counted()},
                                            {"not_searched", backend_->not_searched()},
                                            {"guard_cells", backend_->guard_cells()},
                                            {"inputs", exercise_.inputs()},
                                            {"outputs", exercise_.outputs()},
                                            {"whole", whole},
                                            {"numbers", exercise_.numbers()}})
                           .dump();
        break;
      }
      case Ask::allocate:
        answer.number = reinterpret_cast<std::uintptr_t>(
            backend_->allocate(static_cast<std::size_t>(request.count)));
        break;
      case Ask::release:
        backend_->release(at<void>(request.address));
        break;
      case Ask::name:
        backend_->name_memory(at<void>(request.address), request.bytes);
        break;
      case Ask::copy_in:
        backend_->copy_in(at<void>(request.address), request.bytes.data(), request.bytes.size());
        break;
      case Ask::copy_out:
        answer.bytes.resize(static_cast<std::size_t>(request.count));
        backend_->copy_out(answer.bytes.data(), at<void>(request.address), answer.bytes.size());
        break;
      case Ask::poison:
        backend_->poison(at<float>(request.address), static_cast<std::size_t>(request.count),
                         request.value);
        break;
      case Ask::run: {
        const RemoteCall call = call_from_text(request.bytes);
        const Observation seen = backend_->run([&] { return launch(call); });
        answer.bytes = to_text(seen, *backend_);
        break;
      }
      case Ask::time:
        answer.bytes = time(call_from_text(request.bytes), static_cast<int>(request.count));
        break;
      case Ask::recover:
        answer.number = backend_->recover();
        break;
      case Ask::be_tiny:
        answer.number = backend_->be_tiny(request.count != 0);
        break;
    }
    return answer;
  }

 private:
  int launch(const RemoteCall& call) {
    std::vector<const float*> inputs;
    std::vector<float*> outputs;
    for (const std::uint64_t address : call.inputs) inputs.push_back(at<const float>(address));
    for (const std::uint64_t address : call.outputs) outputs.push_back(at<float>(address));
    return exercise_({inputs.data(), outputs.data(), call.numbers.data()});
  }

  std::string time(const RemoteCall& call, int calls) {
    constexpr int kRounds = 9;
    const std::unique_ptr<Batch> batch =
        backend_->batch([this, call](int) { return launch(call); }, calls);
    batch->run();  // the first is not like the others
    std::vector<double> milliseconds;
    for (int round = 0; round < kRounds; ++round) milliseconds.push_back(batch->run() / calls);
    return json::Value(milliseconds).dump();
  }

  const Exercise exercise_;
  std::unique_ptr<Backend> backend_;
};

int serve() {
  Worker worker{halo::exercise()};
  while (true) {
    std::optional<Request> request = receive_request(kSocket);
    if (!request) return 0;
    Answer answer;
    try {
      answer = worker.answer(*request);
    } catch (const std::exception& error) {
      answer.error = error.what();
      if (answer.error.empty()) answer.error = "an exception without words";
    }
    std::fflush(stdout);
    send(kSocket, answer);
  }
}

}  // namespace

}  // namespace halo::exercises

int main(int, char** argv) {
  try {
    return halo::exercises::serve();
  } catch (const halo::exercises::Gone&) {
    std::fprintf(stderr, "%s is run by ./halo try, not by hand\n", argv[0]);
    return 2;
  }
}
