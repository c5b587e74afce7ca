#include "common/simt/worlds.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/simt/declaration.hpp"
#include "common/simt/lexer.hpp"

namespace simt {
namespace {

enum class World { host, device, both };

// A braced part of a declaration: a function's body, or an initialiser.
struct Body {
  std::size_t close = kNone;
  World world = World::host;
  bool function = false;
  bool is_constexpr = false;
};

// The outermost bodies of a file, by their '{': those in namespaces and classes.
class Outline {
 public:
  explicit Outline(const TokenStream& tokens) : tokens_(tokens) {
    std::size_t head = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const Token& token = tokens[i];
      if (token.is(";") || token.is("}")) {
        head = i + 1;
      } else if (token.is("(") || token.is("[")) {
        if (token.match != kNone) i = token.match;
      } else if (token.is("{") && token.match != kNone) {
        if (opens_scope(head, i)) {
          head = i + 1;
          continue;
        }
        const Body body = read(head, i);
        bodies_[i] = body;
        i = token.match;
        if (body.function) head = i + 1;
      }
    }
  }

  const Body* find(std::size_t open) const {
    const auto found = bodies_.find(open);
    return found == bodies_.end() ? nullptr : &found->second;
  }

 private:
  // Of a namespace, a class, or extern "C" { }.
  bool opens_scope(std::size_t head, std::size_t brace) const {
    if (brace > 1 && tokens_[brace - 1].kind == TokenKind::string &&
        tokens_[brace - 2].is("extern")) {
      return true;
    }
    for (std::size_t i = skip_template_head(tokens_, head); i < brace; ++i) {
      const std::size_t behind = skip_attribute(tokens_, i);
      if (behind != i) {
        i = behind - 1;
        continue;
      }
      const Token& token = tokens_[i];
      if (token.is("namespace")) return true;
      if (token.is("enum") || token.is("(") || token.is("=")) return false;
      if (token.is("class") || token.is("struct") || token.is("union")) {
        for (++i; i < brace; ++i) {  // but not struct S f() {
          const std::size_t next = skip_attribute(tokens_, i);
          if (next != i) {
            i = next - 1;
          } else if (tokens_[i].is(":")) {
            return true;
          } else if (tokens_[i].is("(") || tokens_[i].is("=")) {
            return false;
          }
        }
        return true;
      }
    }
    return false;
  }

  Body read(std::size_t head, std::size_t brace) const {
    Body body;
    body.close = tokens_[brace].match;
    bool on_device = false, on_host = false, parameters = false, assigned = false;
    for (std::size_t i = skip_template_head(tokens_, head); i < brace; ++i) {
      const std::size_t behind = skip_attribute(tokens_, i);
      const Token& token = tokens_[i];
      if (behind != i) {
        i = behind - 1;
      } else if (token.is("__global__") || token.is("__device__") || token.is("__constant__")) {
        on_device = true;
      } else if (token.is("__host__")) {
        on_host = true;
      } else if (token.is("constexpr")) {
        body.is_constexpr = true;
      } else if (token.is("operator")) {
        while (i + 1 < brace && !tokens_[i + 1].is("(")) ++i;
      } else if (token.is("=")) {
        assigned = true;
      } else if (token.is("(")) {
        parameters = true;
        i = std::min(token.match, brace);
      }
    }
    const Token& next = tokens_[body.close + 1];
    // S() : a{1}, b{2} {}
    body.function = parameters && !assigned && !next.is(",") && !next.is("{");
    body.world = !on_device ? World::host : on_host ? World::both : World::device;
    return body;
  }

  const TokenStream& tokens_;
  std::map<std::size_t, Body> bodies_;
};

class Joiner {
 public:
  Joiner(const TokenStream& host, const TokenStream& device)
      : host_(host), device_(device), host_bodies_(host), device_bodies_(device) {
    for (std::size_t i = 0; i < host_.size(); ++i) places_[key(host_, i)].push_back(i);
  }

  std::string run() {
    std::size_t h = 0, d = 0;
    while (h < host_.size() || d < device_.size()) {
      if (!same(h, d)) {
        differing(h, d);
        continue;
      }
      const Body* body = host_bodies_.find(h);
      const Body* other = device_bodies_.find(d);
      if (body != nullptr && other != nullptr) {
        bodies(h, *body, d, *other);
        h = body->close + 1;
        d = other->close + 1;
      } else {
        emit(host_, h++);
        ++d;
      }
    }
    out_ += host_[host_.size()].lead;
    return std::move(out_);
  }

 private:
  static std::string key(const TokenStream& tokens, std::size_t i) {
    const Token& token = tokens[i];
    return std::to_string(token.line) + ' ' + std::string(token.text) + ' ' + file(tokens, i).name;
  }
  static const SourceFile& file(const TokenStream& tokens, std::size_t i) {
    return tokens.files[static_cast<std::size_t>(tokens[i].file)];
  }

