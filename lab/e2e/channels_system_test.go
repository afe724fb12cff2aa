package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/story/testmodel"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/policy"
)

// A sent is a message that a person wrote in a chat app.
type sent struct {
	from  int
	group bool
	text  string
	quote string
}

// A chatApp plays Telegram's bot API, with one message at a time: next says whether the next
// message is due.
type chatApp struct {
	messages []sent
	next     func(told int) bool
	// hooks is where the gateway accepts messages of other programs, if a token is set.
	hooks, hookToken string
	hooked           int // how many it took

	mu   sync.Mutex
	told int
	last time.Time // when the last one was told
	// asked are the names that OpenClaw gave to the questions it asked.
	asked []string
	// posted is what OpenClaw wrote, by chat.
	posted map[int][]string
}

// post keeps a message that OpenClaw wrote.
func (c *chatApp) post(body []byte) {
	var m struct {
		Chat json.RawMessage `json:"chat_id"` // a number, or its text
		Text string          `json:"text"`
	}
	_ = json.Unmarshal(body, &m)                               // a message that cannot be parsed is in no chat
	chat, _ := strconv.Atoi(strings.Trim(string(m.Chat), `"`)) // the same
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.posted == nil {
		c.posted = map[int][]string{}
	}
	c.posted[chat] = append(c.posted[chat], m.Text)
}

// posts returns the messages that OpenClaw wrote in a chat.
func (c *chatApp) posts(chat int) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.posted[chat])
}

// noteAsked keeps the name of a question in a message.
func (c *chatApp) noteAsked(body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id := regexp.MustCompile(`plugin:[0-9a-f-]{36}`).FindString(string(body)); id != "" && !slices.Contains(c.asked, id) {
		c.asked = append(c.asked, id)
	}
}

// The owner's number in the chat app, and that of a group.
const (
	chatOwner = 111
	groupChat = -100500
)

// newestQuestion is replaced in a message by the name of the last question.
const newestQuestion = "THE-QUESTION"

func (c *chatApp) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20)) // a lost request is repeated
	var result any = true
	switch method := path.Base(r.URL.Path); {
	case method == "getMe":
		result = map[string]any{"id": 999, "is_bot": true, "first_name": "Bot", "username": "fm_bot", "can_join_groups": true, "can_read_all_group_messages": true}
	case method == "getUpdates":
		result = c.update(body)
	case method == "sendMessage":
		c.noteAsked(body)
		c.post(body)
		result = map[string]any{"message_id": 1000, "date": 1, "chat": map[string]any{"id": 1, "type": "private"}, "text": "x"}
	case strings.HasPrefix(method, "get"):
		result = map[string]any{"id": 1, "type": "private", "url": "", "pending_update_count": 0}
	}
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(map[string]any{"ok": true, "result": result}) // an error means that the gateway is gone
}

// update returns the next message that is due, in the form of the bot API.
func (c *chatApp) update(body []byte) any {
	var q struct{ Offset int }
	_ = json.Unmarshal(body, &q) // without an offset it is 0
	c.mu.Lock()
	defer c.mu.Unlock()
	n := max(0, q.Offset-10)
	if n >= len(c.messages) || n > c.told || n == c.told && !c.next(n) {
		time.Sleep(200 * time.Millisecond)
		return []any{}
	}
	c.told, c.last = n+1, time.Now()
	m := c.messages[n]
	if len(c.asked) > 0 {
		m.text = strings.ReplaceAll(m.text, newestQuestion, c.asked[len(c.asked)-1])
	}
	chat := map[string]any{"id": m.from, "type": "private", "first_name": "P"}
	if m.group {
		chat = map[string]any{"id": groupChat, "type": "supergroup", "title": "Team"}
	}
	message := map[string]any{
		"message_id": 100 + n, "date": time.Now().Unix(), "text": m.text, "chat": chat,
		"from": map[string]any{"id": m.from, "is_bot": false, "first_name": "P", "username": fmt.Sprint("p", m.from)},
	}
	if m.quote != "" {
		message["reply_to_message"] = map[string]any{"message_id": 50, "date": 1, "text": m.quote, "chat": chat, "from": map[string]any{"id": 333, "is_bot": false, "first_name": "Cem"}}
	}
	return []any{map[string]any{"update_id": 10 + n, "message": message}}
}

