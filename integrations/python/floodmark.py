"""Floodmark for agents written in Python: one file, the standard library only.

    monitor = floodmark.Monitor("/run/user/1000/floodmark/hook.sock")
    session = monitor.start("helper")
    session.said("What is new on https://news.example/today?")
    fetch = session.tool("web_fetch", fetch)     # decided, run, taken in

It tells the Floodmark daemon what happens in a conversation and does what the
daemon answers. It judges nothing. Whatever goes wrong is a no: a tool does not
run unless the answer was exactly "allow", and what it returned is kept back
unless the daemon has taken it in.
"""

import asyncio
import functools
import http.client
import inspect
import json
import os
import queue
import socket
import ssl
import threading
import time
import urllib.parse
import uuid

__all__ = ["Denied", "Heard", "Monitor", "Session", "Withheld"]

DEFAULT_TIMEOUT = 10.0  # seconds for one answer
MAX_REPLY_BYTES = 32 << 20  # as large as an event may be
PROCEDURE = "/floodmark.v1.HookService/Handle"
VERDICTS = ("restrict", "confirm", "audit", "allow")
REACHES = ("boxed", "free")
NO_ANSWER = (
    "the monitor did not answer, so nothing is allowed. "
    "Ask the owner to run «floodmark status», and go on without this."
)


class Denied(Exception):
    """Something may not happen. The text is meant for the model.

    ticket names the question a person is being asked, if one is: after a yes
    the identical call passes. block_turn says that the whole turn has to end.
    """

    def __init__(self, line, verdict="restrict", ticket="", block_turn=False):
        super().__init__("floodmark: " + line)
        self.line, self.verdict, self.ticket, self.block_turn = line, verdict, ticket, block_turn


class Withheld(Exception):
    """A tool ran, and its result is kept back: nobody would know its origin."""

    def __init__(self, tool):
        super().__init__(
            f"floodmark: {tool} ran, but its result was not taken in and is kept back. "
            "Ask the owner to run «floodmark status»."
        )


class Heard:
    """What becomes of a message. A consumed one is not for the model; notice
    answers it, to the owner only."""

    def __init__(self, consumed=False, notice=""):
        self.consumed, self.notice = consumed, notice


class Monitor:
    """A daemon, at the path of its socket or at an https:// URL with a token.

    ca is a file with the authority to believe, if it is not a public one.
    """

    def __init__(self, target, token="", ca=None, timeout=DEFAULT_TIMEOUT):
        self.timeout = timeout
        self._headers = {"Content-Type": "application/json", "Connect-Protocol-Version": "1"}
        if os.path.isabs(target):
            if token:
                raise ValueError("a token is for https:// URLs; a local socket knows its caller")
            self._connect = functools.partial(_Local, target)
            return
        url = urllib.parse.urlsplit(target)
        if url.scheme != "https" or not url.hostname or url.username or url.query or url.fragment or url.path.strip("/"):
            raise ValueError("want the full path of a socket, or a URL such as https://floodmark.firm.example:7443")
        context = ssl.create_default_context(cafile=ca)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        self._connect = functools.partial(http.client.HTTPSConnection, url.hostname, url.port or 443, context=context)
        if token:
            self._headers["Authorization"] = "Bearer " + token

    def start(self, agent, session=None, resume=False, project="", home=""):
        """Begins a conversation, or with resume goes on with one."""
        s = Session(self, agent, session or str(uuid.uuid4()))
        s._ask({"point": "session_start", "cause": "resume" if resume else "startup", "project": project, "home": home})
        return s

    def handle(self, event):
        """Tells the daemon one event and returns its reply, a dict, which may
        well refuse. Raises if there is no reply that can be understood."""
        answer = queue.Queue()
        body = json.dumps(event, ensure_ascii=False, allow_nan=False).encode()
        thread = threading.Thread(target=self._post, args=(body, answer), daemon=True)
        thread.start()
        try:  # a deadline for all of it, however slowly the bytes come
            reply = answer.get(timeout=self.timeout)
        except queue.Empty:
            raise TimeoutError("the monitor did not answer in time") from None
        if isinstance(reply, Exception):
            raise reply
        return reply

    def _post(self, body, answer):
        try:
            end = time.monotonic() + self.timeout
            conn = self._connect(timeout=self.timeout)
            try:
                conn.request("POST", PROCEDURE, body, self._headers)
                response = conn.getresponse()
                data = bytearray()
                while chunk := response.read1(1 << 16):
                    data += chunk
                    if len(data) > MAX_REPLY_BYTES or time.monotonic() > end:
                        raise ValueError("the answer is too large or too slow")
                if response.length:
                    raise ValueError("the answer is not complete")
            finally:
                conn.close()
            if response.status != 200:
                raise ValueError(f"the monitor answered {response.status}")
            answer.put(_checked(json.loads(data)))
        except Exception as err:  # whatever it was, it is no answer
            answer.put(err)


