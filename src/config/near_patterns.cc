// What patterns that match nothing may have been meant to match.
#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/config/nearest.h"

namespace smdebug::config {
namespace {

// Of more names than these, the rest is not looked at for a likely one.
constexpr size_t kMostCandidates = 2000;
constexpr size_t kShortestWord = 3;

bool IsOfWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// The runs of letters and digits in a name or a pattern that say something.
std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto add = [&] {
    if (word.size() >= kShortestWord) words.push_back(word);
    word.clear();
  };
  for (const char c : text) {
    if (IsOfWord(c)) {
      word.push_back(c);
    } else {
      add();
    }
  }
  add();
  return words;
}

}  // namespace

std::string DidPatternsMean(std::span<const std::string> patterns,
                            std::span<const std::string> names,
                            std::span<const std::string> hints) {
  std::set<std::string> known(hints.begin(), hints.end());
  for (const std::string& name : names) {
    if (known.size() >= kMostCandidates) break;
    known.insert(name);
    for (std::string& word : Words(name)) known.insert(std::move(word));
  }
  const std::vector<std::string> candidates(known.begin(), known.end());
  std::vector<std::string> near;
  for (const std::string& pattern : patterns) {
    for (const std::string& word : Words(pattern)) {
      if (known.contains(word)) continue;  // Is right.
      for (std::string& name : NearNames(word, candidates, 2)) {
        if (std::ranges::find(near, name) == near.end()) {
          near.push_back(std::move(name));
        }
      }
    }
  }
  if (near.empty()) return {};
  return fmt::format("did you mean '{}'?", fmt::join(near, "' or '"));
}

}  // namespace smdebug::config
