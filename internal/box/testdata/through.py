"""Asks the box's proxy for a host and says something to it: through.py TARGET WORDS."""

import os, socket, sys

proxy = os.environ["https_proxy"].removeprefix("http://").split(":")
s = socket.create_connection((proxy[0], int(proxy[1])), 10)
s.sendall(b"CONNECT " + sys.argv[1].encode("utf-8", "surrogateescape") + b" HTTP/1.1\r\nHost: hole.example:443\r\n\r\n")
said = s.recv(4096).split(b"\r\n")[0]
print(said.decode())
if b" 200 " in said:
    s.sendall(sys.argv[2].encode())
    print(s.recv(4096).decode())
