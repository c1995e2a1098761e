#!/usr/bin/env python3
"""House rules as a test: reads every tracked source and holds it to the table below.

    tidy.py [ROOT]      prints every broken rule as file:line: what, and exits 1 if there is any
    tidy.py --self-test checks the rules themselves against small trees that break each of them

Rules: includes follow the arrows below; a file has at most 700 lines; C++ has no tab and no line over
100 columns; headers begin with a guard; heavy headers stay in few sources; nothing is left unfinished.
"""
import pathlib
import re
import sys
import tempfile

MAX_LINES = 700
MAX_COLUMNS = 100
MAX_TORCH_SOURCES = 8

PURE = ["common/base", "common/model", "schema"]
COMMON = ["common", "schema"]  # schema: the plain records

# A folder, and what it may include besides itself; the longest matching folder counts. A folder that
# no line names may include nothing of the tree.
ARROWS = {
    "common/base": [],
    "schema": ["common/base"],
    "common/model": ["common/base", "schema"],
    "common/net": PURE,
    "common/runtime": PURE + ["common/net"],  # a child is started with its end of a frame socket
    "common/queue": PURE,
    "common/suite": PURE,
    "common/wire": PURE,
    "policy/core": PURE,
    "policy/grammar": ["policy/core"] + COMMON,
    "policy/torch": ["policy/core", "policy/grammar"] + COMMON,  # its network is the grammar's
    "policy/shell": ["policy"] + COMMON,
    "coordinator/core": PURE,
    "coordinator/shell": ["coordinator/core"] + COMMON,
    "worker/core": PURE + ["policy/core"],
    "worker/judgement": PURE,
    "worker/device": PURE,
    "worker/sandbox": PURE + ["common/runtime"],
    "worker/cuda": ["worker/device"] + COMMON,
    "worker/host": ["worker/device"] + COMMON,
    "worker/oracle": ["worker/judgement", "worker/device"] + COMMON,
    "worker/compiler": ["worker/device"] + COMMON,
    "worker/runner": ["worker/device"] + COMMON,
    "worker/simulated": ["worker/device"] + COMMON,
    "worker/shell": ["worker", "policy/core"] + COMMON,
    "learner/core": PURE + ["policy/core"],
    "learner/torch": ["learner/core", "policy/core", "policy/grammar", "policy/torch"] + COMMON,
    "learner/shell": ["learner", "policy/core"] + COMMON,
    "tools": ["*"],
    "tests": ["*"],
    "benchmarks": ["*"],
}

# core/ folders and judgement are pure: these bring I/O, clocks, threads or ambient randomness.
PURE_FOLDERS = re.compile(r"\w+/core/|worker/judgement/")
IMPURE_HEADERS = re.compile(
    r"^(thread|mutex|condition_variable|future|fstream|iostream|cstdio|filesystem|random|ctime"
    r"|unistd\.h|fcntl\.h|sys/.*|spdlog/.*|zmq.*|hiredis/.*|sqlite3\.h)$")
HEAVY_HEADERS = re.compile(r"^(torch|ATen|c10|yaml-cpp|nlohmann|spdlog|capnp|kj|zmq|CLI)[./]")
TORCH_HEADERS = re.compile(r"^(torch|ATen|c10)/")
# Spelt in halves, so that this file passes.
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK|WI" r"P)\b")

INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')
SOURCES = (".cc", ".h", ".cuh", ".cu", ".capnp", ".py", ".cmake", ".sh")
SKIPPED = {".git", ".venv", "build", "bundle", "runs", "__pycache__"}


def sources(root):
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        if SKIPPED & set(parts) or not path.is_file():
            continue
        if path.suffix in SOURCES or path.name == "CMakeLists.txt":
            yield "/".join(parts), path


def inside(path, folder):
    return folder == "*" or path == folder or path.startswith(folder + "/")


