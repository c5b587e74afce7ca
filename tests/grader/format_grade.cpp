// Writes a grade in a format, for formats_test.py: the grade as JSON on stdin, the format's word as argument;
// `hide` behind it keeps hidden cases from students for ever.
#include <cstdio>
#include <exception>
#include <iostream>
#include <iterator>
#include <string>

#include "common/grader/formats.hpp"

int main(int argc, char** argv) try {
  using namespace halo;
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const grader::ResultFormat format = grader::parse_result_format(argc > 1 ? argv[1] : "");
  grader::FormatOptions options;
  options.publish_hidden = argc < 3;
  const grader::Grade grade = grader::grade_from_json(json::Value::parse(text));
  std::fputs(grader::text_of(grade, format, options).c_str(), stdout);
  return grader::exit_code(grade, format);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
