#include "common/simt/machine/forms.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>
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

bool is_any(std::string_view word, std::initializer_list<std::string_view> of) {
  return std::find(of.begin(), of.end(), word) != of.end();
}

// Types, layouts and spaces mean something by the order among their like: what is converted to what, or copied where.
enum class Like : std::uint8_t { none, type, layout, space };
Like like_of(std::string_view word) {
  const std::string_view letters = word.substr(0, word.find_first_of("0123456789:"));
  if (letters.size() < word.size() &&
      is_any(letters, {"b", "u", "s", "f", "bf", "tf", "e", "ue"})) {
    return Like::type;
  }
  if (is_any(word, {"row", "col"})) return Like::layout;
  return is_any(letters, {"shared", "global", "local", "const", "param"}) ? Like::space
                                                                          : Like::none;
}

// As matches(), of words in any order: those that are left, in the order of the parts.
bool put_in_order(std::span<const Choice> parts, std::vector<std::string_view> left,
                  std::vector<std::string_view>& ordered) {
  if (parts.empty()) return left.empty();
  const Choice& first = parts.front();
  std::set<Like> passed;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const Like like = like_of(left[i]);
    if (like != Like::none && !passed.insert(like).second) continue;
    if (std::find(first.words.begin(), first.words.end(), left[i]) == first.words.end()) continue;
    std::vector<std::string_view> others = left;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    ordered.push_back(left[i]);
    if (put_in_order(parts.subspan(1), std::move(others), ordered)) return true;
    ordered.pop_back();
  }
  return first.optional && put_in_order(parts.subspan(1), std::move(left), ordered);
}

struct Row {
  std::vector<Choice> parts;
  const Form* form;
};

// By opcode, in the order of the files. Never destroyed: a program that ends asks for modules that it has not used.
const std::map<std::string_view, std::vector<Row>>& table() {
  static const auto& forms = *new std::vector<Form>([] {
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
    add_stack_forms(all);
    add_selection_forms(all);
    add_exchange_forms(all);
    add_memory_forms(all);
    add_async_forms(all);
    add_bulk_forms(all);
    add_group_forms(all);
    add_image_forms(all);
    return all;
  }());
  static const auto& rows = *new std::map<std::string_view, std::vector<Row>>([] {
    std::map<std::string_view, std::vector<Row>> made;
    for (const Form& form : forms) {
      const std::string_view pattern = form.pattern;
      made[pattern.substr(0, pattern.find_first_of(".[("))].push_back({parts_of(pattern), &form});
    }
    return made;
  }());
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

bool is_opcode(std::string_view name) {
  static constexpr std::string_view kRefused[] = {"clusterlaunchcontrol", "istypep", "multimem",
                                                  "sured", "tcgen05"};
  return table().contains(name) ||
         std::find(std::begin(kRefused), std::end(kRefused), name) != std::end(kRefused);
}

void order_modifiers(ptx::Module& module) {
  std::unordered_set<std::string_view> known;  // as the module's text has them: most come often
  for (ptx::Function& function : module.functions) {
    for (ptx::Instruction& one : function.body) {
      const std::string_view last = one.modifiers.empty() ? one.opcode : one.modifiers.back();
      const std::string_view text(one.opcode.begin(), last.end());
      if (known.contains(text)) continue;
      if (find_form(one) != nullptr) {
        known.insert(text);
        continue;
      }
      const auto rows = table().find(one.opcode);
      if (rows == table().end()) continue;
      for (const Row& row : rows->second) {
        std::vector<std::string_view> ordered;
        if (!put_in_order(row.parts, one.modifiers, ordered)) continue;
        one.modifiers = ordered;
        break;
      }
    }
  }
}

}  // namespace simt::machine
