#include "common/grader/pack.hpp"

#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <initializer_list>
#include <iterator>

#include "common/data/file.hpp"
#include "common/data/temporary_folder.hpp"
#include "common/grader/sha256.hpp"
#include "common/json/json.hpp"
#include "common/process/process.hpp"

#ifdef HALO_HAVE_ARCHIVE
#include <archive.h>
#include <archive_entry.h>
#endif

namespace halo::grader {

namespace {

namespace fs = std::filesystem;
using data::DataError;
using json::Value;

// What a student's copy has, and what it lacks, by the first pattern that a path matches (* matches any
// letters). What matches none is left out: a folder that somebody adds is given to nobody by accident.
struct Rule {
  const char* pattern;
  bool given;
};
constexpr Rule kStudents[] = {
    // Answers: solutions, hidden cases, and pages that tell which hunt has which mistake or show exercise 04 solved.
    {"solutions/*", false},
    {"docs/results/exercises*", false},
    {"docs/results/watch.txt", false},
    {"docs/results/film_watch.py", false},
    // What only grading needs, and how well it grades.
    {"common/grader/*", false},
    {"common/cli/grade*", false},
    {"common/cli/pack.cpp", false},
    {"docs/grading.md", false},
    {"docs/syllabus.md", false},  // answers that students get wrong
    {"docs/results/attacks.csv", false},
    {"docs/results/class*", false},
    {"docs/results/kill_table.md", false},
    {"docs/results/make_kill_table.py", false},
    {"docs/results/planted_bugs.csv", false},
    {"tests/*", false},
    // The course.
    {"common/*", true},
    {"docs/*", true},
    {"exercises/.gitignore",
     false},  // a copy is the student's own, and what is written in it with it
    {"exercises/*", true},
    {"stages/*", true},
    {"halo", true},
    {"meson.build", true},
    {"meson_options.txt", true},
    {"README.md", true},
    {"LICENSE", true},
    {".gitignore", true},
    {".gitattributes", true},
    {".clang-format", true},
    {".devcontainer/*", true},
};

constexpr const char* kManifest = "MANIFEST";
constexpr const char* kBundles = "common/grader/bundles/";

std::string read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream || fs::is_directory(path)) {
    throw DataError("cannot read " + data::quoted(path.string()));
  }
  return text;
}

std::vector<std::string> parts_of(const std::string& text, char end) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t to; (to = text.find(end, from)) != std::string::npos; from = to + 1) {
    if (to > from) parts.push_back(text.substr(from, to - from));
  }
  if (from < text.size()) parts.push_back(text.substr(from));
  return parts;
}

std::string ask_git(const fs::path& root, std::vector<std::string> words) {
  words.insert(words.begin(), {"git", "-C", root.string()});
  const Ended ended = run_program(words);
  if (!ended.good()) {
    throw DataError("git cannot say which files belong to the course: " +
                    (ended.started ? last_line(ended.err) : ended.err));
  }
  return ended.out;
}

const PackedFile* find(const Pack& pack, const std::string& path) {
  const auto at = std::ranges::lower_bound(pack, path, {}, &PackedFile::path);
  return at != pack.end() && at->path == path ? &*at : nullptr;
}

void put(Pack& pack, PackedFile file) {
  const auto at = std::ranges::lower_bound(pack, file.path, {}, &PackedFile::path);
  if (at != pack.end() && at->path == file.path) {
    *at = std::move(file);
  } else {
    pack.insert(at, std::move(file));
  }
}

// Whether a pack has this file, or files in this folder.
bool has(const Pack& pack, const std::string& path) {
  const auto at = std::ranges::lower_bound(pack, path, {}, &PackedFile::path);
  if (at == pack.end()) return false;
  if (at->path == path) return true;
  const std::string folder = path + "/";
  return std::any_of(at, pack.end(),
                     [&](const PackedFile& file) { return file.path.starts_with(folder); });
}

