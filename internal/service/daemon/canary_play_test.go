package daemon

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/wire"
)

// playAll sends canaries through everything, and returns the codes of the
// questions that were asked.
func (s *shown) playAll(t *testing.T) (codes []string) {
	t.Helper()
	s.playBundles(t)
	s.playJoin(t)
	s.playTurn(t)
	codes = append(codes, s.playAnswers(t)...)
	s.playStranger(t)
	s.playFrames(t)
	s.playLooks(t)
	s.playPolicy(t)
	s.playRefused(t)
	return codes
}

func ownerSays(s floodmark.SessionID, text string) hook.Event {
	return hook.Event{Point: hook.MessageReceived, Session: s, Text: text, Origin: floodmark.Origin{Kind: floodmark.FromSender, Sender: word("a sender"), IsOwner: true}}
}

// playTurn goes through every hook point once.
func (s *shown) playTurn(t *testing.T) {
	t.Helper()
	c := s.hooks(t)
	secret := "sk-" + word("a secret") + "ABCDEFGH0123456789abcdefgh"
	fetch := hook.Call{ID: "c1", Name: "web_fetch", Args: json.RawMessage(`{"url":"https://` + word("an address that was read") + `.example/p?q=1"}`)}
	folder := "/home/" + word("a folder")
	said := ownerSays("s1", "please look at "+word("the owner's message"))
	said.Parts = []hook.Content{{Kind: floodmark.NodeInput, Origin: floodmark.Origin{Kind: floodmark.FromQuote}, Text: "quoted " + word("a quoted part")}}
	text := func(what string, kind floodmark.OriginKind) []hook.Content {
		return []hook.Content{{Kind: floodmark.NodeHistory, Origin: floodmark.Origin{Kind: kind}, Text: "some " + word(what) + " text"}}
	}
	for _, ev := range []hook.Event{
		{Point: hook.SessionStart, Session: "s1", Project: folder + "/p", Home: folder},
		said,
		{Point: hook.ContextAssembled, Session: "s1", Sources: text("an assembled source", floodmark.FromHistory)},
		{Point: hook.LoopIterationStart, Session: "s1"},
		{Point: hook.BeforeLLMCall, Session: "s1", Messages: text("a message to the model", floodmark.FromUnknown), Tools: []hook.Tool{{Name: "exec"}, {Server: word("a server's name"), Name: word("a tool's name")}}},
		{Point: hook.AfterLLMCall, Session: "s1", Calls: []hook.Call{fetch}, Sources: text("a hosted tool's result", floodmark.FromTool)},
		{Point: hook.BeforeToolCall, Session: "s1", Call: fetch},
		{Point: hook.AfterToolCall, Session: "s1", Call: fetch, Result: hook.Result{Text: "read this: " + word("a tool's result") + " " + secret}},
		{Point: hook.LoopIterationEnd, Session: "s1"},
		{Point: hook.SubagentSpawned, Session: "s1", Child: "k1", Text: "do " + word("a sub-agent's prompt")},
		{Point: hook.SubagentEnded, Session: "s1", Child: "k1", Text: "did " + word("a sub-agent's result")},
		send("c2", `{"action":"send","to":"`+word("a critical argument")+`@firm.example","message":"`+word("a content argument")+` `+secret+`","`+word("an argument's name")+`":"x"}`),
		send("c3", `{"action":"send","to":"sk-`+word("a secret in a plain argument")+`0123456789","apiKey":"`+secret+`","message":"x"}`),
		{Point: hook.AfterToolCall, Session: "s1", Call: hook.Call{ID: floodmark.CallID(word("a call's name") + " x"), Name: "exec"}, Result: hook.Result{Text: word("a tool's result")}},
		{Point: hook.SessionStart, Session: "s1", Cause: hook.Compact, Text: word("a summary")},
		{Point: hook.BeforeResponseEmit, Session: "s1", Text: "I found " + word("an answer"), Audience: hook.ToOthers},
	} {
		tell(t, c, ev)
	}
}

func send(id floodmark.CallID, args string) hook.Event {
	return hook.Event{Point: hook.BeforeToolCall, Session: "s1", Call: hook.Call{ID: id, Name: "message", Args: json.RawMessage(args)}}
}

