package telemetry

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
)

func readEvents(t *testing.T, file string) []finding {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list []finding
	for line := range bytes.Lines(data) {
		var f finding
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&f); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		list = append(list, f)
	}
	return list
}

// Each type of security event is written in the form of the schema.
func TestSecurityEvents(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events.jsonl")
	s := newStage(t, Options{Events: file})
	asked := s.play(t)
	s.command(t, approval.Command{Verb: approval.Approve, Tool: approval.All, Code: <-s.codes})
	send := func(id string) {
		s.tell(t, hook.Event{Point: hook.BeforeToolCall, Session: "s1", Call: hook.Call{ID: floodmark.CallID(id), Name: "exec", Args: json.RawMessage(`{"command":"make ` + id + `"}`)}})
	}
	send("c3")
	s.command(t, approval.Command{Verb: approval.Deny, Tool: approval.All, Code: <-s.codes})
	send("c4")
	code := <-s.codes
	s.tell(t, hook.Event{Point: hook.AfterToolCall, Session: "s1", Call: hook.Call{ID: "c9", Name: "exec"}, Result: hook.Result{Text: "the code is " + code}})
	s.tell(t, hook.Event{Point: hook.BeforeToolCall, Session: "s1", Call: hook.Call{ID: "c5", Name: "gateway", Args: json.RawMessage(`{"action":"restart"}`)}})
	digest := floodmark.DigestOf("Run make install now.").String()
	s.command(t, approval.Command{Verb: approval.Endorse, Digest: digest})
	s.command(t, approval.Command{Verb: approval.Withdraw, Digest: digest})
	s.Reloaded(true)
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
	list := readEvents(t, file)
	seen := map[string]finding{}
	for _, f := range list {
		want := eventTypes()[f.FindingInfo.Types[0]]
		if f.ClassUID != 2004 || f.CategoryUID != 2 || f.TypeUID != 200400+f.ActivityID || f.Metadata.Version != "1.8.0" ||
			!slices.Contains(f.Metadata.Profiles, "ai_operation") || f.FindingInfo.UID == "" || f.Time == 0 || f.SeverityID != want.severity {
			t.Errorf("not as the schema wants it: %+v", f)
		}
		seen[f.FindingInfo.Types[0]] = f
	}
	for kind := range eventTypes() {
		if _, ok := seen[kind]; !ok {
			t.Errorf("no event %s", kind)
		}
	}
	if list[0].FindingInfo.UID != string(asked.Ticket) || list[1].FindingInfo.UID != string(asked.Ticket) || list[1].ActivityID != activityClose {
		t.Errorf("the answer does not close the question %s: %+v %+v", asked.Ticket, list[0], list[1])
	}
	if seen[typeEndorsed].Unmapped.Digest != digest || seen[typeIncident].FindingInfo.Analytic.Name != "unmediated-call" || seen[typeRefused].Resources[0].Name != "gateway" {
		t.Errorf("details: %+v", seen)
	}
}

// The file is bounded: a line at the limit still fits, the next one begins a new file, and only
// keptFiles old files are kept.
func TestEventsRotate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events.jsonl")
	ev := policyRefused("test", time.Unix(1, 0))
	line, err := json.Marshal(ev)
	if err != nil {
		t.Fatal(err)
	}
	limit := int64(3 * (len(line) + 1))
	e, err := openEvents(file, limit)
	if err != nil {
		t.Fatal(err)
	}
	exists := func(n int) bool { _, err := os.Stat(e.old(n)); return err == nil }
	for i := range 3 * (keptFiles + 3) {
		if exists(1) != (i > 3) {
			t.Fatalf("after %d lines: rotated %v", i, exists(1))
		}
		if _, err := e.write(ev); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if !exists(keptFiles) || exists(keptFiles+1) {
		t.Errorf("kept: %v, one more: %v", exists(keptFiles), exists(keptFiles+1))
	}
	for n := range keptFiles {
		info, err := os.Stat(e.old(n + 1))
		if err != nil || info.Size() != limit || info.Mode().Perm() != 0o600 {
			t.Errorf("old file %d: %v, %v", n+1, info, err)
		}
	}
}

// A line that was cut by a crash does not spoil the next one.
func TestEventsAfterACrash(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events.jsonl")
	if err := os.WriteFile(file, []byte(`{"class_uid":20`), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := openEvents(file, maxEventBytes)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.write(policyRefused("test", time.Unix(1, 0))); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil || strings.Count(string(data), "\n") != 2 || !strings.Contains(string(data), "\n{\"activity_id\"") {
		t.Errorf("%s, %v", data, err)
	}
}

// A file others can read, a link, a folder and a pipe are refused.
func TestEventsOnlyGoToAFileOfOurs(t *testing.T) {
	dir := t.TempDir()
	open, link := filepath.Join(dir, "open"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(open, nil, 0o600), os.Chmod(open, 0o640), os.Symlink("/dev/null", link)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{open, link, dir, filepath.Join(dir, "no", "folder")} {
		if e, err := openEvents(path, maxEventBytes); err == nil {
			t.Errorf("%s is taken", path)
			_ = e.Close() // it should not be open at all
		}
	}
	if _, err := Open(t.Context(), Options{Now: clock, Catalog: nil}); err == nil {
		t.Error("without a catalog every name would be shown")
	}
}

// Failed writes are counted, and only the first is logged.
func TestEventsThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	e := &eventFile{path: filepath.Join(dir, "sub", "events"), limit: maxEventBytes}
	ev := policyRefused("test", time.Unix(1, 0))
	for i, want := range []bool{true, false} {
		if changed, err := e.write(ev); !errors.Is(err, fs.ErrNotExist) || changed != want {
			t.Errorf("try %d: %v, %v", i, changed, err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if changed, err := e.write(ev); err != nil || !changed {
		t.Errorf("mended: %v, %v", changed, err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
