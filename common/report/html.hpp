// What the pages have in common that `halo` writes (common/trace/page.cpp, common/report/results_page.cpp): one
// file each, that asks for no other.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace halo {

/// The text as it is put between tags, or between the quotes of an attribute.
std::string html_escaped(const std::string& text);

/// JSON that no browser takes for the end of the script it stands in.
std::string json_in_script(const std::string& json);

/// The template with each @NAME@ replaced, from the beginning to the end: what is put in is not searched.
std::string fill_page(const std::string& whole,
                      const std::vector<std::pair<std::string, std::string>>& parts);

}  // namespace halo
