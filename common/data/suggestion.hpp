// What somebody meant who mistyped a word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace halo::data {

/// The choice that is nearest to the word: one that begins with it or has it as a part between
/// underscores, or differs in few letters (neighbours that changed places count once). Empty: none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& choices);

/// "; did you mean NEAREST?", or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& choices);

/// The same of a path that leads nowhere: what is nearest in each folder, whichever of its names are mistyped.
std::string did_you_mean_path(const std::string& path);

}  // namespace halo::data
