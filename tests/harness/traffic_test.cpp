// What predictions are written with, against a count address by address: every lane of every request,
// every sector that it touches, every word that a bank has to give.
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "common/harness/traffic/tally.hpp"
#include "tests/catch.hpp"

using namespace halo;

namespace {

// One warp instruction: the first cell of each lane that takes part.
struct Request {
  std::map<int, std::int64_t> lanes;
  int width = 1;

  Request behind(std::int64_t by) const {
    Request moved = *this;
    for (auto& [lane, cell] : moved.lanes) cell += by;
    return moved;
  }
};

std::uint64_t sectors(const Request& request) {
  std::set<std::int64_t> sectors;
  for (const auto& [lane, cell] : request.lanes) {
    for (int i = 0; i < request.width; ++i) sectors.insert((cell + i) / 8);
  }
  return sectors.size();
}

// docs/simulator_reference.md, "Wavefronts".
struct Passes {
  std::uint64_t taken = 0;
  std::uint64_t ideal = 0;
};
Passes passes(const Request& request, bool is_load) {
  int lanes_of_phase = 32 / request.width;
  const auto agree = [&](int distance) {
    return std::all_of(request.lanes.begin(), request.lanes.end(), [&](const auto& lane) {
      const auto other = request.lanes.find(lane.first ^ distance);
      return other == request.lanes.end() || other->second == lane.second;
    });
  };
  if (is_load && request.width > 1 && (agree(1) || agree(2))) lanes_of_phase *= 2;
  Passes all;
  for (int phase = 0; phase < 32; phase += lanes_of_phase) {
    std::map<std::int64_t, std::set<std::int64_t>> banks;
    for (const auto& [lane, cell] : request.lanes) {
      if (lane < phase || lane >= phase + lanes_of_phase) continue;
      for (int i = 0; i < request.width; ++i) banks[(cell + i) % 32].insert(cell + i);
    }
    std::uint64_t busiest = 0;
    for (const auto& [bank, words] : banks)
      busiest = std::max<std::uint64_t>(busiest, words.size());
    all.taken += busiest;
    all.ideal += busiest > 0;
  }
  return all;
}

std::vector<Request> requests_of(const Run& run) {
  std::vector<Request> requests;
  for (std::int64_t i = 0; i < run.lanes; ++i) {
    const std::int64_t place = run.first_lane + i;
    if (requests.empty() || place % 32 == 0) requests.push_back({{}, run.width});
    requests.back().lanes[static_cast<int>(place % 32)] = run.first + i * run.stride;
  }
  return requests;
}

// Each request at each of the places, to all four counters.
simt::Counters counted(const std::vector<Request>& requests,
                       const std::vector<std::int64_t>& places) {
  simt::Counters counters;
  for (const Request& request : requests) {
    for (const std::int64_t place : places) {
      const Request here = request.behind(place);
      counters.global_load_requests += 1;
      counters.global_load_sectors += sectors(here);
      const Passes load = passes(here, true);
      counters.shared_load_requests += 1;
      counters.shared_load_wavefronts += load.taken;
      counters.shared_load_conflicts += load.taken - load.ideal;
      const Passes store = passes(here, false);
      counters.shared_store_requests += 1;
      counters.shared_store_wavefronts += store.taken;
      counters.shared_store_conflicts += store.taken - store.ideal;
    }
  }
  counters.global_store_requests = counters.global_load_requests;
  counters.global_store_sectors = counters.global_load_sectors;
  return counters;
}

template <class Asked>
simt::Counters tallied(const Asked& asked, const Times& times) {
  Tally tally;
  tally.load(asked, times);
  tally.store(asked, times);
  tally.shared_load(asked, times);
  tally.shared_store(asked, times);
  return tally.counters();
}

std::vector<std::int64_t> places(std::int64_t pitch, std::int64_t count) {
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < count; ++i) places.push_back(i * pitch);
  return places;
}

class Draw {
 public:
  std::int64_t operator()(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(engine_);
  }

 private:
  std::mt19937 engine_{test::seed()};
};

}  // namespace

