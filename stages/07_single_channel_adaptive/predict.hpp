// What the simulator must count for a layer divided so: written from the algorithm, no kernel runs.
#pragma once

#include "common/planning/single_channel_plan.hpp"
#include "common/simt/simt.hpp"
#include "stages/07_single_channel_adaptive/single_channel.hpp"

namespace halo::single_channel {

/// Prefetching alone, with its fixed division. prefetch_rows(layer) must not be 0.
simt::Counters predict_prefetch(const Layer& layer);

/// Either of the two methods, with a division that divide has made for it.
simt::Counters predict(const Layer& layer, Method method, const Division& division);

}  // namespace halo::single_channel
