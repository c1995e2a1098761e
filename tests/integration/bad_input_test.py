#!/usr/bin/env python3
"""What users get wrong and what machines lack: each gives one clear message that says what to do, and the
exit status that `warpsmith --help` promises; and whatever happens around a run, nothing accepted is lost.

    bad_input_test.py WARPSMITH SUITE [NAME ...]     # the programs beside WARPSMITH, and a suite that is fine
"""
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

WARPSMITH, SUITE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
STARTER = SUITE.parent / "starter" / "softmax_rows.cu"
DEADLINE = 60  # seconds; only a guard against hanging
NOBODY = "tcp://127.0.0.1:1"
FAILED, INPUT, MISSING, AWAY, EXHAUSTED, INTERNAL = 1, 2, 3, 4, 5, 70

TASK = """suite: small
tasks:
  - id: copy
    inputs:  {x: {dtype: float32, shape: [n]}}
    outputs: {y: {dtype: float32, shape: [n], rtol: 1e-4}}
    reference: |
      def reference(x: Tensor, n: int) -> Tensor:
          return x * 2
    work: {flops: n}
    cases:
      host: {train: [{n: 1024}]}
"""
RUN = "run: r\nsuites: ['{suite}']\npolicy: {{kind: {kind}}}\nbudget: {{evaluations: {budget}}}\n"


def environment(**changes):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("WARPSMITH_")}
    return {**clean, **changes}


def wait_for(what, condition):
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"waited in vain for {what}")


class Case(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = pathlib.Path(self._folder.name)

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def says(self, status, *words, run, env=None, program=WARPSMITH):
        """Runs the command, which must end with the status and one message that holds the words."""
        done = subprocess.run([str(program), *run], cwd=self.folder, capture_output=True, text=True,
                              errors="replace", timeout=DEADLINE, env=env or environment(),
                              stdin=subprocess.DEVNULL)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, status, f"{run}: {said}")
        for word in words:
            self.assertIn(word, said, f"{run}")
        lines = [line for line in done.stderr.splitlines() if line]
        self.assertEqual(len(lines), len(set(lines)), f"said twice: {said}")
        return said

    def lost(self, *run, program=WARPSMITH):
        """Runs the command where nobody takes what it writes, which must be told."""
        with open("/dev/full", "wb") as full:
            done = subprocess.run([str(program), *run], cwd=self.folder, stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=DEADLINE, env=environment())
        self.assertEqual(done.returncode, EXHAUSTED, f"{run}: {done.stderr}")
        self.assertIn("standard output", done.stderr, run)
        closed = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", str(program), *run], cwd=self.folder,
                                stderr=subprocess.PIPE, text=True, timeout=DEADLINE, env=environment())
        self.assertEqual(closed.returncode, INTERNAL, f"{run}: {closed.stderr}")
        self.assertIn("standard output", closed.stderr, run)


