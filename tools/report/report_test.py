#!/usr/bin/env python3
"""The page must say what the figures say: made-up runs whose truth is known."""
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import report  # noqa: E402


def made_up(number, policy, mean, device="host", evaluations=240, budget=240, seed=1):
    """A run whose rewards scatter around `mean` in its last part."""
    generator = random.Random(seed * 1000 + number)
    points = []
    for i in range(evaluations):
        good = generator.random() < 0.7
        level = mean if i > evaluations / 2 else 0.3
        points.append({"task": f"starter/t{i % 4}", "outcome": "correct" if good else "wrong_output",
                       "speedup": 1 + max(0, level) if good else 0,
                       "reward": generator.gauss(level, 0.5), "step": i // 40, "turn": i % 2})
    points[0]["outcome"] = "infrastructure"
    measurement = {"timed_case": {"dims": {"rows": 3}}, "speedup_low": 1.2, "speedup_high": 1.4, "candidate_us": 10.0,
                   "baseline_us": 13.0, "comparison": "faster"}
    best = [{"task": "starter/t0", "outcomes": [{"outcome": "correct", "count": 40}, {"outcome": "wrong_output", "count": 20},
                                                   {"outcome": "infrastructure", "count": 1}],
             "candidate": "/* warpsmith */ <kernel> & more",
             "evaluation": {"outcome": {"correct": {"speedup": 1.3, "measurements": [measurement]}},
                            "device": {"name": "a machine", "kind": device}}},
            {"task": "starter/t1", "outcomes": [], "candidate": "",
             "evaluation": {"outcome": {"unrecognized": 65535}}}]
    steps = [{"step": i, "entropy": 2 - i / 9, "approx_kl": 0.01, "mean_staleness": 1} for i in range(6)]
    return {"status": {"run": number, "name": policy, "policy": policy, "state": "complete",
                       "device": device, "budget_evaluations": budget, "started_at_ms": 0,
                       "ended_at_ms": 60000},
            "evaluations": points, "steps": steps if policy != "random" else [], "best": best}


def said(learned, control):
    return report.verdict(report.Run(learned), report.Run(control))


class Verdict(unittest.TestCase):
    def test_a_better_policy_beat_random(self):
        self.assertIn("beat random search", said(made_up(1, "grammar", 1.0), made_up(2, "random", 0.3)))

    def test_a_worse_one_did_worse(self):
        self.assertIn("did worse", said(made_up(1, "grammar", -0.5), made_up(2, "random", 0.3)))

    def test_equal_policies_are_rarely_told_apart(self):
        told = sum("No difference" not in said(made_up(1, "grammar", 0.3, seed=s),
                                               made_up(2, "random", 0.3, seed=s)) for s in range(12))
        self.assertLessEqual(told, 3)  # 5 % each by design

    def test_devices_are_not_compared(self):
        text = said(made_up(1, "grammar", 9, device="cuda"), made_up(2, "random", 0))
        self.assertIn("not compared", text)
        self.assertNotIn("beat", text)

    def test_unequal_budgets_are_named(self):
        self.assertIn("budgets differ", said(made_up(1, "grammar", 1, budget=480), made_up(2, "random", 0)))

    def test_little_data_says_so(self):
        self.assertIn("too few", said(made_up(1, "grammar", 1, evaluations=2), made_up(2, "random", 0)))


class Page(unittest.TestCase):
    def draw(self, *runs):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            paths = []
            for i, run in enumerate(runs):
                paths.append(folder / f"{i}.json")
                paths[-1].write_text(json.dumps(run))
            done = subprocess.run([sys.executable, HERE / "report.py", "-o", folder / "out.html", *paths],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            return (folder / "out.html").read_text()

    def test_holds_pictures_tables_and_escaped_source(self):
        text = self.draw(made_up(1, "grammar", 1.0), made_up(2, "random", 0.3))
        self.assertGreaterEqual(text.count("data:image/png;base64,"), 5)
        self.assertIn("&lt;kernel&gt; &amp; more", text)
        self.assertNotIn("<kernel>", text)
        self.assertIn("1.300x", text)
        self.assertIn("a machine (host)", text)
        self.assertNotIn("http://", text)  # nothing is fetched when it is opened

    def test_names_are_text_whatever_is_in_them(self):
        for name in ("<script>alert(1)</script>", "$\\frac{", "\x1b[2J", "\u202e"):
            hostile = made_up(1, "grammar", 1.0)
            hostile["status"]["name"] = name
            hostile["best"][0]["task"] = f"{name}/t0"
            hostile["best"][0]["candidate"] = "</pre><script>alert(1)</script>"
            hostile["best"][0]["evaluation"]["device"]["name"] = name
            self.assertNotIn("<script", self.draw(hostile))

    def test_numbers_that_were_not_finite_are_drawn_as_gaps(self):
        run = made_up(1, "grammar", 1.0)
        for step in run["steps"]:
            step["approx_kl"] = None
        run["evaluations"][5]["reward"] = run["evaluations"][6]["speedup"] = None
        run["best"][0]["evaluation"]["outcome"]["correct"]["measurements"][0]["speedup_high"] = None
        self.assertIn("nan", self.draw(run, made_up(2, "random", 0.3)))

    def test_more_runs_than_colours_are_all_drawn(self):
        many = [report.Run(made_up(i, "grammar", 1.0)) for i in range(len(report.COLORS) + 1)]
        with unittest.mock.patch.object(report, "picture", lambda figure: figure):
            self.assertEqual(len(report.draw_best_so_far(many).axes[0].lines), len(many))

    def test_a_page_that_cannot_be_written_leaves_the_old_one(self):
        with tempfile.TemporaryDirectory() as folder:
            run = pathlib.Path(folder) / "run.json"
            run.write_text(json.dumps(made_up(1, "grammar", 1.0)))
            (pathlib.Path(folder) / "old").mkdir()
            for output, words in [(f"{folder}/none/out.html", "No such file"), (f"{folder}/old", "directory")]:
                done = subprocess.run([sys.executable, HERE / "report.py", "-o", output, run],
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, report.INPUT, done.stderr)
                self.assertIn(words, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertEqual(sorted(p.name for p in pathlib.Path(folder).iterdir()), ["old", "run.json"])

    def test_an_empty_run_is_drawn(self):
        empty = made_up(3, "grammar", 0, evaluations=1)
        empty["evaluations"], empty["steps"], empty["best"] = [], [], []
        self.assertIn("No random run", self.draw(empty))


if __name__ == "__main__":
    unittest.main()