// gateway runs OpenClaw's gateway with our plugin and a chat app, until done returns true.
func (w *world) gateway(app *chatApp, done func() bool) {
	w.t.Helper()
	telegram := httptest.NewServer(app)
	w.t.Cleanup(telegram.Close)
	for _, name := range []string{"entry.json5", "index.ts", "package.json", "openclaw.plugin.json"} {
		w.write(".openclaw/extensions/floodmark/"+name, shipped(w.t, "openclaw/"+name))
	}
	said, all := bytes.Buffer{}, w.gatewaySettings(telegram.URL)
	if app.hookToken != "" {
		app.hooks = fmt.Sprint("http://127.0.0.1:", all["gateway"].(map[string]any)["port"], "/hooks")
		all["hooks"] = map[string]any{"enabled": true, "token": app.hookToken, "path": "/hooks"}
		all["agents"].(map[string]any)["defaults"].(map[string]any)["heartbeat"] = map[string]any{"target": "none"}
	}
	settings := w.write(".openclaw/openclaw.json", object(all))
	ctx, cancel := untilTimeout(w.t)
	defer cancel()
	cmd := exec.CommandContext(ctx, tool(w.t, "node-"+nodeVersion, "node_modules", ".bin", "node"),
		tool(w.t, "openclaw-"+openclawVersion, "node_modules", "openclaw", "openclaw.mjs"), "gateway", "run", "--bind", "loopback", "--allow-unconfigured")
	cmd.Dir = w.project
	cmd.Env = []string{
		"PATH=" + filepath.Dir(cmd.Path) + ":" + os.Getenv("PATH"), "HOME=" + w.home, "LANG=C.UTF-8", "TERM=dumb", "FLOODMARK_HOOK_SOCKET=" + w.memorySocket(),
		"http_proxy=" + w.web.URL, "no_proxy=127.0.0.1,localhost", "NO_PROXY=127.0.0.1,localhost",
		"OPENCLAW_STATE_DIR=" + filepath.Join(w.home, ".openclaw"), "OPENCLAW_CONFIG_PATH=" + settings,
	}
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	for ctx.Err() == nil && !done() {
		time.Sleep(200 * time.Millisecond)
	}
	late := ctx.Err() != nil
	cancel()
	_ = cmd.Wait() // it was told to end, so the error is ignored
	w.output = said.String()
	if late {
		w.t.Errorf("the gateway was not done: %s", tail(w.output))
	}
}

// A hookCall is a message of another program to the gateway, with the text in it.
type hookCall struct{ name, body, text string }

func hooked() []hookCall {
	return []hookCall{
		{"agent", `{"message":"a mail came","deliver":false}`, "a mail came"},
		{"wake", `{"text":"somebody rang","mode":"now"}`, "somebody rang"},
	}
}

// isUntrusted checks the run that the call started: it contains the call's text, and all of it is
// untrusted.
func (h hookCall) isUntrusted(t *testing.T, p *policy.Policy, ev hook.Event) {
	t.Helper()
	text := ev.Text
	for _, part := range append(ev.Parts, hook.Content{Origin: ev.Origin}) {
		if trust := p.Classify(part.Origin).Trust; trust != floodmark.Untrusted {
			t.Errorf("hooks/%s counts as %s: %+v", h.name, trust, ev)
		}
		text += part.Text
	}
	if !strings.Contains(text, h.text) {
		t.Errorf("hooks/%s did not bring %q: %+v", h.name, h.text, ev)
	}
}

// toldBy makes one hook call after another, each after the run of the previous one has started. It
// reports whether all runs have.
func (w *world) toldBy(app *chatApp, hooks []hookCall, before int) bool {
	if n := len(w.runs()) - before; n == app.hooked && n < len(hooks) {
		app.hook(w.t, hooks[n])
		app.hooked++
	}
	return len(w.runs()) == before+len(hooks)
}

// hook sends a message to the gateway.
func (c *chatApp) hook(t *testing.T, h hookCall) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.hooks+"/"+h.name, strings.NewReader(h.body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + c.hookToken}, "Content-Type": {"application/json"}}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode >= 300 {
		t.Errorf("hooks/%s: %s %s, %v", h.name, answer.Status, text, err)
	}
}

