"""Show whether an installation needs a compiler anywhere.

    python tools/release/wheels.py [--extra llm --extra mcp] [--python 3.11 ...] [--platform linux-x86_64 ...]

For every platform and Python that memx names, pip resolves memx's
requirements (pyproject.toml) with everything below them, allowed to take
wheels only. A failure names what has none. Without a network it fails.

pip evaluates markers such as `sys_platform` for the interpreter it runs in, so
a library that is required on another system only is not seen.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import tomllib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS = {
    "linux-x86_64": ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    "linux-aarch64": ("manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"),
    "macos-arm64": ("macosx_14_0_arm64", "macosx_12_0_arm64", "macosx_11_0_arm64", "macosx_11_0_universal2"),
    "macos-x86_64": ("macosx_14_0_x86_64", "macosx_11_0_x86_64", "macosx_10_15_x86_64", "macosx_10_9_x86_64"),
    "windows-amd64": ("win_amd64",),
    "windows-arm64": ("win_arm64",),
}


def requirements(extras: list[str]) -> list[str]:
    """Return what pyproject.toml requires."""
    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        project = tomllib.load(file)["project"]
    found = list(project["dependencies"])
    for extra in extras:
        found += project["optional-dependencies"][extra]
    return found


def resolve(python: str, platform: str, wanted: list[str]) -> tuple[dict[str, str], str]:
    """Return {file of each wheel: its package}, or why there is no such set."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
        command += ["--only-binary=:all:", "--target", folder, "--python-version", python, "--report", "-"]
        for tag in PLATFORMS[platform]:
            command += ["--platform", tag]
        done = subprocess.run([*command, *wanted], capture_output=True, text=True, check=False)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        return {}, errors[-1] if errors else done.stderr.strip()[-200:]
    installed = json.loads(done.stdout)["install"]
    return {
        os.path.basename(item["download_info"]["url"]): item["metadata"]["name"] for item in installed
    }, ""


def main() -> int:
    """Print a table; 1 when a combination has no complete set of wheels."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--extra", action="append", default=[])
    parser.add_argument("--python", nargs="*", default=list(PYTHONS))
    parser.add_argument("--platform", nargs="*", default=list(PLATFORMS))
    parser.add_argument("--verbose", action="store_true", help="name every compiled wheel")
    arguments = parser.parse_args()
    wanted = requirements(arguments.extra)
    failures = []
    print("| | " + " | ".join(arguments.python) + " |\n| --- |" + " --- |" * len(arguments.python))
    for platform in arguments.platform:
        cells = []
        for python in arguments.python:
            wheels, problem = resolve(python, platform, wanted)
            compiled = sorted(file for file in wheels if not file.endswith("-any.whl"))
            cells.append(f"{len(wheels)} ({len(compiled)})" if wheels else "none")
            if problem:
                failures.append(f"{platform}, {python}: {problem}")
            if arguments.verbose:
                print("\n".join(compiled), file=sys.stderr, flush=True)
        print(f"| {platform} | " + " | ".join(cells) + " |", flush=True)
    print("\nwheels in all (compiled ones)")
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