// A page whose links lead to what `copy` lacks and `course` has: of those only the words stay.
std::string unlinked(const PackedFile& page, const Pack& course, const Pack& copy) {
  std::string text;
  std::size_t done = 0;
  for (std::size_t middle = 0; (middle = page.content.find("](", middle)) != std::string::npos;
       ++middle) {
    const std::size_t end = page.content.find(')', middle);
    const std::size_t begin = page.content.rfind('[', middle);
    if (end == std::string::npos || begin == std::string::npos || begin < done) continue;
    std::string target = page.content.substr(middle + 2, end - middle - 2);
    target = target.substr(0, target.find('#'));
    if (target.empty() || target.find(':') != std::string::npos) continue;
    std::string path =
        (fs::path(page.path).parent_path() / target).lexically_normal().generic_string();
    if (path.ends_with('/')) path.pop_back();
    if (!has(course, path) || has(copy, path)) continue;
    text += page.content.substr(done, begin - done) +
            page.content.substr(begin + 1, middle - begin - 1);
    done = end + 1;
  }
  return text + page.content.substr(done);
}

void add_manifest(Pack& pack) {
  std::string names;
  for (const PackedFile& file : pack) names += file.path + "\n";
  put(pack, {kManifest, names});
}

// What git does not track cannot get into a copy; a name that leads out of it neither.
bool stays_inside(const std::string& path) {
  const fs::path normal = fs::path(path).lexically_normal();
  return !path.empty() && normal.is_relative() && *normal.begin() != "..";
}

// ---- Writing ----

void write_folder(const Pack& pack, const fs::path& folder) {
  std::error_code failed;
  for (const PackedFile& file : pack) {
    const fs::path path = folder / file.path;
    fs::create_directories(path.parent_path(), failed);
    if (failed) {
      throw data::NotWritten("cannot write " + data::quoted(path.parent_path().string()) + ": " +
                             failed.message());
    }
    data::write_file(path.string(), file.content);
    if (file.executable) {
      fs::permissions(path, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                      fs::perm_options::add, failed);
    }
  }
}

#ifdef HALO_HAVE_ARCHIVE
std::string in_folder(const std::string& top, const std::string& path) {
  return top.empty() ? path : top + "/" + path;
}

// In memory, so that whoever writes it says why a file cannot be: the archive's own words for a full disk
// are "Write error".
std::string archive_of(const Pack& pack, const std::string& name, const std::string& top) {
  struct Closing {
    archive* writer = archive_write_new();
    ~Closing() { archive_write_free(writer); }
  } closing;
  archive* const writer = closing.writer;
  const auto require = [&](int status) {
    if (status < ARCHIVE_WARN) {
      throw DataError(data::quoted(name) + " cannot be made: " + archive_error_string(writer));
    }
  };
  if (name.ends_with(".zip")) {
    require(archive_write_set_format_zip(writer));
  } else {
    require(archive_write_set_format_pax_restricted(writer));
    if (!name.ends_with(".tar")) require(archive_write_add_filter_gzip(writer));
  }
  require(archive_write_set_bytes_in_last_block(writer, 1));
  std::string bytes;
  const auto append = [](archive*, void* to, const void* from, std::size_t count) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(from), count);
    return static_cast<la_ssize_t>(count);
  };
  require(archive_write_open(writer, &bytes, nullptr, append, nullptr));
  struct Freeing {
    archive_entry* entry = archive_entry_new();
    ~Freeing() { archive_entry_free(entry); }
  } freeing;
  archive_entry* const entry = freeing.entry;
  const std::time_t now = std::time(nullptr);
  for (const PackedFile& packed : pack) {
    archive_entry_clear(entry);
    archive_entry_set_pathname(entry, in_folder(top, packed.path).c_str());
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, packed.executable ? 0755 : 0644);
    archive_entry_set_mtime(entry, now, 0);
    archive_entry_set_size(entry, static_cast<la_int64_t>(packed.content.size()));
    require(archive_write_header(writer, entry));
    const la_ssize_t written =
        archive_write_data(writer, packed.content.data(), packed.content.size());
    require(written < 0 ? ARCHIVE_FATAL : ARCHIVE_OK);
  }
  require(archive_write_close(writer));
  return bytes;
}
#else
std::string archive_of(const Pack&, const std::string&, const std::string&) {
  throw DataError(
      "archives need libarchive (Debian, Ubuntu: apt-get install libarchive-dev, then again): "
      "name a folder instead");
}
#endif