// playAnswers answers questions in each way there is, and vouches for content.
func (s *shown) playAnswers(t *testing.T) (codes []string) {
	t.Helper()
	c, o := s.hooks(t), s.owner(t).Owner()
	ask := func(id floodmark.CallID) string {
		if got := tell(t, c, send(id, `{"action":"send","to":"`+string(id)+`@firm.example","message":"`+word("a content argument")+`"}`)); got.Ticket == "" {
			t.Fatalf("nobody is asked about %s: %+v", id, got)
		}
		// The desk has the code before the agent hears of the question.
		got, err := o.Pending(t.Context(), &wire.PendingRequest{Session: "s1"})
		if err != nil || len(got.GetQuestions()) == 0 || got.GetQuestions()[0].GetCode() == "" {
			t.Fatalf("no code of %s: %v, %v", id, got, err)
		}
		code := got.GetQuestions()[0].GetCode()
		codes = append(codes, code)
		return code
	}
	s.called["Pending"], s.called["Answer"] = true, true
	answer := func(verb, code string) {
		if got, err := o.Answer(t.Context(), &wire.AnswerRequest{Verb: verb, Code: code}); err != nil || !got.GetAnswered() {
			t.Fatalf("%s: %v, %v", verb, got, err)
		}
	}
	answer("deny", ask("c4"))
	answer("approve", ask("c5"))
	ask("c6")
	tell(t, c, ownerSays("s1", ".approve all "+codes[len(codes)-1]))
	codes = append(codes, "fadedbad")
	tell(t, c, ownerSays("s1", ".approve all fadedbad"))
	if _, err := o.Answer(t.Context(), &wire.AnswerRequest{Verb: "approve", Code: "fadedbad", Session: "s1"}); err != nil {
		t.Fatal(err)
	}
	s.playVouching(t, o)
	return codes
}

func (s *shown) playVouching(t *testing.T, o wire.OwnerServiceClient) {
	t.Helper()
	digest := floodmark.DigestOf("quoted " + word("a quoted part")).String()
	e, err := o.Endorse(t.Context(), &wire.EndorseRequest{Session: "s1", Digest: digest})
	if err != nil || !e.GetDone() {
		t.Fatalf("endorse: %v, %v", e, err)
	}
	w, err := o.Withdraw(t.Context(), &wire.WithdrawRequest{Session: "s1", Digest: digest})
	if err != nil || !w.GetDone() {
		t.Fatalf("withdraw: %v, %v", w, err)
	}
	g, err := o.Grants(t.Context(), &wire.GrantsRequest{Session: "s1"})
	if err != nil || len(g.GetGrants()) == 0 {
		t.Fatalf("grants: %v, %v", g, err)
	}
	if _, err := o.EndGrant(t.Context(), &wire.EndGrantRequest{Session: "s1", Ticket: g.GetGrants()[0].GetTicket()}); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Pause(t.Context(), &wire.PauseRequest{Session: "s1", Seconds: 60}); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Resume(t.Context(), &wire.ResumeRequest{}); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Trust(t.Context(), &wire.TrustRequest{Path: "/" + word("a folder")}); err == nil {
		t.Error("a folder that is not there is the team's")
	}
	if _, err := o.Leftovers(t.Context(), &wire.LeftoversRequest{Folder: "/" + word("a folder")}); err == nil {
		t.Error("a folder that is not there has files")
	}
	if _, err := o.Clean(t.Context(), &wire.CleanRequest{List: word("a folder")}); err == nil {
		t.Error("a list that is not there is cleaned")
	}
	if _, err := o.Undo(t.Context(), &wire.UndoRequest{Session: word("a session's name"), Call: word("a call's name")}); err == nil {
		t.Error("what nobody kept is given back")
	}
	for _, name := range []string{"Undo", "Leftovers", "Clean", "Endorse", "Withdraw", "Grants", "EndGrant", "Pause", "Resume", "Trust"} {
		s.called[name] = true
	}
}

