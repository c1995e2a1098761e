#!/usr/bin/env python3
"""What the README and `--help` show works as it is written there.

    documents_test.py WARPSMITH ROOT
"""
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

WARPSMITH, ROOT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
COMMANDS = "up run status best report cancel eval lint doctor".split()
DEADLINE = 120  # seconds; only a guard against hanging


def said(words, folder, status=0):
    done = subprocess.run([WARPSMITH, *words], cwd=folder, capture_output=True, text=True, timeout=DEADLINE,
                          stdin=subprocess.DEVNULL)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout


class Help(unittest.TestCase):
    def test_names_every_command_with_an_example_and_its_exit_statuses(self):
        whole = said(["--help"], ROOT)
        self.assertIn("Exit status: 0 fine; 1 ", whole)
        for command in COMMANDS:
            self.assertRegex(whole, rf"(?m)^  {command} ")
            text = said([command, "--help"], ROOT)
            self.assertRegex(text, rf"Example:\n  warpsmith {command}\b")
            self.assertRegex(text, r"Exit status: 0 ")

    def test_examples_that_need_no_coordinator_work(self):
        for command in ("lint", "eval"):
            example = re.search(r"Example:\n  warpsmith (.*)", said([command, "--help"], ROOT)).group(1)
            said(shlex.split(example), ROOT)


class Readme(unittest.TestCase):
    def test_a_task_of_your_own(self):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        suite, kernel = (re.search(rf"```{language}\n(.*?)```", text, re.S).group(1)
                         for language in ("yaml", "cuda"))
        commands = re.findall(r"(?m)^warpsmith ((?:lint|eval) [^#\n]*)", text)
        self.assertEqual(len(commands), 2)
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "mine.yaml").write_text(suite)
            (pathlib.Path(folder) / "mine.cu").write_text(kernel)
            for command in commands:
                self.assertRegex(said(shlex.split(command), folder), "is fine|^correct")

    def test_what_it_names_is_there(self):
        for document in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")):
            for link in re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8")):
                self.assertTrue((document.parent / link).exists(), f"{document}: {link}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
