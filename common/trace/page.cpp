#include "common/report/html.hpp"
#include "common/trace/page_parts.hpp"
#include "common/trace/trace.hpp"

namespace halo::trace {

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
  return fill_page(kPage, {{"TITLE", html_escaped(heading.title)},
                           {"COMMAND", html_escaped(heading.command)},
                           {"STYLE", kStyle},
                           {"TEXT", html_escaped(explain(document, 4, {}))},
                           {"DATA", json_in_script(data.dump())},
                           {"SCRIPT", kScript}});
}

}  // namespace halo::trace
