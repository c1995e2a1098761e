#!/usr/bin/env python3
"""`warpsmith up` as a user has it, on the simulated device: a run ends although the coordinator and Redis
are killed in the middle of it; the other commands tell the same; Ctrl-C leaves nothing behind.

    up_test.py WARPSMITH SUITE
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

WARPSMITH, SUITE = sys.argv[1], sys.argv[2]
DEADLINE = 120  # seconds; only a guard against hanging


def children(pid):
    """Those of now: whoever goes while being looked at has none."""
    found = []
    try:
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            found += [int(child) for child in (task / "children").read_text().split()]
    except OSError:
        pass
    return found


def family(pid):
    return [d for child in children(pid) for d in [child, *family(child)]]


def command_of(pid):
    """Empty once it is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def await_(what, condition):
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited in vain for {what}")


def warpsmith(folder, *arguments, expect=0):
    done = subprocess.run([WARPSMITH, *arguments], cwd=folder, capture_output=True, text=True,
                          timeout=DEADLINE)
    assert done.returncode == expect, (arguments, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def test(folder):
    log = open(folder / "up.log", "w+", encoding="utf-8")
    run = None
    house = subprocess.Popen([WARPSMITH, "up", "--device", "simulated", "--directory", "runs/house"],
                             cwd=folder, stdout=log, stderr=subprocess.STDOUT)
    try:
        await_("the address file", lambda: (folder / "runs/house/address").exists())
        await_("a worker", lambda: "(simulated)" in warpsmith(folder, "status"))
        second = warpsmith(folder, "up", "--directory", "runs/house", expect=5)
        assert "another `warpsmith up` runs" in second, second

        address = (folder / "runs/house/address").read_text().strip()
        starter = str(pathlib.Path(SUITE).parent / "starter" / "softmax_rows.cu")
        record = json.loads(warpsmith(folder, "eval", SUITE, "softmax_rows", starter, "--json",
                                      "--coordinator", address))
        assert ("correct" in record["outcome"], record["device"]["kind"]) == (True, "simulated"), record

        (folder / "random.yaml").write_text(
            f"run: random\nsuites: ['{SUITE}']\npolicy: {{kind: random}}\n"
            "algorithm: {turns: 2, group: 2, batch_episodes: 4}\nbudget: {evaluations: 3000}\n"
            "device: simulated\n")
        run = subprocess.Popen([WARPSMITH, "run", "random.yaml"], cwd=folder, stdout=subprocess.PIPE,
                               text=True)
        await_("the run to begin", lambda: "random" in warpsmith(folder, "status"))
        # Frozen, it cannot end the run before everybody has had their turn.
        worker = next(c for c in children(house.pid) if "warpsmith-worker" in command_of(c))
        os.kill(worker, signal.SIGSTOP)
        assert json.loads(warpsmith(folder, "status", "1", "--json"))["state"] == "running"
        for name in ("warpsmith-coordinator", "redis-server"):
            victim = next(c for c in children(house.pid) if name in command_of(c))
            os.kill(victim, signal.SIGKILL)
            await_(f"a new {name}", lambda: [c for c in children(house.pid)
                                             if name in command_of(c) and c != victim])
        run.send_signal(signal.SIGINT)
        out, _ = run.communicate(timeout=DEADLINE)
        assert run.returncode == 0 and "warpsmith run --follow 1" in out, out
        os.kill(worker, signal.SIGCONT)
        run = subprocess.Popen([WARPSMITH, "run", "--follow", "1"], cwd=folder, stdout=subprocess.PIPE,
                               text=True)
        out, _ = run.communicate(timeout=DEADLINE)
        assert run.returncode == 0, out
        assert "run 1 (random, policy random, device simulated): complete" in out, out
        assert "device simulated" in warpsmith(folder, "status", "1")
        assert "starter/softmax_rows" in warpsmith(folder, "best", "1", "--export", "kernels")
        assert list((folder / "kernels").glob("*.cu")), "no kernel was exported"
        assert "no run 9" in warpsmith(folder, "status", "9", expect=2)

        everybody = family(house.pid)
        assert len(everybody) >= 3, everybody
        house.send_signal(signal.SIGINT)
        assert house.wait(DEADLINE) == 0
        left = [pid for pid in everybody if alive(pid)]
        assert not left, [command_of(pid) for pid in left]
        assert "no coordinator is known" in warpsmith(folder, "status", expect=2)
    except BaseException:
        log.seek(0)
        print(log.read())
        for path in sorted((folder / "runs/house/logs").glob("*.log")):
            print(f"== {path.name}\n{path.read_text(errors='replace')[-1500:]}")
        raise
    finally:
        for process in (house, run):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()


if __name__ == "__main__":
    os.environ.pop("WARPSMITH_COORDINATOR", None)
    with tempfile.TemporaryDirectory() as scratch:
        test(pathlib.Path(scratch))
    print("up: as promised")
