// The three kernels of the 1D FFT peer that are ours: tiles that reach over an end of the signal are padded, spectra are
// multiplied, and outputs taken out of tiles. Private to the peers; nvcc need not read the harness.
//
// All work on the thread's default stream, return the launch's CUDA error code and do not wait.
#pragma once

namespace halo::peers {

/// How a signal of n cells is cut into tiles that are transformed as a whole, overlap-save: tile t has the cells from
/// start(t) - halo on, and its results are the outputs start(t) ... start(t + 1) - 1.
struct SignalTiles {
  SignalTiles(int n, int width, int cells_of_tile)
      : cells(cells_of_tile),
        halo((width - 1) / 2),
        step(cells - width + 1),
        first_step(step - (step - halo) % 2),
        count(n <= first_step ? 1 : (n - first_step - 1) / step + 2),
        inner(n - cells + halo < first_step ? 0 : (n - cells + halo - first_step) / step + 1) {}

  int cells;
  int halo;
  int step;  // outputs of a tile
  int first_step;  // of the first one: so that the others begin at a multiple of 8 bytes, which cuFFT wants
  int count;
  int inner;  // tiles 1 ... inner have cells of the signal only

  /// As 64 bits: the last one's end may be beyond what an int holds.
  long long start(int tile) const { return tile == 0 ? 0 : first_step + (tile - 1LL) * step; }
  /// Where a tile is kept: the inner ones, which are transformed together, then the first, then the others.
  int slot(int tile) const { return tile == 0 ? inner : tile <= inner ? tile - 1 : tile; }
};

/// The tiles that are not inner ones, in the order of their slots: ends[count - inner][cells]; zeros beyond input[n].
int fft_signal_ends(const SignalTiles& tiles, const float* input, int n, float* ends);

/// spectra[count][frequencies] times the conjugate of mask[frequencies] times `scale`; numbers of two floats.
int fft_signal_multiply(float* spectra, const float* mask, int count, int frequencies, float scale);

/// output[first] ... output[last - 1] from planes[slot][pitch].
int fft_signal_outputs(const SignalTiles& tiles, const float* planes, int pitch, float* output,
                       int first, int last);

}  // namespace halo::peers
