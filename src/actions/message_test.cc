#include "src/actions/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/actions/mail_text.h"
#include "tests/testing/environment.h"

namespace smdebug::actions {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const Firing kFiring{.rule = "R",
                     .run = "/run",
                     .step = 3,
                     .message = "It is bad.",
                     .findings = {{.message = "first"}, {.message = "second"}}};

TEST(MessageTest, TextsAreThoseOfVersion1) {
  EXPECT_EQ(SubjectOf(kFiring), "SMDebugRule:R fired");
  EXPECT_EQ(LineOf(kFiring), "SMDebugRule:R fired. It is bad.");
}

TEST(MessageTest, TheTextHasRunStepAndFindings) {
  Firing firing = kFiring;
  firing.suppressed = 7;
  EXPECT_EQ(TextOf(firing),
            "SMDebugRule:R fired. It is bad. (7 more times since the last "
            "message.)\nRun: /run\nStep: 3\n- first\n- second");
}

TEST(MessageTest, ManyFindingsAreCut) {
  Firing firing = kFiring;
  firing.findings.assign(12, {.message = "x"});
  EXPECT_THAT(TextOf(firing), ::testing::EndsWith("\n- x\n- and 2 more"));
}

TEST(MessageTest, SecretsOfUrlsAreNotShown) {
  EXPECT_EQ(PublicPartOf("https://hooks.example.com/services/T0/secret"),
            "https://hooks.example.com/...");
  EXPECT_EQ(PublicPartOf("http://user:secret@host:81?key=secret"),
            "http://host:81/...");
  EXPECT_EQ(PublicPartOf("smtp://host:25/"), "smtp://host:25");
  EXPECT_EQ(PublicPartOf("secret"), "(not a URL)");
}

TEST(MessageTest, AMissingVariableIsNamed) {
  const testing::ScopedEnvironment no_url("SMDEBUG_SMTP_URL", std::nullopt);
  const testing::ScopedEnvironment no_sms("SMDEBUG_SMS_URL", std::nullopt);
  const ActionOptions options{.timeout = std::chrono::seconds(1),
                              .attempts = 1};
  const auto mail = MakeAction({.kind = "email", .target = "a@b"}, options);
  const auto sms = MakeAction({.kind = "sms", .target = "+1"}, options);
  try {
    mail->Do(kFiring);
    ADD_FAILURE();
  } catch (const ActionError& error) {
    EXPECT_THAT(error.reason(), HasSubstr("SMDEBUG_SMTP_URL is not set"));
  }
  try {
    sms->Do(kFiring);
    ADD_FAILURE();
  } catch (const ActionError& error) {
    EXPECT_THAT(error.reason(), HasSubstr("SMDEBUG_SMS_URL is not set"));
  }
}

TEST(MessageTest, WithoutLibcurlItIsSaidHowToGetIt) {
  const testing::ScopedEnvironment none("SMDEBUG_LIBCURL",
                                        "/no/such/libcurl.so");
  const auto webhook =
      MakeAction({.kind = "webhook", .target = "http://localhost"},
                 {.timeout = std::chrono::seconds(1), .attempts = 1});
  try {
    webhook->Do(kFiring);
    ADD_FAILURE();
  } catch (const ActionError& error) {
    EXPECT_THAT(error.reason(), AllOf(HasSubstr("/no/such/libcurl.so"),
                                      HasSubstr("SMDEBUG_LIBCURL")));
  }
}

TEST(MailTextTest, Base64IsPadded) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foo"), "Zm9v");
  EXPECT_EQ(Base64("\xff\xfe\xfd"), "//79");
}

TEST(MailTextTest, NothingCanAddAHeader) {
  const std::string mail = MailText({.from = "a@b\r\nBcc: x@y",
                                     .to = "c@d",
                                     .subject = "R\nBcc: x@y",
                                     .body = "text"});
  EXPECT_THAT(mail, Not(HasSubstr("\nBcc")));
}

TEST(MailTextTest, LinesEndInCarriageReturnAndAreShort) {
  const std::string mail = MailText({.from = "a@b",
                                     .to = "c@d",
                                     .subject = std::string(300, 'x') + "ü",
                                     .body = std::string(5000, 'y') + "\nz"});
  size_t begin = 0;
  for (size_t end = mail.find('\n'); end != std::string::npos;
       begin = end + 1, end = mail.find('\n', begin)) {
    ASSERT_GT(end, 0);
    EXPECT_EQ(mail[end - 1], '\r');
    EXPECT_LE(end - begin, 79);
  }
  EXPECT_EQ(begin, mail.size());
}

}  // namespace
}  // namespace smdebug::actions