def rights(name):
    """What a file may include, and the folder whose rights these are."""
    top, base = name.split("/")[0], name.rsplit("/", 1)[-1]
    folders = [f for f in ARROWS if inside(name, f)]
    own = max(folders, key=len, default=None)
    allowed = list(ARROWS[own]) + [own] if own else None
    if base == "main.cc":  # wiring: all of its own house
        own, allowed = own or top, (allowed or []) + [top] + COMMON
    if base.endswith("_test.cc") and top in ("common", "policy", "coordinator", "worker", "learner"):
        allowed = (allowed or []) + [top, "tests/support"] + COMMON
        if top == "policy":  # what it writes is compiled and resolved
            allowed += ["worker/device"]
    return own, allowed


def check_include(name, header):
    if header.split("/")[0] not in TOPS:
        return None
    if header.endswith((".capnp.h", ".codec.h")) and not name.startswith(
            ("common/wire/", "tests/", "benchmarks/")):
        return f'includes "{header}"; only common/wire may, everybody else takes the plain records'
    own, allowed = rights(name)
    if own is None or allowed is None:
        return f'includes "{header}", but the table gives {name.rsplit("/", 1)[0]} no rights'
    if any(inside(header, folder) for folder in allowed):
        return None
    return f'includes "{header}"; {own} may include {", ".join(sorted(set(allowed)))}'


TOPS = {"common", "policy", "coordinator", "worker", "learner", "tools", "tests", "schema",
        "benchmarks"}


def check_cpp(name, lines, problem):
    is_header = name.endswith((".h", ".cuh"))
    is_pure = PURE_FOLDERS.match(name) and not name.endswith("_test.cc")
    for number, line in enumerate(lines, 1):
        if "\t" in line:
            problem(number, "a tab; write spaces")
        if len(line) > MAX_COLUMNS:
            problem(number, f"{len(line)} columns; at most {MAX_COLUMNS}")
        found = INCLUDE.match(line)
        if not found:
            continue
        ours, theirs = found.groups()
        if ours:
            why = check_include(name, ours)
            if why:
                problem(number, why)
        if theirs and is_pure and IMPURE_HEADERS.match(theirs):
            problem(number, f"includes <{theirs}>; {name.rsplit('/', 1)[0]} is pure")
        if theirs and is_header and HEAVY_HEADERS.match(theirs) and name not in HEAVY_ALLOWED:
            problem(number, f"includes <{theirs}>; heavy headers belong into a .cc file")
    if name.endswith(".h") and not any(line.strip() == "#pragma once" for line in lines):
        problem(1, "a header without #pragma once")


# Headers whose purpose is to wrap a heavy library for the few sources that use it.
HEAVY_ALLOWED = {
    "common/wire/convert.h",
    "common/wire/json.h",
    "common/wire/message.h",
    "schema/generator/contract.h",
    "policy/torch/grammar_network.h",
    "worker/oracle/torch_values.h",
}


def check(root):
    """All broken rules as text."""
    problems = []
    torch_sources = []
    for name, path in sources(root):
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            problems.append(f"{name}:1: not UTF-8")
            continue
        lines = text.splitlines()

        def problem(number, why, name=name):
            problems.append(f"{name}:{number}: {why}")

        if len(lines) > MAX_LINES:
            problem(len(lines), f"{len(lines)} lines; split it (at most {MAX_LINES})")
        if text and not text.endswith("\n"):
            problem(len(lines), "no newline at the end")
        for number, line in enumerate(lines, 1):
            if UNFINISHED.search(line):
                problem(number, "an unfinished mark; do it, or leave it out")
            if line != line.rstrip() and not name.endswith(".cu"):
                problem(number, "space at the end of the line")
        if name.endswith((".cc", ".h", ".cuh")):
            check_cpp(name, lines, problem)
            if any(TORCH_HEADERS.match((INCLUDE.match(l) or [None, ""])[2] or "")
                   for l in lines if INCLUDE.match(l)):
                torch_sources.append(name)
    if len(torch_sources) > MAX_TORCH_SOURCES:
        problems.append(f"{torch_sources[-1]}:1: {len(torch_sources)} files include torch, each 15 to "
                        f"30 s of compiling; at most {MAX_TORCH_SOURCES}: {', '.join(torch_sources)}")
    return problems


