#!/usr/bin/env python3
"""A record is spelt once: how many files a change of each kind touches.

    one_spelling_test.py --capnp CAPNP --generator CAPNPC_RECORDS --compiler CXX [--include DIRECTORY ...]

In a scratch copy of schema/ adds an optional field to Evaluation, a message of workers and a kind of outcome,
each by an edit of one file; generates; and compiles what converts them. The conversion must follow without
any other edit, and what turns outcomes into rewards must refuse to compile until somebody says what the new
outcome is worth. Prints the table of files touched.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def after(path, pattern, text):
    source = path.read_text()
    changed, count = re.subn(pattern, lambda match: match[0] + text, source, count=1, flags=re.S)
    assert count == 1, f"{path.name}: no {pattern}"
    path.write_text(changed)


def next_number(path, name):
    """The first free number of a struct, or of its union."""
    body = re.search(rf"^struct {name}\b.*?^}}", path.read_text(), re.S | re.M)[0]
    return max(int(n) for n in re.findall(r"@(\d+)", body)) + 1


# Each edits one file of the scratch schemas, and gives its name.
def a_field(schema):
    path = schema / "outcome.capnp"
    number = next_number(path, "Evaluation")
    after(path, r"struct Evaluation [^\n]*\{.*?\n(?=\})", f"  coffee @{number} :List(Float64) $Record.optional;\n")
    return path.name


def a_message(schema):
    path = schema / "worker.capnp"
    number = next_number(path, "WorkerMessage")
    after(path, r"struct WorkerMessage [^\n]*\{.*?\n(?=  \})", f"    tired @{number} :Tired;\n")
    with path.open("a") as file:
        file.write("\nstruct Tired {\n  why @0 :Text;\n}\n")
    return path.name


def an_outcome(schema):
    path = schema / "outcome.capnp"
    number = next_number(path, "Outcome")
    after(path, r"struct Outcome [^\n]*\{.*?\n(?=  \})", f"    bored @{number} :Bored;\n")
    with path.open("a") as file:
        file.write("\nstruct Bored {\n  why @0 :Text;\n}\n")
    return path.name


class Scratch:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.schema = folder / "schema"
        shutil.copytree(ROOT / "schema", self.schema, ignore=shutil.ignore_patterns("generator"))

    def generate(self):
        files = sorted(str(p) for p in self.schema.glob("*.capnp"))
        subprocess.run([self.options.capnp, "compile", "-oc++:" + str(self.schema),
                        "-o" + self.options.generator + ":" + str(self.schema),
                        "--src-prefix=" + str(self.schema), *files], check=True)

    def compile(self, source):
        """What the compiler says against the scratch records; empty: it compiles."""
        command = [self.options.compiler, "-std=c++20", "-fsyntax-only", "-I" + str(self.folder), "-I" + str(ROOT)]
        command += ["-I" + directory for directory in self.options.include]
        done = subprocess.run([*command, str(source)], capture_output=True, text=True)
        assert done.returncode == 0 or "error" in done.stderr, done.stderr
        return done.stderr if done.returncode else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--capnp", default="capnp")
    parser.add_argument("--generator", required=True)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--include", action="append", default=[])
    options = parser.parse_args()

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        scratch = Scratch(options, pathlib.Path(folder))
        field = {a_field(scratch.schema)}
        rows.append(("an optional field of Evaluation", "3 to 6", len(field)))
        message = {a_message(scratch.schema)}
        rows.append(("a message of workers", "about 10", f"{len(message)}, and its handlers"))
        scratch.generate()
        for name in ("outcome", "worker"):
            source = scratch.schema / f"{name}.codec.cc"
            said = scratch.compile(source)
            assert not said, said
        records = (scratch.schema / "outcome.h").read_text()
        assert "std::optional<double> coffee" in records and 'visit("coffee"' in records
        assert "to.initCoffee(n)" in (scratch.schema / "outcome.codec.cc").read_text()
        assert '"tired"' in (scratch.schema / "worker.h").read_text()
        assert not scratch.compile(ROOT / "common/model/reward.cc"), "a field changes no reward"

        outcome = {an_outcome(scratch.schema)}
        rows.append(("a kind of outcome", "about 10", f"{len(outcome)}, and its handlers"))
        scratch.generate()
        assert not scratch.compile(scratch.schema / "outcome.codec.cc")
        said = scratch.compile(ROOT / "common/model/reward.cc")
        assert "Bored" in said, "a new outcome became a reward before anybody said which"

    print(f"{'adding':<34}{'files touched before':<22}now")
    for what, before, now in rows:
        print(f"{what:<34}{before:<22}{now}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
