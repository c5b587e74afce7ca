// PNG files, by libpng where the build has it.
#include <algorithm>
#include <iterator>

#include "common/data/formats.hpp"

namespace halo::data::formats {

bool is_png(const InputFile& file) {
  unsigned char start[8] = {};
  constexpr unsigned char kSignature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  return file.read(0, start, sizeof start) == sizeof start &&
         std::equal(std::begin(start), std::end(start), kSignature);
}

}  // namespace halo::data::formats

#ifdef HALO_HAVE_PNG

#include <png.h>

#include <csetjmp>
#include <cstring>

namespace halo::data::formats {

namespace {

// No deflated byte holds more than 1,032 bytes of pixels: a header that promises more, with some room
// for small files, is believed no further.
constexpr std::int64_t kMostInflation = 1032;
constexpr std::int64_t kHeaderRoom = 4096;

// What libpng's callbacks share with the code that calls it. libpng leaves by longjmp when something
// is wrong, so the functions that call it hold nothing that would need a destructor.
struct Job {
  const InputFile* input = nullptr;
  std::int64_t at = 0;
  OutputFile* output = nullptr;
  bool ended_early = false;
  char words[200] = "";  // libpng's own, or those of an exception
};

void say(Job& job, const char* words) {
  std::strncpy(job.words, words, sizeof job.words - 1);
  for (char& c : job.words) {
    if (c == '\n' || c == '\r') c = ' ';
  }
}

[[noreturn]] void on_error(png_structp png, png_const_charp words) {
  Job& job = *static_cast<Job*>(png_get_error_ptr(png));
  if (job.words[0] == '\0') say(job, words);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep bytes, size_t count) {
  Job& job = *static_cast<Job*>(png_get_io_ptr(png));
  bool failed = false;
  try {
    const std::size_t got = job.input->read(job.at, bytes, count);
    job.at += static_cast<std::int64_t>(got);
    job.ended_early = failed = got < count;
  } catch (const DataError& error) {
    say(job, error.what());
    failed = true;
  }
  if (failed) png_error(png, "the file ends too early");
}

void on_write(png_structp png, png_bytep bytes, size_t count) {
  Job& job = *static_cast<Job*>(png_get_io_ptr(png));
  bool failed = false;
  try {
    job.output->write(bytes, count);
  } catch (const DataError& error) {
    say(job, error.what());
    failed = true;
  }
  if (failed) png_error(png, "the disk refuses it");
}

void on_flush(png_structp) {}

struct Size {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t stored_row_bytes = 0;  // before they are turned into channels
  int channels = 0;                   // with alpha
  int bytes = 0;                      // of one value
};

// False, here and below: see job.words.
bool read_header(png_structp png, png_infop info, Size& size) {
  if (setjmp(png_jmpbuf(png))) return false;
  // Sizes are our own to limit.
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_read_info(png, info);
  size.height = png_get_image_height(png, info);
  size.width = png_get_image_width(png, info);
  size.stored_row_bytes = static_cast<std::int64_t>(png_get_rowbytes(png, info));
  return true;
}

// Has palettes, small depths and transparent colours turned into channels of whole bytes. libpng takes
// memory for two rows.
bool choose_form(png_structp png, png_infop info, Size& size) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_set_expand(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  size.channels = png_get_channels(png, info);
  size.bytes = png_get_bit_depth(png, info) / 8;
  return true;
}

bool read_rows(png_structp png, png_bytepp rows) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_read_image(png, rows);
  png_read_end(png, nullptr);
  return true;
}

bool write_rows(png_structp png, png_infop info, const Picture& picture, png_bytepp rows) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_IHDR(png, info, static_cast<png_uint_32>(picture.width),
               static_cast<png_uint_32>(picture.height), 8,
               picture.channels.size() == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  png_write_image(png, rows);
  png_write_end(png, info);
  return true;
}

// libpng's structures, freed at the end.
struct Reader {
  explicit Reader(Job& job)
      : png(png_create_read_struct(PNG_LIBPNG_VER_STRING, &job, on_error, on_warning)),
        info(png != nullptr ? png_create_info_struct(png) : nullptr) {
    if (png != nullptr) png_set_read_fn(png, &job, on_read);
  }
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  png_structp png;
  png_infop info;
};
struct Writer {
  explicit Writer(Job& job)
      : png(png_create_write_struct(PNG_LIBPNG_VER_STRING, &job, on_error, on_warning)),
        info(png != nullptr ? png_create_info_struct(png) : nullptr) {
    if (png != nullptr) png_set_write_fn(png, &job, on_write, on_flush);
  }
  ~Writer() { png_destroy_write_struct(&png, &info); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  png_structp png;
  png_infop info;
};

std::vector<png_bytep> rows_of(std::vector<unsigned char>& bytes, std::size_t height) {
  std::vector<png_bytep> rows(height);
  for (std::size_t y = 0; y < height; ++y) rows[y] = bytes.data() + y * (bytes.size() / height);
  return rows;
}

DataError failed(const InputFile& file, const Job& job) {
  if (job.ended_early) {
    return file.error("it is truncated: it ends before its last pixel; copy or write it again");
  }
  return file.error("it is damaged (" + std::string(job.words) + "); copy or write it again");
}

}  // namespace

std::string no_png_reason() { return ""; }

Picture read_png(const InputFile& file) {
  Job job;
  job.input = &file;
  const Reader reader(job);
  if (reader.info == nullptr) throw file.error("libpng cannot start");
  Size size;
  if (!read_header(reader.png, reader.info, size)) throw failed(file, job);
  require_size(file, size.height, size.width);
  // Before memory is asked for, libpng's too: a few bytes could promise a picture of any size.
  if (size.height * size.stored_row_bytes / kMostInflation > file.size() + kHeaderRoom) {
    job.ended_early = true;
    throw failed(file, job);
  }
  if (!choose_form(reader.png, reader.info, size)) throw failed(file, job);
  const std::int64_t row_bytes = size.width * size.channels * size.bytes;
  std::vector<unsigned char> bytes(static_cast<std::size_t>(size.height * row_bytes));
  std::vector<png_bytep> rows = rows_of(bytes, static_cast<std::size_t>(size.height));
  if (!read_rows(reader.png, rows.data())) throw failed(file, job);

  const auto value = [&](std::size_t i) {
    // The more significant byte first.
    return size.bytes == 1 ? bytes[i] : bytes[2 * i] << 8 | bytes[2 * i + 1];
  };
  const int full = size.bytes == 1 ? 255 : 65535;
  const auto channels = static_cast<std::size_t>(size.channels);
  const auto pixels = static_cast<std::size_t>(size.height * size.width);
  const bool has_alpha = channels == 2 || channels == 4;
  if (has_alpha) {
    for (std::size_t i = 0; i < pixels; ++i) {
      if (value(i * channels + channels - 1) == full) continue;
      throw file.error(
          "it has transparent pixels, whose colour depends on what is behind them; put it on a "
          "background (ImageMagick: convert in.png -background white -flatten out.png)");
    }
  }
  Picture picture{static_cast<int>(size.height), static_cast<int>(size.width), {}};
  picture.channels.resize(channels - (has_alpha ? 1 : 0));
  for (std::size_t c = 0; c < picture.channels.size(); ++c) {
    picture.channels[c].reserve(pixels);
    for (std::size_t i = 0; i < pixels; ++i) {
      const int stored = value(i * channels + c);
      picture.channels[c].push_back(static_cast<float>(255.0 * stored / full));
    }
  }
  return picture;
}

void write_png(OutputFile& file, const Picture& picture) {
  Job job;
  job.output = &file;
  const Writer writer(job);
  if (writer.info == nullptr) throw file.error("libpng cannot start");
  const std::size_t channels = picture.channels.size();
  const std::size_t pixels = picture.channels.front().size();
  std::vector<unsigned char> bytes(pixels * channels);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<unsigned char>(picture.channels[i % channels][i / channels]);
  }
  std::vector<png_bytep> rows = rows_of(bytes, static_cast<std::size_t>(picture.height));
  if (!write_rows(writer.png, writer.info, picture, rows.data())) {
    // An exception of the file's has said all there is to say.
    const std::string words = job.words;
    if (words.starts_with("cannot write")) throw NotWritten(words);
    throw file.error("libpng refuses it (" + words + ")");
  }
}

}  // namespace halo::data::formats

#else

namespace halo::data::formats {

std::string no_png_reason() {
  return "this build has no libpng; install it (Debian, Ubuntu: apt-get install libpng-dev) and "
         "build again, or use a PGM, PPM or NPY file";
}

Picture read_png(const InputFile& file) {
  throw file.error("it is a PNG file, and " + no_png_reason());
}

void write_png(OutputFile& file, const Picture&) { throw file.error(no_png_reason()); }

}  // namespace halo::data::formats

#endif
