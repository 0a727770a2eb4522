"""How long a search takes, and what keeps its index fresh, at 1k, 10k and 100k bullets.

    python benchmarks/speed.py [SIZE ...] [--runs N]

Each store is a real git repository with realistic bullets: sentences of
../shared/eval mixed with a seed. Cold figures are whole processes that take turns,
the least of N, wall and CPU milliseconds; ratios are to benchmarks/floor.py in the same run.
PYTHONDONTWRITEBYTECODE must not be set for them to mean anything, so it is removed.
"""

# ruff: noqa: ANN001, ANN002, ANN201, ANN202, E402

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

from memx.app.index import on_all_cores
from memx.app.search import SearchRequest, SearchStore, search
from memx.config import Config, EmbeddingConfig
from memx.generator.scopes import Viewer
from memx.index.dense.text import embedding_key
from memx.index.index import Index, IndexPlace
from memx.index.vectors import Vectors
from memx.model import SECTIONS, Bullet
from memx.store.codec import format_bullet, parse_bullet
from memx.store.naming import bullet_id

EVAL = os.path.join(ROOT, "..", "shared", "eval")
MANY = 10_000
"""Above this a third of the rounds has to do, and vectors are invented."""
QUERIES = ("docker", "redis connection pool timeout", "how to list all running containers", "zzqqyx nothing")
NOW = 1_796_000_000.0
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | {"PYTHONPATH": ROOT}


def sentences():
    """Return sentences of 20 to 250 characters from the evaluation notes and pages."""
    found = []
    for name in ("notes.dev.jsonl", "tldr.dev.jsonl"):
        with open(os.path.join(EVAL, name), encoding="utf-8") as file:
            for line in file:
                text = json.loads(line)["text"].replace("\n", " ")
                found += [part.strip() for part in text.split(". ") if 20 < len(part) < 250]
    return found


def make_bullets(count, seed=1):
    """Yield (path, bytes) of so many bullets, no two alike."""
    rng = random.Random(seed)
    parts = sentences()
    words = sorted({w for p in parts for w in p.split() if w.isalpha()})
    for number in range(count):
        text = f"{rng.choice(parts)}. {rng.choice(parts)} {rng.choice(words)} {number}"
        section = rng.choice(SECTIONS)
        bullet = Bullet(
            id=bullet_id(text),
            text=text,
            section=section,
            tags=tuple(rng.sample(words, 2)),
            score=rng.randrange(30, 100),
            created=NOW - rng.random() * 730 * 86_400,
            source=f"commit {rng.getrandbits(160):040x}",
        )
        yield f".memx/bullets/{section}/{bullet.id}.md", format_bullet(bullet)


def git(folder, *arguments, data=None):
    """Run git."""
    identity = ("-c", "user.name=b", "-c", "user.email=b@example.org", "-c", "gc.auto=0")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, input=data)


def make_repository(folder, count):
    """Make a repository with a store on `main` and a branch `other` where 500 bullets differ; return the paths.

    One pack is written at once: a loose object a bullet would take longer than all that is measured.
    """
    files = dict(make_bullets(count))
    changed = random.Random(2).sample(sorted(files), min(500, count))
    other = {path: files[path] + b"One more sentence on the other branch.\n" for path in changed}
    stream = [_commit("main", files), _commit("other", other, parent="from refs/heads/main\n")]
    git(folder, "init", "-q", "-b", "main")
    git(folder, "fast-import", "--quiet", data=b"".join(stream))
    git(folder, "checkout", "-q", "-f", "main")
    return list(files)


def _commit(branch, files, parent=""):
    head = (
        f"commit refs/heads/{branch}\ncommitter b <b@example.org> 1700000000 +0000\ndata 5\nstore\n{parent}"
    )
    changes = (
        b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(data), data)
        for path, data in files.items()
    )
    return b"".join((head.encode(), *changes, b"\n"))


