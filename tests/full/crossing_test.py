#!/usr/bin/env python3
"""One program of the last release is replaced by this release's in the middle of a run.

    crossing_test.py --new BIN [--old BIN] [--replace NAMES] [--preset NAME]

Builds the last commit that tests/compatibility/releases names (in build/releases; a compiler cache makes it
quick), unless --old names its programs. For each set of NAMES (default: each of worker, coordinator and
learner alone, then all three one after another) it starts the old release's programs on the simulated
device, submits a run that learns, kills the named programs with SIGKILL in the middle of it and starts the
new release's in their place, on the same directories. The run must complete, its whole budget spent, every
trajectory consumed exactly once.
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "chaos"), str(ROOT / "tests" / "compatibility")]
from chaos import die_with_parent  # noqa: E402
from exactly_once import check_consumed_once, rows  # noqa: E402

PATIENCE_S = 180  # only a guard against hanging
PROGRAMS = ("coordinator", "worker", "learner")
SETTINGS = {
    "coordinator": "lease_ms = 3000\nheartbeat_ms = 300\ntorpid_ms = 1000\ndead_ms = 2000\n"
                   "retry_base_ms = 100\nrepeat_ms = 500\n",
    "worker": "simulated_delay_ms = 20\nsimulated_trouble = 0.01\ncapacity = 4\ndrain_grace_s = 1\n",
    "learner": "repeat_s = 1\n",
}
BUDGET = 480
RUN = f"""
run: crossing
suites: [{ROOT / "suites" / "starter.yaml"}]
policy: {{kind: grammar}}
algorithm: {{turns: 2, group: 4, batch_episodes: 8, staleness: 2}}
reward: hybrid
budget: {{evaluations: {BUDGET}}}
device: simulated
seed: 1
"""


def await_(what, condition):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"waited in vain for {what}")


def last_release():
    lines = (ROOT / "tests" / "compatibility" / "releases").read_text().splitlines()
    version, commit = [line for line in lines if line and not line.startswith("#")][-1].split()
    return version, commit


def build_release(preset):
    """The programs of the last release, built under this tree's build folder."""
    version, commit = last_release()
    tree = ROOT / "build" / "releases" / version
    if not (tree / ".unpacked").exists():  # an archive of the commit leaves no trace in the repository
        shutil.rmtree(tree, ignore_errors=True)
        tree.mkdir(parents=True)
        archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x"], cwd=tree, check=True, input=archive.stdout)
        (tree / ".unpacked").write_text(commit + "\n")
    environment = {"WARPSMITH_VENV": str(pathlib.Path(sys.prefix)), **os.environ}
    subprocess.run(["cmake", "--preset", preset], cwd=tree, check=True, env=environment,
                   stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "--preset", preset, "--target", "programs", "--", "--quiet"],
                   cwd=tree, check=True, env=environment)
    return tree / "build" / preset / "bin"


