// NPY, the format of numpy.save: "\x93NUMPY", two bytes of version, the length of the header (two
// bytes in version 1, four in 2 and 3), the header (a Python dictionary as text, padded with
// spaces), and the values in one piece. Source: numpy.lib.format,
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>

#include "common/conv/limits.hpp"
#include "common/data/array.hpp"
#include "common/data/formats.hpp"

namespace halo::data::formats {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kBlockBytes = 1 << 20;

struct Header {
  std::string descr;  // such as "<f4"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::int64_t data_offset = 0;  // bytes from the start of the file
};

// Reads the dictionary. Any order of keys, either kind of quotes.
class HeaderParser {
 public:
  HeaderParser(const InputFile& file, std::string_view text) : file_(file), rest_(text) {}

  Header parse() {
    Header header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr") {
        if (next() == '[') {
          throw file_.error("it holds records; only plain numbers can be read, save one field");
        }
        header.descr = string();
        has_descr = true;
      } else if (key == "fortran_order") {
        header.fortran_order = boolean();
        has_order = true;
      } else if (key == "shape") {
        header.shape = tuple();
        has_shape = true;
      } else {
        throw damaged();
      }
      if (!accept(',') && next() != '}') throw damaged();
    }
    if (!has_descr || !has_order || !has_shape || next() != '\0') throw damaged();
    return header;
  }

 private:
  DataError damaged() const {
    return file_.error("its NPY header is damaged; write the array again with numpy.save");
  }

  // The next character that is not a space; '\0' at the end.
  char next() {
    const std::size_t skip = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(skip == std::string_view::npos ? rest_.size() : skip);
    return rest_.empty() ? '\0' : rest_.front();
  }

  bool accept(char c) {
    if (next() != c || rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!accept(c)) throw damaged();
  }

  std::string string() {
    const char quote = next();
    if (quote != '\'' && quote != '"') throw damaged();
    const std::size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) throw damaged();
    std::string result(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return result;
  }

  bool boolean() {
    next();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (rest_.substr(0, word.size()) != word) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    throw damaged();
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> result;
    expect('(');
    while (!accept(')')) {
      result.push_back(number());
      if (!accept(',') && next() != ')') throw damaged();
    }
    return result;
  }

  std::int64_t number() {
    next();
    std::int64_t value = 0;
    std::size_t digits = 0;
    while (digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9') {
      if (digits == 18) throw damaged();  // 10^18 elements: no file is that large
      value = value * 10 + (rest_[digits] - '0');
      ++digits;
    }
    if (digits == 0) throw damaged();
    rest_.remove_prefix(digits);
    // numpy under Python 2 wrote 3L for a long integer.
    if (!rest_.empty() && rest_.front() == 'L') rest_.remove_prefix(1);
    return value;
  }

  const InputFile& file_;
  std::string_view rest_;
};

Header read_header(const InputFile& file) {
  const DataError truncated =
      file.error("it is truncated: it ends within the NPY header; copy or write it again");
  unsigned char start[12];
  const std::size_t got = file.read(0, start, sizeof start);
  if (got < 10) throw truncated;
  const int version = start[6];
  if (version < 1 || version > 3 || start[7] != 0) {
    throw file.error("its NPY version is " + std::to_string(version) + "." +
                     std::to_string(start[7]) + ", only 1.0, 2.0 and 3.0 can be read");
  }
  const int length_bytes = version == 1 ? 2 : 4;
  if (got < static_cast<std::size_t>(8 + length_bytes)) throw truncated;
  std::int64_t length = 0;
  for (int i = 0; i < length_bytes; ++i) length |= std::int64_t{start[8 + i]} << (8 * i);
  const std::int64_t offset = 8 + length_bytes;
  if (length > file.size() - offset) throw truncated;
  std::string text(static_cast<std::size_t>(length), '\0');
  if (file.read(offset, text.data(), text.size()) != text.size()) throw truncated;
  Header header = HeaderParser(file, text).parse();
  header.data_offset = offset + length;
  return header;
}

template <class T>
T load(const unsigned char* bytes, bool swapped) {
  unsigned char ordered[sizeof(T)];
  if (swapped) {
    std::reverse_copy(bytes, bytes + sizeof(T), ordered);
  } else {
    std::memcpy(ordered, bytes, sizeof(T));
  }
  T value;
  std::memcpy(&value, ordered, sizeof(T));
  return value;
}