def once(command, folder, environment=ENVIRONMENT):
    """Return (wall, CPU) in ms of one whole process, without what it left behind detached."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    wall = 1000 * (time.perf_counter() - started)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def measure_paired(commands, folder, runs):
    """Return {label: (wall, CPU)} minima in ms; the commands take turns, so that a busy machine slows all alike."""
    found = {label: [] for label in commands}
    for number in range(runs + 1):
        for label, command in commands.items():
            figures = once(command, folder)
            if number:  # the first round only warms the caches
                found[label].append(figures)
    return {label: tuple(map(min, zip(*rows, strict=True))) for label, rows in found.items()}


def report(label, figures, floor=None):
    """Print a line: wall, CPU and, when a floor is given, the ratios to it."""
    wall, cpu = figures
    ratio = "" if floor is None else f"{wall / floor[0]:8.2f}{cpu / floor[1]:8.2f}"
    print(f"  {label:44}{wall:9.1f}{cpu:9.1f}{ratio}", flush=True)


def invent_vectors(folder, paths):
    """Give each bullet a vector of chance: embedding 100,000 texts takes minutes, finding vectors costs the same."""
    rng = random.Random(3)
    store = open_index(folder).vectors.store
    rows = []
    for path in paths:
        with open(os.path.join(folder, path), "rb") as file:
            rows.append((embedding_key(parse_bullet(file.read(), path=path).text), rng.randbytes(256)))
    store.add(rows)


def open_index(folder):
    """Return the index as the product opens it."""
    git_dir = os.path.join(folder, ".git")
    vectors = Vectors.open(EmbeddingConfig(), os.path.join(git_dir, "memx", "vectors"))
    files = (os.path.join(git_dir, "index"), os.path.join(git_dir, "HEAD"))
    place = IndexPlace(
        os.path.join(folder, ".memx"), os.path.join(git_dir, "memx", "cache"), "project", files
    )
    return Index(place, vectors, spread=on_all_cores)


def cpu_seconds():
    """Return what this process and all that it has waited for have spent."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def timed(label, action, prepare=None, runs=1):
    """Print the least wall and CPU time of some runs, in ms, processes that it starts included; return both."""
    found = []
    for number in range(runs):
        if prepare is not None:
            prepare(number)
        started, spent = time.perf_counter(), cpu_seconds()
        action()
        found.append((1000 * (time.perf_counter() - started), 1000 * (cpu_seconds() - spent)))
    least = tuple(map(min, zip(*found, strict=True)))
    print(f"  {label:44}{least[0]:9.1f}{least[1]:9.1f}", flush=True)
    return least


def floor_command(folder):
    """Return the bare script's command for this store."""
    from memx.index import manifest

    generation = manifest.current_generation(os.path.join(folder, ".git", "memx", "cache"))
    store = open_index(folder).vectors.store
    rows = store._path("rows")  # noqa: SLF001
    script = os.path.join(ROOT, "benchmarks", "floor.py")
    return [sys.executable, script, os.path.join(generation, "lexical"), rows, str(store.dimension)]


