package daemon

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/rules/liverules"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// ask sends a request of a page as a browser does, and reads the answer into out.
func (c *consoled) ask(t *testing.T, method, body string, out proto.Message) int {
	t.Helper()
	status, text := c.post(t, "/floodmark.v1.ConsoleService/"+method, c.token, body)
	if status == http.StatusOK {
		if err := protojson.Unmarshal([]byte(text), out); err != nil {
			t.Fatalf("%s: %v: %s", method, err, text)
		}
	}
	return status
}

// TestThePagesOfTheConsole: rules are saved from the console and hold at once, the journal says who
// saved them, and the other pages tell what happened.
func TestThePagesOfTheConsole(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	hooks := c.hooks(t)
	poison(t, hooks, "s1")
	if got := tell(t, hooks, run("s1")); got.Decision.Verdict != floodmark.Confirm {
		t.Fatalf("nothing was asked: %+v", got.Decision)
	}
	var page wire.RulesResponse
	if status := c.ask(t, "Rules", `{"schema":true}`, &page); status != http.StatusOK || len(page.GetFiles()) != 1 || page.GetFiles()[0].GetLocked() != "" || page.GetSchema() == "" {
		t.Fatalf("%d: %v", status, page.GetFiles())
	}
	text := "version: 1\nprofile: strict\n"
	body, err := json.Marshal(map[string]string{"text": text, "read": page.GetFiles()[0].GetDigest()})
	if err != nil {
		t.Fatal(err)
	}
	var got wire.SaveRulesResponse
	if status := c.ask(t, "SaveRules", string(body), &got); status != http.StatusOK || got.GetRefused() != "" {
		t.Fatalf("%d: %v", status, &got)
	}
	if saved, err := os.ReadFile(c.d.opts.Paths.Policy); err != nil || string(saved) != text || c.d.live.Rules().Policy.Profile() != "strict" {
		t.Errorf("%v: %q, and %s holds", err, saved, c.d.live.Rules().Policy.Profile())
	}
	if said := c.incidents(t); !strings.Contains(said, "policy-saved") || !strings.Contains(said, "(console)") {
		t.Errorf("the journal says %q", said)
	} else if !strings.Contains(said, "policy-loaded") || strings.Contains(said, "policy-changed") {
		t.Errorf("the journal says of what the console saved: %q", said)
	}
	if lines, n := c.d.notes.list(""); n != 0 {
		t.Errorf("saving counts as an incident: %q", lines)
	}
	c.d.rulesChanged(liverules.Status{Rules: c.d.live.Current().Rules, Fresh: true})
	if lines, n := c.d.notes.list(""); n != 1 || !strings.Contains(strings.Join(lines, "\n"), "policy-changed") {
		t.Errorf("what another program did with the same text is no incident: %q", lines)
	}
	var did wire.DidResponse
	if status := c.ask(t, "Did", `{"days":7}`, &did); status != http.StatusOK || did.GetAsked() != 1 || len(did.GetDays()) != 7 {
		t.Errorf("%d: %v", status, &did)
	}
	if found := c.search(t, &wire.SearchDecisionsRequest{Verdict: "confirm"}); len(found) != 1 || found[0].GetAnswer() != "waiting" || found[0].GetSession() != "s1" {
		t.Errorf("%v", found)
	}
	var held wire.ProtectionResponse
	if status := c.ask(t, "Protection", `{}`, &held); status != http.StatusOK || held.GetUnknown() != "" || len(held.GetLevels()) != 5 || len(held.GetAgents()) != 0 {
		t.Errorf("%d: %v", status, &held)
	}
	var graph wire.SessionGraphResponse
	if status := c.ask(t, "SessionGraph", `{"session":"s1"}`, &graph); status != http.StatusOK || len(graph.GetPaths()) != 1 {
		t.Errorf("%d: %v", status, &graph)
	}
	var story wire.StoryOfResponse
	if status := c.ask(t, "StoryOf", `{"of":"s1"}`, &story); status != http.StatusOK || !strings.Contains(story.GetText(), "-- story --") {
		t.Errorf("%d: %v", status, &story)
	}
	c.agent.Store(true)
	if status := c.ask(t, "SaveRules", string(body), &got); status != http.StatusForbidden {
		t.Errorf("an agent's process: %d", status)
	}
}

