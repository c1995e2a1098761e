#!/usr/bin/env python3
"""Kills every process of a running system with SIGKILL, in random order, while a run goes on.

chaos.py --warpsmith PROGRAM [--seed N] [--faults N] [--evaluations N] [--json]

Starts `warpsmith up` on the simulated device in a temporary folder, submits a run that learns, and kills
coordinator, worker, learner and Redis (which loses everything it holds) one after another; `up` starts
them again. In the end the run must be complete, every accepted trajectory must have been consumed exactly
once, jobs must be conserved, and no process may be left behind. Fails with exit status 1.
"""
import argparse
import ctypes
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
VICTIMS = ["coordinator", "worker", "learner", "redis"]
SETTINGS = {
    "coordinator": "lease_ms = 3000\nheartbeat_ms = 300\ntorpid_ms = 1000\ndead_ms = 2000\n"
                   "retry_base_ms = 100\nrepeat_ms = 500\nweights_grace_ms = 1000\n",
    "worker": "simulated_delay_ms = 20\nsimulated_trouble = 0.01\ncapacity = 4\n",
    "learner": "repeat_s = 1\n",
}
RUN = """
run: chaos
suites: [{suite}]
policy: {{kind: grammar}}
algorithm: {{turns: 2, group: 4, batch_episodes: 16, staleness: 2}}
reward: hybrid
budget: {{evaluations: {evaluations}}}
device: simulated
seed: {seed}
"""


