"""Started as a program of its own: confines itself by the policy in its first argument, then runs the rest."""

import ctypes
import json
import os
import signal
import sys

_DIE_WITH_PARENT, _ADOPT_ORPHANS = 1, 36


def main() -> int:
    """Runs the command of the arguments; what it leaves behind becomes a child of this process, which is watched."""
    control = ctypes.CDLL(None).prctl
    control(_DIE_WITH_PARENT, signal.SIGKILL)
    control(_ADOPT_ORPHANS, 1)
    if os.getppid() == 1:
        return 1  # who started this has gone already
    from sandlock import Sandbox, SandlockError

    policy, command = json.loads(sys.argv[1]), sys.argv[2:]
    try:
        running = Sandbox(**policy).popen(command)
        result = running.wait()
    except (SandlockError, RuntimeError, OSError) as error:
        sys.stderr.write(f"the sandbox could not be made: {error}\n")
        return 125
    code, ended_by = int(result.exit_code), int(result.signal)
    if ended_by > 0:
        return 128 + ended_by
    return code if code >= 0 else 128 + signal.SIGKILL


if __name__ == "__main__":
    sys.exit(main())
