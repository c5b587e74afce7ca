#include "common/grader/submission.hpp"

#include <fcntl.h>
#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>

#ifdef HALO_HAVE_ARCHIVE
#include <archive.h>
#include <archive_entry.h>
#endif

#include "common/data/file.hpp"
#include "common/grader/sha256.hpp"

namespace halo::grader {

namespace {

namespace fs = std::filesystem;

constexpr const char* kArchives[] = {".zip",    ".tar", ".tar.gz",  ".tgz",
                                     ".tar.xz", ".txz", ".tar.zst", ".tzst"};

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// The ending of an archive that the name has; empty: it has none.
std::string archive_ending(const std::string& name) {
  std::string longest;
  for (const std::string ending : kArchives) {
    if (lower(name).ends_with(ending) && ending.size() > longest.size()) longest = ending;
  }
  return longest;
}

constexpr const char* kClaims = ".claims";

bool is_source(const std::string& file) { return lower(file).ends_with(".cu"); }

// ---- Names, whatever is in them ----

struct Name {
  std::vector<std::string> folders;
  std::string file;
  bool leads_out = false;  // absolute, or over a ..
};

// Windows packs with \ what it should pack with /.
Name split_name(std::string path) {
  std::replace(path.begin(), path.end(), '\\', '/');
  Name name;
  name.leads_out =
      path.starts_with('/') || (path.size() > 1 && path[1] == ':' && std::isalpha(path[0]));
  std::string part;
  for (std::size_t at = 0; at <= path.size(); ++at) {
    if (at < path.size() && path[at] != '/') {
      part += path[at];
      continue;
    }
    if (part == "..") name.leads_out = true;
    if (!part.empty() && part != ".") name.folders.push_back(part);
    part.clear();
  }
  if (!path.ends_with('/') && !name.folders.empty()) {
    name.file = name.folders.back();
    name.folders.pop_back();
  }
  return name;
}

// What a file system, a version control or a build leaves beside a student's work.
bool is_left(const Name& name) {
  const auto hidden = [](const std::string& part) {
    return part.starts_with('.') || part == "__MACOSX";
  };
  return hidden(name.file) || std::any_of(name.folders.begin(), name.folders.end(), hidden);
}

// ---- What is in a submission, however it is packed ----

// A file, a link or a device; folders are not told.
struct Entry {
  std::string path;
  bool is_file = true;
  bool is_encrypted = false;
};

class Contents {
 public:
  virtual ~Contents() = default;
  using Visitor = std::function<void(const Entry& entry, const std::function<std::string()>& read)>;
  /// All of it, one after another; `read` gives the bytes of the one at hand. Throws Refused.
  virtual void visit(const Visitor& visitor) const = 0;
};

[[noreturn]] void refuse_count(std::size_t files) {
  throw Refused("there are more than " + std::to_string(files) +
                " files in it: hand in the files of the exercises only");
}

// One file of it cannot be taken; the others can.
class FileRefused : public Refused {
 public:
  using Refused::Refused;
};

std::string too_large(const std::string& path, std::uint64_t most) {
  return data::quoted(path) + " is larger than " + std::to_string(most >> 10) + " KiB";
}

std::string read_regular(const fs::path& path, const std::string& shown, std::uint64_t most) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0)
    throw FileRefused("cannot read " + data::quoted(shown) + ": " + std::strerror(errno));
  const std::unique_ptr<const int, void (*)(const int*)> closes(&file,
                                                                [](const int* f) { close(*f); });
  struct stat status = {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    throw FileRefused(data::quoted(shown) + " is no file");
  }
  std::string bytes;
  char buffer[65536];
  for (ssize_t n; (n = read(file, buffer, sizeof buffer)) != 0;) {
    if (n < 0)
      throw FileRefused("cannot read " + data::quoted(shown) + ": " + std::strerror(errno));
    bytes.append(buffer, static_cast<std::size_t>(n));
    if (bytes.size() > most) throw FileRefused(too_large(shown, most));
  }
  return bytes;
}

class Folder : public Contents {
 public:
  Folder(fs::path path, const SubmissionLimits& limits) : path_(std::move(path)), limits_(limits) {}

  void visit(const Visitor& visitor) const override {
    std::size_t left = limits_.files;
    visit(path_, "", 0, left, visitor);
  }