class Cluster:
    """The programs on one machine, each of the release that it is started from."""

    def __init__(self, binaries, house):
        self.house, self.address = house, "tcp://127.0.0.1:*"
        self.processes = {}
        for folder in ("logs", "redis"):
            (house / folder).mkdir()
        for name, text in SETTINGS.items():
            (house / f"{name}.toml").write_text(text)
        self.redis = house / "redis.sock"
        self.run("redis", [shutil.which("redis-server"), "--port", "0", "--unixsocket", str(self.redis),
                           "--save", "", "--appendonly", "no", "--dir", str(house / "redis")])
        await_("Redis", self.redis.exists)
        for name in PROGRAMS:
            self.start(binaries, name)

    def run(self, name, words):
        log = open(self.house / "logs" / f"{name}.log", "a", encoding="utf-8")
        self.processes[name] = subprocess.Popen(words, cwd=self.house, stdout=log, stderr=log,
                                                preexec_fn=die_with_parent)
        log.close()

    def start(self, binaries, name):
        self.run(name, [
            str(binaries / f"warpsmith-{name}"), "--directory", str(self.house / name),
            "--config", str(self.house / f"{name}.toml"),
            *{"coordinator": ["--listen", self.address, "--redis", f"unix:{self.redis}"],
              "worker": ["--coordinator", self.address, "--device", "simulated"],
              "learner": ["--coordinator", self.address]}[name]])
        if name == "coordinator" and self.address.endswith("*"):
            file = self.house / "coordinator" / "address"
            self.address = await_("the coordinator", lambda: file.exists() and file.read_text().strip())

    def kill(self, name):
        process = self.processes.pop(name)
        assert process.poll() is None, f"the {name} has ended by itself"
        process.kill()
        process.wait()

    def stop(self):
        for name in ("worker", "learner", "coordinator", "redis"):
            process = self.processes.pop(name)
            assert process.poll() is None, f"the {name} has ended by itself"
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE_S) == 0, f"the {name} did not end well"

    def end(self):
        for process in self.processes.values():
            process.kill()
            process.wait()

    def command(self, binaries, *words):
        return subprocess.run([str(binaries / "warpsmith"), *words, "--coordinator", self.address],
                              cwd=self.house, capture_output=True, text=True, timeout=PATIENCE_S)

    def status(self, binaries, *run):
        """None while the coordinator is away."""
        done = self.command(binaries, "status", "--json", *run)
        return json.loads(done.stdout) if done.returncode == 0 else None


def cross(old, new, names, house):
    cluster = Cluster(old, house)
    try:
        (house / "run.yaml").write_text(RUN)
        submitted = cluster.command(old, "run", "run.yaml", "--detach")
        assert submitted.returncode == 0, submitted.stderr
        ask = new if "coordinator" in names else old  # the command of the coordinator's release
        of_run = lambda: cluster.status(ask, "1") or cluster.status(old, "1")
        for name in names:
            before = await_("trained steps", lambda: (s := of_run()) and s["trajectories_consumed"] > 0 and s)
            assert before["state"] == "running", before
            cluster.kill(name)
            cluster.start(new, name)
            await_(f"training after the {name} was replaced",
                   lambda: (s := of_run()) and s["trajectories_consumed"] > before["trajectories_consumed"]
                   and s["finished_evaluations"] > before["finished_evaluations"])
        await_("the end of the run", lambda: (s := of_run()) and s["state"] not in ("running", "finishing"))
        status, whole = cluster.status(ask, "1"), cluster.status(ask)
        assert status["state"] == "complete", status
        for key in ("admitted_evaluations", "finished_evaluations"):
            assert status[key] == BUDGET, (key, status)
        assert status["trajectories_consumed"] == status["trajectories_accepted"], status
        for key in ("conservation_error", "jobs_queued", "jobs_leased"):
            assert whole[key] == 0, (key, whole)
        assert whole["epoch"] == 1 + names.count("coordinator"), whole["epoch"]
        cluster.stop()
        check_consumed_once(house, 1)
        assert rows(house, "SELECT COUNT(*) FROM learners") == [(1 + names.count("learner"),)]
    except BaseException:
        for log in sorted((house / "logs").glob("*.log")):
            print(f"== {log.name}\n{log.read_text(errors='replace')[-2500:]}")
        raise
    finally:
        cluster.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--new", required=True, type=pathlib.Path, help="folder of this release's programs")
    parser.add_argument("--old", type=pathlib.Path, help="folder of the last release's programs")
    parser.add_argument("--replace", action="append", help="programs, as worker,coordinator; may be repeated")
    parser.add_argument("--preset", default="release", help="how the last release is built")
    args = parser.parse_args()
    old = args.old or build_release(args.preset)
    for words in args.replace or [*PROGRAMS, ",".join(PROGRAMS)]:
        with tempfile.TemporaryDirectory(prefix="warpsmith-crossing-", ignore_cleanup_errors=True) as house:
            cross(old.resolve(), args.new.resolve(), words.split(","), pathlib.Path(house))
        print(f"{words} of release {last_release()[0]} replaced in the middle of a run: as it should be",
              flush=True)


if __name__ == "__main__":
    main()