class Files(Case):
    """(content, what is said) of files of which each is wrong in one way."""

    def broken(self):
        self.write("empty", "")
        self.write("binary", bytes(range(256)) * 8)
        (self.folder / "folder").mkdir()
        return {"empty": "empty", "binary": "binary:", "folder": "a folder", "none": "no such file"}

    def test_suites(self):
        for name, words in self.broken().items():
            self.says(INPUT, name, words, run=["lint", "--static", name])
        for change, words in [
            (("suite: small", "suite: [small"), "not valid YAML"),
            (("    inputs:", "    inptus:"), "inptus"),
            (("rtol: 1e-4", 'rtol: "1e-4"'), "without quotes"),
            (("rtol: 1e-4", "rtol: 1e-3f"), "rtol"),
            (("rtol: 1e-4", "rtol: nan"), "rtol"),
            (("rtol: 1e-4", "rtol: -1"), "rtol"),
            (("float32, shape: [n]}}", "float31, shape: [n]}}"), "float31"),
            (("    reference: |\n", "    references: |\n"), "lacks `reference`"),
            (("- id: copy", "- id: copy\n    id: other"), "id"),
            (("suite: small", "suite: &a small"), "anchor"),
        ]:
            text = TASK.replace(*change)
            self.assertNotEqual(text, TASK, change)
            path = self.write("suite.yaml", text)
            said = self.says(INPUT, words, run=["lint", "--static", path])
            self.assertRegex(said, r"suite\.yaml:\d+:\d+: ", change)
        for number in ("1e-3", "1E-3", ".001"):
            path = self.write("suite.yaml", TASK.replace("1e-4", number))
            self.says(0, "is fine", run=["lint", "--static", path])

    def test_suites_of_odd_bytes(self):
        crlf = b"\xef\xbb\xbf" + TASK.replace("\n", "\r\n").encode()
        self.says(0, "is fine", run=["lint", "--static", self.write("crlf.yaml", crlf)])
        deep = "a: " + "[" * 100000 + "]" * 100000
        bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n"
        for name, content, words in [
            ("utf16.yaml", TASK.encode("utf-16"), "NUL byte"),
            ("latin.yaml", TASK.replace("copy", "K\xf6rper").encode("latin-1"), "letters, digits"),
            ("escape.yaml", TASK.replace("id: copy", 'id: "\\e[2J"'), "letters, digits"),
            ("deep.yaml", deep, "nested more than"),
            ("bomb.yaml", bomb, "anchors and aliases"),
            ("big.yaml", "a" * (5 << 20), "more than"),
            ("/dev/zero", None, "more than"),
            ("huge.yaml", TASK.replace("n: 1024", "n: " + "9" * 400), "whole number"),
            ("wide.yaml", TASK.replace("[n]", "[n, n, n]").replace("1024", "1099511627776"), "GiB"),
            ("nocase.yaml", TASK.replace("{train: [{n: 1024}]}", ""), "no case"),
            ("constant.yaml", TASK.replace("shape: [n]}}", "shape: [n], init: {kind: constant, value: 1e39}}}",
                                           1), "1e+30"),
        ]:
            path = name if content is None else self.write(name, content)
            said = self.says(INPUT, words, run=["lint", "--static", path])
            self.assertNotIn("\x1b", said)
            self.assertLess(len(said), 4000)
        if os.geteuid() != 0:
            os.chmod(self.write("locked.yaml", TASK), 0)
            self.says(INPUT, "permissions", run=["lint", "--static", "locked.yaml"])

    def test_suites_whose_references_say_what_their_texts_do_not(self):
        path = self.write("suite.yaml", TASK)
        self.says(0, "is fine: 1 task", run=["lint", path])
        for change, *words in [
            (("return x * 2", "return x * q"), "small/copy", "q"),
            (("return x * 2", "return x * 0"), "small/copy", "would pass as output `y`"),
            (("return x * 2", "return x * 1"), "small/copy", "a copy of input `x` would pass"),
        ]:
            self.write("suite.yaml", TASK.replace(*change))
            self.says(INPUT, "suite.yaml: ", *words, run=["lint", path])
            self.says(0, "is fine", run=["lint", "--static", path])

    def test_runs(self):
        for name, words in self.broken().items():
            self.says(INPUT, name, words, run=["run", name, "--coordinator", NOBODY])
        good = RUN.format(suite=SUITE, kind="random", budget=10)
        for text, *words in [
            (good.replace("run: r", "run: [r"), "not valid YAML"),
            (good + "wibble: 3\n", "no field `wibble`"),
            (good.replace("10", '"10"'), "without quotes"),
            (good.replace("10", "0"), "from 1 to"),
            (good.replace("random", "wizard"), "grammar or random"),
            (good + "device: tpu\n", "auto, cuda, host or simulated"),
            (good.replace(str(SUITE), "gone.yaml"), "gone.yaml", "no such file"),
            ("run: r\n", "lacks `suites`", "lacks `budget`"),
        ]:
            said = self.says(INPUT, *words, run=["run", self.write("run.yaml", text), "--coordinator",
                                                 NOBODY])
            self.assertRegex(said, r"run\.yaml:\d+:\d+: ")
        self.write("broken.yaml", "suite: [a")
        self.says(INPUT, "cannot be used", "broken.yaml:",
                  run=["run", self.write("run.yaml", good.replace(str(SUITE), "broken.yaml")),
                       "--coordinator", NOBODY])

    def test_candidates(self):
        judge = ["--device", "host", "--depth", "verify"]
        self.broken()
        for name, words in {"none": "no such file", "folder": "a folder"}.items():
            self.says(INPUT, words, run=["eval", str(SUITE), "softmax_rows", name, *judge])
        self.write("huge", b" " * (17 << 20))
        self.says(INPUT, "more than", run=["eval", str(SUITE), "softmax_rows", "huge", *judge])
        self.says(INPUT, "no task nosuch", "softmax_rows",
                  run=["eval", str(SUITE), "nosuch", str(STARTER), *judge])
        self.says(INPUT, "no such file", run=["eval", "gone.yaml", "x", str(STARTER), *judge])
        gpu = self.write("gpu.yaml", TASK.replace("host:", "gpu:"))
        self.says(INPUT, "has no case for device host", run=["eval", gpu, "copy", str(STARTER), *judge])
        text = STARTER.read_text()
        self.write("long.cu", text + " " * (300 << 10))
        self.write("planless.cu", text[text.index("*/") + 2:])
        self.write("torn.cu", text[:text.index("*/")])
        self.write("main.cu", text + "\nint main() { return 0; }\n")
        for name, words in {"empty": "is empty", "binary": "NUL byte", "long.cu": "more than 262144",
                            "planless.cu": "no launch plan", "torn.cu": "rejected",
                            "main.cu": "rejected"}.items():
            self.says(FAILED, "rejected: ", words, run=["eval", str(SUITE), "softmax_rows", name, *judge])

    def test_words_of_the_command_line(self):
        self.says(INPUT, "frobnicate", run=["frobnicate"])
        self.says(INPUT, "Name a subcommand", "lint", run=[])
        said = self.says(INPUT, "evl a b", run=["evl", "a", "b"])
        self.assertNotIn("b a", said)
        self.says(INPUT, "2 3 --wat", run=["status", "1", "2", "3", "--wat"])
        self.says(0, "warpsmith 0.", run=["--version"])
        for words in (["status"], ["cancel"], ["best"], ["report"], ["run", "--follow"]):
            for number in ("-1", "1x", "0x1", "18446744073709551616"):
                self.says(INPUT, f"'{number}'", run=[*words, number, "--coordinator", NOBODY])
        self.says(INPUT, "--depth", "confirm", run=["eval", "a", "b", "c", "--depth", "deep"])
        self.says(INPUT, "name a run file", run=["run", "--coordinator", NOBODY])
        for program in ("coordinator", "worker", "learner"):
            path = WARPSMITH.with_name(f"warpsmith-{program}")
            self.says(INPUT, "frobnicate", run=["--frobnicate", "1"], program=path)
            self.says(INPUT, "none.toml", run=["--config", "none.toml"], program=path)
            self.says(0, "default", run=["--help"], program=path)


