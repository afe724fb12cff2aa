# Takes memory or descriptors, in several processes, for three seconds at most. 2 GB in
# all: the machine is not ours alone.
import os
import socket
import sys
import time

end = time.time() + 3
children = []
for _ in range(8):
    pid = os.fork()
    if pid:
        children.append(pid)
        continue
    kept = []
    try:
        while time.time() < end:
            if sys.argv[1] == "memory":
                if len(kept) < 64:
                    kept.append(bytearray(os.urandom(1) * (4 << 20)))
                else:
                    time.sleep(0.01)
            else:
                kept.append(socket.socketpair(socket.AF_UNIX))
                kept.append(os.pipe())
    except (OSError, MemoryError):
        time.sleep(max(0, end - time.time()))
    os._exit(0)
for pid in children:
    os.waitpid(pid, 0)