 private:
  void visit(const fs::path& folder, const std::string& before, std::size_t depth,
             std::size_t& left, const Visitor& visitor) const {
    if (depth > limits_.depth) return;
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      if (left-- == 0) refuse_count(limits_.files);
      names.push_back(at->path().filename().string());
    }
    if (error) {
      throw Refused("cannot read the folder " + data::quoted(before.empty() ? "." : before) + ": " +
                    error.message());
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      const fs::path path = folder / name;
      const std::string shown = before + name;
      const fs::file_status status = fs::symlink_status(path, error);
      if (shown.size() > limits_.name) continue;
      if (fs::is_directory(status)) {
        // Its files would be left, so it need not be entered: .git has many.
        if (!is_left(split_name(name))) visit(path, shown + "/", depth + 1, left, visitor);
        continue;
      }
      visitor({shown, fs::is_regular_file(status), false},
              [&] { return read_regular(path, shown, limits_.file); });
    }
  }

  fs::path path_;
  SubmissionLimits limits_;
};

class LoneFile : public Contents {
 public:
  LoneFile(fs::path path, std::string as, const SubmissionLimits& limits)
      : path_(std::move(path)), as_(std::move(as)), limits_(limits) {}
  void visit(const Visitor& visitor) const override {
    visitor({as_, true, false},
            [&] { return read_regular(path_, path_.filename().string(), limits_.file); });
  }

 private:
  fs::path path_;
  std::string as_;
  SubmissionLimits limits_;
};

#ifdef HALO_HAVE_ARCHIVE
// libarchive reads names in the letters of the locale, which is nobody's here.
class Utf8 {
 public:
  Utf8() : utf8_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (utf8_ != nullptr) before_ = uselocale(utf8_);
  }
  ~Utf8() {
    if (utf8_ == nullptr) return;
    uselocale(before_);
    freelocale(utf8_);
  }
  Utf8(const Utf8&) = delete;
  Utf8& operator=(const Utf8&) = delete;

 private:
  locale_t utf8_;
  locale_t before_ = nullptr;
};

class Archive : public Contents {
 public:
  Archive(fs::path path, const SubmissionLimits& limits)
      : path_(std::move(path)), limits_(limits) {}

  void visit(const Visitor& visitor) const override {
    const Utf8 utf8;
    std::error_code error;
    const std::uint64_t packed = fs::file_size(path_, error);
    if (error) throw Refused("cannot read it: " + error.message());
    if (packed > limits_.packed) {
      throw Refused("the archive is larger than " + std::to_string(limits_.packed >> 20) + " MiB");
    }
    const std::unique_ptr<archive, int (*)(archive*)> opened(archive_read_new(), archive_read_free);
    archive* const in = opened.get();
    if (in == nullptr) throw std::bad_alloc();
    // Nothing but what is promised: each reader more is one more to be attacked.
    archive_read_support_format_zip_seekable(in);
    archive_read_support_format_tar(in);
    archive_read_support_filter_gzip(in);
    archive_read_support_filter_xz(in);
    archive_read_support_filter_zstd(in);
    if (packed == 0 || is_empty_zip()) refuse_empty();
    if (archive_read_open_filename(in, path_.c_str(), 1 << 16) != ARCHIVE_OK) throw damaged(in);

    std::uint64_t unpacked = 0;
    const auto unpack = [&](std::uint64_t bytes) {
      unpacked += std::min(bytes, limits_.unpacked + 1);
      if (unpacked > limits_.unpacked) {
        throw Refused("the archive unpacks to more than " + std::to_string(limits_.unpacked >> 20) +
                      " MiB");
      }
      if (unpacked > limits_.rated_from && unpacked / limits_.ratio > packed) {
        throw Refused("the archive unpacks to more than " + std::to_string(limits_.ratio) +
                      " times its size");
      }
    };
    archive_entry* entry = nullptr;
    for (std::size_t count = 0;; ++count) {
      const int status = archive_read_next_header(in, &entry);
      if (status == ARCHIVE_EOF) break;
      // ARCHIVE_WARN: a name in strange letters, say.
      if (status != ARCHIVE_OK && status != ARCHIVE_WARN) throw damaged(in);
      if (count == limits_.files) refuse_count(limits_.files);
      bool is_read = false;
      const auto read = [&] {
        is_read = true;
        std::string bytes;
        each_block(in, [&](const char* block, std::size_t size) {
          if (bytes.size() + size > limits_.file) {
            throw FileRefused(too_large(name_of(entry), limits_.file));
          }
          unpack(size);
          bytes.append(block, size);
        });
        return bytes;
      };
      const std::string name = name_of(entry);
      if (const Name parts = split_name(name); parts.leads_out) {
        throw Refused("the archive has a name that leads out of it, " + data::quoted(name) +
                      ": pack the folder itself");
      }
      const bool is_link = archive_entry_hardlink(entry) != nullptr;
      const auto type = archive_entry_filetype(entry);
      if (archive_entry_is_metadata_encrypted(entry) == 1) refuse_encrypted();
      if (!name.empty() && name.size() <= limits_.name && (is_link || type != AE_IFDIR)) {
        visitor({name, !is_link && type == AE_IFREG, archive_entry_is_data_encrypted(entry) == 1},
                read);
      }
      if (is_read) continue;
      // What is not wanted is passed over. In a .tar that means unpacking, so it counts first.
      if (archive_entry_size_is_set(entry) != 0) {
        unpack(static_cast<std::uint64_t>(std::max<la_int64_t>(archive_entry_size(entry), 0)));
      } else {
        each_block(in, [&](const char*, std::size_t size) { unpack(size); });
      }
    }
    if (archive_read_has_encrypted_entries(in) == 1 && archive_file_count(in) == 0) {
      refuse_encrypted();
    }
    if (archive_file_count(in) == 0) refuse_empty();
  }