// Converts `count` stored values to float. Returns the index of the first finite value that is
// beyond float, or `count`.
template <class T>
std::size_t convert(const unsigned char* bytes, bool swapped, std::size_t count, float* values) {
  for (std::size_t i = 0; i < count; ++i) {
    const T value = load<T>(bytes + i * sizeof(T), swapped);
    values[i] = static_cast<float>(value);
    if constexpr (sizeof(T) == 8 && !std::numeric_limits<T>::is_integer) {
      if (std::isfinite(value) && !std::isfinite(values[i])) return i;
    }
  }
  return count;
}

struct Type {
  std::string_view code;  // without the byte order
  std::size_t size;       // bytes
  std::size_t (*convert)(const unsigned char*, bool, std::size_t, float*);
};

constexpr Type kTypes[] = {
    {"f4", 4, convert<float>},        {"f8", 8, convert<double>},
    {"i1", 1, convert<std::int8_t>},  {"u1", 1, convert<std::uint8_t>},
    {"i2", 2, convert<std::int16_t>}, {"u2", 2, convert<std::uint16_t>},
    {"i4", 4, convert<std::int32_t>}, {"u4", 4, convert<std::uint32_t>},
    {"i8", 8, convert<std::int64_t>}, {"u8", 8, convert<std::uint64_t>},
};

// The type, and whether its bytes have to be swapped on this machine.
const Type& type_of(const InputFile& file, const std::string& descr, bool& swapped) {
  if (descr.size() >= 2) {
    const char order = descr[0];
    for (const Type& type : kTypes) {
      if (descr.substr(1) != type.code) continue;
      const bool is_order = order == '<' || order == '>' || (order == '|' && type.size == 1);
      if (!is_order) break;
      swapped = (order == '<') != (std::endian::native == std::endian::little);
      return type;
    }
  }
  throw file.error("its values are of type " + quoted(descr) +
                   "; float32, float64 and integers can be read, convert it with "
                   "numpy.save(name, array.astype('float32'))");
}

// An NPY file from its header on.
class Reader {
 public:
  explicit Reader(const InputFile& file)
      : file_(file), header_(read_header(file)), type_(type_of(file, header_.descr, swapped_)) {}

  const std::vector<std::int64_t>& shape() const { return header_.shape; }
  std::string type() const { return std::string(type_.code); }

  /// Throws unless what follows the header is the values of the shape, in the order of C. Their number
  /// must be within 2^40.
  void require_values() const {
    std::int64_t wanted = static_cast<std::int64_t>(type_.size);
    int long_dimensions = 0;
    for (const std::int64_t length : header_.shape) {
      wanted *= length;
      long_dimensions += length > 1;
    }
    if (header_.fortran_order && long_dimensions > 1) {
      throw file_.error(
          "it is in Fortran order; save it with "
          "numpy.save(name, numpy.ascontiguousarray(array))");
    }
    const std::int64_t there = file_.size() - header_.data_offset;
    if (there < wanted) {
      throw file_.error("it is truncated: " + std::to_string(there) +
                        " bytes of values where its shape needs " + std::to_string(wanted) +
                        "; copy or write it again");
    }
    if (there > wanted) {
      throw file_.error("it has " + std::to_string(there - wanted) +
                        " bytes more than its shape needs; write one array alone with numpy.save");
    }
  }

  /// The next values. `place(i)` is how people call the i-th of them, for a complaint.
  template <class Place>
  void read(std::span<float> values, Place place) {
    std::vector<unsigned char> block(kBlockBytes);
    for (std::size_t i = 0; i < values.size();) {
      const std::size_t count = std::min(values.size() - i, kBlockBytes / type_.size);
      const std::int64_t offset = header_.data_offset + read_;
      if (file_.read(offset, block.data(), count * type_.size) != count * type_.size) {
        throw file_.error("it became shorter while it was read");
      }
      const std::size_t done = type_.convert(block.data(), swapped_, count, values.data() + i);
      if (done != count) {
        throw file_.error(place(i + done) +
                          " is beyond the range of float32; scale the values down");
      }
      i += count;
      read_ += static_cast<std::int64_t>(count * type_.size);
    }
  }

