// Real input and output: sound files and NPY arrays as channels of float.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/data/file.hpp"

namespace halo::data {

/// Most channels a file may have. A [samples][channels] array read as [channels][samples] has far
/// more, and is refused with that advice.
inline constexpr int kMaxChannels = 256;

/// The rate that a WAV file gets when the signal has none of its own (it came from an NPY file).
inline constexpr int kDefaultSampleRate = 48000;

struct Signal {
  std::vector<std::vector<float>> channels;  // [channel][sample], all of one length
  int sample_rate = 0;                       // in Hz; 0: unknown (an NPY file does not say)
  std::size_t length() const { return channels.empty() ? 0 : channels.front().size(); }
};

/// Reads a sound file (whatever libsndfile reads: WAV, FLAC, AIFF, Ogg ...; all sample formats) or
/// an NPY file; the content decides, not the name.
///
/// Sound: whole-number samples become v / 2^(bits-1), in [-1, 1), exact up to 24 bits; float
/// samples are taken as they are. NPY: versions 1.0, 2.0 and 3.0, C order, either byte order, types
/// float32, float64, int8..int64, uint8..uint64; shape [samples] or [channels][samples]; values are
/// converted to the nearest float and not scaled.
///
/// Throws DataError for a file that is missing, empty, truncated, of another kind, a folder, or
/// unreadable; that holds no samples, more than conv::kMaxLength of them, more than kMaxChannels
/// channels, NaN, infinity or a value beyond float; for Fortran order; and for a sound file when
/// the build has no libsndfile.
Signal read_signal(const std::string& path);

/// Writes a signal, whole or not at all; the ending of the name decides: `.npy` (float32, [samples]
/// for one channel, else [channels][samples]) or `.wav` (32-bit float whatever the input's format
/// was, so that nothing is clipped and nothing is rounded: what read_signal returns for it is the
/// same floats). The same signal always gives the same bytes.
///
/// Throws DataError for another ending, a target that cannot be written, a WAV file beyond its 4
/// GiB, channels of different lengths or none, and `.wav` when the build has no libsndfile.
void write_signal(const std::string& path, const Signal& signal);

/// Throws the DataError that write_signal would throw for this name, before any work is done.
void require_signal_target(const std::string& path);

/// Whether this build reads and writes sound files.
bool has_sound();

}  // namespace halo::data