def die_with_parent():
    """In `up` before it begins: it goes with this script, however that ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def children(pid):
    """Process ids below pid, with the words of their command lines."""
    found = {}
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text()
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
        found[int(entry.name)] = words
    below, frontier = {}, [pid]
    while frontier:
        parent = frontier.pop()
        for child, its_parent in parents.items():
            if its_parent == parent and child not in below:
                below[child] = found[child]
                frontier.append(child)
    return below


class System:
    def __init__(self, args, directory):
        self.args = args
        self.directory = directory
        for name, text in SETTINGS.items():
            (directory / f"{name}.toml").write_text(text)
        self.log = open(directory / "up.log", "w")
        self.up = subprocess.Popen(
            [args.warpsmith, "up", "--device", "simulated", "--directory", str(directory), "--workers",
             str(args.workers)], stdout=self.log, stderr=self.log, cwd=directory,
            preexec_fn=die_with_parent)
        self.seen = {}
        wait_until(lambda: (directory / "address").exists(), 90, "the system is up")
        self.address = (directory / "address").read_text().strip()

    def command(self, *words, timeout=60):
        return subprocess.run([self.args.warpsmith, *words, "--coordinator", self.address],
                              capture_output=True, text=True, timeout=timeout, cwd=self.directory)

    def status(self, run=None):
        """A parsed status, or None while the coordinator is away."""
        words = ["status", "--json"] + ([str(run)] if run else [])
        try:
            done = self.command(*words)
        except subprocess.TimeoutExpired:
            return None
        return json.loads(done.stdout) if done.returncode == 0 else None

    def submit(self):
        path = self.directory / "run.yaml"
        path.write_text(RUN.format(suite=ROOT / "suites" / "starter.yaml", seed=self.args.seed,
                                   evaluations=self.args.evaluations))
        done = self.command("run", str(path), "--detach")
        if done.returncode != 0:
            fail(f"the run was not accepted: {done.stdout}{done.stderr}")

    def note_children(self):
        self.seen.update(children(self.up.pid))

    def kill(self, victim):
        self.note_children()
        program = {"redis": "redis-server"}.get(victim, f"warpsmith-{victim}")
        direct = [pid for pid, words in children(self.up.pid).items()
                  if pathlib.Path(words[0].split(" ")[0]).name == program]
        if not direct:
            return False
        try:
            os.kill(random.choice(direct), signal.SIGKILL)
        except ProcessLookupError:  # it went by itself just now
            return False
        return True

    def stop(self):
        self.note_children()
        self.up.send_signal(signal.SIGTERM)
        try:
            self.up.wait(60)
        except subprocess.TimeoutExpired:
            self.up.kill()
            fail("`up` did not end within 60 s of SIGTERM")
        self.log.close()

    def orphans(self):
        """Those still there some time after the end: children of a killed process go at their own pace."""
        deadline = time.monotonic() + 20
        while (alive := self.alive()) and time.monotonic() < deadline:
            time.sleep(0.05)
        return alive

    def alive(self):
        alive = []
        for pid, words in self.seen.items():
            try:
                now = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
            except (FileNotFoundError, ProcessLookupError):
                continue
            if now == words:
                alive.append(f"{pid} {' '.join(words)[:120]}")
        return alive


def fail(message):
    print(f"chaos: FAILED: {message}", file=sys.stderr)
    sys.exit(1)


def wait_until(condition, seconds, what, every=0.1):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(every)
    fail(f"not within {seconds} s: {what}")


def results(system, run_status, cluster):
    """What the store says, once everything has stopped."""
    store = system.directory / "coordinator" / "store.sqlite"
    db = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    one = lambda sql: db.execute(sql).fetchone()[0]
    accepted = one("SELECT COUNT(*) FROM trajectories")
    return {
        "state": run_status["state"],
        "accepted": accepted,
        "unpublished": one("SELECT COUNT(*) FROM trajectories WHERE publish_seq IS NULL"),
        "lost": one("SELECT COUNT(*) FROM trajectories WHERE consumed = 0"),
        "gaps": one("SELECT COALESCE(MAX(publish_seq) + 1, 0) - COUNT(publish_seq) FROM trajectories"),
        "trained_twice": accepted - one("SELECT COUNT(DISTINCT publish_seq) FROM trajectories"),
        "trained_by_checkpoints": run_status["trajectories_consumed"],
        "conservation_error": cluster["conservation_error"],
        "jobs_unfinished": cluster["jobs_queued"] + cluster["jobs_leased"],
        "finished_evaluations": run_status["finished_evaluations"],
        "checkpoints": one("SELECT COUNT(*) FROM checkpoints"),
        "learner_incarnations": one("SELECT COUNT(*) FROM learners"),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--warpsmith", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", type=int, default=8)
    parser.add_argument("--evaluations", type=int, default=1600)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--patience", type=float, default=240, help="seconds for the run to end")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    args.warpsmith = str(pathlib.Path(args.warpsmith).resolve())
    random.seed(args.seed)

    with tempfile.TemporaryDirectory(prefix="warpsmith-chaos-", ignore_cleanup_errors=True) as temporary:
        system = System(args, pathlib.Path(temporary))
        killed = []
        resume_ms = []
        try:
            system.submit()
            wait_until(lambda: (s := system.status(1)) and s["finished_evaluations"] > 0, 90,
                       "the run has begun")
            # Each once, in random order, then whoever comes.
            order = random.sample(VICTIMS, len(VICTIMS))
            order += [random.choice(VICTIMS) for _ in range(args.faults - len(order))]
            for victim in order[:args.faults]:
                before = wait_until(lambda: system.status(1), 60, "the coordinator answers")
                if before["state"] != "running":
                    break
                if system.kill(victim):
                    killed.append(victim)
                    started = time.monotonic()
                    wait_until(lambda: (s := system.status(1)) and
                               (s["finished_evaluations"] > before["finished_evaluations"] or
                                s["state"] in ("complete", "failed")), 90,
                               f"work goes on after the {victim} was killed")
                    resume_ms.append(round((time.monotonic() - started) * 1000))
                time.sleep(random.uniform(0.1, 0.6))
            status = wait_until(lambda: (s := system.status(1)) and s["state"] not in
                                ("running", "finishing") and s, args.patience, "the run ends", every=0.3)
            cluster = wait_until(lambda: system.status(), 30, "the cluster answers")
        except SystemExit:
            for log in sorted((system.directory / "logs").glob("*.log")) + [system.directory / "up.log"]:
                print(f"---- {log.name}\n{log.read_text(errors='replace')[-3000:]}", file=sys.stderr)
            print(f"---- status: {system.status(1)}", file=sys.stderr)
            system.stop()
            raise
        system.stop()
        report = results(system, status, cluster)
        report.update({"killed": killed, "resume_ms": resume_ms, "orphans": system.orphans(),
                       "seed": args.seed})

    wrong = []
    if report["state"] != "complete":
        wrong.append("the run is not complete")
    for key in ("lost", "gaps", "trained_twice", "unpublished", "conservation_error", "jobs_unfinished"):
        if report[key] != 0:
            wrong.append(f"{key} is {report[key]}")
    if report["trained_by_checkpoints"] != report["accepted"]:
        wrong.append("consumed and accepted trajectories differ")
    if report["orphans"]:
        wrong.append("processes are left behind")
    if set(VICTIMS) - set(killed) and args.faults >= len(VICTIMS):
        wrong.append(f"the run ended before all were killed: {killed}")
    if len(killed) < 0.75 * args.faults:  # some find nobody: whoever was to die waits for its next start
        wrong.append(f"only {len(killed)} of {args.faults} were killed")
    report["wrong"] = wrong
    if args.json:
        print(json.dumps(report))
    else:
        for key, value in report.items():
            print(f"{key:24} {value}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
