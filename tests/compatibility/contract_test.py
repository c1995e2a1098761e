#!/usr/bin/env python3
"""The rules of schema/README.md, held against what earlier releases promised.

    contract_test.py CONTRACT

CONTRACT is what the generator says of the schemas of this tree (build/PRESET/generated/schema/contract.txt).
Beside this file, each release's folder has the contract.txt that it shipped with. Every number that a release
gave out is still there with the same name, type and default, or retired.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


def numbers(text):
    """(kind, owner, number) -> what may not change."""
    found = {}
    for line in text.splitlines():
        kind, *words = line.split(" ")
        if kind == "message":
            found[kind, "", words[0]] = words[1]
        elif kind == "enum":
            owner, number, word = words[:3]
            found[kind, owner, number] = word
        else:
            owner, number, *kept = words
            found[kind, owner, number] = " ".join(w for w in kept if w != "retired")
    return found


def broken(old, new):
    """What a schema of contract `new` misreads of bytes that one of contract `old` wrote."""
    now, problems = numbers(new), []
    for place, was in numbers(old).items():
        what = "{} {}{}".format(place[0], place[1] + " " if place[1] else "", place[2])
        if place not in now:
            problems.append(f"{what} ({was}) is gone: keep its number, with $Record.retired")
        elif now[place] != was:
            problems.append(f"{what} was {was} and is {now[place]}: give the new one a new number")
    return problems


def self_test():
    old = "message 1 A\nenum E @0 one\nfield A @0 a :int32_t\nfield A @1 b :Text\nunion U @0 a :A\n"
    cases = [
        (old, 0),
        (old + "field A @2 c :int32_t = 4\nenum E @1 two\nunion U @1 b :B\n", 0),
        (old.replace("@1 b", "@1 renamed"), 1),
        (old.replace("a :int32_t", "a :int32_t retired"), 0),
        (old.replace("a :int32_t", "a :int64_t"), 1),
        (old.replace("a :int32_t", "a :int32_t = 1"), 1),
        (old.replace("enum E @0 one\n", ""), 1),
        (old.replace("enum E @0 one", "enum E @0 other"), 1),
        (old.replace("message 1 A", "message 2 A"), 1),
        (old.replace("union U @0 a :A", "union U @0 a :B"), 1),
        (old.replace("field A @1 b :Text\n", ""), 1),
    ]
    for new, count in cases:
        assert len(broken(old, new)) == count, (new, broken(old, new))


def main():
    self_test()
    new = pathlib.Path(sys.argv[1]).read_text()
    releases = sorted(HERE.glob("*/contract.txt"))
    assert releases, "no release has a contract"
    problems = [f"{path.parent.name}: {p}" for path in releases for p in broken(path.read_text(), new)]
    print("\n".join(problems) or f"every number of {', '.join(p.parent.name for p in releases)} is kept")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
