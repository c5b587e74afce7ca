// The examiner of exercises that have a contract. In a file of its own: the linker takes it from the library only
// where check.cpp defines no other.
#include <memory>
#include <string>
#include <vector>

#include "tests/exercises/check.hpp"

namespace halo::exercises {

namespace {

Check* present = nullptr;

class ContractExaminer final : public Examiner {
 public:
  ContractExaminer(const std::string& program, const std::string& source, std::uint64_t seed)
      : check_(contract(), WorkerCommand{{program}, sandbox_words()}, source, seed), seed_(seed) {
    present = &check_;
  }
  std::string backend() const override { return check_.backend(); }
  std::string unavailable() const override { return check_.unavailable(); }
  std::vector<Question> questions() override { return check_.questions(); }
  std::vector<Row> faults() const override { return check_.faults(); }
  std::string time() override { return check_.time(); }
  Verdict right_hidden(const HiddenCase& hidden) override {
    return check_.right_hidden(hidden.problems, hidden.drawn);
  }
  int debug(const DebugOptions& options) override {
    return exercises::debug(contract(), check_, options, seed_);
  }

 private:
  Check check_;
  std::uint64_t seed_;
};

}  // namespace

Check& check() { return *present; }

std::unique_ptr<Examiner> make_examiner(const std::string& program, const std::string& source,
                                        std::uint64_t seed) {
  return std::make_unique<ContractExaminer>(program, source, seed);
}

Description describe() { return {contract().name, questions_of(contract())}; }

}  // namespace halo::exercises