// TestALargePolicyIsSaved: a policy of the largest size passes, however much longer it is as JSON, and
// one that is larger is answered with the size that it may have.
func TestALargePolicyIsSaved(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	const begin = "version: 1\nprofile: strict\n# "
	text := begin + strings.Repeat(`"`, config.MaxPolicyBytes-len(begin))
	body := func(text string) string {
		data, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	var saved wire.SaveRulesResponse
	if status := c.ask(t, "SaveRules", body(text), &saved); status != http.StatusOK || saved.GetRefused() != "" {
		t.Fatalf("%d: %s", status, saved.GetRefused())
	}
	if on, err := os.ReadFile(c.d.opts.Paths.Policy); err != nil || string(on) != text {
		t.Errorf("%d bytes were written: %v", len(on), err)
	}
	var checked wire.CheckRulesResponse
	if status := c.ask(t, "CheckRules", body(text), &checked); status != http.StatusOK || checked.GetErrors() != 0 {
		t.Errorf("%d: %v", status, &checked)
	}
	if status, said := c.post(t, "/floodmark.v1.ConsoleService/SaveRules", c.token, body(text+"x")); status != http.StatusBadRequest || !strings.Contains(said, "at most 1048576 bytes") {
		t.Errorf("one byte more: %d %s", status, said)
	}
}

// TestEverySaveIsRecorded: what an owner does is in the journal, however many of its kind were recorded
// a moment ago.
func TestEverySaveIsRecorded(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	for range incidentsAtOnce {
		c.d.notes.add("", "policy-saved", "earlier", now())
	}
	text := "version: 1\nprofile: strict\n"
	body, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		t.Fatal(err)
	}
	var got wire.SaveRulesResponse
	if status := c.ask(t, "SaveRules", string(body), &got); status != http.StatusOK || got.GetRefused() != "" {
		t.Fatalf("%d: %s", status, got.GetRefused())
	}
	if said := c.incidents(t); !strings.Contains(said, "policy-saved") || !strings.Contains(said, floodmark.DigestOf(text).Short()) {
		t.Errorf("the journal says %q", said)
	}
}

// TestATenantFillsNoDisk: what its owners report too fast is refused, and not left out silently.
func TestATenantFillsNoDisk(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	for range incidentsAtOnce {
		c.d.notes.add("firm", "unseen-session", "earlier", now())
	}
	seen := floodmark.IncidentSeen{Kind: "unseen-session", Text: "one more"}
	if err := c.d.ofOwner(t.Context(), journal.Session{Tenant: "firm", ID: monitor.Incidents}, seen); !errors.Is(err, monitor.ErrBusy) {
		t.Errorf("%v", err)
	}
}

// A paged carries the token of a page.
type paged struct {
	http.RoundTripper
	token string
}

func (p paged) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+p.token)
	return p.RoundTripper.RoundTrip(r)
}

// search returns what a search of a page finds.
func (c *consoled) search(t *testing.T, r *wire.SearchDecisionsRequest) (found []*wire.FoundDecision) {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	pages := wire.NewConsoleServiceClient(&http.Client{Transport: paged{transport, c.token}}, c.base, connect.WithProtoJSON())
	stream, err := pages.SearchDecisions(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	done := false
	for stream.Receive() {
		found = append(found, stream.Msg().GetFound()...)
		done = stream.Msg().GetDone()
	}
	if err := errors.Join(stream.Err(), stream.Close()); err != nil || !done {
		t.Errorf("%v, done: %v", err, done)
	}
	return found
}

// incidents returns what the journal has of incidents.
func (c *consoled) incidents(t *testing.T) string {
	t.Helper()
	a, err := c.page.Show(t.Context(), &wire.ShowRequest{Session: string(monitor.Incidents)})
	if err != nil {
		t.Fatal(err)
	}
	return a.String()
}