class _Local(http.client.HTTPConnection):
    """HTTP over a local socket."""

    def __init__(self, path, timeout):
        super().__init__("floodmark", timeout=timeout)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _checked(reply):
    """A reply, if it is one. Fields are what they must be, or are not there."""
    reply = _fields(reply, {"decision": dict, "calls": list, "blockTurn": bool, "consumed": bool},
                    "line", "text", "footer", "ticket", "notice", "command")
    calls = {"calls": [_decision(d) for d in reply["calls"]]} if "calls" in reply else {}
    return {**reply, "decision": _decision(reply.get("decision", {})), **calls}


def _decision(decision):
    """A decision, if it is one."""
    decision = _fields(decision, {"verifiers": list, "reasons": list, "remedy": dict}, "verdict", "reach")
    if decision.get("verdict", "restrict") not in VERDICTS:
        raise ValueError("the answer has a verdict nobody knows")
    if decision.get("reach", "free") not in REACHES:
        raise ValueError("the answer has a reach nobody knows")
    decision["reasons"] = [_fields(r, {}, "text") for r in decision.get("reasons", [])]
    decision["remedy"] = _fields(decision.get("remedy", {}), {}, "agent")
    return decision


def _fields(value, types, *texts):
    """An object without the fields that are null, the others of their types."""
    if not isinstance(value, dict):
        raise ValueError("the answer is no reply")
    value = {k: v for k, v in value.items() if v is not None}
    for name, kind in {**types, **dict.fromkeys(texts, str)}.items():
        if name in value and not isinstance(value[name], kind):
            raise ValueError(f"the answer's {name} is not what it must be")
    return value


def _elsewhere(reply):
    """Why what a reply allows cannot be done here, if it cannot: nothing here
    replaces a command. Only a monitor from before there were boxes leaves the
    reach out, and what it allows is free."""
    if reply["decision"].get("verdict") != "allow":
        return ""
    if reply.get("command"):
        return "it may only run as another command, which this program cannot do"
    if any(d.get("verdict") == "allow" and d.get("reach", "free") != "free" for d in [reply["decision"], *reply.get("calls", [])]):
        return "it may only run in a box, and no command that starts one came with the answer"
    return ""


def _denied(reply):
    """Words a refusal. A verifier that nobody asked has not agreed."""
    decision = reply["decision"]
    verdict, line = decision.get("verdict", "restrict"), reply.get("line", "")
    if why := _elsewhere(reply):
        line = f"refused because {why}."
    elif verdict == "allow" and decision.get("verifiers"):
        line = "refused because these must agree first and were not asked: " + ", ".join(map(str, decision["verifiers"])) + "."
    elif not line and decision.get("reasons"):
        line = "refused because " + decision["reasons"][0].get("text", "") + "."
    line = line or "refused."
    if todo := decision["remedy"].get("agent"):
        line += " " + todo
    return Denied(line, "audit" if verdict == "allow" else verdict, reply.get("ticket", ""), bool(reply.get("blockTurn")))


