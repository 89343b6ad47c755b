#include "smdebug/error.h"

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace smdebug {
namespace {

TEST(IoErrorTest, ItsKindFollowsFromErrno) {
  const std::vector<std::pair<int, IoKind>> rows = {
      {ENOENT, IoKind::kMissing},      {ENOTDIR, IoKind::kMissing},
      {EACCES, IoKind::kDenied},       {EROFS, IoKind::kDenied},
      {ENOSPC, IoKind::kNoSpace},      {EDQUOT, IoKind::kNoSpace},
      {ETIMEDOUT, IoKind::kTransient}, {EMFILE, IoKind::kTransient},
      {EIO, IoKind::kOther},           {EISDIR, IoKind::kOther}};
  for (const auto& [code, kind] : rows) {
    const IoError error("read", "/a/b", code);
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_EQ(error.code(), code);
    EXPECT_EQ(error.retryable(), kind == IoKind::kTransient) << error.what();
  }
}

TEST(IoErrorTest, AReasonInWordsNeedsNoErrno) {
  const IoError slow("list", "store/run", IoKind::kTransient, "503 Slow Down");
  EXPECT_STREQ(slow.what(), "list store/run: 503 Slow Down");
  EXPECT_EQ(slow.path(), "store/run");
  EXPECT_TRUE(slow.retryable());
  const IoError denied("read", "store/run", IoKind::kDenied, "403 Forbidden");
  EXPECT_FALSE(denied.retryable());
}

// Whoever looks at code() alone is not misled.
TEST(IoErrorTest, EveryKindHasAnErrnoOfItsKind) {
  for (const IoKind kind : {IoKind::kMissing, IoKind::kDenied, IoKind::kNoSpace,
                            IoKind::kTransient, IoKind::kOther}) {
    const IoError error("read", "a", kind, "reason");
    EXPECT_EQ(IoError("read", "a", error.code()).kind(), kind);
  }
}

}  // namespace
}  // namespace smdebug
