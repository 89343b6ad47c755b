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

TEST(MessageTest, OneTimeIsSingular) {
  Firing firing = kFiring;
  firing.suppressed = 1;
  EXPECT_THAT(LineOf(firing), HasSubstr("(1 more time since"));
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

// What is said about an action when it is made; empty if it is taken.
std::string Refusal(const std::string& kind, const std::string& target) {
  try {
    MakeAction({.kind = kind, .target = target}, {});
    return {};
  } catch (const ConfigError& error) {
    return error.what();
  }
}

TEST(MessageTest, AMessageWithoutAServerIsRefusedWhenItIsMade) {
  const testing::ScopedEnvironment no_url("SMDEBUG_SMTP_URL", std::nullopt);
  const testing::ScopedEnvironment no_from("SMDEBUG_SMTP_FROM", std::nullopt);
  const testing::ScopedEnvironment no_sms("SMDEBUG_SMS_URL", "");
  EXPECT_EQ(Refusal("email", "a@b"),
            "action email: SMDEBUG_SMTP_URL is not set; expected "
            "smtp://host:port or smtps://host:port");
  EXPECT_EQ(Refusal("sms", "+1"),
            "action sms: SMDEBUG_SMS_URL is not set; expected a URL with "
            "http:// or https://");
  const testing::ScopedEnvironment url("SMDEBUG_SMTP_URL", "smtp://host:25");
  EXPECT_THAT(Refusal("email", "a@b"),
              HasSubstr("SMDEBUG_SMTP_FROM is not set"));
  const testing::ScopedEnvironment from("SMDEBUG_SMTP_FROM", "c@d");
  EXPECT_EQ(Refusal("email", "a@b"), "");
}

TEST(MessageTest, AServerThatIsNoneIsRefusedWithoutItsSecrets) {
  const testing::ScopedEnvironment url("SMDEBUG_SMTP_URL",
                                       "http://me:secret@host");
  const testing::ScopedEnvironment sms("SMDEBUG_SMS_URL", "ftp://host/secret");
  for (const std::string& said :
       {Refusal("email", "a@b"), Refusal("sms", "+1")}) {
    EXPECT_THAT(said, AllOf(HasSubstr("://host"), HasSubstr("expected"),
                            Not(HasSubstr("secret"))));
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
