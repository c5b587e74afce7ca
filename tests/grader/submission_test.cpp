#include "common/grader/submission.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <set>

#ifdef HALO_HAVE_ARCHIVE
#include <archive.h>
#include <archive_entry.h>
#endif

#include "common/grader/sha256.hpp"
#include "tests/catch.hpp"
#include "tests/data/files.hpp"

namespace halo::test {
namespace {

namespace fs = std::filesystem;
using namespace halo::grader;

const std::vector<Wanted> kWanted = {{"00_first_program", "first_program.cu"},
                                     {"04_tile_and_halo", "tile_and_halo.cu"},
                                     {"05_shuffles", "shuffles.cu"}};

// What was taken of a submission, into a folder of its own each time.
class Taken {
 public:
  explicit Taken(const fs::path& from, const std::vector<Wanted>& wanted = kWanted,
                 const SubmissionLimits& limits = {}) {
    try {
      all_ = take_submission(from, wanted, folder_.path(), limits);
    } catch (const Refused& refused) {
      refusal = refused.what();
      CHECK(refusal.find_first_of("\r\n\t\033") == std::string::npos);
    }
    // Whatever it held: nothing is written but this.
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      if (entry.is_directory()) continue;
      CHECK(entry.is_regular_file());
      CHECK_FALSE(entry.is_symlink());
      struct stat status = {};
      REQUIRE(stat(entry.path().c_str(), &status) == 0);
      CHECK(status.st_nlink == 1);
      written.insert(fs::relative(entry.path(), folder_.path()).string());
    }
    for (const HandedIn& one : all_) {
      CHECK(one.source.empty() != one.refusal.empty());
      CHECK(one.refusal.find_first_of("\r\n\t\033") == std::string::npos);
    }
  }

  const HandedIn* find(const std::string& exercise) const {
    for (const HandedIn& one : all_) {
      if (one.exercise == exercise) return &one;
    }
    return nullptr;
  }
  std::string source(const std::string& exercise) const {
    const HandedIn* const one = find(exercise);
    return one == nullptr || one->source.empty() ? "none" : bytes_of(one->source.string());
  }
  std::string refusal_of(const std::string& exercise) const {
    const HandedIn* const one = find(exercise);
    return one == nullptr ? "none" : one->refusal;
  }

  std::string refusal;
  std::set<std::string> written;

