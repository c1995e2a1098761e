#!/usr/bin/env python3
"""One HTML page about runs, with its pictures inside.

    report.py -o report.html run-1.json [run-2.json ...]

Each file is what `warpsmith report` fetched: {"status", "evaluations", "steps", "best"}. Figures of
different device kinds are never compared. Exit status: as `warpsmith report`.
"""
import argparse
import base64
import contextlib
import errno
import html
import io
import itertools
import json
import math
import os
import sys

INPUT, MISSING, EXHAUSTED = 2, 3, 5

os.environ.setdefault("MPLBACKEND", "Agg")
try:
    import matplotlib.pyplot as plt
    import numpy as np
except ImportError as lacking:
    print(f"report: {sys.executable} has no {lacking.name}: run tools/setup, or name a Python that has it "
          "with WARPSMITH_PYTHON", file=sys.stderr)
    sys.exit(MISSING)
plt.rcParams["text.parse_math"] = False  # a run's name is a name, whatever is in it

COLORS = ["#1b6ca8", "#c25b12", "#2f8f5b", "#7a4fa3", "#a33a4f", "#5f6b73"]
OUTCOMES = {  # in the order of how far a candidate came
    "correct": "#2f8f5b", "wrong_output": "#e0a030", "nondeterministic": "#c9b458",
    "timeout": "#b07d62", "device_fault": "#c25b12", "launch_error": "#a33a4f",
    "resource_error": "#7a4fa3", "compile_error": "#5666a8", "rejected": "#555555",
    "violation": "#111111", "infrastructure": "#cccccc"}
