#include "src/rules/reports/report_files.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "smdebug/error.h"
#include "src/base/bytes.h"
#include "src/base/fnv1a.h"
#include "src/base/log.h"
#include "src/run/keys.h"
#include "src/run/survey.h"

namespace smdebug::rules {
namespace {

using Json = nlohmann::ordered_json;

// Somebody wins each time, so this many losses are a store that is at fault.
constexpr int kMostSaves = 1000;

Json QuestionJson(const ReportFiles::Question& question,
                  const std::string& run) {
  return {{"rule", question.rule},
          {"steps", question.steps},
          {"worker", question.worker},
          {"run", run}};
}

// What stands for one who is told: the text itself may hold an address or a
// token, which is not for everybody who gets to see the run.
std::string NameOfTold(std::string_view told_to) {
  if (told_to.empty()) return {};
  return fmt::format("{:016x}", base::Fnv1a(told_to));
}

}  // namespace

ReportFiles::AllTold ReportFiles::ParseTold(std::string_view text,
                                            const Question& question) const {
  AllTold all;
  const auto json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("question") ||
      json["question"] != QuestionJson(question, run_)) {
    return all;
  }
  const auto list = json.find("told");
  if (list == json.end() || !list->is_array()) return all;
  for (const Json& item : *list) {
    if (!item.is_object()) continue;
    const auto to = item.find("to");
    const auto step = item.find("last_step");
    const auto ended = item.find("ended");
    if (to == item.end() || !to->is_string() || step == item.end() ||
        !step->is_number_integer()) {
      continue;
    }
    all[to->get<std::string>()] = {step->get<int64_t>(),
                                   ended != item.end() && *ended == true};
  }
  return all;
}

ReportFiles::Told ReportFiles::WhatWasTold(std::string_view name,
                                           const Question& question,
                                           std::string_view told_to) {
  if (storage_ == nullptr) return {};
  const std::optional<Blob> blob = storage_->Read(run::RuleReportKey(name));
  if (!blob) return {};
  const AllTold all = ParseTold(blob->text(), question);
  const auto told = all.find(NameOfTold(told_to));
  return told == all.end() ? Told() : told->second;
}

void ReportFiles::Save(const RuleReport& report, const Question& question,
                       std::string_view told_to, const Told& told) {
  if (!keeps()) return;
  try {
    // Others may judge the same run, and each has somebody else to tell.
    for (int i = 0; i < kMostSaves; ++i) {
      run::RequireRunToWrite(*storage_, run_);
      if (TryToSave(report, question, told_to, told)) return;
    }
  } catch (const Error& error) {
    return GiveUp(error);
  }
}

bool ReportFiles::TryToSave(const RuleReport& report, const Question& question,
                            std::string_view told_to, const Told& told) {
  const std::string key = run::RuleReportKey(report.name);
  const auto read = storage_->ReadVersioned(key);
  AllTold all = read ? ParseTold(read->text, question) : AllTold();
  Told& all_told = all[NameOfTold(told_to)];
  // One that judges a second time is behind what it has told.
  all_told.last_step = std::max(all_told.last_step, told.last_step);
  all_told.ended = all_told.ended || told.ended;
  Json json = Json::parse(ToJson(report));
  json["question"] = QuestionJson(question, run_);
  json["told"] = Json::array();
  for (const auto& [to, one] : all) {
    json["told"].push_back(
        {{"to", to}, {"last_step", one.last_step}, {"ended", one.ended}});
  }
  const std::string text =
      json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const Bytes content = base::AsBytes(text);
  return read ? storage_->ReplaceIfUnchanged(key, read->version, content)
              : storage_->CreateExclusive(key, content);
}

void ReportFiles::SaveFile(std::string_view name, const RuleFile& file) {
  if (!keeps()) return;
  Publish(run::RuleFileKey(name, file.name), file.content);
}

void ReportFiles::Publish(const std::string& key, std::string_view text) {
  try {
    run::RequireRunToWrite(*storage_, run_);
    const auto file = storage_->Create(key);
    const Bytes part = base::AsBytes(text);
    file->Append({&part, 1});
    file->Publish();
  } catch (const Error& error) {
    GiveUp(error);
  }
}

void ReportFiles::GiveUp(const Error& error) {
  if (std::exchange(failed_, true)) return;
  const std::string words =
      fmt::format("reports of rules are not kept: {}", error.what());
  if (on_failure_) {
    on_failure_(words);
  } else {
    base::LogWarning("{}", words);
  }
}

}  // namespace smdebug::rules
