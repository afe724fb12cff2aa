# Stands for an agent: runs a hook for each line it reads and says how that went. It is a
# process of its own, because the monitor takes whoever starts hooks for an agent, and
# what an agent starts for no owner.
import json, subprocess, sys, time

for line in sys.stdin:
    ask = json.loads(line)
    began = time.monotonic()
    done = subprocess.run(["sh", "-c", ask["command"]], input=ask["event"].encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    took = time.monotonic() - began
    wrong = done.returncode != 0 or b"did not answer" in done.stdout
    print(json.dumps({"seconds": took, "refused": wrong}), flush=True)