// playStranger is an agent, a session, a server and a tool that are all unknown.
func (s *shown) playStranger(t *testing.T) {
	t.Helper()
	c := s.hooks(t)
	session := floodmark.SessionID(word("a session's name") + "@x")
	for _, ev := range []hook.Event{
		{Point: hook.BeforeToolCall, Call: hook.Call{ID: floodmark.CallID(word("a call's name") + " two"), Server: word("a server's name"), Name: word("a tool's name"), Args: json.RawMessage(`{"password":"` + word("a secret") + `"}`)}},
		{Point: hook.BeforeToolCall, Call: hook.Call{ID: "sk-" + floodmark.CallID(word("a call's name")), Name: word("a tool's name")}},
		{Point: hook.AfterToolCall, Call: hook.Call{ID: floodmark.CallID(word("a call's name") + "/never"), Name: word("a tool's name")}, Result: hook.Result{Text: word("a tool's result")}},
		{Point: hook.SubagentEnded, Child: floodmark.SessionID(word("a session's name") + " child"), Text: word("a sub-agent's result")},
		{Point: hook.SessionEnd},
	} {
		ev.Agent, ev.Session = word("an agent's name"), session
		if _, err := c.Handle(t.Context(), ev); err != nil {
			t.Fatal(err)
		}
	}
	// What is not understood is refused; why must not quote it.
	for _, ev := range []hook.Event{
		{Agent: "openclaw", Session: "s1", Point: hook.Point(word("an unreadable event"))},
		{Agent: "openclaw", Session: "s1", Point: hook.ContextAssembled, Sources: []hook.Content{{Kind: floodmark.NodeHistory, Text: "x", Trust: word("an unreadable event")}}},
		{Agent: "openclaw", Session: "floodmark/incidents", Point: hook.MessageReceived, Text: word("an unreadable event")},
	} {
		if got, err := c.Handle(t.Context(), ev); err == nil && got.Decision.Verdict == floodmark.Allow && ev.Point != hook.ContextAssembled {
			t.Errorf("%+v is understood", ev)
		}
	}
	for _, body := range []string{`{"point":`, `{"` + word("an unreadable event") + `":1}`, `{"point":"` + word("an unreadable event") + `"}`, word("an unreadable event")} {
		askHTTP(t, s.paths.HookSocket, "/"+wire.HookServiceName+"/Handle", []byte(body))
		askHTTP(t, s.paths.HookSocket, "/"+word("a path at the owner's door"), []byte(body))
	}
}

// playFrames are what thin hook programs send, well and badly formed.
func (s *shown) playFrames(t *testing.T) {
	t.Helper()
	raw := func(what string) json.RawMessage {
		return json.RawMessage(`{"session_id":"f1","cwd":"/` + word("a folder") + `","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"echo ` + word(what) + `"},"tool_use_id":"u1"}`)
	}
	for _, r := range []hookframe.Request{
		{V: 1, Agent: "codex", Event: "PreToolUse", Raw: raw("a critical argument"), DeadlineMS: 5000},
		{V: 1, Agent: "codex", Event: "PreToolUse", Raw: json.RawMessage(`{"x":"` + word("an unreadable event") + `"}`), DeadlineMS: 5000},
		{V: 1, Agent: word("an unreadable event"), Event: "PreToolUse", Raw: raw("an unreadable event"), DeadlineMS: 5000},
		{V: 1, Agent: "codex", Event: word("an unreadable event"), Raw: raw("an unreadable event"), DeadlineMS: 5000},
	} {
		conn := s.knock(t)
		if _, err := hookframe.Ask(conn, r); err != nil {
			t.Logf("a frame got no answer: %v", err)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
	conn := s.knock(t)
	body := []byte(`{"v":1,"` + word("an unreadable event") + `":`)
	if _, err := conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)); err != nil {
		t.Fatal(err)
	}
	_, _ = conn.Read(make([]byte, 4096)) // any answer will do
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

func (s *shown) knock(t *testing.T) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "unix", s.paths.HookSocket)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// playLooks are the commands that only look, asked for what is there and for
// what is not.
func (s *shown) playLooks(t *testing.T) {
	t.Helper()
	o, ctx := s.owner(t).Owner(), t.Context()
	looks := map[string]func(session string) error{
		"Status":   func(string) error { _, err := o.Status(ctx, &wire.StatusRequest{}); return err },
		"Sessions": func(n string) error { _, err := o.Sessions(ctx, &wire.SessionsRequest{Agent: n}); return err },
		"Show":     func(n string) error { _, err := o.Show(ctx, &wire.ShowRequest{Session: n, Facts: true}); return err },
		"Why":      func(n string) error { _, err := o.Why(ctx, &wire.WhyRequest{Of: n}); return err },
		"Graph": func(n string) error {
			_, err := o.Graph(ctx, &wire.GraphRequest{Session: n, Format: "svg"})
			return err
		},
		"Watch":  func(n string) error { return first(o.Watch(ctx, &wire.WatchRequest{Session: n})) },
		"Verify": func(n string) error { return first(o.Verify(ctx, &wire.VerifyRequest{Session: n})) },
		"Export": func(n string) error { return first(o.Export(ctx, &wire.ExportRequest{Session: n})) },
		"Report": func(n string) error {
			if n == word("a name asked for") {
				n = word("a session's name") // one that is not there is written down all the same
			}
			_, err := o.Report(ctx, &wire.ReportRequest{Session: n, Incidents: []*wire.Incident{{Kind: "unmediated-call", Call: word("a call's name") + " x", Text: word("what was found")}}})
			return err
		},
		"Forget": func(n string) error {
			_, err := o.Forget(ctx, &wire.ForgetRequest{Session: n, Why: word("why a session is erased")})
			return err
		},
	}
	for name, look := range looks {
		s.called[name] = true
		session := "s1"
		if name == "Forget" {
			session = "k1"
		}
		if err := look(session); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_ = look(word("a name asked for")) // it is not there
	}
	_, _ = o.Answer(ctx, &wire.AnswerRequest{Verb: word("a name asked for"), Session: word("a name asked for")})
	_, _ = o.Endorse(ctx, &wire.EndorseRequest{Session: word("a name asked for"), Digest: word("a name asked for")})
}

