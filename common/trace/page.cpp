#include "common/report/html.hpp"
#include "common/trace/page_parts.hpp"
#include "common/trace/trace.hpp"

namespace halo::trace {

namespace {

// The trace with each request's reason.
json::Value with_reasons(json::Value trace) {
  json::Value warps = json::Value::array();
  for (json::Value warp : trace.at("warps").elements()) {
    json::Value requests = json::Value::array();
    for (json::Value request : warp.at("requests").elements()) {
      const std::string reason = why(request, trace.at("arrays"));
      if (!reason.empty()) request["why"] = reason;
      requests.push_back(std::move(request));
    }
    warp["requests"] = std::move(requests);
    warps.push_back(std::move(warp));
  }
  trace["warps"] = std::move(warps);
  return trace;
}

}  // namespace

std::string page(const Document& document, const Heading& heading) {
  json::Value views = json::Value::array();
  for (const View& view : document.views) {
    json::Value one = view.launch;
    one["name"] = view.name;
    one["short"] = view.short_kernel;
    one["trace"] = with_reasons(view.launch.at("trace"));
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