bool is_archive(const fs::path& target) {
  const std::string name = target.filename().string();
  const auto ends_with_one = [&](std::initializer_list<const char*> endings) {
    return std::any_of(endings.begin(), endings.end(),
                       [&](const char* ending) { return name.ends_with(ending); });
  };
  if (ends_with_one({".zip", ".tar.gz", ".tgz", ".tar"})) return true;
  if (ends_with_one({".rar", ".7z", ".gz", ".bz2", ".xz", ".zst"})) {
    throw DataError(
        data::quoted(target.string()) +
        ": archives are written as .zip, .tar or .tar.gz; name one of these or a folder");
  }
  return false;
}

Value parsed(const std::string& assignment) {
  try {
    return Value::parse(assignment);
  } catch (const json::Error& error) {
    throw DataError(std::string("the assignment cannot be read: ") + error.what());
  }
}

// The assignment with these exercises only; hunts are part of the whole.
Value with_exercises(const std::string& assignment, const std::vector<std::string>& names) {
  Value all = parsed(assignment);
  Value chosen = Value::array();
  for (const Value& one : all.at("exercises").elements()) {
    const auto name = one.get<std::string>("name");
    if (std::find(names.begin(), names.end(), name) != names.end()) chosen.push_back(one);
  }
  if (names.size() < all.at("exercises").elements().size()) all["hunts"] = Value::array();
  all["exercises"] = std::move(chosen);
  return all;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

// A file of common/grader/bundles. What stands between lines with @EACH and @END is there for each exercise:
// @EXERCISE is its name, @NUMBER its number; @LIST has whatever has a score.
std::string filled_in(std::string text, const std::vector<std::string>& exercises,
                      const std::vector<std::string>& scored) {
  for (std::size_t each; (each = text.find("@EACH\n")) != std::string::npos;) {
    const std::size_t end = text.find("@END\n", each);
    if (end == std::string::npos) break;
    const std::size_t begin = text.rfind('\n', each) + 1, last = text.rfind('\n', end) + 1;
    const std::string part = text.substr(each + 6, last - each - 6);
    std::string parts;
    for (const std::string& name : exercises) {
      parts += replaced(replaced(part, "@EXERCISE", name), "@NUMBER", name.substr(0, 2));
    }
    text = text.substr(0, begin) + parts + text.substr(end + 5);
  }
  std::vector<std::string> runners;
  for (const std::string& name : exercises) runners.push_back("exercise" + name.substr(0, 2));
  return replaced(replaced(text, "@LIST", joined(scored, ", ")), "@RUNNERS", joined(runners, ","));
}

}  // namespace

Pack course_files(const fs::path& root) {
  std::vector<std::string> paths;
  if (fs::exists(root / ".git")) {
    paths = parts_of(ask_git(root, {"ls-files", "-z"}), '\0');
    const std::vector<std::string> changed = parts_of(
        ask_git(root, {"status", "--porcelain", "--untracked-files=no", "-z", "--", "exercises"}),
        '\0');
    if (!changed.empty()) {
      const std::string path = changed[0].substr(std::min<std::size_t>(3, changed[0].size()));
      throw DataError(data::printable(path) +
                      " is not as git has it: commit it, or put it back (git checkout " +
                      data::printable(path) + ")");
    }
  } else if (fs::exists(root / kManifest)) {
    paths = parts_of(read(root / kManifest), '\n');
  } else {
    throw DataError(data::quoted(root.string()) +
                    " has neither .git nor MANIFEST, so nobody knows which files belong to the "
                    "course: pack from a clone or from an instructor's copy");
  }
  Pack pack;
  for (const std::string& path : paths) {
    if (!stays_inside(path)) throw DataError(data::quoted(path) + " is no file of the course");
    const fs::path file = root / path;
    if (path == kManifest) continue;
    if (!fs::exists(file)) continue;  // removed, and not committed yet
    if (fs::is_symlink(file)) throw DataError(data::quoted(path) + " is a link: copy the file");
    const bool executable =
        (fs::status(file).permissions() & fs::perms::owner_exec) != fs::perms::none;
    pack.push_back({path, read(file), executable});
  }
  std::ranges::sort(pack, {}, &PackedFile::path);
  return pack;
}

