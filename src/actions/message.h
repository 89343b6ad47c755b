#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "smdebug/action.h"
#include "src/actions/transfer.h"

namespace smdebug::actions {

// Sends a mail through the server of SMDEBUG_SMTP_URL, from SMDEBUG_SMTP_FROM,
// as SMDEBUG_SMTP_USER with SMDEBUG_SMTP_PASSWORD if they are set.
std::unique_ptr<Action> MakeEmail(const ActionSpec& spec,
                                  const TransferLimits& limits);

// Posts what Amazon SNS takes for a text message to SMDEBUG_SMS_URL.
std::unique_ptr<Action> MakeSms(const ActionSpec& spec,
                                const TransferLimits& limits);

// Posts {"text": ...}, which Slack and others show, with the firing beside it.
std::unique_ptr<Action> MakeWebhook(const ActionSpec& spec,
                                    const TransferLimits& limits);

// "SMDebugRule:<rule> fired", as smdebug 1.0 has it.
std::string SubjectOf(const Firing& firing);

// The subject, the message, and how often it was held back, in one line.
std::string LineOf(const Firing& firing);

// The line, with run, step and the first findings in lines of their own.
std::string TextOf(const Firing& firing);

// Scheme and host of a URL; the rest may be a secret.
std::string PublicPartOf(std::string_view url);

}  // namespace smdebug::actions
