// What the simulator must count for a layer divided so: written from the algorithm, no kernel runs.
#pragma once

#include "common/harness/traffic/cost.hpp"
#include "stages/07_single_channel_adaptive/adaptive.hpp"

namespace halo::single_channel_adaptive {

// Prefetching alone, with its fixed division. prefetch_rows(layer) must not be 0.
Cost predict_prefetch(const LayerNumbers& layer);

// Either of the two methods, with a division that divide has made for it.
Cost predict(const LayerNumbers& layer, Method method, const Division& division);

}  // namespace halo::single_channel_adaptive