// gatewaySettings returns OpenClaw's settings for a gateway with a chat app, in which chatOwner is
// the owner.
func (w *world) gatewaySettings(telegram string) map[string]any {
	settings := w.openclawSettings()
	w.merge(settings, "openclaw/settings.json")
	settings["gateway"] = map[string]any{"mode": "local", "port": freePort(w.t), "bind": "loopback", "auth": map[string]any{"mode": "token", "token": random()}}
	if _, err := os.Stat(filepath.Join(w.home, ".openclaw/extensions/reader")); err == nil {
		settings["plugins"].(map[string]any)["entries"].(map[string]any)["reader"] = map[string]any{"enabled": true}
	}
	settings["commands"] = map[string]any{"ownerAllowFrom": []string{fmt.Sprint("telegram:", chatOwner)}}
	settings["channels"] = map[string]any{"telegram": map[string]any{
		"enabled": true, "botToken": "999:example", "apiRoot": telegram, "dmPolicy": "open", "allowFrom": []string{"*"},
		"groupPolicy": "open", "groups": map[string]any{"*": map[string]any{"requireMention": false}},
	}}
	return settings
}

func freePort(t *testing.T) int {
	t.Helper()
	s := httptest.NewServer(nil)
	defer s.Close()
	var port int
	if _, err := fmt.Sscanf(s.URL, "http://127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	return port
}

// runs returns the runs that OpenClaw reported, as our code for it reads them.
func (w *world) runs() (events []hook.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, told := range w.told {
		if told.req.Event == "before_agent_run" {
			var k keeper
			agents.Door{Hooks: &k}.Answer(w.t.Context(), told.req)
			events = append(events, k.saw...)
		}
	}
	return slices.DeleteFunc(events, func(ev hook.Event) bool { return ev.Point == hook.SessionStart })
}

// replies returns the number of answers that OpenClaw asked us about.
func (w *world) replies() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, told := range w.told {
		if told.req.Event == "reply_payload_sending" {
			n++
		}
	}
	return n
}

// agreesToTheFirst returns an owner who says yes to the first question of a session with such a
// name, and does not answer any other.
func (w *world) agreesToTheFirst(name string) func(context.Context, journal.Session, floodmark.TicketID) (floodmark.Verdict, error) {
	var once sync.Once
	return func(ctx context.Context, s journal.Session, t floodmark.TicketID) (floodmark.Verdict, error) {
		err := errors.New("nobody answers")
		if strings.Contains(string(s.ID), name) {
			once.Do(func() { err = w.inWindow(ctx, s, t, floodmark.Allow, "test") })
		}
		return floodmark.Allow, err
	}
}

// answersInChats is a model that obeys a mail, and that shows a picture.
func answersInChats(turn testmodel.Turn) testmodel.Step {
	if n := len(turn.Results); bytes.Contains(turn.Body, []byte("read my mail")) && n < 2 {
		calls := []testmodel.Call{openclawHidden(markedTool, map[string]any{}), openclawAgent().shell(attack)}
		return testmodel.Step{Text: "One moment.", Calls: calls[n : n+1]}
	}
	if bytes.Contains(turn.Body, []byte("a picture")) {
		return testmodel.Step{Text: "Look: ![x](" + sink + "?q=1)"}
	}
	return testmodel.Step{Text: "Done."}
}

// leaves checks what OpenClaw wrote in a chat.
func (w *world) leaves(app *chatApp, chat int, want ...string) {
	w.t.Helper()
	got := app.posts(chat)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !regexp.MustCompile("^"+want[i]+"$").MatchString(got[i]) {
			w.t.Errorf("%d reads %q, want %q", chat, got, want)
			return
		}
	}
}

// markedTool is a tool of another plugin, whose author marked it with caution.
const markedTool = "my_mail_reader"