 private:
  const InputFile& file_;
  Header header_;
  bool swapped_ = false;
  const Type& type_;
  std::int64_t read_ = 0;  // bytes of values
};

void write_header(OutputFile& file, const std::vector<std::int64_t>& shape) {
  std::string numbers;
  for (const std::int64_t length : shape) {
    numbers += (numbers.empty() ? "" : ", ") + std::to_string(length);
  }
  if (shape.size() == 1) numbers += ",";
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + numbers + "), }";
  // Magic, version and length are 10 bytes; the values begin at a multiple of 64.
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  std::string start(kMagic);
  start += '\1';
  start += '\0';
  start += static_cast<char>(header.size() & 0xff);
  start += static_cast<char>(header.size() >> 8);
  start += header;
  file.write(start.data(), start.size());
}

void write_values(OutputFile& file, std::span<const float> values) {
  if constexpr (std::endian::native == std::endian::little) {
    file.write(values.data(), values.size() * sizeof(float));
  } else {
    std::vector<unsigned char> bytes(values.size() * sizeof(float));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto bits = std::bit_cast<std::uint32_t>(values[i]);
      for (int k = 0; k < 4; ++k) bytes[4 * i + k] = static_cast<unsigned char>(bits >> (8 * k));
    }
    file.write(bytes.data(), bytes.size());
  }
}

}  // namespace

bool is_npy(const InputFile& file) {
  char start[6];
  const std::size_t got = file.read(0, start, sizeof start);
  return std::string_view(start, got) == kMagic.substr(0, got);
}

Signal read_npy(const InputFile& file) {
  Reader reader(file);
  const std::vector<std::int64_t>& shape = reader.shape();
  if (shape.empty() || shape.size() > 2) {
    throw file.error("it has " + std::to_string(shape.size()) +
                     " dimensions, a signal has one ([samples]) or two ([channels][samples])");
  }
  const std::int64_t channels = shape.size() == 2 ? shape[0] : 1;
  const std::int64_t samples = shape.back();
  require_counts(file, channels, samples);
  reader.require_values();

  Signal signal;
  signal.channels.resize(static_cast<std::size_t>(channels));
  for (std::size_t c = 0; c < signal.channels.size(); ++c) {
    signal.channels[c].resize(static_cast<std::size_t>(samples));
    reader.read(signal.channels[c],
                [&](std::size_t i) { return place(i, c, signal.channels.size()); });
  }
  return signal;
}

void write_npy(OutputFile& file, const Signal& signal) {
  const auto channels = static_cast<std::int64_t>(signal.channels.size());
  const auto samples = static_cast<std::int64_t>(signal.length());
  write_header(file, channels == 1 ? std::vector{samples} : std::vector{channels, samples});
  for (const std::vector<float>& channel : signal.channels) write_values(file, channel);
}

}  // namespace halo::data::formats

namespace halo::data {

Array read_array(const std::string& path) {
  const InputFile file(path);
  if (!formats::is_npy(file)) {
    throw file.error("it is not an NPY file; write one array with numpy.save (not numpy.savez)");
  }
  formats::Reader reader(file);
  Array array{reader.shape(), {}, reader.type()};
  std::int64_t count = 1;
  for (const std::int64_t length : array.shape) {
    if (length < 1) throw file.error("it holds no values");
    // Within 2^62: `count` was within the limit before.
    if (length > conv::kMaxLength || (count *= length) > conv::kMaxLength) {
      throw file.error("it has more than " + std::to_string(conv::kMaxLength) +
                       " values; cut it into pieces");
    }
  }
  reader.require_values();
  array.values.resize(static_cast<std::size_t>(count));
  const auto place = [](std::size_t i) { return "value " + std::to_string(i); };
  reader.read(array.values, place);
  for (std::size_t i = 0; i < array.values.size(); ++i) {
    if (std::isfinite(array.values[i])) continue;
    throw file.error(place(i) + (std::isnan(array.values[i]) ? " is NaN" : " is infinite") +
                     "; only finite values can be convolved");
  }
  return array;
}

void write_array(const std::string& path, const Array& array) {
  OutputFile file(path);
  formats::write_header(file, array.shape);
  formats::write_values(file, array.values);
  file.commit();
}

}  // namespace halo::data