 private:
  [[noreturn]] static void refuse_encrypted() {
    throw Refused("the archive is encrypted: pack it without a password");
  }

  [[noreturn]] static void refuse_empty() {
    throw Refused("the archive is empty: pack the files and hand it in again");
  }

  // Nothing but the record that ends one, which libarchive does not know by itself.
  bool is_empty_zip() const {
    char begin[4] = {};
    std::ifstream(path_, std::ios::binary).read(begin, sizeof begin);
    return std::memcmp(begin, "PK\5\6", sizeof begin) == 0;
  }

  static Refused damaged(archive* in) {
    const char* const said = archive_error_string(in);
    const std::string why = said == nullptr ? "" : data::printable(said, 200);
    return Refused("the archive is damaged, cut short or no archive" +
                   (why.empty() ? "" : " (" + why + ")") + ": pack and hand it in again");
  }

  static std::string name_of(archive_entry* entry) {
    for (const auto name : {archive_entry_pathname_utf8, archive_entry_pathname}) {
      if (const char* const text = name(entry)) return text;
    }
    return "";
  }

  template <class Use>
  static void each_block(archive* in, const Use& use) {
    const void* block = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    for (int status;
         (status = archive_read_data_block(in, &block, &size, &offset)) != ARCHIVE_EOF;) {
      if (status != ARCHIVE_OK && status != ARCHIVE_WARN) throw damaged(in);
      use(static_cast<const char*>(block), size);
    }
  }

  fs::path path_;
  SubmissionLimits limits_;
};
#endif

// ---- Which of it is taken ----

// Without the number that a platform or a browser gives what is handed in, or loaded, again: x-1.cu and x (1).cu are x.cu.
std::string first_name(const std::string& file) {
  const std::size_t ending = file.rfind('.');
  std::size_t end = ending;
  const bool in_brackets = end > 0 && file[end - 1] == ')';
  if (in_brackets) --end;
  std::size_t begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(file[begin - 1])) != 0) --begin;
  if (begin == end || begin == 0 || file[begin - 1] != (in_brackets ? '(' : '-')) return file;
  --begin;
  while (begin > 0 && file[begin - 1] == ' ') --begin;
  return file.substr(0, begin) + file.substr(ending);
}

// Which of the wanted files (Wanted::file or ::beside) one is that a platform has given a name before its own:
// tile_and_halo.cu of meyer_tile_and_halo-1.cu. Null: none.
const Wanted* meant_by(const std::string& file, const std::vector<Wanted>& wanted,
                       std::string Wanted::*which) {
  const std::string name = lower(first_name(file));
  const Wanted* best = nullptr;
  for (const Wanted& one : wanted) {
    const std::string whole = lower(one.*which);
    if (whole.empty() || !name.ends_with(whole)) continue;
    const std::size_t before = name.size() - whole.size();
    const bool is_word =
        before == 0 || std::isalnum(static_cast<unsigned char>(name[before - 1])) == 0;
    if (is_word && (best == nullptr || whole.size() > (best->*which).size())) best = &one;
  }
  return best;
}