def cold(folder, runs):
    """Print the cold searches against the floor and against grep."""
    print(f"  {'':44}{'wall ms':>9}{'CPU ms':>9}{'x wall':>8}{'x CPU':>8}")
    bare = floor_command(folder)
    # The console script of an installed memx; `python -m` would load runpy as well.
    search_for = [sys.executable, "-c", "from memx.entry.start import run; run()", "search", "--no-recall"]
    commands = {"python -c pass": [sys.executable, "-c", "pass"]}
    for query in QUERIES:
        commands[f"floor {query.split()[0]!r}"] = [*bare, query.split()[0]]
        commands[f"memx search {query!r}"] = [*search_for, query]
    found = measure_paired(commands, folder, runs)
    floors = [found[f"floor {query.split()[0]!r}"] for query in QUERIES]
    floor = tuple(statistics.mean(f[i] for f in floors) for i in (0, 1))
    report("python -c pass", found["python -c pass"], floor)
    report("floor (tantivy + simsimd + mmap)", floor, floor)
    for query in QUERIES:
        report(f"memx search {query!r}", found[f"memx search {query!r}"], floor)
    others = {
        "memx search --fresh": [*search_for, "--fresh", QUERIES[1]],
        "git grep -l": ["git", "grep", "-l", "-F", "docker"],
    }
    if shutil.which("rg"):
        others["rg -l"] = ["rg", "-l", "-F", "docker", ".memx"]
    for label, figures in measure_paired(others, folder, max(3, runs // 3)).items():
        report(label, figures, floor)


PEAK = """
import resource, sys
sys.path.insert(0, {root!r})
sys.path.insert(0, {benchmarks!r})
import speed
speed.open_index({folder!r}).{action}()
with open("/proc/self/status") as file:
    own = next(int(line.split()[1]) >> 10 for line in file if line.startswith("VmHWM"))
workers = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
print(own, "MB", f"and {{workers}} MB the larger of its workers" if workers else "")
"""


def peak_memory(folder):
    """Print the peak resident set of a cold search (Linux: VmHWM, which a fork does not inherit) and of a rebuild."""
    script = (
        "import sys\nfrom memx.entry.cli.main import main\n"
        "try:\n    main()\nfinally:\n"
        "    sys.stderr.write([x for x in open('/proc/self/status') if x.startswith('VmHWM')][0])"
    )
    command = [sys.executable, "-c", script, "search", "--no-recall", QUERIES[1]]
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    print(f"  peak memory of a cold search: {int(done.stderr.split()[-2]) >> 10} MB")
    for action in ("refresh", "rebuild"):
        script = PEAK.format(
            root=ROOT, benchmarks=os.path.join(ROOT, "benchmarks"), folder=folder, action=action
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        print(f"  peak memory of a {action}: {done.stdout.strip()}", flush=True)


def vector_scan(folder, runs):
    """Print what one scan of all vectors takes: mapped anew (page cache warm) and again, median and least."""
    store = open_index(folder).vectors.store
    query = store.get(store.keys()[len(store) // 2])
    times = {"mapped anew": [], "again": []}
    for _ in range(runs):
        store = open_index(folder).vectors.store
        for found in times.values():
            started = time.perf_counter()
            store.scan(query, 40)
            found.append(1000 * (time.perf_counter() - started))
    for label, found in times.items():
        middle, least = statistics.median(found), min(found)
        print(f"  scan of {len(store)} vectors, {label}: median {middle:.2f} ms, least {least:.2f} ms")


def warm(folder):
    """Print p50 and p95 of searches in one process."""
    index, times = open_index(folder), []
    for number in range(60):
        query = QUERIES[number % 3]
        started = time.perf_counter()
        store = SearchStore(index, os.path.join(folder, ".memx"))
        search(SearchRequest(query), [store], config=Config(), now=NOW, viewer=Viewer())
        times.append(1000 * (time.perf_counter() - started))
    times.sort()
    print(f"  warm search in one process: p50 {times[30]:.1f} ms, p95 {times[57]:.1f} ms")


def changes(folder, paths, runs):
    """Print what one changed file costs, and a switch of branch of 500 files, there and back."""

    def edit(number):
        """Replace a file as an editor does, once what was written before is old enough to be believed."""
        time.sleep(0.05)
        open_index(folder).refresh()
        path = os.path.join(folder, paths[number])
        with open(path, "rb") as file, open(f"{path}.tmp", "wb") as new:
            new.write(file.read() + b"Changed.\n")
        os.replace(f"{path}.tmp", path)
        names.append(paths[number].removeprefix(".memx/"))

    names = []
    named = timed("one file, named", lambda: open_index(folder).snapshot(changed=names[-1:]), edit, runs)
    searched = timed("one file, found by a search", lambda: open_index(folder).snapshot(), edit, runs)
    timed("one file, found by a check of all files", lambda: open_index(folder).refresh(), edit, runs)
    timed("check of all files, nothing changed", lambda: open_index(folder).refresh(), None, runs)
    print(f"  ratio to 60 ms of CPU: named {named[1] / 60:.2f}, found by a search {searched[1] / 60:.2f}")
    git(folder, "checkout", "-q", "--", ".")
    open_index(folder).refresh()
    for title, branches in (("first time", ("other",)), ("texts known", ("main", "other") * runs)):
        switches(folder, title, branches)
    git(folder, "checkout", "-q", "main")


def switches(folder, title, branches):
    """Print the least of git's own work in switches of branch, and of the refresh that follows each."""
    rows = []
    for branch in branches:
        row = []
        for action in (
            lambda b=branch: git(folder, "checkout", "-q", b),
            lambda: open_index(folder).refresh(),
        ):
            started, spent = time.perf_counter(), cpu_seconds()
            action()
            row += [1000 * (time.perf_counter() - started), 1000 * (cpu_seconds() - spent)]
        rows.append(row)
    least = list(map(min, zip(*rows, strict=True)))
    print(f"  git checkout, 500 files ({title}){'':>{17 - len(title)}}{least[0]:10.1f}{least[1]:9.1f}")
    print(
        f"  refresh after it{least[2]:37.1f}{least[3]:9.1f}{least[2] / least[0]:8.2f}{least[3] / least[1]:8.2f}"
    )


def main():
    """Measure each size in its own repository."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    for size in options.sizes:
        runs = options.runs if size <= MANY else max(3, options.runs // 3)
        with tempfile.TemporaryDirectory() as folder:
            print(
                f"\n{size} bullets; ms of wall time and of CPU, and their ratios where there is something to compare"
            )
            paths = make_repository(folder, size)
            if size > MANY:
                invent_vectors(folder, paths)
            else:
                timed("first build with embedding", lambda folder=folder: open_index(folder).rebuild())
            timed("rebuild, vectors known", lambda folder=folder: open_index(folder).rebuild())
            peak_memory(folder)
            changes(folder, paths, max(3, runs // 3))
            cold(folder, runs)
            warm(folder)
            vector_scan(folder, options.runs)


if __name__ == "__main__":
    main()
