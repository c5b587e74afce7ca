#include "common/trace/page_parts.hpp"
#include "common/trace/trace.hpp"

namespace halo::trace {

namespace {

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

// JSON that no browser takes for the end of its script: < is written as what JSON reads the same.
std::string as_script(const std::string& json) {
  std::string safe;
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

std::string page(const Document& document, const Heading& heading) {
  json::Value views = json::Value::array();
  for (const View& view : document.views) {
    json::Value one = view.launch;
    one["name"] = view.name;
    one["short"] = view.short_kernel;
    json::Value again = json::Value::array();
    for (const Repeated& array : repeated(view)) {
      again.push_back(json::Value::object({{"array", array.array}, {"times", array.times}}));
    }
    one["repeated"] = std::move(again);
    views.push_back(std::move(one));
  }
  json::Value files = json::Value::object();
  for (const auto& [name, lines] : document.files) {
    files[name] = lines.empty() ? json::Value() : json::Value(lines);
  }
  const json::Value data =
      json::Value::object({{"views", std::move(views)},
                           {"files", std::move(files)},
                           {"beside", heading.beside && document.views.size() > 1 ? 1 : -1}});
  // Each once, from the beginning to the end: what is put in is not searched.
  std::string text;
  const std::string whole = kPage;
  for (std::size_t at = 0; at < whole.size();) {
    const std::size_t mark = whole.find('@', at);
    if (mark == std::string::npos) return text + whole.substr(at);
    const std::size_t end = whole.find('@', mark + 1);
    const std::string name = whole.substr(mark + 1, end - mark - 1);
    text += whole.substr(at, mark - at);
    if (name == "TITLE") text += escaped(heading.title);
    if (name == "COMMAND") text += escaped(heading.command);
    if (name == "STYLE") text += kStyle;
    if (name == "TEXT") text += escaped(explain(document, 4, {}));
    if (name == "DATA") text += as_script(data.dump());
    if (name == "SCRIPT") text += kScript;
    at = end + 1;
  }
  return text;
}

}  // namespace halo::trace
