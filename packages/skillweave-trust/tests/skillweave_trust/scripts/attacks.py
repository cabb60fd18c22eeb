"""Scripts that try what a sandbox is to hold, written for these tests; each prints ESCAPED where it got through."""

READS_PASSWD = """
try:
    print("ESCAPED" if "root:" in open("/etc/passwd").read() else "empty")
except OSError as error:
    print("held", type(error).__name__)
"""
READS_HOME = """
import os, sys
for place in (sys.argv[1], "/root", "/home"):
    try:
        if os.listdir(place):
            print("ESCAPED", place)
    except OSError as error:
        print("held", type(error).__name__)
"""
READS_SECRET = """
import os, sys
try:
    print("ESCAPED" if "a secret of the user" in open(sys.argv[1]).read() else "empty")
except OSError as error:
    print("held", type(error).__name__)
print("ESCAPED by environment" if "ATTACK_SECRET" in os.environ else "held")
"""
WRITES_OUTSIDE = """
import os, sys
skill = os.path.dirname(os.path.abspath(__file__))
for place in (sys.argv[1], skill, "/usr", "/etc", "/", "/dev", "/proc/sys/kernel"):
    try:
        with open(os.path.join(place, "planted"), "w") as file:
            file.write("x")
        print("ESCAPED", place)
    except OSError as error:
        print("held", type(error).__name__)
"""
CHANGES_ITSELF = """
import os
try:
    os.chmod(__file__, 0o777)
    open(__file__, "w").write("changed")
    print("ESCAPED")
except OSError as error:
    print("held", type(error).__name__)
"""
OPENS_TCP = """
import socket, sys
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), 1)
    print("ESCAPED")
except OSError as error:
    print("held", type(error).__name__)
"""
SENDS_UDP = """
import socket, sys
try:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"stolen", ("127.0.0.1", int(sys.argv[1])))
    print("sent")
except OSError as error:
    print("held", type(error).__name__)
"""
CONNECTS_UNIX = """
import socket, sys
for address in (sys.argv[1], "\\0" + sys.argv[2]):
    try:
        one = socket.socket(socket.AF_UNIX)
        one.connect(address)
        print("ESCAPED", repr(address))
    except OSError as error:
        print("held", type(error).__name__)
"""
FORKS = """
import os, time
while True:
    try:
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
    except OSError:
        time.sleep(0.01)
"""
EATS_MEMORY = """
held = []
while True:
    held.append(bytearray(b"x") * 8_000_000)
"""
EATS_IN_CHILDREN = """
import os, time
for _ in range(6):
    if os.fork() == 0:
        held = bytearray(b"x") * 60_000_000
        time.sleep(20)
        os._exit(0)
time.sleep(20)
"""
FILLS_DISK = """
import os
for number in range(100_000):
    with open(f"file{number}", "wb") as file:
        file.write(b"x" * 1_000_000)
"""
ONE_LARGE_FILE = """
with open("large", "wb") as file:
    while True:
        file.write(b"x" * 1_000_000)
"""
UNLINKED_FILES = """
import os, time
held = []
for number in range(200):
    file = open("gone", "wb")
    os.unlink("gone")
    file.write(b"x" * 1_000_000)
    file.flush()
    held.append(file)
time.sleep(20)
"""
MEMORY_FILES = """
import os, time
held = []
for number in range(200):
    one = os.memfd_create(f"m{number}")
    os.write(one, b"x" * 8_000_000)
    held.append(one)
time.sleep(20)
"""
SHARED_MEMORY = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.shmget.argtypes = [ctypes.c_int, ctypes.c_size_t, ctypes.c_int]
got = libc.shmget(0, 64_000_000, 0o1600)
print("ESCAPED" if got >= 0 else "held")
"""
MANY_FILES = """
import itertools
for number in itertools.count():
    open(f"file{number}", "wb").close()
"""
FILLS_SHM = """
import os
for place in ("/dev/shm", "/tmp", "/run", "/"):
    total = 0
    try:
        for number in range(100):
            with open(os.path.join(place, f"big{number}"), "wb") as file:
                file.write(b"x" * 1_000_000)
            total += 1
    except OSError as error:
        print("held", place, total, type(error).__name__)
    print("ESCAPED" if total > 17 else "bounded", place, total)
"""
RUNS_FOR_EVER = """
while True:
    pass
"""
IGNORES_SIGTERM = """
import signal, time
for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(one, signal.SIG_IGN)
while True:
    time.sleep(1)
"""
LEAVES_DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for name in (0, 1, 2):
            os.close(name)
        os.execv("/usr/bin/sleep", ["sleep", "47.11"])
    os._exit(0)
time.sleep(0.2)
print("left")
"""
PRINTS = """
import sys
while True:
    sys.stdout.write("x" * 1_000_000)
"""
USES_PROC = """
import os, sys
host = sys.argv[1]
wanted = [f"/proc/{host}/{name}" for name in ("environ", "cwd/pyproject.toml", "root/etc/passwd")]
for place in (*wanted, "/proc/1/environ"):
    try:
        content = open(place, "rb").read()
        print("ESCAPED" if b"ATTACK_SECRET" in content or b"root:" in content or b"[project]" in content else "nothing")
    except OSError as error:
        print("held", type(error).__name__)
try:
    os.kill(int(host), 0)
    print("ESCAPED by signal" if os.path.exists(f"/proc/{host}/environ") and os.getpid() > 1000 else "held")
except OSError as error:
    print("held", type(error).__name__)
"""
NEW_NAMESPACE = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print("ESCAPED" if libc.unshare(0x10000000) == 0 else "held")
print("ESCAPED" if libc.mount(b"none", b"/work", b"tmpfs", 0, None) == 0 else "held")
"""
PLANTS_LINK = """
import os, sys
os.symlink(sys.argv[1], "answer.txt")
os.mkdir("shut")
open("shut/inside", "w").write("x")
os.chmod("shut", 0)
print("planted")
"""
