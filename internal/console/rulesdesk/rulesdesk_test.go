package rulesdesk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/cli/rules"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/service/owner"
	"github.com/floodmark/floodmark/internal/story"
	"github.com/floodmark/floodmark/wire"
)

const (
	looser = first + "toolOverrides:\n  exec: {\"*\": allow}\n"
	wrong  = "version: 1\nprofile: assistent\n"
)

// try tries a text and returns the last message.
func (r *room) try(text string) *wire.TryRulesResponse {
	r.t.Helper()
	var last *wire.TryRulesResponse
	err := r.TryRules(r.t.Context(), me(), &wire.TryRulesRequest{Text: text}, func(m *wire.TryRulesResponse) error { last = m; return nil })
	if err != nil || !last.GetDone() {
		r.t.Fatalf("%v, done %v", err, last.GetDone())
	}
	return last
}

// TestTryIsReplay holds the numbers of a trial to those of «floodmark policy replay», with the
// differences.
func TestTryIsReplay(t *testing.T) {
	r := newRoom(t)
	for i := range 5 {
		r.poisoned(floodmark.SessionID(fmt.Sprint("openclaw:", i)))
	}
	trial := r.try(looser).GetTrial()
	if trial.GetLooser() == 0 || trial.GetQuestionsWould() >= trial.GetQuestionsWas() {
		t.Fatalf("the trial finds nothing: %v", trial)
	}
	got := replayed(t, r, looser)
	want := map[string]int64{
		"sessions": trial.GetSessions(), "decisions": trial.GetDecisions(), "same": trial.GetSame(), "changed": trial.GetChanged(),
		"cannotTell": trial.GetCannotTell(), "tasks": trial.GetTasks(), "was": trial.GetQuestionsWas(), "would": trial.GetQuestionsWould(),
		"looser": trial.GetLooser(), "stricter": trial.GetStricter(), "differences": int64(len(trial.GetDifferences())),
	}
	for name, n := range want {
		if got[name] != n {
			t.Errorf("%s: the console says %d, the command line %d", name, n, got[name])
		}
	}
}