BOOTSTRAPS = 4000
STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#222}
h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2.2rem}img{max-width:100%}
table{border-collapse:collapse;margin:1rem 0}td,th{padding:.25rem .8rem;border-bottom:1px solid #ddd;
text-align:left}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
.verdict{padding:1rem;background:#f3f6f8;border-left:4px solid #1b6ca8}
pre{background:#f7f7f7;padding:1rem;overflow-x:auto;font-size:.85rem}summary{cursor:pointer}
.note{color:#555;font-size:.9rem}
"""


def numbers(value):
    """The same, with what was no finite number, and came as null, as nan."""
    if isinstance(value, dict):
        return {key: numbers(v) for key, v in value.items()}
    if isinstance(value, list):
        return [numbers(v) for v in value]
    return math.nan if value is None else value


class Run:
    def __init__(self, data):
        data = numbers(data)
        self.status = data["status"]
        self.steps = data["steps"]
        self.best = data["best"]
        self.points = data["evaluations"]
        self.rewarded = [p for p in self.points if p["outcome"] != "infrastructure"]

    @property
    def device(self):
        return self.status["device"]

    @property
    def learns(self):
        return self.status["policy"] != "random"

    @property
    def title(self):
        s = self.status
        return f"run {s['run']} ({s['name']}, policy {s['policy']}, device {s['device']})"


def bootstrap(draw, seed=1):
    """The 95 % interval of draw(generator) over many resamplings."""
    generator = np.random.default_rng(seed)
    values = np.array([draw(generator) for _ in range(BOOTSTRAPS)])
    return float(np.quantile(values, 0.025)), float(np.quantile(values, 0.975))


def late_rewards(run, share):
    """Rewards of the last `share` of a run's evaluations, by task."""
    late = run.rewarded[int(len(run.rewarded) * (1 - share)):]
    by_task = {}
    for point in late:
        by_task.setdefault(point["task"], []).append(point["reward"])
    return {task: np.array(rewards) for task, rewards in by_task.items()}


def reward_difference(learned, random, share=1 / 3):
    """Mean over the common tasks of (learned - random) mean reward in the last part of both budgets,
    with an interval by resampling evaluations within each task. None: too little to compare."""
    a, b = late_rewards(learned, share), late_rewards(random, share)
    tasks = sorted(t for t in a if t in b and len(a[t]) >= 2 and len(b[t]) >= 2)
    if not tasks:
        return None

    def resampled(generator):
        return np.mean([generator.choice(a[t], len(a[t])).mean() - generator.choice(b[t], len(b[t])).mean()
                        for t in tasks])

    value = float(np.mean([a[t].mean() - b[t].mean() for t in tasks]))
    return {"value": value, "interval": bootstrap(resampled), "tasks": len(tasks),
            "learned": float(np.mean([a[t].mean() for t in tasks])),
            "random": float(np.mean([b[t].mean() for t in tasks]))}


def best_ratio(learned, random):
    """Geometric mean over tasks of (best speed-up found by learned / by random), with an interval by
    resampling tasks. A task where one found nothing correct counts with speed-up 1 for it: the
    baseline itself."""
    def best(run):
        found = {}
        for p in run.points:
            if p["outcome"] == "correct" and p["speedup"] > 0:
                found[p["task"]] = max(found.get(p["task"], 0), p["speedup"])
        return found

    a, b = best(learned), best(random)
    tasks = sorted(set(a) | set(b))
    if len(tasks) < 2:
        return None
    logs = np.array([math.log(a.get(t, 1.0) / b.get(t, 1.0)) for t in tasks])
    low, high = bootstrap(lambda g: g.choice(logs, len(logs)).mean())
    return {"value": math.exp(logs.mean()), "interval": (math.exp(low), math.exp(high)),
            "tasks": len(tasks)}


def verdict(learned, random):
    """Plain words: did the learned policy beat random search of equal budget?"""
    if learned.device != random.device:
        return (f"<p>{e(learned.title)} and {e(random.title)} ran on different kinds of device: their "
                "figures are not compared.</p>")
    texts = []
    budgets = learned.status["budget_evaluations"], random.status["budget_evaluations"]
    if budgets[0] != budgets[1]:
        texts.append(f"The budgets differ ({budgets[0]} and {budgets[1]} evaluations), so this is no "
                     "equal comparison.")
    reward = reward_difference(learned, random)
    if reward is None:
        texts.append("There are too few evaluations of common tasks to compare the policies.")
        return f"<p>{' '.join(texts)}</p>"
    low, high = reward["interval"]
    word = ("The learned policy beat random search" if low > 0 else
            "The learned policy did worse than random search" if high < 0 else
            "No difference between the learned policy and random search was shown")
    texts.append(
        f"<b>{word}</b> on device {e(learned.device)}: in the last third of the budget its mean reward "
        f"was {reward['learned']:.3f} against {reward['random']:.3f}, a difference of "
        f"{reward['value']:+.3f} (95 % bootstrap interval {low:+.3f} to {high:+.3f}, {reward['tasks']} "
        "tasks).")
    ratio = best_ratio(learned, random)
    if ratio:
        low, high = ratio["interval"]
        texts.append(
            f"Its best kernels were {ratio['value']:.3f} times as fast as those that random search "
            f"found (geometric mean over {ratio['tasks']} tasks, 95 % interval {low:.3f} to {high:.3f}).")
    return f"<p class=verdict>{' '.join(texts)}</p>"


# ---- pictures


def picture(figure):
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, bbox_inches="tight")
    plt.close(figure)
    return f'<img alt="" src="data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}">'


def smoothed(values, window):
    kernel = np.ones(window) / window
    return np.convolve(values, kernel, mode="valid")


def devices(runs):
    return ", ".join(sorted({run.device for run in runs}))


def draw_learning(runs):
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
    for run, color in zip(runs, itertools.cycle(COLORS)):
        rewards = np.array([p["reward"] for p in run.rewarded])
        passed = np.array([p["outcome"] == "correct" for p in run.rewarded], dtype=float)
        if len(rewards) < 2:
            continue
        window = max(1, min(len(rewards) // 8, 64))
        at = np.arange(len(rewards))[window - 1:] + 1
        label = f"{run.status['policy']} (run {run.status['run']})"
        left.plot(at, smoothed(rewards, window), color=color, label=label)
        right.plot(at, 100 * smoothed(passed, window), color=color, label=label)
    left.set_ylabel("reward, moving mean")
    right.set_ylabel("correct candidates, %")
    right.set_ylim(0, 100)
    for axes in (left, right):
        axes.set_xlabel("evaluations")
        axes.grid(alpha=0.3)
        if axes.get_legend_handles_labels()[0]:
            axes.legend()
    figure.suptitle(f"learning on device {devices(runs)}")
    return picture(figure)


def draw_best_so_far(runs):
    """Geometric mean over tasks of the best speed-up so far; 1 where nothing correct was found yet."""
    figure, axes = plt.subplots(figsize=(11, 3.6))
    tasks = sorted({p["task"] for run in runs for p in run.points})
    for run, color in zip(runs, itertools.cycle(COLORS)):
        best = dict.fromkeys(tasks, 1.0)
        curve = []
        for p in run.rewarded:
            if p["outcome"] == "correct" and p["speedup"] > 0:
                best[p["task"]] = max(best[p["task"]], p["speedup"])
            curve.append(math.exp(np.mean(np.log(list(best.values())))))
        axes.plot(range(1, len(curve) + 1), curve, color=color,
                  label=f"{run.status['policy']} (run {run.status['run']})")
    axes.set_xlabel("evaluations")
    axes.set_ylabel("best speed-up so far")
    axes.set_title(f"geometric mean over {len(tasks)} tasks, against eager PyTorch, device {devices(runs)}")
    axes.grid(alpha=0.3)
    if runs:
        axes.legend()
    return picture(figure)


def draw_outcomes(run):
    """The mix of outcomes over the course of a run, in up to 16 equal parts."""
    figure, axes = plt.subplots(figsize=(11, 3.2))
    parts = np.array_split(np.arange(len(run.points)), max(1, min(16, len(run.points))))
    bottom = np.zeros(len(parts))
    for outcome, color in OUTCOMES.items():
        counts = np.array([sum(run.points[i]["outcome"] == outcome for i in part) / max(1, len(part))
                           for part in parts])
        if counts.any():
            axes.bar(range(len(parts)), 100 * counts, bottom=bottom, color=color, label=outcome, width=0.95)
            bottom += 100 * counts
    axes.set_xticks(range(len(parts)), [str(part[-1] + 1) if len(part) else "" for part in parts])
    axes.set_xlabel("evaluations")
    axes.set_ylabel("%")
    axes.set_title(f"outcomes of {run.title}")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return picture(figure)


def draw_steps(run):
    figure, axes = plt.subplots(1, 3, figsize=(11, 2.8))
    steps = [s["step"] for s in run.steps]
    for panel, (key, title) in zip(axes, [("entropy", "entropy, nats a choice"),
                                          ("approx_kl", "approximate KL"),
                                          ("mean_staleness", "staleness, steps")]):
        panel.plot(steps, [s[key] for s in run.steps], color=COLORS[0])
        panel.set_title(title, fontsize=10)
        panel.set_xlabel("learner step")
        panel.grid(alpha=0.3)
    figure.tight_layout()
    return picture(figure)


# ---- page


def e(text):
    return html.escape(str(text))


def interval(measurement):
    return f"{measurement['speedup_low']:.3f}&ndash;{measurement['speedup_high']:.3f}"


def best_table(run):
    rows, sources = [], []
    for row in run.best:
        outcomes = {o["outcome"]: o["count"] for o in row["outcomes"]}
        judged = sum(n for name, n in outcomes.items() if name != "infrastructure")
        correct = outcomes.get("correct", 0)
        cells = [f"<td>{e(row['task'])}</td>", f"<td class=n>{correct}/{judged}</td>"]
        evaluation = row["evaluation"]
        found = evaluation["outcome"].get("correct", {"measurements": []})
        if row["candidate"] and found["measurements"]:
            m = found["measurements"][0]
            dims = ", ".join(f"{k}={v}" for k, v in m["timed_case"]["dims"].items())
            cells += [f"<td class=n>{found['speedup']:.3f}x</td>", f"<td class=n>{interval(m)}</td>",
                      f"<td class=n>{m['candidate_us']:.2f}</td>", f"<td class=n>{m['baseline_us']:.2f}</td>",
                      f"<td>{e(m['comparison'])}</td>", f"<td>{e(dims)}</td>",
                      f"<td>{e(evaluation['device']['name'])} ({e(evaluation['device']['kind'])})</td>"]
        else:
            cells += ["<td class=n>none</td>"] + ["<td></td>"] * 6
        rows.append(f"<tr>{''.join(cells)}</tr>")
        if row["candidate"]:
            sources.append(f"<details><summary>{e(row['task'])}</summary><pre>{e(row['candidate'])}</pre>"
                           "</details>")
    head = "".join(f"<th class={c}>{t}</th>" for t, c in [
        ("task", "t"), ("correct", "n"), ("speed-up", "n"), ("interval", "n"), ("candidate µs", "n"),
        ("baseline µs", "n"), ("comparison", "t"), ("case", "t"), ("device", "t")])
    return f"<table><tr>{head}</tr>{''.join(rows)}</table>{''.join(sources)}"


def summary(run):
    s = run.status
    judged = max(1, len(run.rewarded))
    correct = sum(p["outcome"] == "correct" for p in run.rewarded)
    seconds = (s["ended_at_ms"] - s["started_at_ms"]) / 1000 if s["ended_at_ms"] else None
    took = f", {seconds:.0f} s" if seconds else ""
    return (f"<tr><td class=n>{s['run']}</td><td>{e(s['name'])}</td><td>{e(s['policy'])}</td>"
            f"<td>{e(s['device'])}</td><td>{e(s['state'])}{took}</td>"
            f"<td class=n>{len(run.points)}/{s['budget_evaluations']}</td>"
            f"<td class=n>{100 * correct / judged:.0f} %</td>"
            f"<td class=n>{len(run.points) - len(run.rewarded)}</td></tr>")


def page(runs):
    body = ["<h1>Warpsmith report</h1>",
            f"<p>Device: <b>{e(devices(runs))}</b>. A figure of one kind of device says nothing about "
            "another.</p>"]
    learned = [run for run in runs if run.learns]
    randoms = [run for run in runs if not run.learns]
    if learned and randoms:
        for run in learned:
            body.append(verdict(run, randoms[0]))
    elif learned:
        body.append("<p class=verdict>No random run is shown, so nothing is said about whether learning "
                    "helped: add one of equal budget to compare.</p>")
    head = "".join(f"<th class={c}>{t}</th>" for t, c in [
        ("run", "n"), ("name", "t"), ("policy", "t"), ("device", "t"), ("state", "t"),
        ("evaluations", "n"), ("correct", "n"), ("masked", "n")])
    body.append(f"<table><tr>{head}</tr>{''.join(summary(run) for run in runs)}</table>")
    body += ["<h2>Learning curve</h2>", draw_learning(runs), draw_best_so_far(runs)]
    for run in runs:
        body.append(f"<h2>{e(run.title)}</h2>")
        if run.points:
            body.append(draw_outcomes(run))
        if run.steps:
            body.append(draw_steps(run))
        body += ["<p class=note>The best correct kernel of each task as the run timed it while screening; "
                 "<code>warpsmith eval --depth measure</code> times it again.</p>", best_table(run)]
    return (f"<!doctype html><html lang=en><meta charset=utf-8><title>Warpsmith report</title>"
            f"<style>{STYLE}</style><body>{''.join(body)}</body></html>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("runs", nargs="+")
    args = parser.parse_args()
    runs = []
    for path in args.runs:
        with open(path, encoding="utf-8") as file:
            runs.append(Run(json.load(file)))
    text = page(runs)
    fresh = f"{args.output}.tmp-{os.getpid()}"  # the page of yesterday stays until today's is whole
    try:
        with open(fresh, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(fresh, args.output)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(fresh)
        print(f"report: {args.output} cannot be written: {error.strerror}", file=sys.stderr)
        return EXHAUSTED if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else INPUT
    return 0


if __name__ == "__main__":
    sys.exit(main())