TEST_CASE("traffic: a run costs what its lanes cost, address by address") {
  Draw draw;
  for (int round = 0; round < 2000; ++round) {
    const int width = 1 << draw(0, 2);
    // Wide lanes are aligned to their width, as the hardware wants them.
    const Run run{.first = width * draw(0, 40),
                  .lanes = draw(0, 150),
                  .stride = width * draw(0, round % 2 == 0 ? 2 : 70),
                  .width = width,
                  .first_lane = round % 3 == 0 ? static_cast<int>(draw(0, 31)) : 0};
    const std::int64_t pitch = width * draw(0, 50);
    const std::int64_t count = draw(0, 20);
    INFO("first " << run.first << ", lanes " << run.lanes << ", stride " << run.stride << ", width "
                  << run.width << ", first lane " << run.first_lane << ", every " << pitch << ", "
                  << count << " times");
    const std::vector<Request> requests = requests_of(run);
    REQUIRE(run.requests() == static_cast<std::int64_t>(requests.size()));
    REQUIRE(tallied(run, every(pitch, count)) == counted(requests, places(pitch, count)));
  }
}

TEST_CASE("traffic: neighbours, pairs and quads are the runs that they look like") {
  Draw draw;
  for (int round = 0; round < 200; ++round) {
    const std::int64_t begin = 4 * draw(0, 9);
    const Cells cells{begin, begin + 4 * draw(0, 80)};
    const auto same = [&](const Run& made, const Run& meant) {
      REQUIRE(tallied(made, 3) == counted(requests_of(meant), places(0, 3)));
    };
    same(cells, {.first = begin, .lanes = cells.size()});
    same(pairs(cells), {.first = begin, .lanes = cells.size() / 2, .stride = 2, .width = 2});
    same(quads(cells), {.first = begin, .lanes = cells.size() / 4, .stride = 4, .width = 4});
    same(strided(begin, 50, 7), {.first = begin, .lanes = 50, .stride = 7});
    same(one(begin), {.first = begin, .lanes = 1});
    same(from_lane(70, cells), {.first = begin, .lanes = cells.size(), .first_lane = 6});
  }
  // The figures of 32 lanes side by side: 4, 8 and 16 sectors, 1, 2 and 4 wavefronts.
  for (const auto& [run, sectors, wavefronts] : {std::tuple{Run(Cells{0, 32}), 4u, 1u},
                                                 {pairs({0, 64}), 8u, 2u},
                                                 {quads({0, 128}), 16u, 4u}}) {
    const simt::Counters counters = tallied(run, 1);
    CHECK(counters.global_load_sectors == sectors);
    CHECK(counters.shared_load_wavefronts == wavefronts);
    CHECK(counters.shared_load_conflicts == 0);
  }
  CHECK(test::message_of([] { pairs({0, 3}); }) == "pairs: half a pair is left over");
  CHECK(test::message_of([] { quads({0, 6}); }) == "quads: part of a quad is left over");
}

TEST_CASE("traffic: lanes may have any cells, or none") {
  Draw draw;
  for (int round = 0; round < 2000; ++round) {
    const int width = 1 << draw(0, 2);
    const std::int64_t first = draw(0, 99);
    const Cells threads{first, first + draw(0, 32)};
    const std::int64_t most = draw(0, 1) == 0 ? 20 : 3000;
    Request request{{}, width};
    for (std::int64_t i = threads.begin; i < threads.end; ++i) {
      if (draw(0, 3) > 0) request.lanes[static_cast<int>(i - first)] = width * draw(0, most);
    }
    // Sometimes neighbours agree, which loads of 8 and 16 bytes make use of.
    for (int lane = 0; round % 3 == 0 && lane < 32; ++lane) {
      const auto other = request.lanes.find(lane & ~(round % 2 + 1));
      if (other != request.lanes.end()) request.lanes[lane] = other->second;
    }
    std::erase_if(request.lanes, [&](const auto& lane) { return lane.first >= threads.size(); });

    const Lanes made = wide_lanes(width, threads, [&](std::int64_t thread) {
      const auto lane = request.lanes.find(static_cast<int>(thread - first));
      return lane == request.lanes.end() ? kNoCell : lane->second;
    });
    std::vector<Request> requests;
    if (!request.lanes.empty()) requests.push_back(request);
    CHECK(made.empty() == requests.empty());
    const std::int64_t pitch = width * draw(0, 50);
    const std::int64_t count = draw(0, 20);
    REQUIRE(tallied(made, every(pitch, count)) == counted(requests, places(pitch, count)));
  }
  const auto any = [](std::int64_t thread) { return thread; };
  CHECK(test::message_of([&] { lanes({0, 33}, any); }) == "lanes: over 32 threads");
}

