#!/usr/bin/env python3
"""Kills `warpsmith up` with SIGKILL at random moments: whatever it had started must go with it.

killed_up.py --warpsmith PROGRAM --device host|simulated [--rounds N] [--seed N]

Each round starts `up` in a session of its own, so that everything below it can be found again, and kills it
at a moment of its start; the last round when all is up. Fails with exit status 1 when a process of the
session is alive long afterwards.
"""
import argparse
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

from chaos import die_with_parent

PATIENCE_S = 30
START_S = 120


def session_members(session):
    """Living processes of a session, as "pid name"."""
    members = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        name, _, rest = stat.partition("(")[2].rpartition(") ")
        state, _, _, its_session = rest.split()[:4]
        if int(its_session) == session and state not in "ZX":
            members.append(f"{entry.name} {name}")
    return members


def play(args, moment):
    """What is left behind, and how many processes were up. No moment: when all is up."""
    with tempfile.TemporaryDirectory(prefix="warpsmith-killed-", ignore_cleanup_errors=True) as directory:
        up = subprocess.Popen([args.warpsmith, "up", "--device", args.device, "--directory", directory,
                               "--workers", "2", "--listen", "tcp://127.0.0.1:*"], cwd=directory,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                              preexec_fn=die_with_parent)
        if moment is None:
            deadline = time.monotonic() + START_S
            while not pathlib.Path(directory, "address").exists() and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(1)
        else:
            time.sleep(moment)
        seen = len(session_members(up.pid))
        os.kill(up.pid, signal.SIGKILL)
        up.wait()
        deadline = time.monotonic() + PATIENCE_S
        while (left := session_members(up.pid)) and time.monotonic() < deadline:
            time.sleep(0.02)
        for member in left:
            os.kill(int(member.split()[0]), signal.SIGKILL)
        return left, seen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--warpsmith", required=True)
    parser.add_argument("--device", default="simulated")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--longest-s", type=float, default=4)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    args.warpsmith = str(pathlib.Path(args.warpsmith).resolve())
    random.seed(args.seed)
    moments = [random.uniform(0, args.longest_s) ** 2 / args.longest_s for _ in range(args.rounds - 1)]
    for moment in moments + [None]:
        left, seen = play(args, moment)
        if left:
            print(f"killed_up: FAILED: killed after {moment} s it leaves {left}", file=sys.stderr)
            return 1
    if seen < 5:
        print(f"killed_up: FAILED: only {seen} processes were up in the end: nothing was shown", file=sys.stderr)
        return 1
    print(f"{args.rounds} rounds, {seen} processes in the last, none left behind")
    return 0


if __name__ == "__main__":
    sys.exit(main())