// What may be the file of an exercise, the best first.
enum Rank { kInCourse, kByName, kByFolder, kRenamed, kRanks };

struct Candidate {
  std::string path;
  std::string bytes;
  std::string fault;  // why it cannot be taken; else empty
};

// What may be the file of one exercise.
struct Found {
  std::vector<Candidate> files[kRanks];
};

std::optional<Rank> rank_of(const Name& name, const Wanted& wanted,
                            const std::set<std::string>& all_files, const Wanted* meant) {
  const std::string folder = name.folders.empty() ? "" : lower(name.folders.back());
  const bool in_folder = folder == lower(wanted.exercise);
  if (lower(name.file) == lower(wanted.file)) {
    const std::size_t count = name.folders.size();
    return in_folder && count > 1 && lower(name.folders[count - 2]) == "exercises" ? kInCourse
                                                                                   : kByName;
  }
  // Another exercise's file stays that, wherever it lies.
  if (in_folder && is_source(name.file) && !all_files.contains(lower(name.file))) {
    return kByFolder;
  }
  return meant == &wanted ? std::optional(kRenamed) : std::nullopt;
}

std::string folder_of(const std::string& path) {
  std::string folder;
  for (const std::string& part : split_name(path).folders) folder += part + "/";
  return folder;
}

class Chooser {
 public:
  explicit Chooser(const std::vector<Wanted>& wanted) : wanted_(wanted), found_(wanted.size()) {
    for (const Wanted& one : wanted) all_files_.insert(lower(one.file));
  }

