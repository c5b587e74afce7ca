#include "common/exercise/served.hpp"

#include <cstdio>
#include <exception>
#include <optional>

namespace halo::exercises {

json::Value Served::description() {
  return json::Value::object({{"backend", backend_->name()},
                              {"unavailable", backend_->unavailable()},
                              {"observes", backend_->observes()},
                              {"times", backend_->times()},
                              {"blind", backend_->blind_reason()},
                              {"not_counted", backend_->not_counted()},
                              {"not_searched", backend_->not_searched()},
                              {"guard_cells", backend_->guard_cells()}});
}

bool Served::answer(const Request& request, Answer& answer) {
  switch (request.ask) {
    case Ask::allocate:
      answer.number = reinterpret_cast<std::uintptr_t>(
          backend_->allocate(static_cast<std::size_t>(request.count)));
      memory_[answer.number] = {request.count, ""};
      return true;
    case Ask::release:
      backend_->release(at<void>(request.address));
      memory_.erase(request.address);
      return true;
    case Ask::name:
      backend_->name_memory(at<void>(request.address), request.bytes);
      memory_[request.address].name = request.bytes;
      return true;
    case Ask::copy_in:
      backend_->copy_in(at<void>(request.address), request.bytes.data(), request.bytes.size());
      return true;
    case Ask::copy_out:
      answer.bytes.resize(static_cast<std::size_t>(request.count));
      backend_->copy_out(answer.bytes.data(), at<void>(request.address), answer.bytes.size());
      return true;
    case Ask::poison:
      backend_->poison(at<float>(request.address), static_cast<std::size_t>(request.count),
                       request.value);
      return true;
    case Ask::recover:
      answer.number = backend_->recover();
      return true;
    case Ask::be_tiny:
      answer.number = backend_->be_tiny(request.count != 0);
      return true;
    default:
      return false;
  }
}

int serve(const std::function<Answer(const Request&)>& answer_to) {
  try {
    while (true) {
      const std::optional<Request> request = receive_request(kSocket);
      if (!request) return 0;
      Answer answer;
      try {
        answer = answer_to(*request);
      } catch (const std::exception& error) {
        answer = {};
        answer.error = error.what();
        if (answer.error.empty()) answer.error = "an exception without words";
      }
      std::fflush(stdout);
      send(kSocket, answer);
    }
  } catch (const Gone&) {
    std::fprintf(stderr, "this program is run by ./halo try, not by hand\n");
    return 2;
  }
}

}  // namespace halo::exercises
