#include "common/harness/core/some_blocks.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/harness/core/check.hpp"
#include "common/harness/core/guarded_values.hpp"
#include "common/harness/core/verify.hpp"
#include "common/report/text.hpp"

namespace halo {

namespace {

// Outputs of a block beyond which it is run without its neighbours, and beyond which not at all.
constexpr std::int64_t kManyOutputs = 500;
constexpr std::int64_t kMostOutputs = 12'000;

// Of two launches the second reads what all blocks of the first have written.
std::string why_not(const AnyPrepared& variant) {
  if (!variant.refusal.empty()) return variant.refusal;
  if (variant.role != Role::variant) return "it is no kernel of ours";
  if (variant.demand != conv::Demand::bounded && variant.demand != conv::Demand::exp2) {
    return "of single outputs only the bound of plain float arithmetic is computed";
  }
  if (variant.workspace_floats > 0) {
    return "a few blocks do not fill the temporaries that others read";
  }
  return {};
}

// What one launch would do, without any of its blocks.
struct Plan {
  int launches = 0;
  std::uint64_t blocks = 0;  // of the last
};

Plan plan_of(Backend& backend, const std::function<int()>& launch) {
  Plan plan;
  const OnlyBlocks none(backend, [&](std::uint64_t blocks) {
    ++plan.launches;
    plan.blocks = blocks;
    return std::vector<simt::BlockRange>();
  });
  // An error comes again in earnest.
  backend.run(launch);
  return plan;
}

// A small array is all there.
std::unique_ptr<Array> array_of(Backend& backend, std::int64_t size, const InputValues* values) {
  const auto count = static_cast<std::size_t>(size);
  if (size > kSparsePeriod) {
    return std::make_unique<Array>(
        backend, count, values == nullptr ? std::span<const float>() : std::span(values->values));
  }
  auto array = std::make_unique<Array>(backend, count);
  if (values != nullptr) write({values->name, array.get(), values->values});
  return array;
}

}  // namespace

std::vector<simt::BlockRange> blocks_to_run(std::uint64_t blocks, std::int64_t outputs) {
  if (blocks == 0) return {};
  const std::int64_t each = outputs / static_cast<std::int64_t>(blocks);
  if (each > kMostOutputs) return {};
  const std::uint64_t neighbours = each > kManyOutputs ? 0 : 1;
  std::vector<simt::BlockRange> wanted;
  const auto add = [&](std::uint64_t first, std::uint64_t count) {
    if (first < blocks) wanted.push_back({first, std::min(first + count, blocks)});
  };
  const auto add_round = [&](std::uint64_t block) {
    add(block - std::min(block, neighbours), 2 * neighbours + 1);
  };
  add_round(0);
  add_round(blocks - 1);
  // short, unsigned short; exact floats; int and unsigned offsets in bytes; and some number between.
  for (const std::uint64_t mark :
       {std::uint64_t{1} << 15, std::uint64_t{1} << 16, std::uint64_t{1} << 24,
        std::uint64_t{1} << 29, std::uint64_t{1} << 30, std::uint64_t{1'777'777'777}}) {
    add_round(mark);
    // The one with the output of that number, where blocks are in the order of outputs.
    add_round(static_cast<std::uint64_t>(static_cast<double>(mark) / static_cast<double>(outputs) *
                                         static_cast<double>(blocks)));
  }
  std::sort(wanted.begin(), wanted.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<simt::BlockRange> apart;
  for (const simt::BlockRange& range : wanted) {
    if (!apart.empty() && range.first <= apart.back().last) {
      apart.back().last = std::max(apart.back().last, range.last);
    } else {
      apart.push_back(range);
    }
  }
  return apart;
}

bool try_some_blocks(const AnyVariant& chooser, Backend& backend, const AnyProblem& problem,
                     std::uint64_t seed, Row& row) {
  if (backend.sparse_floats() == 0) return true;
  const std::string name = problem.describe();
  LargeProblems& large = row.check.large;
  const auto not_tried = [&](const std::string& reason) {
    if (large.reason.empty()) large.reason = reason;
    return true;
  };
  if (kSparsePeriod % static_cast<std::int64_t>(backend.sparse_floats()) != 0) {
    return not_tried("this machine's pages are too large");
  }
  const AnyPrepared variant = chooser.prepared(problem);
  if (const std::string reason = why_not(variant); !reason.empty()) {
    return not_tried(reason);
  }
  const DatasetPtr data = problem.data({DataKind::Of::sparse}, seed);
  const std::vector<InputValues>& inputs = data->inputs();
  std::vector<std::unique_ptr<Array>> arrays;
  std::unique_ptr<Array> output;
  try {
    for (const InputValues& input : inputs) {
      arrays.push_back(array_of(backend, input.size, &input));
    }
    output = array_of(backend, problem.output_size(), nullptr);
  } catch (const std::runtime_error& error) {
    return not_tried(error.what());
  }
  AnyCall call{{}, output->data()};
  for (std::size_t i = 0; i < arrays.size(); ++i) call.inputs.at(i) = arrays[i]->data();
  // A few blocks would not pack them all: they are packed before, and must be few.
  std::optional<Array> packed;
  if (const std::int64_t floats = variant.packed_floats; floats > 0) {
    if (floats > kSparsePeriod || inputs.at(1).size > kSparsePeriod) {
      return not_tried("it has too many filters to pack");
    }
    packed.emplace(backend, static_cast<std::size_t>(floats));
    call.packed = packed->data();
    const Observation packing =
        backend.run([&] { return variant.pack(call.inputs[1], packed->data()); });
    if (!packing.error.empty()) {
      add_failure(row.check, name + ", packing its filters", packing.error);
      return false;
    }
  }
  const auto launch = [&] { return variant.launch(call); };
  const Plan plan = plan_of(backend, launch);
  const std::vector<simt::BlockRange> ranges = blocks_to_run(plan.blocks, problem.output_size());
  if (plan.launches > 1) {
    return not_tried("it is " + std::to_string(plan.launches) +
                     " launches, and a few blocks of one are not enough for the next");
  }
  if (plan.launches == 1 && ranges.empty()) {
    return not_tried(plan.blocks == 1 ? "its one block computes everything"
                                      : "each of its blocks computes too much");
  }
  std::uint64_t run = 0;
  for (const simt::BlockRange& range : ranges) run += range.last - range.first;
  const std::string what = name + " (" + with_commas(static_cast<std::int64_t>(run)) + " of " +
                           with_commas(static_cast<std::int64_t>(plan.blocks)) + " blocks)";

  Verified verified;
  verified.where = what;
  verified.source = variant.source;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    verified.kept.push_back({inputs[i].name, arrays[i].get(), inputs[i].values});
  }
  verified.output = output.get();
  std::optional<GuardedValues> weights;
  if (variant.set_up) {
    weights.emplace(inputs.at(1).values, static_cast<std::size_t>(inputs.at(1).size));
    verified.set_up_name = "setting the " + inputs.at(1).name;
    verified.set_up = [&] { return variant.set_up(weights->data()); };
  }
  verified.packed = packed ? &*packed : nullptr;
  verified.launch = launch;
  const Judge judge = judge_of(*data, variant);
  verified.judge = [&](std::size_t first, std::span<const float> cells) {
    return judge(static_cast<std::int64_t>(first), cells);
  };
  std::int64_t written = 0;
  verified.keep = [&](std::span<const float> cells) {
    written += static_cast<std::int64_t>(cells.size());
  };
  const OnlyBlocks only(backend, [&](std::uint64_t) { return ranges; });
  if (!verify(verified, backend, row)) return false;
  ++large.tried;
  large.which += (large.which.empty() ? "" : "; ") + what;
  // The last blocks may have less than the others.
  const double share = static_cast<double>(problem.computed_outputs()) /
                       static_cast<double>(plan.blocks) * static_cast<double>(run);
  if (output->is_sparse() && static_cast<double>(written) < 0.85 * share) {
    add_failure(row.check, what,
                with_commas(written) +
                    " outputs are written, where the share of so many blocks is " +
                    with_commas(static_cast<std::int64_t>(share)) + ": others are left out");
  }
  return true;
}

}  // namespace halo
