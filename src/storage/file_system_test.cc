#include "src/storage/file_system.h"

#include <gtest/gtest.h>

namespace smdebug::storage {
namespace {

struct Kind {
  const char* name;
  uint32_t type;
};

// The numbers are those of statfs(2), written out to check ours.
TEST(FileSystemTest, InotifySeesAllOfLocalFileSystems) {
  for (const Kind& kind : {
           Kind{"ext2, ext3, ext4", 0xef53},
           Kind{"xfs", 0x58465342},
           Kind{"btrfs", 0x9123683e},
           Kind{"tmpfs", 0x01021994},
           Kind{"ramfs", 0x858458f6},
           Kind{"f2fs", 0xf2f52010},
           Kind{"zfs", 0x2fc12fc1},
           Kind{"bcachefs", 0xca451a4e},
           Kind{"overlayfs", 0x794c7630},
       }) {
    EXPECT_TRUE(InotifySeesAll(kind.type)) << kind.name;
  }
}

TEST(FileSystemTest, WhatOthersMayChangeIsPolled) {
  for (const Kind& kind : {
           Kind{"nfs", 0x6969},
           Kind{"cifs", 0xff534d42},
           Kind{"smb2", 0xfe534d42},
           Kind{"smb", 0x517b},
           Kind{"fuse and virtiofs", 0x65735546},
           Kind{"9p", 0x01021997},
           Kind{"lustre", 0x0bd00bd0},
           Kind{"ceph", 0x00c36400},
           Kind{"gpfs", 0x47504653},
           Kind{"afs", 0x5346414f},
           Kind{"coda", 0x73757245},
           Kind{"ocfs2", 0x7461636f},
           Kind{"gfs2", 0x01161970},
           Kind{"vboxsf", 0x786f4256},
           Kind{"unknown", 0x12345678},
           Kind{"none", 0},
       }) {
    EXPECT_FALSE(InotifySeesAll(kind.type)) << kind.name;
  }
}

TEST(FileSystemTest, AsksTheFileSystemOfThePath) {
  EXPECT_FALSE(InotifySeesAllOf("/proc/self"));
  EXPECT_TRUE(InotifySeesAllOf("/no/such/folder"));
}

}  // namespace
}  // namespace smdebug::storage
