"""What a store and a learner's directory must say of a run that is complete, once everything has stopped."""
import json
import sqlite3


def rows(house, query, *values):
    with sqlite3.connect(f"file:{house}/coordinator/store.sqlite?mode=ro", uri=True) as store:
        return store.execute(query, values).fetchall()


def check_consumed_once(house, run):
    """Every accepted trajectory has one place in the run's stream and was consumed; the newest weights have
    passed each exactly once; no step of training is missing or there twice. Gives the (incarnation, step)
    of all checkpoints in order."""
    count = "SELECT COUNT(*) FROM trajectories WHERE run = ?"
    [(accepted,)], [(lost,)] = rows(house, count, run), rows(house, count + " AND consumed = 0", run)
    assert accepted > 0 and lost == 0, f"{lost} of {accepted} trajectories were not consumed"
    places = [place for place, in rows(
        house, "SELECT publish_seq FROM trajectories WHERE run = ? ORDER BY publish_seq", run)]
    assert places == list(range(accepted)), f"places in the stream: {places}"
    steps = rows(house, "SELECT incarnation, step FROM checkpoints WHERE run = ? ORDER BY 1, 2", run)
    assert [step for _, step in steps] == list(range(1, len(steps) + 1)), f"steps of training: {steps}"
    manifests = [json.loads(path.read_text())
                 for path in (house / "learner" / f"run-{run}").glob("*.json")]
    newest = max(manifests, key=lambda one: [int(word) for word in one["version"].split(".")])
    passed = newest["watermark"]
    assert passed == {"below": accepted, "exceptions": []}, f"the weights have passed {passed} of {accepted}"
    return steps
