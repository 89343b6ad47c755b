#include "src/rules/reports/finding_json.h"

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace smdebug::rules {
namespace {

std::string TextOf(const Finding& finding) {
  base::JsonWriter json;
  AppendFinding(finding, json);
  return json.Take();
}

TEST(FindingJsonTest, EveryFieldHasItsName) {
  EXPECT_EQ(TextOf({.step = 4,
                    .mode = Mode::kTrain,
                    .tensor = "w",
                    .worker = "worker_1",
                    .value = 0.5,
                    .threshold = 1,
                    .message = "it is so"}),
            R"({"step": 4, "mode": "TRAIN", "tensor": "w", )"
            R"("worker": "worker_1", "value": 0.5, "threshold": 1, )"
            R"("message": "it is so"})");
}

TEST(FindingJsonTest, WhatJsonCannotSayIsTextOrNull) {
  const std::string text =
      TextOf({.step = -1,
              .value = std::nan(""),
              .threshold = -std::numeric_limits<double>::infinity()});
  EXPECT_NE(text.find(R"("step": null)"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("value": "NaN")"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("threshold": "-Infinity")"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace smdebug::rules