class Output(Case):
    """What nobody takes was not said: never status 0."""

    def test_of_commands(self):
        self.lost("--help")
        self.lost("--version")
        self.lost("doctor")
        self.lost("lint", "--static", str(SUITE))
        judge = ["eval", str(SUITE), "softmax_rows", str(STARTER), "--device", "host", "--depth", "verify"]
        self.lost(*judge)
        self.lost(*judge, "--json")

    def test_of_servers(self):
        for program in ("coordinator", "worker", "learner"):
            for flag in ("--help", "--print-config"):
                self.lost(flag, program=WARPSMITH.with_name(f"warpsmith-{program}"))


class Machine(Case):
    def test_devices(self):
        self.says(INPUT, "tpu", "host", run=["eval", str(SUITE), "x", str(STARTER), "--device", "tpu"])
        self.says(INPUT, "tpu", run=["up", "--device", "tpu"])
        if pathlib.Path("/dev/nvidiactl").exists():
            self.skipTest("this machine has a GPU: what is said without one cannot be seen")
        self.says(MISSING, "no GPU", run=["eval", str(SUITE), "softmax_rows", str(STARTER), "--device",
                                          "cuda"])
        self.says(MISSING, "no GPU", run=["up", "--device", "cuda", "--directory", "house"])

    def test_a_share_folder_that_is_not_there(self):
        env = environment(WARPSMITH_SHARE="/nowhere")
        self.says(MISSING, "WARPSMITH_SHARE", "/nowhere", env=env,
                  run=["eval", str(SUITE), "softmax_rows", str(STARTER), "--device", "host"])
        self.says(MISSING, "LACKS", "WARPSMITH_SHARE", run=["doctor"], env=env)

    def test_a_disk_that_is_full(self):
        folder = self.folder / "small"
        folder.mkdir()
        if not mounted(self, folder, "size=1m"):
            self.skipTest("nothing can be mounted here, so no small disk can be made")
        with filled(folder):
            self.says(EXHAUSTED, "infrastructure(disk)", env=environment(TMPDIR=str(folder)),
                      run=["eval", str(SUITE), "softmax_rows", str(STARTER), "--device", "host"])
            self.says(EXHAUSTED, "coordinator", run=["up", "--device", "simulated", "--directory",
                                                     str(folder / "house")])
            self.says(EXHAUSTED, "disk", program=WARPSMITH.with_name("warpsmith-coordinator"),
                      run=["--listen", "tcp://127.0.0.1:*", "--directory", str(folder / "c")])

    def test_programs_that_are_not_there(self):
        nothing = environment(PATH="/nowhere")
        self.says(MISSING, "redis-server", "tools/setup", run=["up", "--directory", "house"], env=nothing)
        self.says(MISSING, "g++", "tools/setup", env=nothing,
                  run=["eval", str(SUITE), "softmax_rows", str(STARTER), "--device", "host"])
        alone = self.folder / "bin"
        alone.mkdir()
        shutil.copy2(WARPSMITH, alone / "warpsmith")
        self.says(MISSING, "warpsmith-c", program=alone / "warpsmith", run=["up", "--directory", "house"])
        self.says(MISSING, "warpsmith-", program=alone / "warpsmith",
                  run=["eval", str(SUITE), "softmax_rows", str(STARTER), "--device", "host"])

    def test_a_port_in_use_and_addresses_that_are_none(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            self.says(EXHAUSTED, "in use", "choose another address",
                      run=["up", "--device", "simulated", "--directory", "house", "--listen",
                           f"tcp://127.0.0.1:{port}"])
            self.says(EXHAUSTED, "in use", program=WARPSMITH.with_name("warpsmith-coordinator"),
                      run=["--listen", f"tcp://127.0.0.1:{port}", "--directory", "c"])
        self.says(INPUT, "tcp://host:port", run=["up", "--device", "simulated", "--directory", "house",
                                                 "--listen", "nonsense"])
        for program in ("worker", "learner"):
            self.says(INPUT, "tcp://host:port", program=WARPSMITH.with_name(f"warpsmith-{program}"),
                      run=["--coordinator", "nonsense", "--directory", "d"])

    def test_nobody_where_the_coordinator_should_be(self):
        began = time.monotonic()
        self.says(INPUT, "no coordinator is known", "warpsmith up", run=["status"])
        self.says(INPUT, "tcp://host:port", run=["status", "--coordinator", "nonsense"])
        run = self.write("run.yaml", RUN.format(suite=SUITE, kind="random", budget=10))
        commands = [["status"], ["run", run], ["run", "--follow", "1"], ["best"], ["report", "1"],
                    ["cancel", "1"], ["eval", str(SUITE), "softmax_rows", str(STARTER)]]
        started = [subprocess.Popen([WARPSMITH, *words, "--coordinator", NOBODY], cwd=self.folder,
                                    env=environment(), stderr=subprocess.PIPE, text=True)
                   for words in commands]
        for process in started:
            self.addCleanup(process.kill)
        for words, process in zip(commands, started):
            _, said = process.communicate(timeout=DEADLINE)
            self.assertEqual(process.returncode, AWAY, (words, said))
            self.assertIn(f"nobody listens at {NOBODY}", said)
        self.assertLess(time.monotonic() - began, DEADLINE)

    def test_a_folder_that_cannot_be_written(self):
        self.write("file", "")
        self.says(INPUT, "file", run=["up", "--device", "simulated", "--directory", "file"])
        folder = self.folder / "locked"
        folder.mkdir()
        if os.geteuid() == 0:
            if not mounted(self, folder, "ro,size=64k"):
                self.skipTest("root writes everywhere, and nothing can be mounted here")
        else:
            folder.chmod(0o555)
        self.says(INPUT, "locked", "choose another", run=["up", "--device", "simulated", "--directory",
                                                          "locked"])
        for program, words in {"coordinator": ["--listen", "tcp://127.0.0.1:*"],
                               "worker": ["--coordinator", NOBODY, "--device", "simulated"],
                               "learner": ["--coordinator", NOBODY]}.items():
            path = WARPSMITH.with_name(f"warpsmith-{program}")
            if path.exists():
                self.says(INPUT, "locked", run=[*words, "--directory", "locked/d"], program=path)


def mounted(case, folder, options):
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)],
                      capture_output=True).returncode != 0:
        return False
    case.addCleanup(subprocess.run, ["umount", "-l", str(folder)], check=True)
    return True