// markedPlugin writes that plugin. The owner's policy labels the results of its tool as local.
func (w *world) markedPlugin() {
	w.rules = "tools: [{agent: openclaw, tool: " + markedTool + ", effect: observe, returns: {trust: local, secrecy: internal}}]\n"
	const folder = ".openclaw/extensions/reader/"
	w.write(folder+"package.json", object(map[string]any{"name": "reader", "version": "1.0.0", "type": "module", "openclaw": map[string]any{"extensions": []string{"./index.ts"}}}))
	w.write(folder+"openclaw.plugin.json", object(map[string]any{
		"id": "reader", "name": "Reader", "description": "Reads mail", "activation": map[string]any{"onStartup": true},
		"contracts": map[string]any{"tools": []string{markedTool}}, "metadata": map[string]any{"openclaw": map[string]any{"caution": true}},
		"configSchema": map[string]any{"type": "object", "additionalProperties": false},
	}))
	w.write(folder+"index.ts", `export default { id: "reader", name: "Reader", description: "Reads mail", register(api: any) {
  api.registerTool({ name: "`+markedTool+`", description: "Reads mail", parameters: { type: "object", properties: {} }, execute: async () => ({ content: [{ type: "text", text: "A mail." }], details: {} }) });
} };
`)
}

// A keeper allows everything and keeps the events.
type keeper struct{ saw []hook.Event }

func (k *keeper) Handle(_ context.Context, _ string, ev hook.Event) (hook.Reply, error) {
	k.saw = append(k.saw, ev)
	return hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}}, nil
}

// This tests the table of channels on the real thing: the sender and the place of a message decide
// its label, and the readers of an answer are asked about. Only the owner gets answers without a
// yes. The owner sees what an answer is based on, and nothing in it is loaded automatically.
func TestOpenclawChannels(t *testing.T) {
	if *gateOnly {
		t.Skip("make soak SUITE=agents starts OpenClaw's gateway")
	}
	w := newWorld(t)
	w.await = w.agreesToTheFirst("telegram:group")
	w.markedPlugin()
	w.inMemory()
	p, err := policy.Shipped("assistant")
	if err != nil {
		t.Fatal(err)
	}
	w.model.Say = answersInChats
	const owner, other = chatOwner, 222
	table := []struct {
		sent
		want floodmark.Trust
	}{
		{sent{from: owner, text: "I am alone with you"}, floodmark.Owner},
		{sent{from: other, text: "so am I"}, floodmark.External},
		{sent{from: owner, group: true, text: "@fm_bot I am among others", quote: "words of Cem"}, floodmark.Shared},
		{sent{from: other, group: true, text: "@fm_bot me too"}, floodmark.External},
		{sent{from: owner, text: "show me a picture"}, floodmark.Owner},
		{sent{from: owner, text: "read my mail"}, floodmark.Owner},
	}
	app := &chatApp{hookToken: random(), next: func(n int) bool { return min(w.replies(), len(w.runs())) >= n }}
	for _, row := range table {
		app.messages = append(app.messages, row.sent)
	}
	hooks := hooked()
	w.gateway(app, func() bool { return len(app.posts(owner)) >= 3 && w.toldBy(app, hooks, len(table)) })
	w.leaves(app, other)
	w.leaves(app, groupChat, `Done\.`)
	w.leaves(app, owner, `Done\.`, `Look: [^!]*\(informed by 1 external message\)`,
		`Look: [^!]*\(⚠️ informed by 1 untrusted e-mail and 1 external message; blocked: exec; exec because .+\. Details: floodmark why openclaw:agent:main:main#[0-9a-f-]+\)`)
	if w.leaked() {
		t.Error("the notes were sent")
	}
	got := w.runs()
	if n := w.replies(); n != len(table) {
		t.Errorf("%d answers were asked about, want %d", n, len(table))
	}
	if len(got) != len(table)+len(hooks) {
		t.Fatalf("%d runs, want %d: %+v", len(got), len(table)+len(hooks), got)
	}
	for i, h := range hooks {
		h.isUntrusted(t, p, got[len(table)+i])
	}
	for i, row := range table {
		if trust := p.Classify(got[i].Origin).Trust; trust != row.want || got[i].Text != row.text {
			t.Errorf("%q counts as %s, want %s: %+v", row.text, trust, row.want, got[i])
		}
		if quoted := len(got[i].Parts) == 1 && got[i].Parts[0].Text == row.quote; quoted != (row.quote != "") {
			t.Errorf("%q comes with %+v", row.text, got[i].Parts)
		}
	}
}