 private:
  Folder folder_;
  std::vector<HandedIn> all_;
};

std::string put(const Folder& folder, const std::string& name, std::string_view bytes) {
  fs::create_directories(fs::path(folder / name).parent_path());
  return folder.write(name, bytes);
}

TEST_CASE("SHA-256 of the standard's examples") {
  const auto of = [](const std::string& text) {
    Sha256 all;
    all.add(text);
    return all.hex();
  };
  CHECK(of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(of(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("A file by itself is of the exercise that its name ends with") {
  const Folder folder;
  CHECK(Taken(folder.write("tile_and_halo.cu", "4")).source("04_tile_and_halo") == "4");
  CHECK(Taken(folder.write("Meyer_12_TILE_and_halo.CU", "4")).source("04_tile_and_halo") == "4");
  // Canvas's second try, and a browser's second copy.
  for (const std::string again :
       {"ekbo_12_34_tile_and_halo-1.cu", "tile_and_halo (12).CU", "tile_and_halo(1).cu"}) {
    CHECK(Taken(folder.write(again, "4")).source("04_tile_and_halo") == "4");
  }
  for (const std::string other :
       {"tile_and_halo1.cu", "tile_and_halo-.cu", "-1.cu", "(1).cu", "1).cu"}) {
    CHECK_THAT(Taken(folder.write(other, "4")).refusal, contains("does not have the name"));
  }
  const Taken none(folder.write("percentile_and_halo.cu", "4"));
  CHECK_THAT(none.refusal,
             contains("'percentile_and_halo.cu' does not have the name of an exercise's file"));
  CHECK(Taken(folder.write("meyer.cu", "4"), {kWanted[1]}).source("04_tile_and_halo") == "4");
  CHECK_THAT(Taken(folder.write("essay.pdf", "4")).refusal, contains("'essay.pdf' is no .cu file"));
  CHECK_THAT(Taken(folder / "not_here.cu").refusal, contains("there is no"));
}

TEST_CASE("Of a folder the exercises' files are taken, and nothing else") {
  const Folder folder;
  put(folder, "sub/04_tile_and_halo/tile_and_halo.cu", "4");
  put(folder, "sub/04_tile_and_halo/predictions.txt", "cells = 4\r\n");
  put(folder, "sub/04_tile_and_halo/Makefile", "all:");
  put(folder, "sub/05_shuffles/mine.cu", "5");
  put(folder, "cheat.h", "");
  const Taken taken(folder.path());
  CHECK(taken.source("04_tile_and_halo") == "4");
  CHECK(taken.source("05_shuffles") == "5");
  CHECK(taken.find("00_first_program") == nullptr);
  CHECK(taken.written ==
        std::set<std::string>{"04_tile_and_halo/tile_and_halo.cu", "05_shuffles/shuffles.cu"});
}

TEST_CASE("Of a hunt the mended file is taken, and the claims beside it") {
  const Folder folder;
  const std::vector<Wanted> wanted = {{"07_softmax", "07_softmax.cu", "07_softmax.claims"},
                                      {"08_sum", "08_sum.cu", "08_sum.claims"}};
  put(folder, "exercises/04_tile_and_halo/start.cu", "tells where the course lies");
  put(folder, "exercises/hunts/07_softmax.cu", "mine");
  put(folder, "exercises/hunts/07_softmax.claims", "4 race\n");
  put(folder, "exercises/hunts/08_sum.cu", "mine too");
  put(folder, "08_sum.claims", "of nobody");
  put(folder, "exercises/hunts/start/07_softmax.cu", "start");
  put(folder, "solutions/hunts/07_softmax.cu", "mended");
  std::vector<Wanted> all = wanted;
  all.push_back({"04_tile_and_halo", "tile_and_halo.cu"});
  const Taken taken(folder.path(), all);
  CHECK(taken.source("07_softmax") == "mine");
  CHECK(taken.source("08_sum") == "mine too");
  CHECK(taken.written == std::set<std::string>{"07_softmax/07_softmax.claims",
                                               "07_softmax/07_softmax.cu", "08_sum/08_sum.cu"});
}

TEST_CASE("Files in a folder are known by the ends of their names, claims too") {
  const Folder folder;
  const std::vector<Wanted> wanted = {{"07_softmax", "07_softmax.cu", "07_softmax.claims"},
                                      {"04_tile_and_halo", "tile_and_halo.cu"},
                                      {"12_online_softmax", "online_softmax.cu"}};
  put(folder, "ekbo_12_34_tile_and_halo-1.cu", "4");
  put(folder, "ekbo_12_35_07_softmax.cu", "mended");
  put(folder, "ekbo_12_36_07_softmax-2.claims", "4 race\n5 race\n");
  put(folder, "ekbo_12_36_07_softmax-1.claims", "4 race\n");
  put(folder, "ekbo_12_37_answers.md", "");
  const Taken taken(folder.path(), wanted);
  CHECK(taken.source("04_tile_and_halo") == "4");
  CHECK(taken.source("07_softmax") == "mended");
  CHECK(taken.find("12_online_softmax") == nullptr);
  REQUIRE(taken.find("07_softmax") != nullptr);
  CHECK(bytes_of(taken.find("07_softmax")->beside.string()) == "4 race\n5 race\n");
  // Its own name, and its own folder, are surer.
  put(folder, "sub/tile_and_halo.cu", "its own");
  CHECK(Taken(folder.path(), wanted).source("04_tile_and_halo") == "its own");
  put(folder, "ekbo_12_38_07_softmax.cu", "again");
  CHECK_THAT(Taken(folder.path(), wanted).refusal_of("07_softmax"), contains("hand in one"));
  // In a copy of the course nothing is renamed: these are others' files.
  put(folder, "exercises/04_tile_and_halo/start.cu", "tells where the course lies");
  CHECK(Taken(folder.path(), wanted).find("07_softmax") == nullptr);
}

TEST_CASE("Of a copy of the whole course the student's file is taken") {
  const Folder folder;
  put(folder, "halo-main/exercises/04_tile_and_halo/tile_and_halo.cu", "mine");
  put(folder, "halo-main/exercises/04_tile_and_halo/start.cu", "start");
  put(folder, "halo-main/solutions/04_tile_and_halo/tile_and_halo.cu", "solution");
  put(folder, "halo-main/tests/exercises/04_tile_and_halo/right_other.cu", "other");
  put(folder, "__MACOSX/halo-main/exercises/04_tile_and_halo/tile_and_halo.cu", "mac");
  put(folder, "halo-main/exercises/04_tile_and_halo/._tile_and_halo.cu", "mac");
  const Taken taken(folder.path());
  CHECK(taken.source("04_tile_and_halo") == "mine");
  CHECK(taken.refusal_of("04_tile_and_halo") == "");
}

TEST_CASE("Of a copy of the whole course in which an exercise was not begun nothing is taken") {
  const Folder folder;
  put(folder, "halo-main/exercises/04_tile_and_halo/start.cu", "start");
  put(folder, "halo-main/exercises/04_tile_and_halo/start_predictions.txt", "cells =");
  put(folder, "halo-main/solutions/04_tile_and_halo/tile_and_halo.cu", "solution");
  put(folder, "halo-main/tests/exercises/04_tile_and_halo/right_other.cu", "other");
  put(folder, "halo-main/exercises/05_shuffles/start.cu", "start");
  put(folder, "halo-main/exercises/05_shuffles/shuffles.cu", "mine");
  const Taken taken(folder.path());
  CHECK(taken.find("04_tile_and_halo") == nullptr);
  CHECK(taken.source("05_shuffles") == "mine");
  // Where it is no course, a folder may be called so.
  const Folder own;
  put(own, "solutions/04_tile_and_halo/tile_and_halo.cu", "mine");
  CHECK(Taken(own.path()).source("04_tile_and_halo") == "mine");
}

TEST_CASE("Two files of one exercise are one too many") {
  const Folder folder;
  put(folder, "b/tile_and_halo.cu", "4");
  put(folder, "a/Tile_and_Halo.cu", "4");
  put(folder, "shuffles.cu", "5");
  const Taken taken(folder.path());
  CHECK(taken.refusal_of("04_tile_and_halo") ==
        "2 files may be meant, 'a/Tile_and_Halo.cu' and 'b/tile_and_halo.cu': hand in one");
  CHECK(taken.source("05_shuffles") == "5");
}

TEST_CASE(
    "Nothing of an exercise is told, and an archive that lies in its place is opened or named") {
  const Folder folder;
  const std::string none = "there is no file of an exercise in it, ";
  const std::string names =
      ": hand in the .cu files under the names that ./halo try gave them, such as first_program.cu";
  CHECK(Taken(folder.path()).refusal == none + "nor any other" + names);
  put(folder, "notes.txt", "4");
  CHECK(Taken(folder.path()).refusal == none + "but 'notes.txt'" + names);
  put(folder, "tile_and_halo.cu.txt", "4");
  put(folder, "work/tile.cu", "4");
  put(folder, "work/a.hpp", "4");
  CHECK(Taken(folder.path(), {kWanted[1]}).refusal ==
        none +
            "but 'work/tile.cu', 'notes.txt', 'tile_and_halo.cu.txt' and 1 more: hand in "
            "tile_and_halo.cu");
  put(folder, "a.zip", "no archive");
  if (why_no_archives().empty()) {
    CHECK_THAT(Taken(folder.path()).refusal, contains("damaged"));
  }
  put(folder, "b.zip", "no archive");
  CHECK_THAT(Taken(folder.path()).refusal, contains("but the archive 'a.zip'"));
}

TEST_CASE("Links, devices, large and unreadable files in a folder are refused by name") {
  const Folder folder;
  const Folder secret;
  secret.write("secret.cu", "secret");
  put(folder, "04_tile_and_halo/notes", "");
  fs::create_symlink(secret / "secret.cu", folder / "04_tile_and_halo/tile_and_halo.cu");
  REQUIRE(mkfifo((folder / "shuffles.cu").c_str(), 0600) == 0);
  fs::create_directory_symlink(secret.path(), folder / "05_shuffles");
  put(folder, "first_program.cu", std::string(2 << 20, ' '));
  const Taken taken(folder.path());
  CHECK_THAT(taken.refusal_of("04_tile_and_halo"), contains("is a link or a device"));
  CHECK_THAT(taken.refusal_of("05_shuffles"), contains("is a link or a device"));
  CHECK_THAT(taken.refusal_of("00_first_program"), contains("is larger than 1024 KiB"));
  CHECK(taken.written.empty());
}

TEST_CASE("A folder without end is given up") {
  const Folder folder;
  SubmissionLimits limits;
  limits.files = 10;
  for (int i = 0; i < 11; ++i) folder.write("f" + std::to_string(i), "x");
  CHECK_THAT(Taken(folder.path(), kWanted, limits).refusal, contains("more than 10 files"));
  const Folder deep;
  std::string path = "d";
  for (int i = 0; i < 60; ++i) path += "/d";
  put(deep, path + "/tile_and_halo.cu", "4");
  CHECK_THAT(Taken(deep.path()).refusal, contains("no file of an exercise"));
}

TEST_CASE("A digest changes with what is graded, and with nothing else") {
  const Folder folder;
  put(folder, "s/tile_and_halo.cu", "4");
  const std::string before = submission_digest(folder / "s");
  put(folder, "s/README.md", "hello");
  CHECK(submission_digest(folder / "s") == before);
  put(folder, "s/07_softmax.claims", "4 race\n");
  const std::string with_claims = submission_digest(folder / "s");
  CHECK(with_claims != before);
  put(folder, "s/tile_and_halo.cu", "5");
  CHECK(submission_digest(folder / "s") != with_claims);
  const std::string as_file = submission_digest(folder / "s/tile_and_halo.cu");
  put(folder, "s/tile_and_halo.cu", "6");
  CHECK(submission_digest(folder / "s/tile_and_halo.cu") != as_file);
  CHECK_THROWS_AS(submission_digest(folder / "nothing"), Refused);
}

TEST_CASE("A submission is called by its name without the ending") {
  CHECK(submission_name("a/meyer.tar.gz") == "meyer");
  CHECK(submission_name("a/meyer.TAR.zst") == "meyer");
  CHECK(submission_name("a/m.eyer.zip") == "m.eyer");
  CHECK(submission_name("a/meyer/") == "meyer");
  CHECK(submission_name("a/meyer.cu") == "meyer");
  CHECK(submission_name("a/.zip") == ".zip");
}

#ifdef HALO_HAVE_ARCHIVE

struct Packed {
  std::string name;
  std::string bytes = "4";
  unsigned type = AE_IFREG;
  std::string hard_link = {};
  std::string symbolic_link = {};
};

// As a hostile tool packs; the ending says how.
std::string pack(const std::string& path, const std::vector<Packed>& all,
                 const std::string& password = "") {
  const std::unique_ptr<archive, int (*)(archive*)> out(archive_write_new(), archive_write_free);
  if (path.ends_with(".zip")) {
    archive_write_set_format_zip(out.get());
    if (!password.empty()) {
      REQUIRE(archive_write_set_options(out.get(), "zip:encryption=traditional") == ARCHIVE_OK);
      archive_write_set_passphrase(out.get(), password.c_str());
    }
  } else {
    archive_write_set_format_pax_restricted(out.get());
    if (path.ends_with("gz")) archive_write_add_filter_gzip(out.get());
    if (path.ends_with("xz")) archive_write_add_filter_xz(out.get());
    if (path.ends_with("zst")) archive_write_add_filter_zstd(out.get());
  }
  REQUIRE(archive_write_open_filename(out.get(), path.c_str()) == ARCHIVE_OK);
  for (const Packed& one : all) {
    const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                         archive_entry_free);
    archive_entry_copy_pathname(entry.get(), one.name.c_str());
    archive_entry_set_filetype(entry.get(), one.type);
    archive_entry_set_perm(entry.get(), 04777);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(one.bytes.size()));
    if (!one.hard_link.empty()) archive_entry_set_hardlink(entry.get(), one.hard_link.c_str());
    if (!one.symbolic_link.empty())
      archive_entry_set_symlink(entry.get(), one.symbolic_link.c_str());
    REQUIRE(archive_write_header(out.get(), entry.get()) >= ARCHIVE_WARN);
    archive_write_data(out.get(), one.bytes.data(), one.bytes.size());
  }
  REQUIRE(archive_write_close(out.get()) == ARCHIVE_OK);
  return path;
}

TEST_CASE("Archives of every kind hold what the folder would") {
  const Folder folder;
  for (const std::string ending :
       {".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.zst", ".ZIP"}) {
    CAPTURE(ending);
    std::string path = folder / ("meyer" + ending);
    if (ending == ".ZIP") {
      fs::rename(folder / "meyer.zip", path);
    } else {
      pack(path, {{"meyer/04_tile_and_halo/", "", AE_IFDIR},
                  {"meyer/04_tile_and_halo/tile_and_halo.cu", "the file\r\n"},
                  {"meyer/05_shuffles/mine.cu", std::string(100'000, 'x')},
                  {"meyer/notes.txt", "notes"}});
    }
    const Taken taken(path);
    CHECK(taken.refusal == "");
    CHECK(taken.source("04_tile_and_halo") == "the file\r\n");
    CHECK(taken.source("05_shuffles") == std::string(100'000, 'x'));
    CHECK(taken.written.size() == 2);
  }
}

TEST_CASE("The one archive in a folder is what was handed in") {
  const Folder folder;
  fs::create_directory(folder / "Ada Lovelace_123_assignsubmission_file_");
  pack(folder / "Ada Lovelace_123_assignsubmission_file_/work.zip", {{"tile_and_halo.cu"}});
  CHECK(Taken(folder / "Ada Lovelace_123_assignsubmission_file_").source("04_tile_and_halo") ==
        "4");
}

TEST_CASE("Names that lead out of an archive refuse it") {
  const Folder folder;
  for (const std::string name :
       {"../tile_and_halo.cu", "/tmp/tile_and_halo.cu", "a/../../tile_and_halo.cu",
        "..\\tile_and_halo.cu", "C:\\tile_and_halo.cu", "../../etc/passwd", "a/.."}) {
    for (const std::string ending : {".tar", ".zip"}) {
      CAPTURE(name, ending);
      const Taken taken(pack(folder / ("x" + ending), {{"shuffles.cu"}, {name}}));
      CHECK_THAT(taken.refusal, contains("a name that leads out of it"));
      CHECK(taken.written.empty());
    }
  }
}

TEST_CASE("Links and devices in an archive are not followed") {
  const Folder folder;
  const std::string hard = folder.write("secret", "secret");
  const Taken taken(pack(folder / "x.tar", {{"05_shuffles", "", AE_IFLNK, "", "/etc"},
                                            {"05_shuffles/passwd.cu", "mine"},
                                            {"tile_and_halo.cu", "", AE_IFLNK, "", "/etc/passwd"},
                                            {"a/first_program.cu", "", AE_IFREG, hard},
                                            {"zero", "", AE_IFCHR},
                                            {"pipe", "", AE_IFIFO}}));
  CHECK_THAT(taken.refusal_of("04_tile_and_halo"), contains("is a link or a device"));
  CHECK_THAT(taken.refusal_of("00_first_program"), contains("is a link or a device"));
  CHECK(taken.source("05_shuffles") == "mine");
  CHECK(taken.written == std::set<std::string>{"05_shuffles/shuffles.cu"});
  const Taken device(pack(folder / "y.tar", {{"shuffles.cu", "", AE_IFBLK}}));
  CHECK_THAT(device.refusal_of("05_shuffles"), contains("is a link or a device"));
  // The first link to a file that a later one means is a file.
  const Taken last(pack(folder / "z.tar", {{"tile_and_halo.cu", "4"},
                                           {"shuffles.cu", "", AE_IFREG, "tile_and_halo.cu"}}));
  CHECK(last.source("04_tile_and_halo") == "4");
  CHECK_THAT(last.refusal_of("05_shuffles"), contains("is a link"));
}

TEST_CASE("An archive that unpacks without end is given up") {
  const Folder folder;
  const std::string much(3 << 20, '\0');
  SubmissionLimits limits;
  limits.unpacked = 8 << 20;
  for (const std::string ending : {".zip", ".tar.gz", ".tar.xz", ".tar.zst"}) {
    CAPTURE(ending);
    const std::string path =
        pack(folder / ("bomb" + ending), {{"a", much}, {"b", much}, {"c", much}, {"shuffles.cu"}});
    const Taken whole(path, kWanted, limits);
    CHECK_THAT(whole.refusal, contains("unpacks to more than 8 MiB"));
    SubmissionLimits ratio;
    ratio.rated_from = 1 << 20;
    CHECK_THAT(Taken(path, kWanted, ratio).refusal, contains("unpacks to more than 200 times"));
    CHECK(Taken(path).source("05_shuffles") == "4");
    SubmissionLimits packed;
    packed.packed = 100;
    CHECK_THAT(Taken(path, kWanted, packed).refusal, contains("larger than"));
  }
  // A file that is taken has a limit of its own, which costs that file only.
  const Taken large(
      pack(folder / "large.tar.gz", {{"tile_and_halo.cu", much}, {"shuffles.cu", "5"}}));
  CHECK_THAT(large.refusal_of("04_tile_and_halo"), contains("is larger than 1024 KiB"));
  CHECK(large.source("05_shuffles") == "5");
  limits.files = 3;
  limits.unpacked = 1 << 30;
  CHECK_THAT(
      Taken(pack(folder / "many.tar", {{"a"}, {"b"}, {"c"}, {"d"}}), kWanted, limits).refusal,
      contains("more than 3 files"));
}

TEST_CASE("Encrypted, truncated, empty and false archives are refused in words") {
  const Folder folder;
  const Taken secret(pack(folder / "secret.zip", {{"tile_and_halo.cu"}}, "password"));
  CHECK_THAT(secret.refusal_of("04_tile_and_halo"), contains("is encrypted"));
  std::string noise;
  for (std::uint32_t i = 0, x = 1; i < 50'000; ++i)
    noise += static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  for (const std::string ending : {".zip", ".tar", ".tar.gz", ".tar.xz", ".tar.zst"}) {
    CAPTURE(ending);
    const std::string path = pack(folder / ("whole" + ending),
                                  {{"first_program.cu", noise}, {"tile_and_halo.cu", noise}});
    CHECK(Taken(path).source("04_tile_and_halo") == noise);
    const Taken half(
        folder.write("half" + ending, bytes_of(path).substr(0, fs::file_size(path) / 2)));
    CHECK_THAT(half.refusal, contains("damaged"));
    CHECK(half.written.empty());
  }
  for (const std::string ending : {".zip", ".tar.gz"}) {
    CHECK_THAT(Taken(folder.write("false" + ending, "no archive at all")).refusal,
               contains("damaged"));
    CHECK_THAT(Taken(folder.write("none" + ending, "")).refusal, contains("the archive is empty"));
  }
  for (const std::string ending : {".zip", ".tar", ".tar.gz"}) {
    CHECK_THAT(Taken(pack(folder / ("empty" + ending), {})).refusal,
               contains("the archive is empty: pack the files"));
  }
  CHECK_THAT(
      Taken(pack(folder / "outer.zip", {{"inner.zip", bytes_of(folder / "whole.zip")}})).refusal,
      contains("but the archive 'inner.zip'"));
}

TEST_CASE("Strange names are taken for what they are") {
  const Folder folder;
  for (const std::string ending : {".tar", ".zip"}) {
    CAPTURE(ending);
    // Windows, with a folder in a code page of its own.
    CHECK(Taken(pack(folder / ("w" + ending), {{"m\x81ller\\04_tile_and_halo\\tile_and_halo.cu"}}))
              .source("04_tile_and_halo") == "4");
    CHECK(Taken(pack(folder / ("u" + ending), {{"m\xC3\xBCller/tile_and_halo.cu"}}))
              .source("04_tile_and_halo") == "4");
    CHECK_THAT(
        Taken(pack(folder / ("c" + ending), {{"tile_and_halo.cu\n"}, {"tile\x1b[31m.cu"}})).refusal,
        contains("no file of an exercise"));
    CHECK_THAT(
        Taken(pack(folder / ("l" + ending), {{std::string(5000, 'x') + "/tile_and_halo.cu"}}))
            .refusal,
        contains("no file of an exercise"));
    const Taken twice(
        pack(folder / ("t" + ending), {{"a\n\x1b[2J/shuffles.cu"}, {"b/Shuffles.CU"}}));
    CHECK_THAT(twice.refusal_of("05_shuffles"), contains("2 files may be meant"));
    const Taken mac(pack(
        folder / ("m" + ending),
        {{"__MACOSX/shuffles.cu", "mac"}, {"a/._shuffles.cu", "mac"}, {"a/shuffles.cu", "mine"}}));
    CHECK(mac.source("05_shuffles") == "mine");
  }
}

TEST_CASE("Any archive with a few wrong bytes is taken or refused, never more") {
  const Folder folder;
  std::uint32_t x = seed();
  const auto draw = [&](std::size_t below) {
    x = x * 1664525 + 1013904223;
    return static_cast<std::size_t>(x >> 8) % below;
  };
  int refused = 0;
  for (const std::string ending : {".zip", ".tar", ".tar.gz", ".tar.xz", ".tar.zst"}) {
    const std::string good = bytes_of(pack(
        folder / ("good" + ending),
        {{"a/04_tile_and_halo/tile_and_halo.cu", std::string(3000, 'x')}, {"shuffles.cu", "5"}}));
    for (int i = 0; i < 30; ++i) {
      std::string bad = good;
      for (std::size_t n = 1 + draw(8); n > 0; --n)
        bad[draw(bad.size())] = static_cast<char>(draw(256));
      const Taken taken(folder.write("bad" + ending, bad));
      refused += taken.refusal.empty() ? 0 : 1;
      for (const std::string& name : taken.written) {
        const bool known =
            name == "04_tile_and_halo/tile_and_halo.cu" || name == "05_shuffles/shuffles.cu";
        CHECK(known);
      }
    }
  }
  CHECK(refused > 0);
}

#else

TEST_CASE("Without libarchive archives are refused with what to install") {
  const Folder folder;
  CHECK_THAT(why_no_archives(), contains("apt-get install libarchive-dev"));
  CHECK_THROWS_WITH(take_submission(folder.write("a.zip", "x"), kWanted, folder.path()),
                    why_no_archives());
}

#endif

}  // namespace
}  // namespace halo::test