  bool same(std::size_t h, std::size_t d) const {
    if (h >= host_.size() || d >= device_.size()) return false;
    return host_[h].line == device_[d].line && host_[h].is(device_[d].text) &&
           file(host_, h).name == file(device_, d).name;
  }

  bool same_text(std::size_t h, std::size_t h_end, std::size_t d, std::size_t d_end) const {
    if (h_end - h != d_end - d) return false;
    for (; h < h_end; ++h, ++d) {
      if (!host_[h].is(device_[d].text)) return false;
    }
    return true;
  }

  void bodies(std::size_t h, const Body& host, std::size_t d, const Body& device) {
    const bool from_host = device.world == World::host || is_system(host_, h) ||
                           same_text(h, host.close, d, device.close);
    if (from_host) {
      emit_range(host_, h, host.close + 1);
    } else if (device.world == World::device || !device.function) {
      emit_range(device_, d, device.close + 1);
    } else {
      out_ += device.is_constexpr ? " { if (!__builtin_is_constant_evaluated() &&" : " { if (";
      out_ += "::simt::inside_kernel())";
      emit_range(device_, d, device.close + 1);
      out_ += " else";
      emit_range(host_, h, host.close + 1);
      out_ += " }";
    }
  }

  // From two positions that differ to the next ones that agree.
  void differing(std::size_t& h, std::size_t& d) {
    std::size_t h_end = host_.size(), d_end = device_.size();
    std::size_t best = (h_end - h) + (d_end - d) + 1;
    for (std::size_t i = d; i < device_.size() && i - d < best; ++i) {
      const auto found = places_.find(key(device_, i));
      if (found == places_.end()) continue;
      const auto place = std::lower_bound(found->second.begin(), found->second.end(), h);
      if (place == found->second.end() || *place - h + (i - d) >= best) continue;
      best = *place - h + (i - d);
      h_end = *place;
      d_end = i;
    }
    const bool from_host =
        d == d_end ? !is_only_device(h, h_end) || is_system(host_, h) : is_system(device_, d);
    if (from_host) {
      emit_range(host_, h, h_end);
    } else {
      emit_range(device_, d, d_end);
    }
    h = h_end;
    d = d_end;
  }

  // What the host's pass has of device code is for a GPU without __CUDA_ARCH__: there is none.
  bool is_only_device(std::size_t begin, std::size_t end) const {
    bool on_device = false, on_host = false;
    for (std::size_t i = begin; i < end; ++i) {
      on_host = on_host || host_[i].is("__host__");
      on_device = on_device || host_[i].is("__device__") || host_[i].is("__global__") ||
                  host_[i].is("__constant__");
    }
    return on_device && !on_host;
  }

  static bool is_system(const TokenStream& tokens, std::size_t i) {
    return file(tokens, i).is_system;
  }

  void emit_range(const TokenStream& tokens, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) emit(tokens, i);
  }

  void emit(const TokenStream& tokens, std::size_t i) {
    if (&tokens == last_stream_ && i == last_ + 1) {
      out_ += tokens[i].lead;
    } else if (last_stream_ == nullptr && i == 0) {
      out_ += tokens[i].lead;
    } else {
      out_ += "\n# " + std::to_string(tokens[i].line) + " " + file(tokens, i).marker + "\n";
    }
    out_ += tokens[i].text;
    last_stream_ = &tokens;
    last_ = i;
  }

  const TokenStream& host_;
  const TokenStream& device_;
  const Outline host_bodies_;
  const Outline device_bodies_;
  std::unordered_map<std::string, std::vector<std::size_t>> places_;  // in host_
  std::string out_;
  const TokenStream* last_stream_ = nullptr;
  std::size_t last_ = 0;
};

}  // namespace

std::vector<std::string> user_files(std::string_view preprocessed) {
  // # LINE "FILE" FLAGS
  std::vector<std::string> files;
  for (std::size_t at = 0; at < preprocessed.size();) {
    const std::size_t end = std::min(preprocessed.find('\n', at), preprocessed.size());
    const std::string_view line = preprocessed.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with("# ")) continue;
    const std::size_t open = line.find('"'), close = line.rfind('"');
    if (open == close || line.substr(close).find('3') != std::string_view::npos) continue;
    const std::string name(line.substr(open + 1, close - open - 1));
    if (std::find(files.begin(), files.end(), name) == files.end()) files.push_back(name);
  }
  return files;
}

std::string join_worlds(std::string_view host, std::string_view device,
                        const std::string& main_file) {
  const TokenStream host_tokens(host, main_file);
  const TokenStream device_tokens(device, main_file);
  if (host_tokens.unbalanced != kNone || device_tokens.unbalanced != kNone) {
    return std::string(host);  // the translation says where
  }
  return Joiner(host_tokens, device_tokens).run();
}

}  // namespace simt
