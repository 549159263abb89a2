"""The examples do what they show, on the demo."""

from __future__ import annotations

import re
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .harness import QUIET, Served

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
# What each prints, by its beginning or by what is in it.
PRINTS = {
    "../../README.md": r"\A# Program of an evening about bees\n",
    "README.md": r"\Arun_accepted\n(\w+\n)+run_result\n# Program of an evening about bees\n(.|\n)+\*\*714\*\*\n",
    "ask.py": r"\A# Program of an evening about bees\n",
    "chat.py": r"\A> What is 42 \* 17\?\n- 42 \* 17 = \*\*714\*\*\n[^>]+> And 6 \* 7\?\n- 6 \* 7 = \*\*42\*\*\n",
    "review.py": r"\A(letter waits for a decision\n){2}# Letter of thanks\n(.|\n)+Warmer, please\n",
    "several.py": r"\A[^\n]*bees[^\n]*\n[^\n]*tides[^\n]*\n[^\n]*volcanoes[^\n]*\n\Z",
    "watch.py": r"\A1 of 3: Researcher\n2 of 3: Calculator\n(  calculator \{.+\}\n)+3 of 3: Writer\nCOMPLETED with ",
}


README = EXAMPLES.parent / "README.md"
FRONT_PAGE = EXAMPLES.parent.parent.parent / "README.md"


def program(page: Path, url: str) -> str:
    """The program that a page shows, with the address of the server here."""
    shown = re.search(r"```python\n(.+?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert shown, page
    return shown[1].replace("http://127.0.0.1:7329", url)


class ExamplesTest(unittest.TestCase):
    """Two at a time, because the demo takes five runs at once."""

    def test_every_example_does_what_it_shows(self) -> None:
        self.assertEqual(
            {path.name for path in EXAMPLES.glob("*.py")}, {name for name in PRINTS if name.endswith(".py")}
        )
        server = Served()
        self.addCleanup(server.close)

        def run(name: str) -> subprocess.CompletedProcess[str]:
            shown = {"README.md": README, "../../README.md": FRONT_PAGE}.get(name)
            source = ["-c", program(shown, server.url)] if shown else [str(EXAMPLES / name)]
            words = [sys.executable, "-W", "error", *source]
            env = QUIET | {"CONSORT_URL": server.url}
            return subprocess.run(words, env=env, capture_output=True, text=True, timeout=300, check=False)

        with ThreadPoolExecutor(2) as pool:
            for name, ended in zip(PRINTS, pool.map(run, PRINTS), strict=True):
                with self.subTest(name):
                    self.assertEqual((ended.returncode, ended.stderr), (0, ""))
                    self.assertIsNotNone(re.search(PRINTS[name], ended.stdout), ended.stdout)