bool is_for_students(std::string_view path) {
  for (const Rule& rule : kStudents) {
    if (fnmatch(rule.pattern, std::string(path).c_str(), 0) == 0) return rule.given;
  }
  return false;
}

Pack student_copy(const Pack& course) {
  Pack copy;
  for (const PackedFile& file : course) {
    if (!is_for_students(file.path)) continue;
    copy.push_back(file);
  }
  for (PackedFile& file : copy) {
    if (file.path.ends_with(".md")) file.content = unlinked(file, course, copy);
  }
  return copy;
}

void add_student(Pack& copy, const std::string& student, std::uint64_t seed) {
  put(copy, {"exercises/student.json",
             Value::object({{"student", student}, {"seed", seed}}).dump(1) + "\n"});
}

Pack instructor_copy(const Pack& course) {
  Pack copy = course;
  if (const PackedFile* page = find(course, std::string(kBundles) + "INSTRUCTOR.md")) {
    put(copy, {"INSTRUCTOR.md", page->content});
  }
  add_manifest(copy);
  return copy;
}

std::uint64_t seed_of_student(std::uint64_t course_seed, const std::string& student) {
  Sha256 hash;
  hash.add(std::to_string(course_seed) + "\n" + student);
  // As short as the seeds that are drawn otherwise, as people type them.
  return std::stoull(hash.hex().substr(0, 15), nullptr, 16) % 1'000'000'000 + 1;
}

Pack platform_bundle(const Pack& course, const Bundle& bundle) {
  const Value assignment = with_exercises(bundle.assignment, bundle.exercises);
  std::vector<std::string> scored = bundle.exercises;
  if (const Value* const hunts = assignment.find("hunts")) {
    for (const Value& one : hunts->elements()) {
      scored.push_back("hunts/" + one.get<std::string>("name"));
    }
  }
  Pack files;  // of the platform
  const std::string folder = kBundles + bundle.platform + "/";
  for (const PackedFile& file : course) {
    if (!file.path.starts_with(folder)) continue;
    files.push_back(file);
    files.back().path.erase(0, folder.size());
    files.back().content = filled_in(file.content, bundle.exercises, scored);
  }
  if (files.empty()) {
    throw DataError("this copy of the course has no " + folder + ": pack from a clone");
  }
  // Students own that repository: nothing of it is a secret.
  if (bundle.platform == "github") return files;

  Pack graded = course;
  put(graded, {"solutions/assignment.json", assignment.dump(1) + "\n"});
  add_manifest(graded);
  for (PackedFile& file : graded) file.path.insert(0, "course/");
  if (bundle.platform == "autolab") {
    put(files, {"autograde.tar", archive_of(graded, "autograde.tar", "")});
  } else {
    for (PackedFile& file : graded) put(files, std::move(file));
  }
  return files;
}

void write_pack(const Pack& pack, const fs::path& target, const std::string& top) {
  if (is_archive(target)) {
    return data::write_file(target.string(), archive_of(pack, target.filename().string(), top));
  }
  std::error_code unknown;
  if (fs::exists(target, unknown) &&
      (!fs::is_directory(target, unknown) || !fs::is_empty(target, unknown))) {
    throw data::NotWritten("cannot write to " + data::quoted(target.string()) +
                           ": it exists already, and is not an empty folder");
  }
  // Under another name until it is whole.
  fs::path whole = fs::absolute(target).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  const fs::path fresh = whole.string() + "." + std::to_string(getpid()) + ".tmp";
  try {
    write_folder(pack, fresh);
    fs::rename(fresh, whole);
  } catch (const fs::filesystem_error& error) {
    fs::remove_all(fresh, unknown);
    throw data::NotWritten("cannot write " + data::quoted(target.string()) + ": " +
                           error.code().message());
  } catch (...) {
    fs::remove_all(fresh, unknown);
    throw;
  }
}

}  // namespace halo::grader