  void see(const Entry& entry, const std::function<std::string()>& read) {
    const Name name = split_name(entry.path);
    if (name.file.empty() || is_left(name)) return;
    if (!archive_ending(name.file).empty() && entry.is_file) archives_.push_back(entry.path);
    if (is_start(name)) return;
    ++count_;
    told_.emplace(!is_source(name.file), entry.path);
    if (told_.size() > kTold) told_.erase(std::prev(told_.end()));
    const Wanted* const meant = meant_by(name.file, wanted_, &Wanted::file);
    const Wanted* const beside = meant_by(name.file, wanted_, &Wanted::beside);
    std::vector<std::pair<std::size_t, Rank>> of;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      if (const auto rank = rank_of(name, wanted_[i], all_files_, meant)) of.emplace_back(i, *rank);
    }
    if (of.empty() && beside == nullptr) return;
    Candidate one{entry.path, "", ""};
    if (!entry.is_file) {
      one.fault = data::quoted(entry.path) + " is a link or a device: hand in the file itself";
    } else if (entry.is_encrypted) {
      one.fault = data::quoted(entry.path) + " is encrypted: pack it without a password";
    } else {
      try {
        one.bytes = read();
      } catch (const FileRefused& error) {
        one.fault = error.what();
      }
      held_ += one.bytes.size();
      if (held_ > kHeld) throw Refused("there are too many files of exercises in it");
    }
    for (const auto& [i, rank] : of) found_[i].files[rank].push_back(one);
    if (beside == nullptr || !one.fault.empty()) return;
    // Claims only grow: of several copies the longest is the last.
    std::string& longest = beside_[lower(folder_of(entry.path) + beside->beside)];
    if (one.bytes.size() > longest.size()) longest = one.bytes;
  }

  const std::vector<std::string>& archives() const { return archives_; }
  // Some of what is in it, .cu files before others.
  std::string found() const {
    if (count_ == 0) return ", nor any other";
    std::string text;
    for (const auto& [is_other, path] : told_) {
      text += (text.empty() ? ", but " : ", ") + data::quoted(path);
    }
    return text + (count_ > kTold ? " and " + std::to_string(count_ - kTold) + " more" : "");
  }
  bool any() const {
    return std::any_of(found_.begin(), found_.end(),
                       [&](const Found& found) { return !best(found).empty(); });
  }

  std::vector<HandedIn> write(const fs::path& to) const {
    std::vector<HandedIn> all;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const std::vector<Candidate> files = best(found_[i]);
      if (files.empty()) continue;
      HandedIn& one = all.emplace_back();
      one.exercise = wanted_[i].exercise;
      const Candidate& file = files.front();
      if (files.size() > 1) {
        // In an order that is not the archive's.
        std::vector<std::string> paths;
        for (const Candidate& each : files) paths.push_back(each.path);
        std::sort(paths.begin(), paths.end());
        one.refusal = std::to_string(paths.size()) + " files may be meant, " +
                      data::quoted(paths[0]) + " and " + data::quoted(paths[1]) + ": hand in one";
        continue;
      }
      if (!file.fault.empty()) {
        one.refusal = file.fault;
        continue;
      }
      const fs::path folder = to / wanted_[i].exercise;
      fs::create_directories(folder);
      one.source = folder / wanted_[i].file;
      data::write_file(one.source.string(), file.bytes);
      const auto beside = beside_.find(lower(folder_of(file.path) + wanted_[i].beside));
      if (beside == beside_.end()) continue;
      one.beside = folder / wanted_[i].beside;
      data::write_file(one.beside.string(), beside->second);
    }
    return all;
  }

 private:
  static constexpr std::uint64_t kHeld = 64u << 20;
  static constexpr std::size_t kTold = 3;

  // Whether it is what the course gives to begin an exercise with, which tells where a copy of the course lies.
  bool is_start(const Name& name) {
    const std::size_t count = name.folders.size();
    const auto is_exercise = [&](const Wanted& one) {
      return lower(name.folders.back()) == lower(one.exercise);
    };
    if (lower(name.file) != "start.cu" || count < 2 ||
        lower(name.folders[count - 2]) != "exercises" ||
        std::none_of(wanted_.begin(), wanted_.end(), is_exercise)) {
      return false;
    }
    std::string course;
    for (std::size_t i = 0; i + 2 < count; ++i) course += name.folders[i] + "/";
    courses_.insert(course);
    return true;
  }

  // Of a copy of the course, only what is in exercises may be the student's, and no platform has given it another name.
  bool is_of_course(const Candidate& file, bool is_renamed) const {
    const std::string folder = folder_of(file.path);
    return std::any_of(courses_.begin(), courses_.end(), [&](const std::string& course) {
      return (is_renamed && folder.starts_with(course)) ||
             folder.starts_with(course + "solutions/") || folder.starts_with(course + "tests/") ||
             folder.starts_with(course + "exercises/hunts/start/");
    });
  }

  std::vector<Candidate> best(const Found& found) const {
    for (const auto& ranked : found.files) {
      std::vector<Candidate> files = ranked;
      const bool are_renamed = &ranked == &found.files[kRenamed];
      std::erase_if(files, [&](const Candidate& file) { return is_of_course(file, are_renamed); });
      if (!files.empty()) return files;
    }
    return {};
  }

  const std::vector<Wanted>& wanted_;
  std::set<std::string> all_files_;
  std::set<std::string> courses_;  // folders of copies of the course, each with a / behind it
  std::vector<Found> found_;
  std::map<std::string, std::string> beside_;  // by their paths
  std::vector<std::string> archives_;
  std::size_t count_ = 0;  // of files
  std::set<std::pair<bool, std::string>> told_;
  std::uint64_t held_ = 0;
};

// What to hand in, in place of what is there.
std::string asked_for(const std::vector<Wanted>& wanted) {
  return wanted.size() == 1
             ? "hand in " + wanted.front().file
             : "hand in the .cu files under the names that ./halo try gave them, such as " +
                   wanted.front().file;
}

// As what exercise's file one is taken that was handed in by itself.
std::string lone_name(const std::string& file, const std::vector<Wanted>& wanted) {
  if (const Wanted* const one = meant_by(file, wanted, &Wanted::file)) return one->file;
  if (wanted.size() == 1) return wanted.front().file;
  throw Refused(data::quoted(file) +
                " does not have the name of an exercise's file: " + asked_for(wanted));
}

std::unique_ptr<Contents> open_archive(const fs::path& path, const SubmissionLimits& limits) {
#ifdef HALO_HAVE_ARCHIVE
  return std::make_unique<Archive>(path, limits);
#else
  (void)path;
  (void)limits;
  throw std::runtime_error(why_no_archives());
#endif
}

}  // namespace