// replayed runs «floodmark policy replay» over the room's journal.
func replayed(t *testing.T, r *room, text string) map[string]int64 {
	t.Helper()
	dir := t.TempDir()
	var lines bytes.Buffer
	desk := &owner.Desk{Journal: r.store}
	err := desk.Export(t.Context(), me(), &wire.ExportRequest{}, func(m *wire.ExportResponse) error {
		data, err := protojson.Marshal(m.GetEntry())
		lines.Write(append(data, '\n'))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{"journal.jsonl": lines.String(), "new.yaml": text, "old.yaml": r.read()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	c := &cli.Console{Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }, Dir: dir, Now: func() time.Time { return r.later(0) }}
	cmd := rules.NewPolicy(c)
	cli.AddOutput(cmd, true, cli.AsText, cli.AsJSON)
	cmd.SetArgs([]string{"replay", "--from", "journal.jsonl", "--policy", "new.yaml", "--then", "old.yaml", "--limit", "0", "--output", "json", "--dir", filepath.Dir(r.file)})
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	if err := cmd.ExecuteContext(t.Context()); err != nil && !errors.Is(err, cli.ErrNo) {
		t.Fatal(err)
	}
	var got struct {
		Sessions, Decisions, Same, Changed, CannotTell, Tasks, Looser, Stricter int64
		Questions                                                               struct{ Was, Would int64 }
		Differences                                                             []json.RawMessage
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v: %s%s", err, &out, &errs)
	}
	return map[string]int64{
		"sessions": got.Sessions, "decisions": got.Decisions, "same": got.Same, "changed": got.Changed, "cannotTell": got.CannotTell, "tasks": got.Tasks,
		"was": got.Questions.Was, "would": got.Questions.Would, "looser": got.Looser, "stricter": got.Stricter, "differences": int64(len(got.Differences)),
	}
}

// TestTheRulesInForceChangeNothing: the catalog of a trial is the one that was in force, with the
// files of this installation. So each call can be told, also of a tool whose free text was not kept.
func TestTheRulesInForceChangeNothing(t *testing.T) {
	r := newRoom(t)
	r.poisoned("a")
	r.tell("", "quiet", hook.Event{Point: hook.SessionStart})
	trial := r.try(first).GetTrial()
	if trial.GetSame() == 0 || trial.GetSame() != trial.GetDecisions() {
		t.Errorf("%v", trial)
	}
	if trial.GetSessions() != 1 {
		t.Errorf("%d sessions, of which one decided something", trial.GetSessions())
	}
	sends := r.try(first + "table: {send: {local: allow, shared: allow, external: allow, untrusted: allow}}\n").GetTrial()
	if sends.GetLooser() == 0 || sends.GetCannotTell() != 0 {
		t.Errorf("%v", sends)
	}
}

// TestAFirstTextIsTried against the profile, which held alone.
func TestAFirstTextIsTried(t *testing.T) {
	r := newRoom(t)
	if err := os.Remove(r.file); err != nil {
		t.Fatal(err)
	}
	r.reload(t.Context(), "")
	r.poisoned("a")
	trial := r.try(first + "table: {send: {local: allow, shared: allow, external: allow, untrusted: allow}}\n").GetTrial()
	if trial.GetLooser() == 0 || trial.GetCannotTell() != 0 {
		t.Errorf("%v", trial)
	}
}

// TestAReasonIsOfTheNewAnswer: the text of the old answer is not told beside the new one.
func TestAReasonIsOfTheNewAnswer(t *testing.T) {
	r := newRoom(t)
	r.poisoned("a")
	for _, d := range r.try(looser).GetTrial().GetDifferences() {
		if d.GetWould() == "allow" && !strings.Contains(d.GetText(), "no rule asks about it") {
			t.Errorf("%v", d)
		}
	}
	allows := first + "table: {send: {local: allow, shared: allow, external: allow, untrusted: allow}}\n"
	if d := r.try(allows).GetTrial().GetDifferences(); len(d) == 0 || d[0].GetText() != "the table allows it then" || d[0].GetRule() != "table.send.untrusted" {
		t.Errorf("%v", d)
	}
	for _, d := range r.try("version: 1\nprofile: strict\n").GetTrial().GetDifferences() {
		if d.GetWould() == "restrict" && strings.Contains(d.GetText(), "no rule asks about it") {
			t.Errorf("%v", d)
		}
	}
}

// TestTheTableIsTheProfiles, whatever the owner's file changes of it.
func TestTheTableIsTheProfiles(t *testing.T) {
	r := newRoom(t)
	r.write("version: 1\nprofile: coding\ntable: {run: {untrusted: restrict}}\n")
	r.reload(t.Context(), "")
	rows := map[string]string{}
	for _, row := range r.page().GetTable() {
		for _, c := range row.GetCells() {
			rows[row.GetEffect()] += c.GetTrust() + " " + c.GetVerdict() + ", "
		}
	}
	if want := "system allow, owner allow, local allow, shared allow, external contain, untrusted contain, "; len(rows) != 7 || rows["run"] != want {
		t.Errorf("%d rows: %q", len(rows), rows["run"])
	}
}

// TestTryLeavesOutOldSessions: only the days that were asked for are read.
func TestTryLeavesOutOldSessions(t *testing.T) {
	r := newRoom(t)
	r.poisoned("old")
	r.later(30 * 24 * time.Hour)
	r.poisoned("new")
	trial := r.try(looser).GetTrial()
	if trial.GetSessions() != 1 || trial.GetDifferences()[0].GetSession() != "new" || trial.GetStopped() != "" {
		t.Errorf("%v", trial)
	}
}

// TestTryEndsInTime: a trial says how far it is, and how far it came if it takes too long.
func TestTryEndsInTime(t *testing.T) {
	r := newRoom(t)
	for i := range 3 {
		r.poisoned(floodmark.SessionID(fmt.Sprint("s", i)))
	}
	r.step = 90 * time.Second
	var all []*wire.TryRulesResponse
	err := r.TryRules(t.Context(), me(), &wire.TryRulesRequest{Text: looser}, func(m *wire.TryRulesResponse) error { all = append(all, m); return nil })
	if err != nil || len(all) != 2 || all[0].GetDone() || all[0].GetTrial().GetSessions() != 1 || len(all[0].GetTrial().GetDifferences()) != 0 {
		t.Fatalf("%v: %v", err, all)
	}
	if last := all[1].GetTrial(); !strings.Contains(last.GetStopped(), "fewer days") || last.GetSessions() != 2 || last.GetReached() == nil {
		t.Errorf("%v", last)
	}
}

// TestTryCanBeCancelled and leaves room for the next trial.
func TestTryCanBeCancelled(t *testing.T) {
	r := newRoom(t)
	r.poisoned("a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := r.TryRules(ctx, me(), &wire.TryRulesRequest{Text: looser}, func(*wire.TryRulesResponse) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	r.try(looser)
}

// TestAPanicKeepsNoneOut: the next trial has room after a fault of ours.
func TestAPanicKeepsNoneOut(t *testing.T) {
	r := newRoom(t)
	r.poisoned("a")
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		r.looks = func(n int) {
			if n == 3 { // in the first session
				panic("a fault")
			}
		}
		r.try(looser)
	}()
	r.looks = nil
	r.try(looser)
}

// TestASlowPageKeepsNoneOut: while one page does not read what its trial sends, others try.
func TestASlowPageKeepsNoneOut(t *testing.T) {
	r := newRoom(t)
	r.poisoned("a")
	r.poisoned("b")
	r.step = time.Second // each session is told
	sends, read := make(chan struct{}, 9), make(chan struct{})
	slow := make(chan error)
	go func() {
		slow <- r.TryRules(t.Context(), me(), &wire.TryRulesRequest{Text: looser}, func(*wire.TryRulesResponse) error {
			sends <- struct{}{}
			<-read
			return nil
		})
	}()
	<-sends
	r.try(looser)
	close(read)
	if err := <-slow; err != nil {
		t.Error(err)
	}
	gone := errors.New("the page is gone")
	err := r.TryRules(t.Context(), me(), &wire.TryRulesRequest{Text: looser}, func(*wire.TryRulesResponse) error { return gone })
	if !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
}

// TestCheckIsPolicyCheck holds the problems to those of «floodmark policy check».
func TestCheckIsPolicyCheck(t *testing.T) {
	r := newRoom(t)
	for _, text := range []string{first, wrong, looser, first + "toolOverrides:\n  exek: {\"*\": allow}\n", "version: 1\n\tx"} {
		r.write(text)
		var out bytes.Buffer
		c := &cli.Console{Stdout: &out, Getenv: func(string) string { return "" }, Dir: filepath.Dir(r.file)}
		cmd := rules.NewPolicy(c)
		cmd.SetArgs([]string{"check", r.file, "--output", "json"})
		cmd.SilenceUsage, cmd.SilenceErrors = true, true
		if err := cmd.ExecuteContext(t.Context()); err != nil && !errors.Is(err, cli.ErrNo) {
			t.Fatal(err)
		}
		var want struct {
			Errors   int32
			Problems []*struct {
				File, Severity, Code, Text, Hint string
				Line, Column                     int32
			}
		}
		if err := json.Unmarshal(out.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		got, err := r.CheckRules(t.Context(), me(), &wire.CheckRulesRequest{Text: text})
		if err != nil || got.GetErrors() != want.Errors || len(got.GetProblems()) != len(want.Problems) {
			t.Fatalf("%q: %v: %v, want %s", text, err, got, &out)
		}
		for i, p := range got.GetProblems() {
			w := want.Problems[i]
			if p.GetFile() != w.File || p.GetLine() != w.Line || p.GetColumn() != w.Column || p.GetText() != w.Text || p.GetHint() != w.Hint || p.GetSeverity() != w.Severity {
				t.Errorf("%v, want %v", p, w)
			}
		}
	}
}

// TestSave saves, refuses errors and a file that changed meanwhile, keeps the old text, records who
// it was, and goes back.
// TestSaveFirst writes a file where there was none, and takes it away if it cannot be used.
// TestNothingIsSavedUnrecorded: what cannot be recorded is not saved, and what was recorded and then
// not saved is recorded, too.
// TestASaveIsFinished: what is written is put in force, although the page that saved is logged out or
// closed meanwhile.
// TestWhatIsWrongWithTheFileIsSaid: the owner has to mend it, so it is no internal error.
// TestTakenBackUnlessChanged: a text that the rules refuse is taken back, unless another process has
// written the file since.
// TestTenantsSeeNoPolicyOfOthers: a tenant that is judged by the operator's policy sees neither its
// text, nor quotations of it, nor where it is.
func TestTenantsSeeNoPolicyOfOthers(t *testing.T) {
	r := newRoom(t)
	r.write(first + "# CANARY\n")
	r.reload(t.Context(), "")
	r.held.Warnings = floodmark.Problems{{File: r.file, Severity: floodmark.Warning, Code: "x", Text: "CANARY", Hint: "CANARY"}}
	who := me()
	who.Tenant = "firm"
	r.poisonedOf("firm", "s")
	all := ""
	for _, say := range []func() (fmt.Stringer, error){
		func() (fmt.Stringer, error) { return r.Rules(t.Context(), who, &wire.RulesRequest{}) },
		func() (fmt.Stringer, error) { return r.StoryOf(t.Context(), who, &wire.StoryOfRequest{Of: "s"}) },
		func() (fmt.Stringer, error) {
			return r.CheckRules(t.Context(), who, &wire.CheckRulesRequest{Text: wrong})
		},
		func() (fmt.Stringer, error) {
			var last *wire.TryRulesResponse
			err := r.TryRules(t.Context(), who, &wire.TryRulesRequest{Text: looser}, func(m *wire.TryRulesResponse) error { last = m; return nil })
			return last, err
		},
		func() (fmt.Stringer, error) {
			var last *wire.TryRulesResponse
			err := r.TryRules(t.Context(), who, &wire.TryRulesRequest{Text: wrong}, func(m *wire.TryRulesResponse) error { last = m; return nil })
			return last, err
		},
	} {
		got, err := say()
		if err != nil {
			t.Error(err)
			continue
		}
		all += got.String() + "\n"
	}
	if strings.Contains(all, "CANARY") || strings.Contains(all, filepath.Dir(r.file)) || !strings.Contains(all, "-- story --") {
		t.Errorf("a tenant reads %s", all)
	}
}

// TestRefusedByReload writes the old text back.
// TestOldVersionsGo: no more than some are kept.
// TestWhoMaySave: only a person at this machine, and no policy that comes from elsewhere.
// TestStory writes a story that plays, and that fails once the answers are changed.
func TestStory(t *testing.T) {
	r := newRoom(t)
	r.poisoned("s")
	got, err := r.StoryOf(t.Context(), me(), &wire.StoryOfRequest{Of: "s"})
	if err != nil || !got.GetPlays() {
		t.Fatalf("%v: %v\n%s", err, got.GetNotes(), got.GetText())
	}
	for _, want := range []string{"-- policy --\nversion: 1", "owner What is new", `call #c2 message {"message":`, "mallory@example.net", "-> confirm taint-escalation"} {
		if !strings.Contains(got.GetText(), want) {
			t.Errorf("%q is missing in\n%s", want, got.GetText())
		}
	}
	cat, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	res, err := story.Play("x.txtar", []byte(strings.ReplaceAll(got.GetText(), "-> confirm taint-escalation", "-> allow")), cat)
	if err != nil || res.OK() {
		t.Errorf("%v, the story could not fail", err)
	}
	r.poisoned("::")
	if got, err := r.StoryOf(t.Context(), me(), &wire.StoryOfRequest{Of: "::"}); err != nil || got.GetName() != "story.txtar" {
		t.Errorf("%v: the file is %q", err, got.GetName())
	}
	if _, err := r.StoryOf(t.Context(), me(), &wire.StoryOfRequest{Of: "long"}); !errors.Is(err, httpapi.ErrInvalid) || !strings.Contains(err.Error(), "floodmark journal export") {
		t.Errorf("a session that is too long: %v", err)
	}
	if _, err := r.StoryOf(t.Context(), me(), &wire.StoryOfRequest{Of: "nobody"}); !errors.Is(err, httpapi.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if _, err := r.StoryOf(t.Context(), me(), &wire.StoryOfRequest{Of: "s#4711"}); !errors.Is(err, httpapi.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

func (r *room) page() *wire.RulesResponse {
	r.t.Helper()
	got, err := r.Rules(r.t.Context(), me(), &wire.RulesRequest{})
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}

// BenchmarkTry tries a policy over a thousand sessions.
func BenchmarkTry(b *testing.B) {
	r := newRoom(b)
	for i := range 1000 {
		r.poisoned(floodmark.SessionID(fmt.Sprint("s", i)))
	}
	for b.Loop() {
		r.try(looser)
	}
}