def self_test():
    """Every rule must catch what it is for, and let its twin pass."""
    header = "#pragma once\n"
    trees = [
        # files, a word of the expected problem ("" for none)
        ({"worker/core/a.h": header + '#include "common/model/task.h"\n'}, ""),
        ({"worker/core/a.h": header + '#include "common/runtime/log.h"\n'}, "may include"),
        ({"worker/shell/a.cc": '#include "coordinator/core/b.h"\n'}, "may include"),
        ({"coordinator/shell/a_test.cc": '#include "worker/core/b.h"\n'}, "may include"),
        ({"coordinator/shell/a_test.cc": '#include "tests/support/b.h"\n'}, ""),
        ({"common/base/a.h": header + '#include "common/model/b.h"\n'}, "may include"),
        ({"worker/core/a.h": header + '#include "schema/task.h"\n'}, ""),
        ({"worker/shell/a.cc": '#include "schema/task.codec.h"\n'}, "plain records"),
        ({"common/wire/a.cc": '#include "schema/task.capnp.h"\n'}, ""),
        ({"common/odd/a.h": header + '#include "common/base/b.h"\n'}, "no rights"),
        ({"worker/oracle/main.cc": '#include "worker/host/b.h"\n'}, ""),
        ({"worker/oracle/a.cc": '#include "worker/host/b.h"\n'}, "may include"),
        ({"tools/warpsmith/a.cc": '#include "worker/shell/b.h"\n'}, ""),
        ({"policy/core/a.cc": "#include <thread>\n"}, "pure"),
        ({"worker/judgement/a.cc": "#include <thread>\n"}, "pure"),
        ({"worker/judgement/a.cc": '#include "worker/core/b.h"\n'}, "may include"),
        ({"worker/oracle/a.cc": '#include "worker/core/b.h"\n'}, "may include"),
        ({"worker/oracle/a.cc": '#include "worker/judgement/b.h"\n'}, ""),
        ({"policy/core/a_test.cc": "#include <thread>\n"}, ""),
        ({"policy/torch/a.h": header + "#include <torch/torch.h>\n"}, "heavy"),
        ({f"policy/torch/a{i}.cc": "#include <torch/torch.h>\n" for i in range(9)}, "files include"),
        ({f"policy/torch/a{i}.cc": "#include <torch/torch.h>\n" for i in range(8)}, ""),
        ({"tools/a.cc": "int a;\n" * 701}, "701 lines"),
        ({"tools/a.cc": "int a;\n" * 700}, ""),
        ({"tools/a.cc": "// " + "x" * 98 + "\n"}, "101 columns"),
        ({"tools/a.cc": "// " + "ü" * 97 + "\n"}, ""),
        ({"tools/a.cc": "\tint a;\n"}, "tab"),
        ({"tools/a.cc": "int a; \n"}, "space at the end"),
        ({"tools/a.cc": "int a;"}, "no newline"),
        ({"tools/a.h": "int a;\n"}, "pragma once"),
        ({"tools/a.cc": "// TO" "DO: later\n"}, "unfinished"),
        ({"build/a.cc": "\tint a;"}, ""),
    ]
    failures = []
    for files, word in trees:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            found = check(root)
        good = not found if word == "" else any(word in p for p in found)
        if not good:
            failures.append(f"{list(files)[0]}: expected {word or 'nothing'!r}, found {found}")
    return failures


def main():
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        problems = self_test()
    else:
        problems = check(pathlib.Path(arguments[0] if arguments else ".").resolve())
    print("\n".join(problems) if problems else "tidy: nothing to say")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
