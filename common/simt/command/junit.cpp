#include <string>
#include <string_view>

#include "common/simt/command/reports.hpp"

namespace simt::command {
namespace {

std::string xml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '"') {
      escaped += "&quot;";
    } else if (static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t') {
      escaped += c;  // XML has no other control characters
    }
  }
  return escaped;
}

std::string attribute(const char* name, std::string_view value) {
  return std::string(" ") + name + "=\"" + xml(value) + "\"";
}

struct Suite {
  std::string cases;
  int tests = 0, failures = 0;

  std::string counts() const {
    return attribute("tests", std::to_string(tests)) +
           attribute("failures", std::to_string(failures)) + attribute("errors", "0") +
           attribute("skipped", "0");
  }
};

// What fails a run is the failure, the rest what the case says.
void add(Suite& to, const std::string& program, const std::string& kernel, const Findings& findings,
         const report::FailOn& fail_on) {
  std::string failing, others, title;
  for (const auto& [place, one] : findings) {
    const std::string line = report::told(one.finding, kernel) + "\n";
    if (one.suppressed) {
      others += line + "suppressed: " + one.suppressed->reason + "\n";
    } else if (fail_on.fails(one.finding)) {
      if (title.empty()) title = report::title(one.finding);
      failing += line;
    } else {
      others += line;
    }
  }
  ++to.tests;
  to.failures += !failing.empty();
  to.cases += "  <testcase" + attribute("classname", program) + attribute("name", kernel);
  if (failing.empty() && others.empty()) {
    to.cases += "/>\n";
    return;
  }
  to.cases += ">\n";
  if (!failing.empty()) {
    to.cases += "   <failure" + attribute("message", title) + ">" + xml(failing) + "</failure>\n";
  }
  if (!others.empty()) to.cases += "   <system-out>" + xml(others) + "</system-out>\n";
  to.cases += "  </testcase>\n";
}

}  // namespace

std::string junit(const Reports& reports, const report::FailOn& fail_on) {
  std::map<std::string, Suite> suites;
  Suite all;
  for (const auto& [names, findings] : reports.kernels) {
    add(suites[names.first], names.first, names.second, findings, fail_on);
  }
  for (const auto& [program, suite] : suites) {
    all.tests += suite.tests;
    all.failures += suite.failures;
    all.cases += " <testsuite" + attribute("name", program) + suite.counts() + ">\n" + suite.cases +
                 " </testsuite>\n";
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + attribute("name", "simt") +
         all.counts() + ">\n" + all.cases + "</testsuites>\n";
}

}  // namespace simt::command
