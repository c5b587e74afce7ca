// Files are read with every failure named, and written whole or not at all.
#include "common/data/file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/data/files.hpp"

using namespace halo;
using test::contains;
using test::error_of;

namespace {

std::string open_error(const std::string& path) {
  return error_of([&] { data::InputFile file(path); });
}

std::string write_error(const std::string& path) {
  const std::string before = error_of([&] { data::require_writable(path); });
  const std::string message = error_of([&] { data::write_file(path, "new"); });
  // The complaint before the work is the one after it.
  CHECK(before == message);
  return message;
}

}  // namespace

TEST_CASE("names are quoted on one line", "[file]") {
  CHECK(data::quoted("a b") == "'a b'");
  CHECK(data::quoted("a\nb\x1b[31m\x7f") == "'a?b?[31m?'");
  CHECK(data::quoted("Größe.wav") == "'Größe.wav'");
}

TEST_CASE("what a terminal would obey is replaced, and what is too long cut", "[file]") {
  CHECK(data::printable("a\tb\r\x1b]0;x\a") == "a?b??]0;x?");
  CHECK(data::printable("\xc2\x9b"
                        "31m \xc2\xa0") == "?31m \xc2\xa0");  // CSI as one letter
  CHECK(data::printable("Gr\xf6\xdf"
                        "e\xc3 \xe2\x82\xac \xed\xa0\x80 \xf0\x9f\x98\x80 \xc0\xaf \xf5") ==
        "Gr??e? \u20ac ??? \U0001F600 ?? ?");
  CHECK(data::printable("Größe", 3) == "Gr...");
  CHECK(data::printable("Größe", 4) == "Grö...");
  CHECK(data::printable("Größe", 7) == "Größe");
  CHECK(data::quoted(std::string(5000, 'x')).size() == 305);
}

TEST_CASE("a file is read at any offset", "[file]") {
  const test::Folder folder;
  const data::InputFile file(folder.write("x", "0123456789"));
  CHECK(file.size() == 10);
  char bytes[8] = {};
  CHECK(file.read(3, bytes, 4) == 4);
  CHECK(std::string(bytes, 4) == "3456");
  CHECK(file.read(8, bytes, 8) == 2);
  CHECK(file.read(10, bytes, 8) == 0);
  CHECK(file.read(1000, bytes, 8) == 0);
}

TEST_CASE("what cannot be opened is named, with the reason", "[file]") {
  const test::Folder folder;
  CHECK(open_error(folder / "none.wav") ==
        "cannot read '" + (folder / "none.wav") +
            "': there is no such file or folder; check the path");
  CHECK_THAT(open_error(""), contains("the name is empty"));
  CHECK_THAT(open_error(folder.path()), contains("it is a folder"));
  CHECK_THAT(open_error(folder.write("empty.npy", "")), contains("it is empty"));
  CHECK_THAT(open_error(folder.write("file", "x") + "/below"), contains("not a folder"));
  CHECK_THAT(open_error(folder / std::string(300, 'x')), contains("too long"));
  CHECK_THAT(open_error("/dev/null"), contains("not a regular file"));
  CHECK_THAT(open_error(folder / "two\nlines"), contains("two?lines"));
}

TEST_CASE("a pipe is refused and not waited for", "[file]") {
  // It stands for devices as well. No test writes to a real one: as root, and with a mistake in the
  // code, that would replace it.
  const test::Folder folder;
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_THAT(open_error(folder / "pipe"), contains("not a regular file"));
  CHECK_THAT(write_error(folder / "pipe"), contains("not a regular file"));
}

TEST_CASE("a file without the right to read it is named", "[file]") {
  const test::Unprivileged unprivileged;
  const test::Folder folder;
  const std::string path = folder.write("secret", "x");
  REQUIRE(chmod(path.c_str(), 0) == 0);
  CHECK_THAT(open_error(path), contains("permission denied"));
}

