"""A network of its own, with a name server and a host on an address of the open network, in
which the rest of the command line is run:

    unshare --user --map-current-user --keep-caps --mount --net python3 street.py FILE COMMAND…

hole.example and other.example lead to that host, inner.example to the loopback. What the host
hears is written to standard output at the end."""

import ctypes, fcntl, os, socket, struct, subprocess, sys, threading

OUTSIDE = "8.8.4.4"
heard = []


def up():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", b"lo", 0x41))  # SIOCSIFFLAGS: up, running
    fcntl.ioctl(s, 0x8916, struct.pack("16sHH4s8x", b"lo:1", socket.AF_INET, 0, socket.inet_aton(OUTSIDE)))  # SIOCSIFADDR


def names(s):
    to = {b"hole": OUTSIDE, b"other": OUTSIDE, b"inner": "127.0.0.1"}
    while True:
        q, who = s.recvfrom(512)
        end = q.index(b"\0", 12) + 5
        ip = to.get(q[13:13 + q[12]].lower())
        a = ip and q[end - 4:end - 2] == b"\0\1" and q[end - 20:end - 5].lower().endswith(b"\7example")
        head = q[:2] + (b"\x81\x80" if ip else b"\x81\x83") + b"\0\1" + (b"\0\1" if a else b"\0\0") + b"\0\0\0\0"
        s.sendto(head + q[12:end] + (b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4" + socket.inet_aton(ip) if a else b""), who)


def host(s):
    while True:
        c, _ = s.accept()
        data = c.recv(4096)
        heard.append(data.decode("latin1"))
        c.sendall(b"heard " + data)
        c.close()


up()
with open(sys.argv[1], "w") as f:
    f.write("nameserver 127.0.0.1\nsearch example\n")
if ctypes.CDLL(None).mount(sys.argv[1].encode(), os.path.realpath("/etc/resolv.conf").encode(), None, 4096, None):
    sys.exit("no mount")
dns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
dns.bind(("127.0.0.1", 53))
threading.Thread(target=names, args=(dns,), daemon=True).start()
for port in (443, 22):
    threading.Thread(target=host, args=(socket.create_server(("", port)),), daemon=True).start()
code = subprocess.run(sys.argv[2:]).returncode
print("outside:", heard, flush=True)
sys.exit(code)
