"""Write memx/data/model/vocabulary.map and manifest.txt from the model's own files.

Run it after the model changed: `python tools/embedding/build_vocab_map.py`.
"""

from __future__ import annotations

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, ROOT)

from memx.index.dense.model import format_manifest, measure_files  # noqa: E402
from memx.index.dense.vocabulary import build_vocabulary_map  # noqa: E402

MODEL_ID = "memx-multi-256-int8-r2"


def main() -> None:
    """Build both files in place."""
    folder = os.path.join(ROOT, "memx", "data", "model")
    contents = {}
    for name in ("tokenizer.json", "config.json"):
        with open(os.path.join(folder, name), "rb") as file:
            contents[name] = file.read()
    data = build_vocabulary_map(contents["tokenizer.json"], contents["config.json"])
    path = os.path.join(folder, "vocabulary.map")
    with open(f"{path}.tmp", "wb") as file:
        file.write(data)
    os.replace(f"{path}.tmp", path)  # a process may have mapped the old one
    manifest = format_manifest(MODEL_ID, measure_files(folder))
    with open(os.path.join(folder, "manifest.txt"), "w", encoding="utf-8", newline="\n") as file:
        file.write(manifest)
    print(f"vocabulary.map: {len(data):,} bytes")
    print(manifest, end="")


if __name__ == "__main__":
    main()
