#include "src/rules/reports/html_parts.h"

#include <algorithm>

#include <fmt/format.h>

#include "src/rules/reports/svg_chart.h"
#include "src/rules/reports/xml.h"

namespace smdebug::rules {
namespace {

constexpr size_t kMostRows = 200;  // In a table.

constexpr std::string_view kStyle =
    R"(:root { color-scheme: light dark; --text: #1c2733; --back: #fff; --rule: #d5dbe1; --mark: 31, 98, 168;
--c0: #1f62a8; --c1: #b3470f; --c2: #22762f; --c3: #7d3c98; --c4: #00707a; --c5: #a31545; --c6: #6b5900; --c7: #555; }
@media (prefers-color-scheme: dark) { :root { --text: #e3e8ee; --back: #14191f; --rule: #39434e; --mark: 122, 180, 240;
--c0: #7ab4f0; --c1: #f2a36b; --c2: #7fd18b; --c3: #cf9be8; --c4: #6fd3dc; --c5: #f58aae; --c6: #d9c65a; --c7: #b8b8b8; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); max-width: 70rem; margin: 0 auto; padding: 1rem; }
section { border-top: 1px solid var(--rule); margin-top: 1.5rem; }
.pair { display: flex; flex-wrap: wrap; gap: 1rem 2rem; align-items: flex-start; }
.pair > svg { flex: 1 1 24rem; } .scroll { overflow: auto; max-height: 24rem; }
table { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: 0.2rem 0; }
th, td { border: 1px solid var(--rule); padding: 0.15rem 0.6rem; text-align: right; } th:first-child { text-align: left; }
)";

}  // namespace

std::string_view PageStyle() { return kStyle; }

std::string Table(std::string_view caption, const Row& head,
                  const std::vector<Row>& rows) {
  std::string html = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\"><table><caption>{}</caption>\n"
      "<thead><tr>",
      EscapeXml(caption));
  for (const std::string& cell : head) {
    html += fmt::format("<th scope=\"col\">{}</th>", EscapeXml(cell));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
    html += "<tr>";
    for (size_t j = 0; j < rows[i].size(); ++j) {
      const std::string cell = EscapeXml(rows[i][j]);
      html += j == 0 ? fmt::format("<th scope=\"row\">{}</th>", cell)
                     : fmt::format("<td>{}</td>", cell);
    }
    html += "</tr>\n";
  }
  html += "</tbody></table>";
  if (rows.size() > kMostRows) {
    html += fmt::format("<p>The first {} of {}.</p>", kMostRows, rows.size());
  }
  return html + "</div>\n";
}

std::string Section(std::string_view title, std::string_view body) {
  return fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", EscapeXml(title),
                     body);
}

std::string Pair(std::string_view chart, std::string_view table) {
  return fmt::format("<div class=\"pair\">\n{}{}</div>\n", chart, table);
}

}  // namespace smdebug::rules
