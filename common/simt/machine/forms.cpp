#include "common/simt/machine/forms.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace simt::machine {
namespace {

// ".rn|.rz", whether it may be missing.
struct Choice {
  std::vector<std::string_view> words;
  bool optional = false;
};

// "[.rn|.rz](.lt|.lo).f32" into its parts; `pattern` outlives them.
std::vector<Choice> parts_of(std::string_view pattern) {
  std::vector<Choice> parts;
  for (std::size_t at = pattern.find_first_of(".[("); at < pattern.size();) {
    Choice part;
    part.optional = pattern[at] == '[';
    const bool in_brackets = pattern[at] != '.';
    if (in_brackets) ++at;
    do {
      ++at;  // the dot
      const std::size_t end = std::min(pattern.find_first_of(".[]()|", at), pattern.size());
      part.words.push_back(pattern.substr(at, end - at));
      at = end;
    } while (at < pattern.size() && pattern[at] == '|' && ++at);
    if (in_brackets) ++at;
    parts.push_back(part);
  }
  return parts;
}

bool matches(std::span<const Choice> parts, std::span<const std::string_view> words) {
  if (parts.empty()) return words.empty();
  const Choice& first = parts.front();
  if (!words.empty()) {
    for (const std::string_view word : first.words) {
      if (word == words.front() && matches(parts.subspan(1), words.subspan(1))) return true;
    }
  }
  return first.optional && matches(parts.subspan(1), words);
}

struct Row {
  std::vector<Choice> parts;
  const Form* form;
};

// By opcode, in the order of the files.
const std::map<std::string_view, std::vector<Row>>& table() {
  static const std::vector<Form> forms = [] {
    std::vector<Form> all;
    add_arithmetic_forms(all);
    add_integer_forms(all);
    add_video_forms(all);
    add_floating_forms(all);
    add_half_forms(all);
    add_tensor_forms(all);
    add_move_forms(all);
    add_conversion_forms(all);
    add_control_forms(all);
    add_service_forms(all);
    add_selection_forms(all);
    add_exchange_forms(all);
    add_memory_forms(all);
    add_async_forms(all);
    add_bulk_forms(all);
    add_group_forms(all);
    add_image_forms(all);
    return all;
  }();
  static const std::map<std::string_view, std::vector<Row>> rows = [] {
    std::map<std::string_view, std::vector<Row>> made;
    for (const Form& form : forms) {
      const std::string_view pattern = form.pattern;
      made[pattern.substr(0, pattern.find_first_of(".[("))].push_back({parts_of(pattern), &form});
    }
    return made;
  }();
  return rows;
}

}  // namespace

void add_row(std::vector<Form>& forms, std::string_view pattern, ptx::Type type, ptx::Type to,
             std::initializer_list<ptx::Type> from, Execute run) {
  Form& form = forms.emplace_back();
  form.pattern = std::string(pattern) + "." + std::string(ptx::name_of(type));
  form.to = to;
  std::copy(from.begin(), from.end(), form.from.begin());
  form.run = run;
}
void add_row(std::vector<Form>& forms, std::string_view pattern, ptx::Type type, int count,
             Execute run) {
  add_row(forms, pattern, type, type, {}, run);
  std::fill_n(forms.back().from.begin(), count, type);
}

void add_built(std::vector<Form>& forms, std::string_view pattern,
               void (*build)(Decoder&, const ptx::Instruction&), Form::Guarding guarding) {
  Form& form = forms.emplace_back();
  form.pattern = pattern;
  form.build = build;
  form.guarding = guarding;
}

const Form* find_form(const ptx::Instruction& instruction) {
  const auto rows = table().find(instruction.opcode);
  if (rows == table().end()) return nullptr;
  for (const Row& row : rows->second) {
    if (matches(row.parts, instruction.modifiers)) return row.form;
  }
  return nullptr;
}

}  // namespace simt::machine
