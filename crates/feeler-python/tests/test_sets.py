"""Sets of models: stores, limits, interruptions, engines and comparisons."""

import doctest
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import feeler
import pytest

for package in ("cloudpickle", "dask", "distributed", "fsspec", "psutil", "pyarrow", "zstandard"):
    pytest.importorskip(package)

from feeler import sets  # noqa: E402
from feeler.sets._store import Shards  # noqa: E402

DATA = Path(__file__).resolve().parents[3] / "data"


def variants(folder: Path, count: int) -> None:
    """STEP files of balls with different radii, as text."""
    text = (DATA / "sphere.step").read_text()
    begin = text.index("SPHERICAL_SURFACE")
    end = text.index(";", begin)
    entity = text[begin:end]
    radius = entity.rsplit(",", 1)[1].rstrip(") ")
    folder.mkdir(exist_ok=True)
    for k in range(count):
        changed = entity.replace(radius, f"{float(radius) * (1.0 + 0.01 * k)!r}")
        sphere = text[:begin] + changed + text[end:]
        (folder / f"ball-{k:04}.step").write_text(sphere)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Folder with models, store and report."""
    folder = tmp_path_factory.mktemp("models")
    for name in ("pin", "bore", "cone", "wave"):
        (folder / f"{name}.step").write_bytes((DATA / f"{name}.step").read_bytes())
    (folder / "broken.stp").write_text("ISO-10303-21;\nHEADER;\nnonsense")
    (folder / "zz pin.step").write_bytes((DATA / "pin.step").read_bytes())
    store = sets.Store(str(tmp_path_factory.mktemp("store")))
    return folder, store, sets.prepare(folder, store, workers=2)


def test_models_are_those_of_single_files(prepared):
    folder, store, report = prepared
    assert report.table.column("file").to_pylist() == sorted(os.listdir(folder))
    assert [file for file, _ in report.failed] == ["broken.stp"] and "broken" in report.failed[0][1]
    assert len(store) == 4
    for name in ("pin", "wave"):
        alone = feeler.prepare_step(folder / f"{name}.step")
        model = store.model(store.key(folder / f"{name}.step"))
        assert model.solids == alone.solids and model.body().volume == alone.body().volume
        row = next(row for row in report.table.to_pylist() if row["file"] == f"{name}.step")
        assert row["volume"] == alone.body().volume and row["solids"] == 1


def test_nothing_is_prepared_twice(prepared):
    folder, store, report = prepared
    again = sets.prepare(folder, sets.Store(store.url), workers=1)
    assert again.reused == 6 and again.hash == report.hash and again.failed == report.failed
    retried = sets.prepare(folder, store, workers=1, retry_failed=True)
    assert retried.reused == 5 and retried.hash == report.hash


def test_success_precedes_failure_in_any_order(tmp_path):
    """Shards are read in the order of their names, which is random."""
    for k in range(8):
        shards = Shards(str(tmp_path / str(k)))
        failed, right = {"status": "failed", "reason": f"{k}"}, {"status": "ok", "reason": ""}
        shards.write({}, {"a": failed, "b": failed})
        shards.write({"a": b"data"}, {"a": right})
        reader = Shards(shards.files.unstrip_protocol(shards.root))
        reader.refresh()
        assert reader.records == {"a": right, "b": failed}
        shards.compact()
        assert shards.records == reader.records and shards.read("a") == b"data"


def test_readers_follow_joined_shards(tmp_path):
    writer, reader = Shards(str(tmp_path)), Shards(str(tmp_path))
    ok = {"status": "ok", "reason": ""}
    writer.write({"a": b"1"}, {"a": ok})
    reader.refresh()
    writer.write({"b": b"2"}, {"b": ok})
    writer.compact()
    assert [reader.read(key) for key in "ab"] == [b"1", b"2"]
    before = sorted(os.listdir(tmp_path))
    writer.compact()
    assert sorted(os.listdir(tmp_path)) == before and len(before) == 1


def test_random_access_is_quick(prepared):
    _, store, _ = prepared
    keys = store.keys()
    store.read(keys[0])
    times = []
    for k in range(200):
        begin = time.perf_counter()
        data = store.read(keys[k % len(keys)])
        times.append(time.perf_counter() - begin)
        assert data[:8] == b"FEELER\r\n"
    assert sorted(times)[100] < 0.02, "the median; a millisecond on a quiet machine"


def test_a_model_that_crashes_hangs_or_floods_is_named(prepared):
    _, store, _ = prepared

    def troubled(model):
        if model.input == "pin.step":  # the name of the first of two equal files
            os.kill(os.getpid(), signal.SIGSEGV)
        if model.input == "bore.step":
            time.sleep(1000)
        if model.input == "cone.step":
            memory = []
            while True:
                memory.append(bytearray(b"x" * (1 << 24)))
        print("not part of the answer")
        return {"name": model.input}

    report = sets.map(troubled, store, workers=1, limits=sets.Limits(seconds=3.0, memory=1 << 29))
    reasons = dict(report.failed)
    assert "SIGSEGV" in reasons["pin.step"] and "SIGSEGV" in reasons["zz pin.step"]
    assert "longer than 3 s" in reasons["bore.step"]
    assert "more than 512 MiB" in reasons["cone.step"] or "longer" in reasons["cone.step"]
    assert [row["name"] for row in report.table.to_pylist() if row["status"] == "ok"] == ["wave.step"]


def test_errors_of_functions_are_reasons(prepared):
    _, store, _ = prepared

    def fussy(model):
        if model.input == "pin.step":
            raise ValueError("not a pin")
        return {"sizes": [model.body().size, 1], "odd": object()} if model.input == "bore.step" else {"sizes": [1.5]}

    reasons = dict(sets.map(fussy, store, workers=1).failed)
    assert reasons["pin.step"] == "ValueError: not a pin"
    assert "column 'odd' is a object" in reasons["bore.step"] and len(reasons) == 3


def test_named_results_are_kept(prepared, tmp_path):
    _, store, _ = prepared
    calls = tmp_path / "calls"

    def counted(model):
        with open(calls, "a") as file:
            file.write("x")
        return [{"edge": k, "value": k * model.body().volume} for k in range(2)]

    first = sets.map(counted, store, name="values", workers=2)
    second = sets.map(counted, store, name="values", workers=1)
    assert first.hash == second.hash and first.table.num_rows == 10 and second.reused == 5
    assert calls.read_text() == "xxxx", "equal files are one model"


def test_a_killed_run_continues_with_the_same_table(tmp_path):
    variants(tmp_path / "models", 60)
    whole = sets.prepare(tmp_path / "models", str(tmp_path / "whole"), workers=2)
    assert not whole.failed and whole.table.num_rows == 60
    store = tmp_path / "killed"
    command = [sys.executable, "-m", "feeler.sets", "prepare", str(tmp_path / "models"), "--store", str(store)]
    for seconds in (2.0, 2.5, 3.0):
        process = subprocess.Popen([*command, "--workers", "2", "--quiet"], stdout=subprocess.DEVNULL)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    report = sets.prepare(tmp_path / "models", str(store), workers=2)
    assert report.hash == whole.hash and not report.failed
    shards = [sorted(p.name for p in (tmp_path / s / "models").glob("*.shard")) for s in ("whole", "killed")]
    assert shards[0] == shards[1] and len(shards[0]) == 1
    contents = [(tmp_path / s / "models" / shards[0][0]).read_bytes() for s in ("whole", "killed")]
    assert contents[0] == contents[1], "the bytes of the store do not depend on interruptions"


def test_planted_changes_are_found(prepared, tmp_path):
    folder, _, report = prepared
    report.write(tmp_path / "before.parquet")
    changed = tmp_path / "models"
    changed.mkdir()
    for file in folder.iterdir():
        (changed / file.name).write_bytes(file.read_bytes())
    (changed / "cone.step").write_bytes((DATA / "ball.step").read_bytes())
    (changed / "wave.step").unlink()
    (changed / "new.step").write_bytes((DATA / "box.step").read_bytes())
    now = sets.prepare(changed, str(tmp_path / "store"), workers=1)
    comparison = sets.regress(now, tmp_path / "before.parquet")
    assert comparison.files == ("cone.step", "new.step", "wave.step") and not comparison.is_same
    assert {c.what for c in comparison.changes if c.file == "cone.step"} >= {"volume", "area"}
    assert sets.regress(report, tmp_path / "before.parquet").is_same
    comparison.write_page(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "cone.step" in page and "3 files" in page


def test_keys_cover_parts_in_other_files(tmp_path):
    for file in ("frame.step", "parts"):
        source = DATA / "assemblies" / file
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / file)
    (tmp_path / "plain.step").write_bytes((DATA / "pin.step").read_bytes())
    (tmp_path / "foot.stp").write_bytes((DATA / "pin.step").read_bytes())
    text = (tmp_path / "frame.step").read_text()
    (tmp_path / "frame.step").write_text(text.replace("lost", "foot"))
    keys = [sets.Store.key(tmp_path / name) for name in ("frame.step", "plain.step")]
    (tmp_path / "foot.stp").write_bytes((DATA / "box.step").read_bytes())
    changed = [sets.Store.key(tmp_path / name) for name in ("frame.step", "plain.step")]
    assert keys[0] != changed[0] and keys[1] == changed[1]


def test_clearance_of_assemblies(tmp_path):
    store = sets.Store(str(tmp_path))
    sets.prepare([DATA / "assemblies" / "rack.step"], store, workers=1)
    report = sets.clearance(store, workers=1, d_max=1.0)
    alone = feeler.clearance(DATA / "assemblies" / "rack.step", d_max=1.0)
    assert report.table.num_rows == len(alone.pairs) > 0
    assert report.table.column("distance").to_pylist() == [pair.distance for pair in alone.pairs]


def test_mistakes_are_explained(tmp_path):
    with pytest.raises(FileNotFoundError, match="not a folder"):
        sets.prepare(tmp_path / "nowhere", str(tmp_path / "store"))
    with pytest.raises(FileNotFoundError, match="no such file"):
        sets.prepare([tmp_path / "nothing.step"], str(tmp_path / "store"))
    store = sets.Store(str(tmp_path / "empty"))
    with pytest.raises(sets.StoreError, match="prepare first"):
        sets.map(len, store)
    with pytest.raises(sets.StoreError, match="no entry"):
        store.model("0" * 32)
    shards = tmp_path / "empty" / "models"
    shards.mkdir(parents=True)
    (shards / "x.shard").write_bytes(b"cut")
    with pytest.raises(sets.StoreError, match="not a complete shard"):
        sets.Store(str(tmp_path / "empty"))


def test_the_command_names_failed_files(prepared, tmp_path):
    folder, store, _ = prepared
    command = [sys.executable, "-m", "feeler.sets"]
    run = subprocess.run(
        [*command, "prepare", str(folder), "--store", store.url, "--workers", "1"], capture_output=True, text=True
    )
    assert run.returncode == 1 and "broken.stp: " in run.stdout and "6 files, 1 failed" in run.stdout, run.stderr
    out = tmp_path / "pin.feeler"
    run = subprocess.run(
        [*command, "extract", "--store", store.url, str(folder / "pin.step"), str(out)],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0 and feeler.Model.read(out).solids == ["pin"], run.stderr
    run = subprocess.run([*command, "prepare", "nowhere", "--store", store.url], capture_output=True, text=True)
    assert run.returncode == 2 and "nowhere" in run.stderr


def test_a_given_client_does_the_work(prepared):
    folder, store, report = prepared
    import dask.distributed

    with dask.distributed.Client(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as client:
        again = sets.prepare(folder, f"{store.url}-2", client=client)
    assert again.hash == report.hash and again.reused == 0


def test_ray_gives_the_same_table(prepared):
    pytest.importorskip("ray")
    folder, store, report = prepared
    again = sets.prepare(folder, f"{store.url}-ray", client="ray", workers=2)
    assert again.hash == report.hash and again.reused == 0


def test_examples_of_the_module(monkeypatch):
    monkeypatch.chdir(DATA.parent)
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    for thing in (sets.Store, sets.prepare, sets.map, sets.clearance, sets.regress):
        assert ">>>" in thing.__doc__, thing
        runner.run(parser.get_doctest(thing.__doc__, {"feeler": feeler}, thing.__name__, None, 0))
    assert runner.summarize(verbose=False).failed == 0
