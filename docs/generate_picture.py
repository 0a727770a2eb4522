"""Draw docs/assets/tour.svg: a real session in a throw-away repository, as a terminal shows it."""

from __future__ import annotations

import html
import os
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS = 104
LINE_HEIGHT = 18
CHAR_WIDTH = 7.8
MARGIN = 18
HEAD = 34

COMMIT = (
    "fix(cache): stop the stalls at noon\n\n"
    "The root cause was the connection pool: with fewer connections than workers the\n"
    "rest block until the timeout, so `pool_size` must be at least the number of workers."
)
SESSION = (
    ("git", "commit", "--allow-empty", "-m", COMMIT),
    ("memx", "inbox"),
    ("memx", "review", "--all"),
    ("memx", "search", "why do requests hang at lunch time", "-n", "1", "--explain"),
    ("memx", "add", "Setting the connection pool to 10 is enough"),
    ("memx", "search", "how do whales sleep under arctic ice"),
)


def run(arguments: tuple[str, ...], folder: str) -> str:
    """Return what a command prints, standard error first, as a terminal shows it."""
    words = [sys.executable, "-m", *arguments] if arguments[0] == "memx" else list(arguments)
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).replace(folder, "~/shop")


def record() -> list[tuple[str, str]]:
    """Run the session and return (kind, line) for every line of the screen."""
    lines: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        for arguments in (("git", "init", "-q", "-b", "main"), ("git", "config", "user.name", "Ana")):
            run(arguments, folder)
        run(("git", "config", "user.email", "ana@example.org"), folder)
        run(("memx", "init", "--quiet"), folder)
        run(("git", "add", "-A"), folder)
        run(("git", "commit", "--quiet", "-m", "Start a store"), folder)
        for arguments in SESSION:
            shown = " ".join(shlex.quote(word.split("\n")[0]) for word in arguments)
            lines.append(("prompt", f"$ {shown}"))
            lines += [
                ("out", line) for line in run(arguments, folder).splitlines() if "file changed" not in line
            ]
            lines.append(("out", ""))
    return [(kind, part) for kind, line in lines for part in wrap(line)]


def wrap(line: str) -> list[str]:
    """Cut a line at the terminal's width."""
    return [line[start : start + COLUMNS] for start in range(0, max(1, len(line)), COLUMNS)]


def draw(lines: list[tuple[str, str]]) -> str:
    """Return the picture."""
    width = round(COLUMNS * CHAR_WIDTH + 2 * MARGIN)
    height = HEAD + LINE_HEIGHT * len(lines) + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        "<title>memx learns from a commit and answers</title>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#1d2430"/>',
        *(f'<circle cx="{MARGIN + 18 * i}" cy="17" r="6" fill="#4a5568"/>' for i in range(3)),
        '<g font-family="ui-monospace,Menlo,Consolas,monospace" font-size="13" xml:space="preserve">',
    ]
    colours = {"prompt": "#7ee0a2", "out": "#d5dbe5"}
    for number, (kind, line) in enumerate(lines):
        y = HEAD + LINE_HEIGHT * number + 12
        text = html.escape(line, quote=False)
        parts.append(f'<text x="{MARGIN}" y="{y}" fill="{colours[kind]}">{text}</text>')
    return "\n".join([*parts, "</g>", "</svg>", ""])


def main() -> int:
    """Write the picture."""
    with open(os.path.join(HERE, "assets", "tour.svg"), "w", encoding="utf-8") as stream:
        stream.write(draw(record()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
