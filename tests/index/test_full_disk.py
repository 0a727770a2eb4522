"""A full disk takes the index away, never the answers; with room again all is as before."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.index.conftest import IndexedStore

SEARCHES = """
import os, resource, subprocess, sys
from memx.index.index import Index, IndexPlace
from memx.index.query import LexicalQuery

root, cache, way = sys.argv[1:]

def find(word):
    index = Index(IndexPlace(root, cache))
    snapshot = index.snapshot()
    found = snapshot.candidates(LexicalQuery(index.analyser.terms(word)), 1000)
    print(word, sum(f" {word} " in bullet.exact for bullet in found), "degraded:", snapshot.degraded or "no")

def room(bytes_):
    if way == "tmpfs":
        size = "size=64m" if bytes_ is None else f"size={bytes_}"
        subprocess.run(["mount", "-o", f"remount,{size}", cache], check=True)
    else:
        soft = resource.RLIM_INFINITY if bytes_ is None else bytes_
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, resource.RLIM_INFINITY))

def write(name, text):
    with open(os.path.join(root, "bullets/general", name + ".md"), "w") as file:
        file.write(text)

room(1024)
find("alpha")                   # nothing was built yet, and nothing can be
room(None)
find("alpha")                   # built
for number in range(60):
    write(f"new{number}", "omega " + " ".join(f"w{number}x{n}" for n in range(200)))
room(4096 if way == "limit" else 65536)
find("omega")                   # the changes do not fit: laid over
find("alpha")
room(None)
find("omega")                   # written now
"""


@pytest.mark.parametrize("way", ["limit", "tmpfs"])
def test_search_on_a_full_disk_answers_and_recovers(store: IndexedStore, way: str) -> None:
    """Before the first build and in the middle of a refresh: right answers, said to be degraded, then healed."""
    for number in range(30):
        store.write(f"n{number}", f"alpha {number}")
    store.cache.mkdir()
    script = [sys.executable, "-c", SEARCHES, str(store.root), str(store.cache), way]
    if way == "tmpfs":
        mounted = 'mount -t tmpfs -o size=64m memx "$0" && exec "$@"'
        script = ["unshare", "-rm", "sh", "-c", mounted, str(store.cache), *script]
        trial = ["unshare", "-rm", "sh", "-c", mounted, str(store.cache), "true"]
        if not shutil.which("unshare") or subprocess.run(trial, check=False, capture_output=True).returncode:
            pytest.skip("no file systems can be mounted here")
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.partition(" degraded: ")[0] for line in lines] == [
        "alpha 30",
        "alpha 30",
        "omega 60",
        "alpha 30",
        "omega 60",
    ]
    said = [line.partition(" degraded: ")[2] for line in lines]
    assert said[1] == said[4] == "no"
    assert all(text.startswith("index: ") for text in (said[0], said[2], said[3])), lines
