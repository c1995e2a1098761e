#!/usr/bin/env python3
"""Judges every candidate of the list with `warpsmith eval` and compares how each ended.

check.py --warpsmith PROGRAM --device host|cuda [--depth verify|screen|measure] [--coordinator ADDRESS]

Every evaluation is its own process here, so a hang or a fault cannot hide behind a restart. Prints a
table and exits 1 when one ended otherwise than expected.json says.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


def judge(args, row):
    command = [args.warpsmith, "eval", str(HERE / "suite.yaml"), row["task"],
               str(HERE / "candidates" / (row["name"] + ".cu")), "--depth", args.depth, "--json"]
    command += ["--coordinator", args.coordinator] if args.coordinator else ["--device", args.device]
    started = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    seconds = time.monotonic() - started
    try:
        record = json.loads(done.stdout)
    except json.JSONDecodeError:
        return None, [f"no JSON: {done.stdout[-300:]} {done.stderr[-600:]}"], seconds
    return record, problems(row, record, done), seconds


def problems(row, record, done):
    found = []
    ends = (record["outcome"], record["label"])
    if not any(end in ends for end in row["ends"]):
        found.append(f"expected {' or '.join(row['ends'])}: {record['describe']}")
    if (record["outcome"] == "correct") != (done.returncode == 0):
        found.append(f"exit status {done.returncode} does not say what the outcome says")
    if "log_has" in row and row["log_has"] not in json.dumps(record):
        found.append(f"the log does not name {row['log_has']}")
    if "describe_has" in row and row["describe_has"] not in record["describe"]:
        found.append(f"the description lacks {row['describe_has']}: {record['describe']}")
    if "hides" in row:
        secret = pathlib.Path(row["hides"]).read_text().strip()
        if len(secret) > 3 and secret in done.stdout + done.stderr:
            found.append(f"the content of {row['hides']} leaked")
    if record["outcome"] == "correct" and not record["speedup"] > 0 and record_is_timed(record):
        found.append("correct without a speed-up")
    return found


def record_is_timed(record):
    return bool(record["measurements"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--warpsmith", default="warpsmith")
    parser.add_argument("--device", default="host")
    parser.add_argument("--depth", default="screen")
    parser.add_argument("--coordinator")
    args = parser.parse_args()
    rows = json.loads((HERE / "expected.json").read_text())
    failed = 0
    for row in rows:
        record, found, seconds = judge(args, row)
        label = record["label"] if record else "-"
        speed = f"{record['speedup']:.3f}x" if record and record["speedup"] else ""
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