std::string submission_digest(const fs::path& from, const SubmissionLimits& limits) {
  Sha256 all;
  const auto add_file = [&](const fs::path& path, const std::string& shown) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) throw Refused("cannot read " + data::quoted(shown) + ": " + std::strerror(errno));
    Sha256 bytes;
    char buffer[65536];
    ssize_t n = 0;
    for (std::uint64_t left = limits.packed; left > 0; left -= static_cast<std::uint64_t>(n)) {
      n = read(file, buffer, std::min<std::uint64_t>(left, sizeof buffer));
      if (n <= 0) break;
      bytes.add({buffer, static_cast<std::size_t>(n)});
    }
    close(file);
    if (n < 0) throw Refused("cannot read " + data::quoted(shown));
    all.add(shown + '\0' + bytes.hex() + '\n');
  };
  std::error_code error;
  if (!fs::is_directory(from, error)) {
    // The name tells how it is read, and which exercise a file is of.
    add_file(from, from.filename().string());
    return all.hex();
  }
  Folder(from, limits).visit([&](const Entry& entry, const auto&) {
    const Name name = split_name(entry.path);
    if (is_left(name) || (!is_source(name.file) && !lower(name.file).ends_with(kClaims) &&
                          archive_ending(name.file).empty())) {
      return;
    }
    if (entry.is_file) {
      add_file(from / entry.path, entry.path);
    } else {
      all.add(entry.path + "\n");
    }
  });
  return all.hex();
}

void put_together(const std::vector<fs::path>& files, const fs::path& to,
                  const SubmissionLimits& limits) {
  fs::create_directory(to);
  for (const fs::path& file : files) {
    // Of what is not taken the name is enough; one byte more than may be is told as too many.
    const std::string name = file.filename().string();
    const bool is_taken = is_source(name) || lower(name).ends_with(kClaims);
    std::string bytes(is_taken ? limits.file + 1 : 0, '\0');
    std::ifstream stream(file, std::ios::binary);
    if (!stream) throw data::DataError("cannot read " + data::quoted(name));
    stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(stream.gcount()));
    data::write_file((to / name).string(), bytes);
  }
}

bool is_archive_name(const std::string& file) { return !archive_ending(file).empty(); }

std::string why_no_archives() {
#ifdef HALO_HAVE_ARCHIVE
  return "";
#else
  return "this build has no libarchive; install it (Debian, Ubuntu: apt-get install "
         "libarchive-dev) "
         "and build again, or unpack the archives";
#endif
}

std::string submission_name(const fs::path& from) {
  fs::path path = from.lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  const std::string name = path.filename().string();
  std::error_code error;
  if (fs::is_directory(from, error)) return name;
  std::string ending = archive_ending(name);
  if (ending.empty() && is_source(name)) ending = ".cu";
  if (ending.empty()) ending = path.extension().string();
  return ending.size() < name.size() ? name.substr(0, name.size() - ending.size()) : name;
}

std::vector<HandedIn> take_submission(const fs::path& from, const std::vector<Wanted>& wanted,
                                      const fs::path& to, const SubmissionLimits& limits) {
  std::error_code error;
  // Who names the submission may name a link; what is in it may not be one.
  const fs::file_status status = fs::status(from, error);
  const std::string file = from.filename().string();
  const auto take = [&](const Contents& contents) {
    Chooser chooser(wanted);
    contents.visit([&](const Entry& entry, const auto& read) { chooser.see(entry, read); });
    return chooser;
  };
  const auto nothing_in = [&](const Chooser& chooser) {
    return Refused(
        chooser.archives().empty()
            ? "there is no file of an exercise in it" + chooser.found() + ": " + asked_for(wanted)
            : "there is no file of an exercise in it, but the archive " +
                  data::quoted(chooser.archives().front()) + ": hand in what is in that one");
  };
  const auto take_archive = [&](const fs::path& path) {
    const Chooser chooser = take(*open_archive(path, limits));
    if (!chooser.any()) throw nothing_in(chooser);
    return chooser.write(to);
  };
  if (!fs::exists(status)) throw Refused("there is no " + data::quoted(from.string()));
  if (fs::is_directory(status)) {
    const Chooser chooser = take(Folder(from, limits));
    if (chooser.any()) return chooser.write(to);
    if (chooser.archives().size() == 1) return take_archive(from / chooser.archives().front());
    throw nothing_in(chooser);
  }
  if (!fs::is_regular_file(status))
    throw Refused(data::quoted(file) + " is neither a file nor a folder");
  if (!archive_ending(file).empty()) return take_archive(from);
  if (is_source(file)) {
    return take(LoneFile(fs::canonical(from), lone_name(file, wanted), limits)).write(to);
  }
  throw Refused(data::quoted(file) +
                " is no .cu file, folder, .zip, .tar, .tar.gz, .tar.xz or .tar.zst");
}

}  // namespace halo::grader
