// All programs in one, which is the one that it is called as. torch/torch.h
// takes longer to compile than they do, and longer still to precompile.
#include <filesystem>
#include <iostream>
#include <map>
#include <string>

#include <gmock/gmock.h>

#include "device_test.cc"
#include "hook_test.cc"

#define main Twin
#include "twin.cc"
#undef main
#define main Classifier
#include "examples/cpp/libtorch_classifier.cc"
#undef main
#define main GoesWrong
#include "examples/cpp/libtorch_goes_wrong.cc"
#undef main

namespace {

int Test(int argc, char** argv) {
  testing::GTEST_FLAG(filter) = "-DeviceTest.*";
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}

// Apart: the device has to be there before the first backward pass.
int TestOnDevice(int argc, char** argv) {
  testing::GTEST_FLAG(filter) = "DeviceTest.*";
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, int (*)(int, char**)> programs{
      {"libtorch_hook_test", Test},
      {"libtorch_device_test", TestOnDevice},
      {"libtorch_twin", Twin},
      {"libtorch_classifier", Classifier},
      {"libtorch_goes_wrong", GoesWrong}};
  const auto found = programs.find(std::filesystem::path(argv[0]).filename());
  if (found == programs.end()) {
    std::cerr << "call it as one of its links beside it\n";
    return 2;
  }
  return found->second(argc, argv);
}