TEST_CASE("a file is written whole and leaves nothing beside it", "[file]") {
  const test::Folder folder;
  const std::string bytes = std::string("one\0two", 7) + std::string(100'000, 'x');
  data::write_file(folder / "x", bytes);
  CHECK(test::bytes_of(folder / "x") == bytes);
  data::write_file(folder / "x", "short");
  CHECK(test::bytes_of(folder / "x") == "short");
  data::write_file(folder / "empty", "");
  CHECK(test::bytes_of(folder / "empty").empty());
  CHECK(folder.names() == std::vector<std::string>{"empty", "x"});
}

TEST_CASE("the longest name that a file system takes can be written", "[file]") {
  const test::Folder folder;
  const std::string name(255, 'n');
  data::write_file(folder / name, "x");
  CHECK(folder.names() == std::vector<std::string>{name});
}

TEST_CASE("a bare name is written to the current folder", "[file]") {
  const test::Folder folder;
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  data::write_file("bare", "x");
  std::filesystem::current_path(here);
  CHECK(test::bytes_of(folder / "bare") == "x");
}

TEST_CASE("an output that is not committed never existed", "[file]") {
  const test::Folder folder;
  folder.write("old", "old");
  {
    data::OutputFile replaced(folder / "old");
    data::OutputFile fresh(folder / "fresh");
    replaced.write("new", 3);
    fresh.write("new", 3);
    // Not even while it is being written.
    CHECK(test::bytes_of(folder / "old") == "old");
    CHECK_FALSE(std::filesystem::exists(folder / "fresh"));
  }
  CHECK(test::bytes_of(folder / "old") == "old");
  CHECK(folder.names() == std::vector<std::string>{"old"});
}

TEST_CASE("asking whether a file can be written leaves no trace", "[file]") {
  const test::Folder folder;
  folder.write("old", "old");
  data::require_writable(folder / "old");
  data::require_writable(folder / "new");
  CHECK(test::bytes_of(folder / "old") == "old");
  CHECK(folder.names() == std::vector<std::string>{"old"});
}

TEST_CASE("a full disk leaves the old file and no half of the new one", "[file]") {
  const test::Folder folder;
  folder.write("old", "old");
  const std::string bytes(100'000, 'x');
  std::string message;
  {
    const test::FullDisk full(5000);
    message = error_of([&] { data::write_file(folder / "old", bytes); });
  }
  CHECK_THAT(message, contains("cannot write '" + (folder / "old") + "'"));
  CHECK(test::bytes_of(folder / "old") == "old");
  CHECK(folder.names() == std::vector<std::string>{"old"});
}

TEST_CASE("what cannot be written is named, with the reason", "[file]") {
  const test::Folder folder;
  CHECK(write_error(folder / "none/x.wav") ==
        "cannot write '" + (folder / "none/x.wav") +
            "': there is no such file or folder; check the path");
  CHECK_THAT(write_error(""), contains("the name is empty"));
  CHECK_THAT(write_error(folder.path()), contains("it is a folder"));
  CHECK_THAT(write_error(folder / "new/"), contains("no such file or folder"));
  CHECK_THAT(write_error(folder.write("file", "x") + "/below"), contains("not a folder"));
  CHECK(folder.names() == std::vector<std::string>{"file"});
}

TEST_CASE("a folder or file without the right to write is named", "[file]") {
  const test::Unprivileged unprivileged;
  const test::Folder folder;
  const std::string path = folder.write("protected", "old");
  REQUIRE(chmod(path.c_str(), 0444) == 0);
  CHECK_THAT(write_error(path), contains("permission denied"));
  CHECK(test::bytes_of(path) == "old");
  REQUIRE(chmod(folder.path().c_str(), 0555) == 0);
  CHECK_THAT(write_error(folder / "new"), contains("permission denied"));
  REQUIRE(chmod(folder.path().c_str(), 0755) == 0);
}

TEST_CASE("a link is followed, and its target keeps its rights", "[file]") {
  const test::Folder folder;
  const std::string target = folder.write("target", "old");
  REQUIRE(chmod(target.c_str(), 0640) == 0);
  std::filesystem::create_symlink("target", folder / "link");
  data::write_file(folder / "link", "new");
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(test::bytes_of(target) == "new");
  struct stat status;
  REQUIRE(stat(target.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);

  std::filesystem::create_symlink("nowhere", folder / "broken");
  CHECK_THAT(write_error(folder / "broken"), contains("a link to a place that does not exist"));
}

TEST_CASE("a new file has the rights that the umask leaves", "[file]") {
  const test::Folder folder;
  const mode_t old = umask(027);
  data::write_file(folder / "x", "x");
  umask(old);
  struct stat status;
  REQUIRE(stat((folder / "x").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
}
