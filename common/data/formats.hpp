// The formats behind signal.hpp and picture.hpp, one pair of functions each. Not for use outside this room.
#pragma once

#include "common/data/file.hpp"
#include "common/data/picture.hpp"
#include "common/data/signal.hpp"

namespace halo::data::formats {

/// Whether the first bytes are those of an NPY file, as far as there are any.
bool is_npy(const InputFile& file);
Signal read_npy(const InputFile& file);
void write_npy(OutputFile& file, const Signal& signal);

Signal read_sound(const InputFile& file);
void write_wav(OutputFile& file, const Signal& signal);

/// Why there are no sound files in this build; empty if there are.
std::string no_sound_reason();

/// What the file is by its first bytes, and which stage takes it: "a picture: ./halo run 06 --input x.png
/// filters it". Empty unless it is a picture (or a sound).
std::string if_picture(const InputFile& file);
std::string if_sound(const InputFile& file);

/// Whether the first bytes are those of a PNG file.
bool is_png(const InputFile& file);
Picture read_png(const InputFile& file);
/// One channel or three, rounded already: whole numbers from 0 to 255.
void write_png(OutputFile& file, const Picture& picture);

/// Why there are no PNG files in this build; empty if there are.
std::string no_png_reason();

/// Throws unless the numbers of rows and columns are within the limits of picture.hpp and at least 1.
void require_size(const InputFile& file, std::int64_t height, std::int64_t width);

/// Throws unless the counts are within the limits of signal.hpp and at least 1.
void require_counts(const InputFile& file, std::int64_t channels, std::int64_t samples);

/// "sample 12", or "sample 12 of channel 1" where there are several channels.
std::string place(std::size_t sample, std::size_t channel, std::size_t channels);

}  // namespace halo::data::formats
