"""Holds the Python client against the contract that every client keeps."""

import asyncio
import contextlib
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

import floodmark

TABLE = pathlib.Path(__file__).parent.parent / "testdata" / "contract.json"
ALLOW = {"decision": {"verdict": "allow"}}
TIMEOUT = 20  # enough on a busy machine
SHORT = 1  # where no answer comes


class Scripted:
    """A monitor that answers as it is told and keeps what it hears."""

    def __init__(self, exchanges, tls=None):
        self.exchanges, self.heard, self.tls = list(exchanges), [], tls
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "s")
        if tls:
            self.listener = socket.socket()
            self.listener.bind(("localhost", 0))
            self.port = self.listener.getsockname()[1]
        else:
            self.listener = socket.socket(socket.AF_UNIX)
            self.listener.bind(self.path)
        self.listener.listen()
        self.held = []
        threading.Thread(target=self.serve, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        for conn in self.held:
            conn.close()
        self.folder.cleanup()

    def serve(self):
        while True:
            try:
                conn, _ = self.listener.accept()
            except OSError:
                return
            if self.tls:
                try:
                    conn = self.tls.wrap_socket(conn, server_side=True)
                except OSError:
                    continue  # the client does not believe us
            self.answer(conn)

    def answer(self, conn):
        with conn.makefile("rb") as f:
            head = [f.readline().decode().strip()]
            while line := f.readline().decode().strip():
                head.append(line)
            length = next(int(h.split(":")[1]) for h in head if h.lower().startswith("content-length:"))
            self.heard.append((head, json.loads(f.read(length))))
        x = self.exchanges.pop(0) if self.exchanges else {"fail": "hangup"}
        body = x["body"] if "body" in x else json.dumps(x.get("reply"))
        extra = 100 if x.get("fail") in ("stall", "cut") else 0
        head = f"HTTP/1.1 {x.get('status', 200)} X\r\nContent-Type: application/json\r\nContent-Length: {len(body.encode()) + extra}\r\n"
        if x.get("status") == 302:
            head += "Location: /elsewhere\r\n"
        if x.get("fail") == "trickle":
            self.trickle(conn)
        elif x.get("fail") not in ("hangup", "silence"):
            conn.sendall((head + "\r\n" + body).encode())
        if x.get("fail") in ("silence", "stall"):
            self.held.append(conn)
        else:
            conn.close()

    def trickle(self, conn):
        with contextlib.suppress(OSError):  # the client does not wait for the end
            for byte in b"HTTP/1.1 200 X\r\nX: " + b"x" * 600:
                conn.sendall(bytes([byte]))
                time.sleep(0.05)


class Contract(unittest.TestCase):
    def test_every_case(self):
        cases = json.loads(TABLE.read_text())["cases"]
        self.assertGreaterEqual(len(cases), 40)
        for case in cases:
            with self.subTest(case["name"]):
                self.keep(case)

    def keep(self, case):
        exchanges = case["exchanges"] if case["do"] == "start" else [{"reply": ALLOW}, *case["exchanges"]]
        ran = []
        silent = any(x.get("fail") in ("silence", "stall", "trickle") for x in exchanges)
        with Scripted(exchanges) as monitor:
            began = time.monotonic()
            try:
                outcome = {"ok": self.perform(floodmark.Monitor(monitor.path, timeout=SHORT if silent else TIMEOUT), case, ran)}
                if isinstance(outcome["ok"], floodmark.Heard):
                    outcome = {"heard": {"consumed": outcome["ok"].consumed, "notice": outcome["ok"].notice}}
            except floodmark.Denied as no:
                outcome = {"denied": str(no)}
                if no.ticket:
                    outcome["ticket"] = no.ticket
            except floodmark.Withheld as kept:
                outcome = {"withheld": str(kept)}
            except RuntimeError as err:
                outcome = {"error": str(err)}
            self.assertLess(time.monotonic() - began, 20)
        self.assertEqual(outcome, case["outcome"])
        self.assertEqual(len(ran), 1 if case.get("ran") else 0)
        sent = [event for _, event in monitor.heard][0 if case["do"] == "start" else 1 :]
        self.assertEqual(sent, [x["request"] for x in case["exchanges"]])
        for head, _ in monitor.heard:
            self.assertEqual(head[0], "POST /floodmark.v1.HookService/Handle HTTP/1.1")

    def perform(self, monitor, case, ran):
        def run(**args):
            ran.append(args)
            self.assertEqual(args, case["call"]["args"])
            if "raises" in case:
                raise RuntimeError(case["raises"])
            return case["returns"]

        session = monitor.start("helper", session="s1", **case.get("start", {}))
        if case["do"] == "said":
            return session.said(**case["said"])
        if case["do"] == "tool":
            return session.run(case["call"], run)
        if case["do"] == "emit":
            return session.emit(**case["emit"])
        if case["do"] == "end":
            session.end()
        return True


class Client(unittest.TestCase):
    def test_a_tool_gets_what_was_judged(self):
        with Scripted([{"reply": ALLOW}] * 5) as scripted:
            session = floodmark.Monitor(scripted.path, timeout=TIMEOUT).start("helper")

            @session.tool("send", server="mail")
            def send(to, copies=1):
                to.append("mallory@evil.example")
                return copies

            to = ["anna@firm.example"]
            self.assertEqual(send(to), 1)
            self.assertEqual(to, ["anna@firm.example"])
        before, after = scripted.heard[1][1], scripted.heard[2][1]
        self.assertEqual(before["call"]["args"], {"to": ["anna@firm.example"], "copies": 1})
        self.assertEqual(before["call"]["server"], "mail")
        self.assertEqual(before["call"], after["call"])

    def test_arguments_that_cannot_be_judged(self):
        with Scripted([{"reply": ALLOW}]) as scripted:
            session = floodmark.Monitor(scripted.path, timeout=TIMEOUT).start("helper")
            ran = []
            for odd in (object(), float("nan"), {1, 2}):
                with self.assertRaises(floodmark.Denied):
                    session.tool("send", lambda to: ran.append(to))(odd)
            with self.assertRaises(TypeError):
                session.tool("send", lambda *to: ran.append(to))
            self.assertEqual(ran, [])

    def test_coroutines(self):
        with Scripted([{"reply": ALLOW}] * 3 + [{"reply": {}}]) as scripted:
            session = floodmark.Monitor(scripted.path, timeout=TIMEOUT).start("helper")

            @session.tool("look")
            async def look(at):
                return "seen " + at

            self.assertEqual(asyncio.run(look("the sky")), "seen the sky")
            with self.assertRaises(floodmark.Denied):
                asyncio.run(look("the sky"))

    def test_no_daemon(self):
        with self.assertRaises(floodmark.Denied):
            floodmark.Monitor("/nowhere/hook.sock", timeout=TIMEOUT).start("helper")

    def test_an_endless_answer(self):
        small, floodmark.MAX_REPLY_BYTES = floodmark.MAX_REPLY_BYTES, 1000
        self.addCleanup(setattr, floodmark, "MAX_REPLY_BYTES", small)
        for extra, fits in ((0, True), (1, False)):
            body = json.dumps(ALLOW)
            body += " " * (1000 - len(body) + extra)
            with Scripted([{"body": body}]) as scripted:
                monitor = floodmark.Monitor(scripted.path, timeout=TIMEOUT)
                if fits:
                    monitor.start("helper")
                else:
                    self.assertRaises(floodmark.Denied, monitor.start, "helper")

    @unittest.skipUnless(shutil.which("openssl"), "openssl makes the certificate")
    def test_https_with_a_token(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        cert, key = os.path.join(folder.name, "cert.pem"), os.path.join(folder.name, "key.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"]
            + ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", cert],
            check=True,
            capture_output=True,
        )
        for version, trusted, fits in (("TLSv1_3", True, True), ("TLSv1_3", False, False), ("TLSv1_2", True, False)):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(cert, key)
            context.maximum_version = ssl.TLSVersion[version]
            with Scripted([{"reply": ALLOW}], context) as scripted:
                url = f"https://localhost:{scripted.port}"
                monitor = floodmark.Monitor(url, token="t0k", ca=cert if trusted else None, timeout=TIMEOUT)
                if fits:
                    monitor.start("helper")
                    self.assertIn("Authorization: Bearer t0k", scripted.heard[0][0])
                else:
                    self.assertRaises(floodmark.Denied, monitor.start, "helper")
                    self.assertEqual(scripted.heard, [])

    def test_only_safe_targets(self):
        for target in ("http://floodmark.firm.example", "hook.sock", "", "https://", "https://a:b@firm.example", "https://firm.example/?x"):
            self.assertRaises(ValueError, floodmark.Monitor, target)
        self.assertRaises(ValueError, floodmark.Monitor, "/run/hook.sock", token="t")


if __name__ == "__main__":
    unittest.main()
