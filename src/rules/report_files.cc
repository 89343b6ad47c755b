#include "src/rules/report_files.h"

#include <cctype>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "smdebug/error.h"
#include "src/base/bytes.h"
#include "src/base/log.h"
#include "src/run/ledger.h"

namespace smdebug::rules {
namespace {

using Json = nlohmann::ordered_json;

Json QuestionJson(const ReportFiles::Question& question,
                  const std::string& job) {
  return {{"rule", question.rule},
          {"steps", question.steps},
          {"worker", question.worker},
          {"job", job}};
}

}  // namespace

std::string ReportFiles::KeyOf(std::string_view name) {
  return fmt::format("rules/{}.json", Plain(name));
}

std::string ReportFiles::Plain(std::string_view name) {
  std::string file;
  for (const char c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       c == '-' || c == '_' || (c == '.' && !file.empty());
    file += plain ? c : '_';
  }
  return file;
}

// A folder may be used again by another job; runs of smdebug 1.0 do not tell.
const std::string& ReportFiles::Job() {
  if (!job_.empty()) return job_;
  for (const FileInfo& file : storage_->List("ledger/")) {
    const std::optional<Blob> blob = storage_->Read(file.key);
    if (!blob) continue;
    try {
      job_ = run::ParseLedger(blob->text(), file.key).job;
    } catch (const FormatError&) {
      continue;
    }
    break;
  }
  return job_;
}

ReportFiles::Told ReportFiles::WhatWasTold(std::string_view name,
                                           const Question& question) {
  if (storage_ == nullptr) return {};
  const std::optional<Blob> blob = storage_->Read(KeyOf(name));
  if (!blob) return {};
  const auto json = Json::parse(blob->text(), nullptr, false);
  if (!json.is_object() || !json.contains("question") ||
      json["question"] != QuestionJson(question, Job())) {
    return {};
  }
  Told told;
  if (json.contains("last_step") && json["last_step"].is_number_integer()) {
    told.last_step = json["last_step"].get<int64_t>();
  }
  told.ended = json.contains("ended") && json["ended"] == true;
  return told;
}

void ReportFiles::Save(const RuleReport& report, const Question& question) {
  if (!keeps()) return;
  Json json = Json::parse(ToJson(report));
  try {
    json["question"] = QuestionJson(question, Job());
  } catch (const IoError& error) {
    return GiveUp(error);
  }
  Publish(KeyOf(report.name),
          json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void ReportFiles::SaveFile(std::string_view name, const RuleFile& file) {
  if (!keeps()) return;
  Publish(fmt::format("rules/{}/{}", Plain(name), file.name), file.content);
}

void ReportFiles::Publish(const std::string& key, std::string_view text) {
  try {
    const auto file = storage_->Create(key);
    const Bytes part = base::AsBytes(text);
    file->Append({&part, 1});
    file->Publish();
  } catch (const IoError& error) {
    GiveUp(error);
  }
}

void ReportFiles::GiveUp(const IoError& error) {
  failed_ = true;
  base::LogWarning("reports of rules are not kept: {}", error.what());
}

}  // namespace smdebug::rules
