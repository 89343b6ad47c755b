"""check_layers.py accepts the tree it describes and catches each violation."""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

import check_layers  # noqa: E402


class CheckLayersTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("include/smdebug/mode.h", "#include <array>\n")
        self.write("include/smdebug/hook.h", '#include "smdebug/mode.h"\n')
        self.write("src/base/CMakeLists.txt", "smdebug_module(base LIBS fmt::fmt)\n")
        self.write("src/base/mode.cc", '#include "smdebug/mode.h"\n')
        self.write("src/index/CMakeLists.txt", "smdebug_module(index DEPS base LIBS fmt::fmt)\n")
        self.write("src/index/ledger.cc", '#include <fmt/format.h>\n#include "src/base/bytes.h"\n')
        self.write("src/hook/CMakeLists.txt", "smdebug_module(hook DEPS base index)\n")
        self.write("src/hook/hook.cc", '#include "smdebug/hook.h"\n#include "src/index/ledger.h"\n')
        self.write("src/cli/CMakeLists.txt", "smdebug_module(cli DEPS base index)\n")
        self.write("src/cli/main.cc", '#include "smdebug/hook.h"\n#include "src/index/ledger.h"\n')

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def only_violation(self) -> str:
        found: list[str] = check_layers.violations(self.root)
        self.assertEqual(len(found), 1, found)
        return found[0]

    def test_a_tree_that_follows_the_table_passes(self) -> None:
        self.assertEqual(check_layers.violations(self.root), [])

    def test_this_project_follows_the_table(self) -> None:
        self.assertEqual(check_layers.violations(ROOT), [])

    def test_an_include_from_a_layer_above_is_caught(self) -> None:
        self.write("src/index/upward.cc", '#include "src/hook/writer.h"\n')
        self.assertEqual(
            self.only_violation(), "src/index/upward.cc: index may not include src/hook/writer.h"
        )

    def test_a_public_header_of_a_layer_above_is_caught(self) -> None:
        self.write("src/index/upward.cc", '#include "smdebug/hook.h"\n')
        self.assertIn("index may not include smdebug/hook.h", self.only_violation())

    def test_cli_may_not_see_the_inside_of_the_hook(self) -> None:
        self.write("src/cli/peek.cc", '#include "src/hook/writer.h"\n')
        self.assertIn("cli may not include src/hook/writer.h", self.only_violation())

    def test_a_room_may_not_include_one_above_in_its_module(self) -> None:
        self.write("src/cli/output/table.cc", '#include "src/cli/output/text.h"\n')
        self.write("src/cli/commands/ls.cc", '#include "src/cli/output/table.h"\n')
        self.assertEqual(check_layers.violations(self.root), [])
        self.write("src/cli/output/table.cc", '#include "src/cli/commands/ls.h"\n')
        self.assertIn("cli/output may not include src/cli/commands/ls.h", self.only_violation())

    def test_a_dependency_above_in_cmake_is_caught(self) -> None:
        self.write("src/base/CMakeLists.txt", "smdebug_module(base DEPS index LIBS fmt::fmt)\n")
        self.assertIn("base may not depend on index", self.only_violation())

    def test_an_include_that_cmake_does_not_declare_is_caught(self) -> None:
        self.write("src/hook/more.cc", '#include "src/reduce/reduce.h"\n')
        self.assertIn("needs reduce in DEPS of src/hook", self.only_violation())

    def test_a_public_header_that_includes_a_private_one_is_caught(self) -> None:
        self.write("include/smdebug/mode.h", '#include "src/base/bytes.h"\n')
        self.assertIn("may not include src/base/bytes.h", self.only_violation())

    def test_a_public_header_that_includes_a_third_party_one_is_caught(self) -> None:
        self.write("include/smdebug/mode.h", "#include <fmt/format.h>\n")
        self.assertIn("may not include <fmt/format.h>", self.only_violation())

    def test_a_public_header_may_not_build_on_one_above(self) -> None:
        self.write("include/smdebug/mode.h", '#include "smdebug/hook.h"\n')
        self.assertIn("base may not build on smdebug/hook.h", self.only_violation())

    def test_an_adapter_may_include_its_own_library_alone(self) -> None:
        text = '#include <torch/torch.h>\n#include "smdebug/hook.h"\n'
        self.write("include/smdebug/torch.h", text)
        self.assertEqual(check_layers.violations(self.root), [])
        self.write("include/smdebug/torch.h", "#include <xgboost/c_api.h>\n")
        self.assertIn("may not include <xgboost/c_api.h>", self.only_violation())

    def test_an_adapter_that_includes_a_private_header_is_caught(self) -> None:
        self.write("include/smdebug/torch.h", '#include "src/hook/writer.h"\n')
        self.assertIn("may not include src/hook/writer.h", self.only_violation())

    def test_an_adapter_may_include_its_inside_and_an_example_may_not(self) -> None:
        self.write("include/smdebug/internal/torch-inl.h", "#include <torch/torch.h>\n")
        include = '#include "smdebug/internal/torch-inl.h"\n'
        self.write("include/smdebug/torch.h", include)
        self.assertEqual(check_layers.violations(self.root), [])
        self.write("examples/train.cc", include)
        self.assertIn("examples may include the public API only", self.only_violation())

    def test_no_module_builds_on_an_adapter(self) -> None:
        self.write("include/smdebug/torch.h", "#include <torch/torch.h>\n")
        self.write("src/hook/upward.cc", '#include "smdebug/torch.h"\n')
        self.assertIn("smdebug/torch.h is in no layer", self.only_violation())

    def test_a_module_outside_the_table_is_caught(self) -> None:
        self.write("src/extra/extra.cc", "")
        self.assertEqual(self.only_violation(), "src/extra: not in the layer table")

    def test_a_binding_that_includes_a_private_header_is_caught(self) -> None:
        self.write("python/src/module.cc", '#include "src/hook/writer.h"\n')
        self.assertIn("python/src may include the public API only", self.only_violation())

    def test_an_include_that_does_not_say_its_side_is_caught(self) -> None:
        self.write("src/base/more.cc", '#include "bytes.h"\n')
        self.assertIn("bytes.h is in no layer", self.only_violation())
        self.write("src/base/more.cc", '#include "hwy/highway.h"\n')
        self.assertEqual(check_layers.violations(self.root), [])

    def test_test_helpers_are_for_tests(self) -> None:
        self.write("src/base/clock_test.cc", '#include "tests/testing/fake_clock.h"\n')
        self.assertEqual(check_layers.violations(self.root), [])
        self.write("src/base/clock.cc", '#include "tests/testing/fake_clock.h"\n')
        self.assertIn("only tests may include", self.only_violation())


if __name__ == "__main__":
    unittest.main()
