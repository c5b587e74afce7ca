#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "common/simt/command/commands.hpp"
#include "common/simt/command/options.hpp"
#include "common/simt/command/reports.hpp"

namespace simt::command {
namespace {

// Of GitHub's workflow commands: what would end a message or a property.
std::string escaped(const std::string& text, bool is_property) {
  std::string result;
  for (const char c : text) {
    if (c == '%') {
      result += "%25";
    } else if (c == '\n') {
      result += "%0A";
    } else if (c == '\r') {
      result += "%0D";
    } else if (is_property && c == ':') {
      result += "%3A";
    } else if (is_property && c == ',') {
      result += "%2C";
    } else {
      result += c;
    }
  }
  return result;
}

std::string annotation(const Merged& one) {
  const Finding& f = one.finding;
  std::string line = f.is_note() ? "::notice " : "::error ";
  if (!f.file.empty()) {
    line += "file=" + escaped(f.file, true) + ",line=" + std::to_string(f.line) + ",";
  }
  return line + "title=" + escaped(report::title(f) + " in " + short_name(one.kernel), true) +
         "::" + escaped(f.message, false);
}

std::string number_of(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

void write(const std::string& name, const std::string& text) {
  std::ofstream file(name, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::system_error(errno, std::generic_category(), name);
}

}  // namespace

int findings(char** words) {
  CLI::App app("What the reports of many programs say, each finding once.", "simt findings");
  std::vector<std::string> files;
  std::string format = "text", sarif_file, junit_file, fail_on_words = "errors";
  app.add_option("REPORT", files, "files that SIMT_REPORT named")->required();
  app.add_option("--format", format,
                 "text, or github: annotations of a workflow; no suppressed results in SARIF")
      ->check(CLI::IsMember({"text", "github"}));
  app.add_option("--sarif", sarif_file, "write them there for code scanning");
  app.add_option("--junit", junit_file, "write them there as results of tests");
  app.add_option("--fail-on", fail_on_words, "errors, notes, none, or kinds of findings")
      ->envname("SIMT_FAIL_ON");
  if (!parse(app, words)) return kGood;
  const report::FailOn fail_on(fail_on_words);
  const Reports reports = read_reports(files);

  std::size_t errors = 0, notes = 0, suppressed = 0;
  bool fails = false;
  for (const Merged& one : reports.findings()) {
    if (one.suppressed) {
      ++suppressed;
      continue;
    }
    ++(one.finding.is_note() ? notes : errors);
    fails |= fail_on.fails(one.finding);
    std::puts(
        (format == "github" ? annotation(one) : report::told(one.finding, one.kernel)).c_str());
  }
  for (const report::Rule& rule : reports.rules) {
    if (rule.used == 0) std::puts(report::told_unused(rule).c_str());
  }
  for (const std::string& name : reports.cut_short) {
    std::printf("%s: its program did not end: what it did until then is here\n", name.c_str());
  }
  std::printf("%s, %s, %zu suppressed in %s\n", number_of(errors, "error").c_str(),
              number_of(notes, "note").c_str(), suppressed,
              number_of(files.size(), "report").c_str());
  try {
    if (!sarif_file.empty()) write(sarif_file, sarif(reports, format == "text").dump(1) + "\n");
    if (!junit_file.empty()) write(junit_file, junit(reports, fail_on));
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "simt: %s\n", error.what());
    return kNotWritten;
  }
  if (std::fflush(stdout) != 0) return kNotWritten;
  return fails ? kFindings : kGood;
}

}  // namespace simt::command