TEST_CASE("traffic: times are added, and each is taken with each") {
  Draw draw;
  for (int round = 0; round < 300; ++round) {
    const Run run{.first = draw(0, 9), .lanes = draw(1, 70), .stride = draw(1, 3)};
    const std::int64_t row = draw(0, 99), rows = draw(0, 9), plane = draw(0, 999),
                       planes_count = draw(0, 9), again = draw(0, 3), extra = draw(0, 99);
    std::vector<std::int64_t> all;
    for (const std::int64_t a : places(row, rows)) {
      for (const std::int64_t b : places(plane, planes_count)) {
        all.insert(all.end(), static_cast<std::size_t>(again), a + b);
      }
    }
    all.insert(all.end(), 2, extra);
    all.push_back(0);
    Times times = every(row, rows) * every(plane, planes_count) * again;
    times.add(extra, 2);
    times = times + 1;
    CHECK(times.total() == all.size());
    REQUIRE(tallied(run, times) == counted(requests_of(run), all));
  }
  // However many there are, and wherever they begin.
  Times many = every(3, 8'000'000'000);
  CHECK(many.total() == 8'000'000'000u);
  for (int behind = 0; behind < 32; ++behind) CHECK(many[behind] == 250'000'000u);
  many = 0;
  many.add(-3);
  CHECK(many[29] == 1);
  CHECK(every(7, -1).total() == 0);
}

TEST_CASE("traffic: copies cost what an H200 counted, by both sides") {
  using Place = std::int64_t (*)(std::int64_t);
  struct Measured {
    int width;
    Place from, to;
    bool or_zero;
    std::uint32_t zeros;
    std::uint64_t sectors, wavefronts, conflicts;
  };
  const Place same = [](std::int64_t i) { return i; };
  const Place one = [](std::int64_t) -> std::int64_t { return 3; };
  const Place next = [](std::int64_t i) { return i + 1; };
  const Place second = [](std::int64_t i) { return i * 2; };
  const Place third = [](std::int64_t i) { return i * 3; };
  const Place flipped = [](std::int64_t i) { return i ^ 3; };
  const Place rows = [](std::int64_t i) { return 1 + i / 6 * 37 + i % 6; };
  const Measured all[] = {
      {1, same, same, false, 0, 4, 1, 0},
      {1, one, same, false, 0, 1, 32, 31},
      {1, second, same, false, 0, 8, 2, 1},
      {1, rows, same, false, 0, 9, 2, 1},
      {1, rows, same, true, 0x41041041u, 9, 1, 0},
      {1, second, same, true, 0x00fe00f0u, 6, 2, 1},
      {2, one, same, false, 0, 1, 32, 30},
      {2, same, second, false, 0, 8, 4, 2},
      {4, same, same, false, 0, 16, 4, 0},
      {4, one, same, false, 0, 16, 32, 0},
      {4, same, flipped, false, 0, 16, 4, 0},
      {4, next, same, false, 0, 20, 12, 0},
      {4, same, next, false, 0, 20, 12, 0},
      {4, second, second, false, 0, 32, 8, 0},
      {4, second, same, false, 0, 16, 32, 0},
      {4, third, third, false, 0, 32, 24, 0},
      {4, rows, same, false, 0, 18, 14, 0},
      {4, next, same, true, 0, 20, 4, 0},
      {4, second, same, true, 0, 16, 4, 0},
      {4, second, same, true, 1, 16, 4, 4},
      {4, same, second, true, 0x00fe00f0u, 21, 8, 4},
      {4, rows, same, true, 0x41041041u, 18, 4, 0},
      {4, same, same, true, ~0u, 0, 4, 0},
  };
  for (const Measured& of : all) {
    INFO("number " << &of - all);
    const Lanes from = wide_lanes(of.width, {0, 32}, [&](std::int64_t i) {
      return (of.zeros >> i & 1) != 0 ? kNoCell : of.width * of.from(i);
    });
    const Lanes to =
        wide_lanes(of.width, {0, 32}, [&](std::int64_t i) { return of.width * of.to(i); });
    Tally tally;
    of.or_zero ? tally.copy_or_zero(from, to) : tally.copy(from, to);
    const simt::Counters& counters = tally.counters();
    CHECK(counters.global_load_requests == (of.sectors > 0 ? 1 : 0));
    CHECK(counters.global_load_sectors == of.sectors);
    CHECK(counters.shared_store_requests == 1);
    CHECK(counters.shared_store_wavefronts == of.wavefronts);
    CHECK(counters.shared_store_conflicts == of.conflicts);
  }
}

TEST_CASE("traffic: copies from many places cost what each costs") {
  Draw draw;
  for (int round = 0; round < 300; ++round) {
    const int width = 1 << draw(0, 2);
    const bool or_zero = draw(0, 1) == 0;
    const std::int64_t lanes_of = draw(1, 90), first = width * draw(0, 40);
    const Run from{.first = first, .lanes = lanes_of, .stride = width * draw(1, 3), .width = width};
    const Run to{.lanes = lanes_of, .stride = width, .width = width};
    const std::int64_t pitch = width * draw(0, 50), count = draw(0, 40);
    INFO("width " << width << ", first " << first << ", every " << pitch << ", " << count);
    const auto copied = [&](Tally& tally, const Run& run, const Times& times) {
      or_zero ? tally.copy_or_zero(run, to, times) : tally.copy(run, to, times);
    };
    Tally tally, each;
    copied(tally, from, every(pitch, count));
    for (const std::int64_t place : places(pitch, count)) {
      Run here = from;
      here.first += place;
      copied(each, here, 1);
    }
    REQUIRE(tally.counters() == each.counters());
  }
}

TEST_CASE("traffic: threads numbered through parts cost what all their warps cost") {
  Draw draw;
  for (int round = 0; round < 100; ++round) {
    const std::int64_t parts = draw(1, 90), size = draw(1, round % 2 == 0 ? 9 : 200),
                       pitch = draw(size, 300), stride = draw(1, 3);
    INFO(parts << " parts of " << size << ", " << pitch << " apart, stride " << stride);
    const auto cell_of = [&](std::int64_t thread) {
      return thread / size * pitch + thread % size * stride;
    };
    Tally tally;
    for_each_warp(parts, size, [&](Cells warp, Again again) {
      tally.load(lanes(warp, cell_of), again.every(pitch));
    });
    Tally all;
    for (const Cells warp : Cells{0, parts * size}.pieces(kWarpSize)) {
      all.load(lanes(warp, cell_of));
    }
    REQUIRE(tally.counters() == all.counters());
  }
  // However many parts there are.
  std::int64_t visited = 0;
  for_each_warp(1'000'000'000, 33, [&](Cells, Again again) { visited += again.times; });
  CHECK(visited == 33 * 1'000'000'000LL / 32);
}

TEST_CASE("traffic: constant memory, barriers, and a tally so many times") {
  Tally tally;
  tally.load(Cells{1, 33}, 2);
  tally.shared_store(strided(0, 32, 2));
  tally.constant_load(9);
  tally.barriers(4);
  simt::Counters once;
  once.global_load_requests = 2;
  once.global_load_sectors = 10;
  once.shared_store_requests = 1;
  once.shared_store_wavefronts = 2;
  once.shared_store_conflicts = 1;
  once.constant_load_requests = 9;
  once.barriers = 4;
  CHECK(tally.counters() == once);
  Tally sum;
  sum.add(tally, 2);
  sum.add(tally);
  simt::Counters thrice = once;
  thrice += once;
  thrice += once;
  CHECK(sum.counters() == thrice);
}

TEST_CASE("traffic: launches that are alike are one figure, in any order") {
  Tally tally;
  tally.launch(10, 256, 1024);
  tally.launch(3, 32, 0, 2);
  tally.launch(10, 256, 1024);
  tally.launch(0, 256);
  const std::vector<LaunchFigures> both{{2, 3, 32, 0}, {2, 10, 256, 1024}};
  CHECK(tally.cost().launches == both);
  Tally backwards;
  backwards.launch(10, 256, 1024, 2);
  backwards.launch(3, 32, 0, 2);
  CHECK(backwards.cost() == tally.cost());
  Tally twice;
  twice.add(tally, 2);
  CHECK(twice.cost().launches[0].launches == 4);
  CHECK(twice.cost() != tally.cost());
}

TEST_CASE(
    "traffic: equal counters are as predicted only with equal launches, where they are promised") {
  Tally predicted;
  predicted.load(Cells{0, 32});
  Tally counted = predicted;
  counted.launch(1, 32);
  CHECK(as_predicted(counted.cost(), predicted.cost()));
  predicted.launch(1, 32);
  CHECK(as_predicted(counted.cost(), predicted.cost()));
  for (const LaunchFigures other :
       {LaunchFigures{1, 2, 32, 0}, {1, 1, 64, 0}, {1, 1, 32, 4}, {2, 1, 32, 0}}) {
    Cost differs = predicted.cost();
    differs.launches = {other};
    CHECK_FALSE(as_predicted(differs, predicted.cost()));
  }
  Cost wide = predicted.cost();
  wide.fp64_operations = 1;
  CHECK_FALSE(as_predicted(wide, predicted.cost()));
  Tally multiplies = predicted;
  multiplies.tensor(3);
  CHECK_FALSE(as_predicted(multiplies.cost(), predicted.cost()));
  Tally more = multiplies;
  more.add(multiplies, 2);
  CHECK(more.cost().tensor_instructions == 9);
  Tally reaches = predicted;
  reaches.dshared_load(Run{.first = 4, .lanes = 64}, 10);
  reaches.dshared_store(one(3));
  CHECK(reaches.cost().dshared_load_requests == 20);
  CHECK(reaches.cost().dshared_load_sectors == 100);
  CHECK(reaches.cost().dshared_store_requests == 1);
  CHECK(reaches.cost().dshared_store_sectors == 1);
  CHECK(reaches.cost().shared_load_requests == predicted.cost().shared_load_requests);
  CHECK_FALSE(as_predicted(reaches.cost(), predicted.cost()));
  Cost leaks = predicted.cost();
  leaks.unfreed_bytes = 4;
  CHECK_FALSE(as_predicted(leaks, predicted.cost()));
}

TEST_CASE("traffic: cells are cut, moved and dealt in pieces") {
  const Cells cells{3, 10};
  CHECK(cells.size() == 7);
  CHECK(cells.contains(3));
  CHECK_FALSE(cells.contains(10));
  CHECK(cells.contains(Cells{4, 10}));
  CHECK_FALSE(cells.contains(Cells{2, 5}));
  CHECK_FALSE(cells.contains(Cells{9, 11}));
  CHECK(Cells{5, 4}.empty());
  CHECK(Cells{5, 4}.size() == 0);
  std::vector<std::int64_t> ends;
  for (const Cells piece : cells.pieces(3)) {
    ends.push_back(piece.begin);
    ends.push_back(piece.end);
  }
  CHECK(ends == std::vector<std::int64_t>{3, 6, 6, 9, 9, 10});
  for (const Cells piece : Cells{4, 4}.pieces(3)) FAIL("a piece from " << piece.begin);
  const Cells moved = cells.shifted(-5).within({0, 9});
  CHECK(cells.pieces(3).count() == 3);
  CHECK(Cells{4, 4}.pieces(3).count() == 0);
  CHECK(moved.begin == 0);
  CHECK(moved.end == 5);
  CHECK(cells.within({12, 20}).empty());
}
