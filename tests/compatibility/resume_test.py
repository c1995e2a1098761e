#!/usr/bin/env python3
"""Directories of `warpsmith up` that earlier releases left when everything was killed: this release starts
on them, tells what it was told of the runs that had ended, and brings the interrupted run to its end.

    resume_test.py WARPSMITH [RELEASE...]

Each release's folder here has the directory (up-directory.tar.xz) and what that release said of it
(expected.json). Of the interrupted run: its whole budget is spent, every trajectory is consumed exactly
once, and training goes on from the newest checkpoint, whose report nobody had acknowledged.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "chaos"))
from chaos import die_with_parent  # noqa: E402
from exactly_once import check_consumed_once, rows  # noqa: E402

PATIENCE_S = 120  # only a guard against hanging


def await_(what, condition):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"waited in vain for {what}")


def expect_says(found, expected, where):
    """Every key of the expected value; a later release may tell more."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            assert key in found, f"{where}.{key} is not told"
            expect_says(found[key], value, f"{where}.{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), f"{where}: {len(found)} elements, not {len(expected)}"
        for i, (one, other) in enumerate(zip(found, expected)):
            expect_says(one, other, f"{where}[{i}]")
    else:
        assert found == expected, f"{where} is {found!r}, not {expected!r}"


class System:
    """`warpsmith up` on an unpacked directory."""

    def __init__(self, program, folder):
        self.program, self.folder, self.house = program, folder, folder / "house"
        (self.house / "address").unlink()  # of the killed one
        self.log = open(folder / "up.log", "w", encoding="utf-8")
        self.up = subprocess.Popen([program, "up", "--device", "simulated", "--directory", "house"],
                                   cwd=folder, stdout=self.log, stderr=subprocess.STDOUT,
                                   preexec_fn=die_with_parent)
        await_("the address", lambda: (self.house / "address").exists() or self.up.poll() is not None)
        assert self.up.poll() is None, "`up` did not start on the directory"

    def command(self, *words, environment=None):
        done = subprocess.run([self.program, *words], cwd=self.folder, capture_output=True, text=True,
                              timeout=PATIENCE_S, env={**os.environ, **(environment or {})})
        assert done.returncode == 0, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout

    def status(self, run=None):
        return json.loads(self.command("status", *([str(run)] if run else []), "--json"))

    def report(self, run):
        """The data that `warpsmith report` draws: status, evaluations, steps, best kernels."""
        taker = self.folder / "taker"
        taker.write_text('#!/bin/sh\nexec cp "$4" taken.json\n')  # PROGRAM -o PAGE DATA
        taker.chmod(0o755)
        self.command("report", str(run), environment={"WARPSMITH_PYTHON": str(taker)})
        return json.loads((self.folder / "taken.json").read_text())

    def stop(self):
        if self.up.poll() is None:
            self.up.send_signal(signal.SIGINT)
            assert self.up.wait(PATIENCE_S) == 0, "`up` did not end well"

    def show_logs(self):
        for log in [self.folder / "up.log", *sorted((self.house / "logs").glob("*.log"))]:
            print(f"== {log.name}\n{log.read_text(errors='replace')[-2500:]}")


def check_ended_runs(system, expected):
    for number, told in expected.items():
        expect_says(system.report(number), told, f"run {number}")
        expect_says(system.status(number), told["status"], f"status of run {number}")
        folder = f"kernels-{number}"
        system.command("best", number, "--export", folder)
        exported = sorted(p.read_text() for p in (system.folder / folder).glob("*.cu"))
        kernels = sorted(row["candidate"] for row in told["best"] if row["candidate"])
        assert kernels and exported == kernels, f"run {number}: other kernels are exported"


def check_training_went_on(house, run, version):
    """Whatever was trained is counted, and what came later continues the newest checkpoint."""
    steps = check_consumed_once(house, run)
    newest = tuple(int(word) for word in version.split("."))
    assert newest in steps, f"the report of {newest} was lost: {steps}"
    later = [step for step in steps if step > newest]
    assert later and all(incarnation > newest[0] for incarnation, _ in later), steps


def resume(program, release, folder):
    expected = json.loads((release / "expected.json").read_text())
    with tarfile.open(release / "up-directory.tar.xz") as archive:
        archive.extractall(folder)
    interrupted = expected["interrupted"]
    run, house = interrupted["run"], folder / "house"
    identity = "SELECT grp, episode, publish_seq FROM trajectories WHERE run = ? ORDER BY ord LIMIT ?"
    before = rows(house, identity, run, interrupted["accepted"])
    assert len(before) == interrupted["accepted"]

    system = System(program, folder)
    try:
        check_ended_runs(system, expected["runs"])
        await_(f"the end of run {run}", lambda: system.status(run)["state"] not in ("running", "finishing"))
        status = system.status(run)
        assert status["state"] == "complete", status
        for key in ("admitted_evaluations", "finished_evaluations", "budget_evaluations"):
            assert status[key] == interrupted["budget"], (key, status)
        await_("the interrupted evaluations", lambda: system.status()["jobs_leased"] == 0)
        cluster = system.status()
        assert cluster["jobs_queued"] == cluster["conservation_error"] == 0, cluster
        check_ended_runs(system, expected["runs"])
        system.stop()
        for job in interrupted["evaluation_jobs"]:
            assert rows(house, "SELECT COUNT(*) FROM evaluations WHERE job = ?", job) == [(1,)], job
        assert rows(house, identity, run, interrupted["accepted"]) == before, "other trajectories are there"
        check_training_went_on(house, run, interrupted["version"])
    except BaseException:
        system.show_logs()
        raise
    finally:
        if system.up.poll() is None:
            system.up.kill()
            system.up.wait()


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    named = sys.argv[2:] or sorted(p.parent.name for p in HERE.glob("*/up-directory.tar.xz"))
    assert named, "no release has left a directory"
    os.environ.pop("WARPSMITH_COORDINATOR", None)
    for name in named:
        with tempfile.TemporaryDirectory(prefix="warpsmith-resume-", ignore_cleanup_errors=True) as folder:
            resume(program, HERE / name, pathlib.Path(folder))
        print(f"release {name}: its run went on to the end, and what had ended is told as it was")


if __name__ == "__main__":
    main()