class Session:
    """One conversation of one agent."""

    def __init__(self, monitor, agent, session):
        self.id, self._monitor, self._agent = session, monitor, agent

    def said(self, text, typed=False, parts=(), origin=None):
        """What somebody wrote; without an origin it was the owner, in a
        conversation where nobody else can write. If it raises, the message must
        not be passed on. typed says that the whole text was typed and its
        pastes are in parts; else a long text counts as pasted."""
        origin = origin or {"kind": "sender", "name": self._agent, "sender": "owner", "isOwner": True}
        reply = self._ask({"point": "message_received", "origin": origin, "text": text, "typed": typed, "parts": list(parts)})
        return Heard(bool(reply.get("consumed")), reply.get("notice", ""))

    def tool(self, name, run=None, server=""):
        """Wraps a tool, as a decorator too: each call is decided, then made, then
        its result is taken in. What is judged is the JSON of the arguments by
        name, and the tool gets what that JSON says."""
        if run is None:
            return functools.partial(self.tool, name, server=server)
        signature = inspect.signature(run)
        named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        if any(p.kind not in named for p in signature.parameters.values()):
            raise TypeError(f"{name}: a tool's arguments need names, for the policy to speak of them")

        def call(args, kwargs):
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            return {"server": server, "name": name, "args": dict(bound.arguments)}

        if inspect.iscoroutinefunction(run):

            @functools.wraps(run)
            async def wrapped(*args, **kwargs):
                return await self.arun(call(args, kwargs), run)
        else:

            @functools.wraps(run)
            def wrapped(*args, **kwargs):
                return self.run(call(args, kwargs), run)

        return wrapped

    def run(self, call, run):
        """One call of any tool: {"name": …, "args": {…}}, perhaps with "id" and
        "server". run gets the arguments by name."""
        call = self._decide(call)
        try:
            result, error = run(**json.loads(json.dumps(call["args"]))), None
        except Exception as err:
            result, error = str(err), err
        self._took(call, result, error)
        if error is not None:
            raise error
        return result

    async def arun(self, call, run):
        """run for a coroutine."""
        call = await asyncio.to_thread(self._decide, call)
        try:
            result, error = await run(**json.loads(json.dumps(call["args"]))), None
        except Exception as err:
            result, error = str(err), err
        await asyncio.to_thread(self._took, call, result, error)
        if error is not None:
            raise error
        return result

    def emit(self, text, to="owner"):
        """An answer as it may go out. to="" is for anybody else's eyes. If it
        raises, nothing may go out."""
        reply = self._ask({"point": "before_response_emit", "text": text, "audience": to})
        text = reply.get("text") or text
        return f"{text}\n\n({reply['footer']})" if reply.get("footer") else text

    def end(self):
        """The conversation is over for now."""
        self._ask({"point": "session_end"})

    def _decide(self, call):
        try:  # a copy: whatever happens to the caller's, this is what was judged
            args = json.loads(json.dumps(call.get("args") or {}, allow_nan=False))
        except (TypeError, ValueError):
            raise Denied(f"{call['name']} was not called: its arguments cannot be written as JSON.") from None
        call = {"id": call.get("id") or str(uuid.uuid4()), "server": call.get("server", ""), "name": call["name"], "args": args}
        call = {k: v for k, v in call.items() if v != ""}
        self._ask({"point": "before_tool_call", "call": call})
        return call

    def _took(self, call, result, error):
        try:
            text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, separators=(",", ":"))
            taken = {"text": text}
            if error is not None:
                taken["error"] = True
            self._ask({"point": "after_tool_call", "call": call, "result": taken})
        except (Denied, TypeError, ValueError):
            raise Withheld(call["name"]) from None  # without the result, also in tracebacks

    def _ask(self, event):
        """Asks about one event. Only an answer that allows it does not raise."""
        event = {**event, "agent": self._agent, "session": self.id}
        event = {k: v for k, v in event.items() if v not in ("", False, [])}
        try:
            reply = self._monitor.handle(event)
            decision = reply["decision"]
            if decision.get("verdict") == "allow" and not (decision.get("verifiers") or reply.get("blockTurn") or _elsewhere(reply)):
                return reply
            refusal = _denied(reply)
        except Exception as err:
            raise Denied(NO_ANSWER) from err
        raise refusal
