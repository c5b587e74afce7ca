// How steps 5 and 6 of stage 12 share a row out, said once for the kernels and for their costs.
#pragma once

namespace halo::fused_softmax {

// A row is read once, into the registers of a team of threads, and written from there. A piece is 16 bytes, or a float
// where rows do not begin on 16 bytes.
constexpr int block_of(int team) { return team > 128 ? team : 128; }  // threads

struct Team {
  int width;    // floats of a piece: 4 or 1
  int threads;  // of a row: 4 ... 32 lanes of a warp, or a block
  int pieces;   // of a thread, at most
  int rows;     // that a team has at a time

  constexpr int block_threads() const { return block_of(threads); }
  // Rows of a block, each `rows` times.
  constexpr int block_rows() const { return block_threads() / threads; }
};

constexpr int kMostPieces = 8;  // of 16 bytes: 32 registers of a thread. Of floats twice as many
constexpr int kMostTeam =
    512;  // more threads in one block cost more to combine than they save elsewhere
constexpr int kLanePieces = 4;  // of a lane, up to which a warp is the team: it has no barrier
constexpr int kShortRows = 4;   // of a team at a time, where a thread has a single float of each
constexpr int kManyThreads = 128 * 1024;  // that fill a GPU

constexpr int most_pieces(int width) { return width == 4 ? kMostPieces : 2 * kMostPieces; }

// Few short rows: what one thread does, one thing after the other, is the time. A shuffle takes longer than four cells, so
// up to 16 cells are for four lanes. A warp has up to 128, a float at a time: no lane has more of them than others.
constexpr int kFourCells = 16, kWarpCells = 128;
constexpr Team team_of_few_short_rows(int C) {
  const int lanes = C <= kFourCells ? 4 : 32;
  return {1, lanes, (C - 1) / lanes + 1, 1};
}

// A longer row has a cluster of small blocks (step 6): it has as many threads, but an SM has room for more blocks, of which
// some load while others wait for each other. With about one row for each SM, a large block does as well.
constexpr int kBlockCells = 8192;
constexpr int kRowsForSms = 64;  // and more

// Of N rows of C. threads 0: the row is not for one block. `clusters`: the GPU has them.
constexpr Team team_of(int N, int C, bool clusters = true) {
  const auto few = [N](int threads) { return static_cast<long long>(N) * threads < kManyThreads; };
  if (C <= kWarpCells && few(32)) return team_of_few_short_rows(C);
  const int width = C % 4 == 0 ? 4 : 1;
  const int pieces = C / width;
  const bool has_block = !clusters || (N >= kRowsForSms && few(kMostTeam));
  if (pieces > kMostTeam * most_pieces(width) || (C > kBlockCells && !has_block)) {
    return {width, 0, 0, 0};
  }
  Team team{width, 4, 1, 1};
  // Lanes of a warp are the cheapest team: they need no barrier. Each gets one piece, and from 32 on more.
  while (team.threads < 32 && team.threads < pieces) team.threads *= 2;
  const int lane_pieces = kLanePieces * 4 / width;
  if (pieces > 32 * lane_pieces) team.threads = 128;
  while (team.threads * most_pieces(width) < pieces) team.threads *= 2;
  // With few rows the GPU is not full: then more threads have less each.
  while (team.threads < kMostTeam && team.threads * 8 < pieces * width && few(team.threads)) {
    team.threads *= 2;
  }
  if (team.threads == 64) team.threads = 128;  // a block is no smaller
  team.pieces = (pieces - 1) / team.threads + 1;
  if (width == 1 && team.pieces > 8) team.pieces = 16;  // of floats not every number is compiled
  if (width == 1 && team.pieces == 1 && team.threads <= 32 && !few(team.threads)) {
    team.rows = kShortRows;
  }
  return team;
}

// Step 6: how many blocks, of how many threads, and pieces of a thread at most.
struct ClusterTeam {
  int threads, blocks, pieces;
};
constexpr int kMostBlocks = 16;  // of a cluster, on an H200

// Of N rows of C. blocks 0: the row does not fit a cluster either.
constexpr ClusterTeam cluster_of(int N, int C) {
  const int width = C % 4 == 0 ? 4 : 1;
  const int pieces = C / width;
  // The smallest blocks that will do, and as few as will do: more would wait for more others.
  int threads = 128;
  while (threads <= kMostTeam && kMostBlocks * threads * most_pieces(width) < pieces) threads *= 2;
  if (threads > kMostTeam) return {0, 0, 0};
  int blocks = (pieces - 1) / (threads * most_pieces(width)) + 1;
  // Few rows leave most SMs idle: then each thread has less.
  while (2 * blocks <= kMostBlocks && 2ll * N * blocks * threads < kManyThreads / 2) {
    blocks *= 2;
  }
  return {threads, blocks, (pieces - 1) / (threads * blocks) + 1};
}

}  // namespace halo::fused_softmax