// first reads the first message of a stream.
func first[T any](stream *connect.ServerStreamForClient[T], err error) error {
	if err != nil {
		return err
	}
	stream.Receive()
	if err := stream.Err(); err != nil {
		return err
	}
	return stream.Close()
}

// playPolicy writes a policy that is wrong.
func (s *shown) playPolicy(t *testing.T) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(s.paths.Policy), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.paths.Policy, []byte("version: 1\n"+word("a policy")+": "+word("a policy")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := s.owner(t).Owner().ReloadPolicy(t.Context(), &wire.ReloadPolicyRequest{})
	if err != nil || got.GetLoaded() {
		t.Fatalf("reload: %v, %v", got, err)
	}
	s.called["ReloadPolicy"] = true
	if err := os.Remove(s.paths.Policy); err != nil {
		t.Fatal(err)
	}
}

// playBundles rolls out a policy that changes nothing to all sessions, and publishes an invalid
// one.
func (s *shown) playBundles(t *testing.T) {
	t.Helper()
	o := s.owner(t).Owner()
	version := func(n uint64, text string) []byte {
		return sealed(t, n, text, func(b *bundle.Bundle) { b.Tenant, b.Note = "", word("a bundle's note") })
	}
	good := "version: 1 # " + word("a bundle's policy") + "\n"
	_, err := o.PublishBundle(t.Context(), &wire.PublishBundleRequest{Sealed: version(1, good)})
	_, rolled := o.RollBundle(t.Context(), &wire.RollBundleRequest{Version: 1, Share: bundle.Everybody})
	_, listed := o.Bundles(t.Context(), &wire.BundlesRequest{})
	_, shown := o.ShowBundle(t.Context(), &wire.ShowBundleRequest{Version: 1})
	if err := errors.Join(err, rolled, listed, shown); err != nil {
		t.Fatal(err)
	}
	_, back := o.RollBackBundle(t.Context(), &wire.RollBackBundleRequest{})
	_, wrong := o.PublishBundle(t.Context(), &wire.PublishBundleRequest{Sealed: version(2, good+word("a bundle's policy")+": 1\n")})
	if back == nil || wrong == nil {
		t.Fatalf("%v, %v", back, wrong)
	}
	for _, name := range []string{"PublishBundle", "RollBundle", "Bundles", "ShowBundle", "RollBackBundle"} {
		s.called[name] = true
	}
}

// playJoin is a laptop that joins a fleet that does not answer, and leaves none.
func (s *shown) playJoin(t *testing.T) {
	t.Helper()
	o := s.owner(t).Owner()
	_, joined := o.Join(t.Context(), &wire.JoinRequest{Url: "https://127.0.0.1:1", Credential: word("what a laptop joins with"), Name: "laptop"})
	_, left := o.Leave(t.Context(), &wire.LeaveRequest{})
	if joined == nil || left == nil {
		t.Fatalf("%v, %v", joined, left)
	}
	if text := joined.Error() + left.Error(); strings.Contains(text, word("what a laptop joins with")) {
		t.Error(text)
	}
	s.called["Join"], s.called["Leave"] = true, true
}

// playRefused is an agent at the owner's door, then the end of the session.
func (s *shown) playRefused(t *testing.T) {
	t.Helper()
	s.asOwner(false)
	askHTTP(t, s.paths.OwnerSocket, "/"+word("a path at the owner's door"), []byte(word("an unreadable event")))
	s.asOwner(true)
	tell(t, s.hooks(t), hook.Event{Point: hook.SessionEnd, Session: "s1"})
}
