#!/usr/bin/env python3
"""Judges every candidate of the list with `warpsmith eval` and compares how each ended.

check.py --warpsmith PROGRAM --device host|cuda [--depth screen|measure] [--coordinator ADDRESS]

Every evaluation is its own process here, so a hang or a fault cannot hide behind a restart. Prints a
table and exits 1 when one ended otherwise than expected.json says. A row names a candidate, its task and:

  ends          outcomes or labels, one of which it must be
  describe_has  what the one-line description must hold
  log_has       what the record's log must hold; log_at_most: its most bytes
  hides         a file of this machine whose content must not come back
  depth         another depth than --depth
  hangs         true: it ended at the limit of its stage, and at most two seconds later
  as_before     true: its speed-up is what it was in the name's first row, or nearly
  suite         a suite file under suites/, whose candidates lie in the folder of its name
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SUITES = HERE.parents[2] / "suites"
# The least that a run may take before it is ended, in ms (worker/judgement/evaluation.h: RunLimit).
LEAST_LIMIT_MS = {"host": 1500, "cuda": 2000}
GRACE_MS = 2000


def judge(args, row):
    suite, folder = HERE / "suite.yaml", HERE / "candidates"
    if "suite" in row:
        suite, folder = SUITES / (row["suite"] + ".yaml"), SUITES / row["suite"]
    command = [args.warpsmith, "eval", str(suite), row["task"], str(folder / (row["name"] + ".cu")),
               "--depth", row.get("depth", args.depth), "--json"]
    command += ["--coordinator", args.coordinator] if args.coordinator else ["--device", args.device]
    started = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    seconds = time.monotonic() - started
    try:
        return json.loads(done.stdout), done, seconds
    except json.JSONDecodeError:
        return None, done, seconds


def problems(row, record, done, first):
    if record is None:
        return [f"no JSON: {done.stdout[-300:]} {done.stderr[-600:]}"]
    found = []
    (word, outcome), = record["outcome"].items()
    ends = (word, record["label"])
    if not any(end in ends for end in row["ends"]):
        found.append(f"expected {' or '.join(row['ends'])}: {record['describe']}")
    if (word == "correct") != (done.returncode == 0):
        found.append(f"exit status {done.returncode} does not say what the outcome says")
    if row.get("log_has", "") not in record["log"]:
        found.append(f"the log lacks {row['log_has']}: {record['log'][-300:]}")
    if len(record["log"]) > row.get("log_at_most", 1 << 20):
        found.append(f"the log has {len(record['log'])} characters")
    if row.get("describe_has", "") not in record["describe"]:
        found.append(f"the description lacks {row['describe_has']}: {record['describe']}")
    if "hides" in row and pathlib.Path(row["hides"]).exists():
        secret = pathlib.Path(row["hides"]).read_text().strip()
        # As a word of its own: a machine may have a name that messages use.
        told = f"{record['log']}\n{record['describe']}\n{done.stderr}"
        if secret and re.search(rf"(?<![\w.-]){re.escape(secret)}(?![\w.-])", told):
            found.append(f"the content of {row['hides']} leaked")
    if row.get("hangs"):
        took = sum(stage["ms"] for stage in record["stages"] if stage["stage"] == "verify")
        least = LEAST_LIMIT_MS[record["device"]["kind"]]
        if not least <= took <= least + GRACE_MS:
            found.append(f"it ended after {took:.0f} ms; the limit is {least} ms and a little")
    if word == "correct" and record["depth"] != "verify":
        if not outcome["measurements"] or not record["speedup"] > 0:
            found.append("correct without a measurement")
        before = first.get(row["name"], 0)
        if row.get("as_before") and not before / 2 <= record["speedup"] <= before * 2:
            found.append(f"its speed-up was {before:.3f} before")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--warpsmith", default="warpsmith")
    parser.add_argument("--device", default="host")
    parser.add_argument("--depth", default="screen", choices=["screen", "measure"])
    parser.add_argument("--coordinator")
    args = parser.parse_args()
    rows = json.loads((HERE / "expected.json").read_text())
    failed, first = 0, {}
    for row in rows:
        record, done, seconds = judge(args, row)
        found = problems(row, record, done, first)
        label = record["label"] if record else "-"
        speed = f"{record['speedup']:.3f}x" if record and record["speedup"] else ""
        if speed:
            first.setdefault(row["name"], record["speedup"])
        print(f"{'ok  ' if not found else 'FAIL'} {row['name']:<20} {label:<34} {speed:<9} {seconds:6.2f} s"
              + (f"  ({row['why']})" if "why" in row else ""))
        for problem in found:
            print(f"       {problem}")
        sys.stdout.flush()
        failed += bool(found)
    print(f"{len(rows) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
