"""`opencode-executor`: changes code in a scratch folder, and runs it and its tests."""

from .running import Limits, run
from .scratch import Refused, Scratch

_RUN_FILE = """
import runpy, sys
sys.path.insert(0, sys.argv[1])
del sys.argv[:2]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""An isolated Python does not find the modules beside a script by itself."""


class Executor:
    """Code in one folder; what it runs is not confined to it (see the package's note)."""

    def __init__(self, scratch: Scratch, limits: Limits | None = None) -> None:
        self._scratch = scratch
        self._limits = limits or Limits()

    def write_file(self, path: str, text: str) -> str:
        """Make or replace a file."""
        return f"wrote {path}, {self._scratch.write(path, text)} characters"

    def show(self, path: str) -> str:
        """The text of a file, or the list of all files where no path is given."""
        return self._scratch.read(path) if path else f"files: {', '.join(self._scratch.files()) or 'none yet'}"

    def run_python(self, path: str) -> str:
        """Run a file as a script; gives its exit code and its output."""
        place = self._scratch.place(path)
        if not place.is_file():
            raise Refused(f"there is no file {path[:60]!r}; {self.show('')}")
        root = str(self._scratch.root)
        return run(["-c", _RUN_FILE, root, str(place)], self._scratch.root, self._limits).in_words()

    def run_tests(self) -> str:
        """Run all `test*.py` files with unittest; gives the exit code, 0 when all hold, and the report."""
        return run(["-m", "unittest", "discover"], self._scratch.root, self._limits).in_words()