class Cluster(Case):
    """Coordinator, worker, learner and Redis started one by one, so that each can be hurt alone."""

    COORDINATOR = ["--lease-ms", "3000", "--heartbeat-ms", "300", "--torpid-ms", "1000", "--dead-ms", "3000",
                   "--repeat-ms", "500", "--retry-base-ms", "100", "--weights-grace-ms", "500"]

    def setUp(self):
        super().setUp()
        self.processes = {}
        self.addCleanup(self.stop_all)
        for name in ("coordinator", "worker", "learner"):
            (self.folder / name).mkdir()

    def start(self, name, *words):
        log = open(self.folder / f"{name}.log", "a", encoding="utf-8")
        program = words[0] if name == "redis" else WARPSMITH.with_name(f"warpsmith-{name}")
        self.processes[name] = subprocess.Popen(
            [program, *(words[1:] if name == "redis" else words)], cwd=self.folder, stdout=log, stderr=log,
            env=environment(), start_new_session=True)
        log.close()

    def start_redis(self):
        self.start("redis", "redis-server", "--port", "0", "--unixsocket", str(self.folder / "redis.sock"),
                   "--save", "", "--appendonly", "no", "--dir", str(self.folder))

    def start_all(self):
        self.start_redis()
        self.start("coordinator", "--listen", "tcp://127.0.0.1:*", "--directory", "coordinator", "--redis",
                   f"unix:{self.folder}/redis.sock", *self.COORDINATOR)
        address = self.folder / "coordinator" / "address"
        wait_for("the coordinator", lambda: address.exists() and address.read_text().strip())
        self.address = address.read_text().split()[0]
        self.start("worker", "--coordinator", self.address, "--device", "simulated", "--directory", "worker",
                   "--simulated-delay-ms", "5", "--capacity", "4")
        self.start("learner", "--coordinator", self.address, "--directory", "learner", "--repeat-s", "0.5")
        wait_for("a worker and a learner", lambda: self.status()["learner_alive"] and self.status()["workers"])

    def stop(self, name, how=signal.SIGKILL):
        process = self.processes.pop(name)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, how)
        return process.wait(DEADLINE)

    def stop_all(self):
        for name in list(self.processes):
            self.stop(name)

    def log(self, name):
        return (self.folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")

    def command(self, status, *words):
        return self.says(status, run=[*words, "--coordinator", self.address])

    def status(self, run=None):
        return json.loads(self.command(0, "status", *([str(run)] if run else []), "--json"))

    def submit(self, kind="grammar", budget=20000, suite=SUITE):
        text = RUN.format(suite=suite, kind=kind, budget=budget)
        text += "algorithm: {turns: 2, group: 4, batch_episodes: 16, staleness: 2}\ndevice: simulated\n"
        said = self.command(0, "run", self.write("run.yaml", text), "--detach")
        return int(said.split()[1])

    def goes_on(self, run, what="trajectories_consumed"):
        before = self.status(run)[what]
        wait_for(f"more {what}: {self.status(run)}", lambda: self.status(run)[what] > before)

    def nothing_is_lost(self, run, accepted):
        status = self.status(run)
        self.assertEqual(status["state"], "running", status)
        self.assertGreaterEqual(status["trajectories_accepted"], accepted)
        self.assertEqual(self.status()["conservation_error"], 0)

    def test_before_there_is_a_run_and_while_it_has_no_result(self):
        self.start_redis()
        self.start("coordinator", "--listen", "tcp://127.0.0.1:*", "--directory", "coordinator", "--redis",
                   f"unix:{self.folder}/redis.sock")
        address = self.folder / "coordinator" / "address"
        wait_for("the coordinator", lambda: address.exists() and address.read_text().strip())
        self.address = address.read_text().split()[0]
        for command in ("best", "report"):
            self.assertIn("no run was submitted yet", self.command(INPUT, command))
        for words in (["best", "7"], ["report", "7"], ["status", "7"], ["cancel", "7"], ["run", "--follow", "7"]):
            self.assertIn("no run 7", self.command(INPUT, *words))
        for words in (["status"], ["status", "--json"]):
            self.lost(*words, "--coordinator", self.address)
        run = self.submit()
        self.lost("status", str(run), "--coordinator", self.address)
        self.assertIn("waits for a worker", self.command(0, "status", str(run)))
        self.assertIn("nothing was judged yet", self.command(0, "best", str(run)))
        if "LACKS  report" not in subprocess.run([WARPSMITH, "doctor"], capture_output=True, text=True).stdout:
            self.assertIn("report.html", self.command(0, "report", str(run)))
        self.assertIn("cancelled", self.command(0, "cancel", str(run)))

    def test_a_task_that_the_policy_cannot_write_for(self):
        self.start_all()
        strange = self.write("strange.yaml", TASK.replace("x * 2", "torch.cumsum(x, 0)"))
        for kind in ("grammar", "random"):
            text = RUN.format(suite=strange, kind=kind, budget=100) + "device: simulated\n"
            said = self.command(FAILED, "run", self.write("run.yaml", text))
            self.assertIn("no family of the grammar can write small/copy", said)
            self.assertIn("failed", said)
        status = self.status()
        self.assertEqual(status["conservation_error"], 0)
        self.assertEqual(status["jobs_queued"] + status["jobs_leased"], 0)
        self.goes_on(self.submit())

    def test_garbage_at_the_coordinators_port(self):
        self.start_all()
        run = self.submit()
        port = int(self.address.rsplit(":", 1)[1])
        noise = random.Random(7)
        greeting = b"\xff" + bytes(8) + b"\x7f\x03\x00NULL" + bytes(16) + bytes(32)
        command = b"\x04\x26\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER\x08Identity\x00\x00\x00\x00"
        for text in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", noise.randbytes(1 << 20), greeting[:20], greeting,
                     greeting + command + b"\x00\x05hello", greeting + command + b"\x02" + b"\xff" * 8 + b"x",
                     b"\x16\x03\x01" + noise.randbytes(500)):
            with socket.create_connection(("127.0.0.1", port), timeout=10) as peer:
                with contextlib.suppress(OSError):
                    peer.settimeout(1)
                    peer.sendall(text)
                    peer.recv(100)
        self.goes_on(run)
        self.assertIsNone(self.processes["coordinator"].poll())
        self.nothing_is_lost(run, 1)

    def test_a_dead_redis(self):
        self.start_all()
        run = self.submit()
        self.goes_on(run)
        accepted = self.status(run)["trajectories_accepted"]
        self.stop("redis")
        wait_for("status to name it", lambda: "Redis away" in self.command(0, "status"))
        wait_for("the run to name it", lambda: "waits for Redis" in self.status(run)["problem"])
        self.start_redis()
        wait_for("Redis", lambda: self.status()["redis_alive"])
        self.goes_on(run)
        self.nothing_is_lost(run, accepted)

    def test_full_disks(self):
        sizes = {"coordinator": "64m", "learner": "64m", "worker": "64m"}
        for name, size in sizes.items():
            if not mounted(self, self.folder / name, f"size={size}"):
                self.skipTest("nothing can be mounted here, so no small disk can be made")
        self.addCleanup(self.stop_all)  # before the disks go
        self.start_all()
        run = self.submit()
        self.goes_on(run)

        accepted = self.status(run)["trajectories_accepted"]
        with filled(self.folder / "coordinator"):
            wait_for("status to name it", lambda: "the store cannot write" in self.command(0, "status"))
            frozen = self.status(run)["admitted_evaluations"]
            self.assertIn("the store cannot write", self.says(
                EXHAUSTED, run=["run", str(self.folder / "run.yaml"), "--detach", "--coordinator",
                                self.address]))
            self.assertEqual(self.status(run)["admitted_evaluations"], frozen, "admission stops")
            self.assertIn("the store cannot write", self.command(EXHAUSTED, "cancel", str(run)))
            self.assertIn("starter/", self.command(0, "best", str(run)))
            self.assertIn("report.html", self.command(0, "report", str(run)))
            for command in (["best", str(run), "--export"], ["report", str(run), "-o"]):
                said = self.command(EXHAUSTED, *command, str(self.folder / "coordinator" / "page"))
                self.assertRegex(said, "[Nn]o space left")
        self.goes_on(run)
        self.nothing_is_lost(run, accepted)

        accepted = self.status(run)["trajectories_accepted"]
        with filled(self.folder / "learner"):
            wait_for("the learner to notice", lambda: "checkpoint_not_saved" in self.log("learner"))
            wait_for("the run to wait", lambda: "waits for the learner" in self.status(run)["problem"])
        self.goes_on(run)
        self.nothing_is_lost(run, accepted)

        with filled(self.folder / "worker"):
            wait_for("the worker to notice", lambda: "weights_pull_failed" in self.log("worker"))
        self.goes_on(run)
        self.nothing_is_lost(run, accepted)
        for name in sizes:
            self.assertIsNone(self.processes[name].poll(), f"{name} ended")


class House(Case):
    def test_two_in_one_folder_and_a_server_that_cannot_stay(self):
        first = subprocess.Popen([WARPSMITH, "up", "--device", "simulated", "--directory", "house"],
                                 cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 env=environment())
        try:
            wait_for("the house", lambda: (self.folder / "house" / "address").exists())
            self.says(EXHAUSTED, "another `warpsmith up` runs in", "--directory",
                      run=["up", "--device", "simulated", "--directory", "house"])
            self.says(0, "no runs yet", run=["status"])
        finally:
            first.send_signal(signal.SIGINT)
            self.assertEqual(first.wait(DEADLINE), 0)


@contextlib.contextmanager
def filled(folder):
    """No byte is left on the file system of this folder."""
    ballast = folder / "ballast"
    with open(ballast, "wb", buffering=0) as file, contextlib.suppress(OSError):
        for size in (1 << 20, 4096, 1):
            with contextlib.suppress(OSError):
                while file.write(b"\0" * size):
                    pass
    try:
        yield
    finally:
        ballast.unlink()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
