#include "common/cli/help_with.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string_view>
#include <vector>

#include "common/build/compiler_output.hpp"
#include "common/cli/commands.hpp"
#include "common/data/file.hpp"
#include "common/process/process.hpp"
#include "common/report/table.hpp"

namespace halo {
namespace {

namespace fs = std::filesystem;

// The sections of hints.md, each below a heading `## N`.
std::vector<std::string> hints_in(const std::string& text) {
  std::vector<std::string> hints;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) {
      hints.emplace_back();
    } else if (!hints.empty() && !(hints.back().empty() && line.empty())) {
      hints.back() += line + "\n";
    }
  }
  for (std::string& hint : hints) {
    while (hint.ends_with("\n\n")) hint.pop_back();
  }
  return hints;
}

// Paragraphs as wide as the terminal; lists, quotes and code, which are indented or marked, stay as they are.
std::string reflowed(const std::string& text, int width) {
  TableOptions options;
  options.width = width;
  std::string shown, paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) shown += wrapped(paragraph, options, "") + "\n";
    paragraph.clear();
  };
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() &&
        std::string_view(" \t-*|>#0123456789").find(line[0]) == std::string::npos) {
      paragraph += (paragraph.empty() ? "" : " ") + line;
      continue;
    }
    end_paragraph();
    shown += line + "\n";
  }
  end_paragraph();
  return shown;
}

// Help::note, which changes what is known of the exercise.
std::function<std::string()> note_in(const ProgressFile& progress, const Exercise& exercise,
                                     const std::function<void(ExerciseRecord&)>& change) {
  return [&progress, name = exercise.name, change] {
    const std::string not_saved = progress.change(name, change);
    return not_saved.empty() ? "" : not_saved + "\n";
  };
}

std::string asked(const Exercise& exercise) { return "./halo show " + exercise.number; }

// The student's file under the first free name of its kind; nothing is ever written over. Returns the copy.
fs::path keep_copy(const fs::path& file) {
  const std::string text = text_of_file(file);
  for (int number = 1;; ++number) {
    const fs::path copy = file.string() + "." + std::to_string(number);
    const auto not_kept = [&] {
      return data::NotWritten("your file could not be kept as '" + copy.string() +
                              "', so nothing was changed: " + std::strerror(errno));
    };
    const int descriptor = open(copy.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (descriptor < 0 && errno == EEXIST) continue;
    if (descriptor < 0) throw not_kept();
    std::size_t written = 0;
    while (written < text.size()) {
      const ssize_t n = write(descriptor, text.data() + written, text.size() - written);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) break;
      written += static_cast<std::size_t>(n);
    }
    const bool synced = written == text.size() && fsync(descriptor) == 0;
    const bool closed = close(descriptor) == 0;
    if (synced && closed) return copy;
    const data::NotWritten failed = not_kept();
    unlink(copy.c_str());
    throw failed;
  }
}

}  // namespace

Help hint_for(const Exercise& exercise, const ProgressFile& progress, bool all, int width) {
  const std::vector<std::string> hints = hints_in(text_of_file(exercise.hints()));
  if (hints.empty()) {
    throw WrongUse(exercise.path_of(exercise.hints()) + " has no hints (sections `## 1`, `## 2`)");
  }
  const int count = static_cast<int>(hints.size());
  const int seen = std::min(progress.read(exercise.name).hints, count);
  const auto shown = [&](int level) {
    return "hint " + std::to_string(level) + " of " + std::to_string(count) + "\n" +
           reflowed(hints[static_cast<std::size_t>(level - 1)], width);
  };
  if (all) {
    Help help;
    for (int level = 1; level <= seen; ++level) help.text += (level > 1 ? "\n" : "") + shown(level);
    if (seen == 0) {
      help.text = "you have seen no hint of " + exercise.number + " yet: ./halo hint " +
                  exercise.number + " shows the first\n";
    }
    return help;
  }
  const int level = std::min(seen + 1, count);
  std::string text = shown(level);
  text += seen == count
              ? "(these were all; ./halo hint " + exercise.number + " --all shows them again)\n"
          : level < count ? "(./halo hint " + exercise.number + " again for the next)\n"
                          : "";
  if (level == seen) return {true, text};
  return {true, text, note_in(progress, exercise, [level](ExerciseRecord& record) {
            record.hints = std::max(record.hints, level);
          })};
}

Help solution_for(const Exercise& exercise, const ProgressFile& progress, bool beside) {
  const fs::path solution = exercise.solution();
  const ExerciseRecord record = progress.read(exercise.name);
  std::string not_noted;
  std::function<std::string()> note;
  if (record.passed.empty() && !record.asked_for_solution.empty()) {
    note = note_in(progress, exercise, [](ExerciseRecord& known) {
      if (known.shown_solution.empty()) known.shown_solution = date_now();
    });
  } else if (record.passed.empty()) {
    not_noted = progress.change(
        exercise.name, [](ExerciseRecord& known) { known.asked_for_solution = date_now(); });
    // Where nothing can be noted the second time would be the first for ever.
    if (not_noted.empty()) {
      return {false, exercise.number +
                         " is not passed yet. Asking again shows the solution, and "
                         "that is noted: " +
                         asked(exercise) + "\n"};
    }
  }
  std::string text;
  if (!beside) {
    text = text_of_file(solution);
  } else {
    const std::string yours = exercise.path_of(exercise.source());
    const Ended diff =
        run_program({"diff", "-u", "--label", yours, "--label", exercise.path_of(solution),
                     exercise.source().string(), solution.string()});
    if (!diff.started) {
      text = text_of_file(solution);
      not_noted +=
          std::string(not_noted.empty() ? "" : "\n") + "(diff is not installed: all of it)";
    } else if (diff.signal != 0 || diff.status > 1) {
      throw std::runtime_error("diff: " + last_line(diff.err));
    } else {
      text = diff.out.empty() ? "yours is the solution, character for character\n" : diff.out;
    }
  }
  if (!text.ends_with('\n')) text += '\n';
  if (!not_noted.empty()) text += not_noted + "\n";
  return {true, text, note};
}

Help begin_again(const Exercise& exercise) {
  const std::string text = exercise.start_text();
  const fs::path file = exercise.source();
  const std::string name = exercise.path_of(file);
  if (!fs::exists(file)) {
    data::write_file(file.string(), text);
    return {true, name + " is there again\n"};
  }
  if (text_of_file(file) == text) return {true, name + " is as it was at the start\n"};
  const fs::path copy = keep_copy(file);
  try {
    data::write_file(file.string(), text);
  } catch (const data::NotWritten&) {
    unlink(copy.c_str());  // yours is where it was
    throw;
  }
  return {true,
          name + " is as it was at the start; yours is kept as " + copy.filename().string() + "\n"};
}

}  // namespace halo
