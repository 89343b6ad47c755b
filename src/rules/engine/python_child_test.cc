#include "src/rules/engine/python_child.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/testing/temp_dir.h"

namespace smdebug::rules {
namespace {

namespace fs = std::filesystem;

TEST(DefaultPythonTest, IsThatOfTheEnvironmentThePackageIsIn) {
  const testing::TempDir environment;
  const fs::path& prefix = environment.path();
  const fs::path python = prefix / "bin/python3.12";
  fs::create_directories(python.parent_path());
  std::ofstream(python) << "#!/bin/sh\n";
  fs::permissions(python, fs::perms::owner_all);

  EXPECT_EQ(DefaultPython(prefix / "lib/python3.12/site-packages/smdebug/bin/"
                                   "smdebug"),
            python.string());
}

TEST(DefaultPythonTest, IsFoundByItsNameWhereItIsNotBesideThePackage) {
  const testing::TempDir home;
  EXPECT_EQ(DefaultPython(fs::path(home.path()) /
                          "lib/python3.9/site-packages/smdebug/bin/smdebug"),
            "python3.9");
}

TEST(DefaultPythonTest, IsPython3OfAProgramOutsideOfAPackage) {
  EXPECT_EQ(DefaultPython("/usr/local/bin/smdebug"), "python3");
  EXPECT_EQ(DefaultPython("/opt/target/smdebug/bin/smdebug"), "python3");
  EXPECT_EQ(DefaultPython(""), "python3");
}

}  // namespace
}  // namespace smdebug::rules
