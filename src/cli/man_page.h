#pragma once

#include <string>
#include <string_view>

namespace smdebug::cli {

// smdebug.1, the same as CommandPage() for `man`. `smdebug help --man` prints
// it.
std::string ManPage();

// The Markdown of this project's pages as roff: headings, paragraphs, tables of
// two columns, lists, blocks of code, and what is marked in a line.
std::string RoffOf(std::string_view markdown);

}  // namespace smdebug::cli
