"""Runs the agent against a real daemon, and against none.

FLOODMARK names the program; without it, it is built."""

import contextlib
import io
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "integrations" / "python"))
import agent  # noqa: E402


def program(folder):
    if "FLOODMARK" in os.environ:
        return os.environ["FLOODMARK"]
    built = os.path.join(folder, "floodmark")
    subprocess.run(["go", "build", "-o", built, "./cmd/floodmark"], cwd=ROOT, check=True)
    return built


def answers(path):
    with socket.socket(socket.AF_UNIX) as s:
        return s.connect_ex(path) == 0


class Agent(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.socket = os.path.join(folder.name, "run", "hook.sock")
        self.daemon = subprocess.Popen(
            [program(folder.name), "serve", "--dir", folder.name, "--policy", ROOT / "examples" / "policy.yaml"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(self.kill)
        end = time.monotonic() + 20
        while not answers(self.socket):
            self.assertLess(time.monotonic(), end, "no daemon")
            time.sleep(0.02)

    def kill(self):
        self.daemon.kill()
        self.daemon.wait()

    def run_agent(self, send):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            agent.agent(self.socket, send, timeout=5)
        return said.getvalue()

    def test_the_injected_page_is_stopped(self):
        outbox = []
        said = self.run_agent(lambda to, body: outbox.append(to) or "sent to " + to)
        self.assertEqual(outbox, ["anna@firm.example"])
        for want in (
            "web_fetch: " + agent.PAGE,
            "read_notes: " + agent.NOTES,
            'send_email: floodmark: web_fetch news.example (untrusted), read_notes (local) [private] -> to "mallory@evil.example"',
            "send_email: sent to anna@firm.example",
            "(informed by 1 untrusted web page; blocked: send_email, see «floodmark why»)",
        ):
            self.assertIn(want, said)

    def test_without_a_daemon_nothing_runs(self):
        outbox = []

        def send(to, body):
            outbox.append(to)

        session = agent.floodmark.Monitor(self.socket, timeout=5).start("helper")
        session.said(agent.TASK)
        tool = session.tool("send_email", send)
        self.kill()
        began = time.monotonic()
        with self.assertRaises(agent.floodmark.Denied):
            tool(to="anna@firm.example", body="hello")
        with self.assertRaises(agent.floodmark.Denied):
            self.run_agent(send)
        self.assertEqual(outbox, [])
        self.assertLess(time.monotonic() - began, 2)

    def test_a_daemon_that_dies_under_a_tool_gets_its_result_withheld(self):
        session = agent.floodmark.Monitor(self.socket, timeout=5).start("helper")
        session.said(agent.TASK)
        tool = session.tool("web_fetch", lambda url: self.kill() or agent.PAGE)
        with self.assertRaises(agent.floodmark.Withheld):
            tool("https://news.example/today")


if __name__ == "__main__":
    unittest.main()
