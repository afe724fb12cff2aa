package rulesdesk_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/wire"
)

func TestSave(t *testing.T) {
	r := newRoom(t)
	page := r.page()
	read := page.GetFiles()[0].GetDigest()
	if page.GetFiles()[0].GetText() != first || page.GetFiles()[0].GetLocked() != "" || page.GetProfile() != "assistant" {
		t.Fatalf("%v", page)
	}
	got := r.save(wrong, read)
	if got.GetRefused() == "" || len(got.GetProblems()) == 0 || r.read() != first {
		t.Errorf("a policy with an error was saved: %v", got)
	}
	r.write(first + "# mine\n")
	if got := r.save(looser, read); !strings.Contains(got.GetRefused(), "changed meanwhile") || r.read() != first+"# mine\n" || got.GetFile().GetText() != r.read() {
		t.Errorf("a change by others was lost: %v", got)
	}
	read = r.page().GetFiles()[0].GetDigest()
	if got := r.save(looser, read); got.GetRefused() != "" || !got.GetLoaded() || r.read() != looser {
		t.Fatalf("%v", got)
	}
	if n := len(r.notes); n != 1 || r.notes[0].Kind != "policy-saved" || !strings.Contains(r.notes[0].Text, "by anna (console)") {
		t.Errorf("%v", r.notes)
	}
	if r.rules("").Policy.Hash().String() != r.page().GetInForce() {
		t.Error("it is not in force")
	}
	all := r.page().GetVersions()
	if len(all) != 1 || all[0].GetBy() != "anna" {
		t.Fatalf("%v", all)
	}
	back, err := r.RollBackRules(t.Context(), me(), &wire.RollBackRulesRequest{Version: all[0].GetId(), Read: r.page().GetFiles()[0].GetDigest()})
	if err != nil || back.GetRefused() != "" || r.read() != first+"# mine\n" {
		t.Errorf("%v: %v", err, back)
	}
	if n := len(r.page().GetVersions()); n != 2 {
		t.Errorf("%d versions, want 2", n)
	}
}

func TestSaveFirst(t *testing.T) {
	r := newRoom(t)
	if err := os.Remove(r.file); err != nil {
		t.Fatal(err)
	}
	r.strange = errors.New("no")
	if got := r.save(looser, ""); got.GetRefused() == "" || !got.GetFile().GetMissing() {
		t.Errorf("%v", got)
	}
	r.strange = nil
	if got := r.save(looser, ""); got.GetRefused() != "" || r.read() != looser {
		t.Errorf("%v", got)
	}
	page := r.page()
	if v := page.GetVersions(); len(v) == 0 || !v[0].GetMissing() || v[0].GetDigest() != "" {
		t.Fatalf("that there was no file is no version: %v", v)
	}
	first := page.GetVersions()[0].GetId()
	ask := &wire.RollBackRulesRequest{Version: first, Read: page.GetFiles()[0].GetDigest()}
	back, err := r.RollBackRules(t.Context(), me(), ask)
	if _, gone := os.Stat(r.file); err != nil || back.GetRefused() != "" || !back.GetLoaded() || !back.GetFile().GetMissing() || !errors.Is(gone, fs.ErrNotExist) {
		t.Fatalf("%v: %v, %v", err, back, gone)
	}
	if last := r.notes[len(r.notes)-1]; last.Kind != "policy-rolled-back" || !strings.Contains(last.Text, "no file") {
		t.Errorf("%v", last)
	}
	ask.Read = ""
	if back, err := r.RollBackRules(t.Context(), me(), ask); err != nil || back.GetRefused() == "" {
		t.Errorf("a file that is gone was removed again: %v, %v", err, back)
	}
	again := r.page().GetVersions()[0]
	if back, err := r.RollBackRules(t.Context(), me(), &wire.RollBackRulesRequest{Version: again.GetId()}); err != nil || back.GetRefused() != "" || r.read() != looser {
		t.Errorf("%v: %v", err, back)
	}
}

// TestRemovingIsTakenBack: if the rules without a file are refused, the file comes back.
func TestRemovingIsTakenBack(t *testing.T) {
	r := newRoom(t)
	if err := os.Remove(r.file); err != nil {
		t.Fatal(err)
	}
	r.save(looser, "")
	page := r.page()
	r.strange = errors.New("no")
	back, err := r.RollBackRules(t.Context(), me(), &wire.RollBackRulesRequest{Version: page.GetVersions()[0].GetId(), Read: page.GetFiles()[0].GetDigest()})
	if err != nil || back.GetRefused() == "" || r.read() != looser {
		t.Errorf("%v: %v", err, back)
	}
}

func TestNothingIsSavedUnrecorded(t *testing.T) {
	r := newRoom(t)
	ask := &wire.SaveRulesRequest{Text: looser, Read: r.page().GetFiles()[0].GetDigest()}
	r.deaf = errors.New("the journal is full")
	if _, err := r.SaveRules(t.Context(), me(), ask); !errors.Is(err, r.deaf) || errors.Is(err, httpapi.ErrInvalid) || r.read() != first || len(r.page().GetVersions()) != 0 {
		t.Errorf("%v: %q, %d versions", err, r.read(), len(r.page().GetVersions()))
	}
	r.deaf = nil
	if err := os.WriteFile(filepath.Join(filepath.Dir(r.file), "versions"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.SaveRules(t.Context(), me(), ask); err == nil || r.read() != first {
		t.Errorf("%v: %q was saved without keeping the old text", err, r.read())
	}
	if n := len(r.notes); n != 2 || r.notes[0].Kind != "policy-saved" || r.notes[1].Kind != "policy-not-saved" {
		t.Errorf("%v", r.notes)
	}
}

func TestASaveIsFinished(t *testing.T) {
	r := newRoom(t)
	ctx, cancel := context.WithCancel(t.Context())
	r.noted = cancel
	got, err := r.SaveRules(ctx, me(), &wire.SaveRulesRequest{Text: looser, Read: r.page().GetFiles()[0].GetDigest()})
	if err != nil || !got.GetLoaded() || r.read() != looser || r.rules("").Policy.Hash().String() != r.page().GetInForce() {
		t.Errorf("%v: %v, %q", err, got, r.read())
	}
}

func TestWhatIsWrongWithTheFileIsSaid(t *testing.T) {
	r := newRoom(t)
	r.write(strings.Repeat("#", config.MaxPolicyBytes+1))
	if _, err := r.Rules(t.Context(), me(), &wire.RulesRequest{}); !errors.Is(err, httpapi.ErrInvalid) || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("too large: %v", err)
	}
	if _, err := r.SaveRules(t.Context(), me(), &wire.SaveRulesRequest{Text: first}); !errors.Is(err, httpapi.ErrInvalid) || len(r.notes) != 0 {
		t.Errorf("too large: %v, %v", err, r.notes)
	}
	if err := errors.Join(os.Remove(r.file), os.Symlink(r.file+".gone", r.file)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.SaveRules(t.Context(), me(), &wire.SaveRulesRequest{Text: first}); !errors.Is(err, httpapi.ErrInvalid) || !strings.Contains(err.Error(), "a file that is gone") {
		t.Errorf("a link to nothing: %v", err)
	}
}

func TestTakenBackUnlessChanged(t *testing.T) {
	r := newRoom(t)
	r.strange = errors.New("no")
	r.before = func() { r.write(first + "# theirs\n") }
	got := r.save(looser, r.page().GetFiles()[0].GetDigest())
	if !strings.Contains(got.GetRefused(), "could not be written back") || r.read() != first+"# theirs\n" {
		t.Errorf("%q: %q", got.GetRefused(), r.read())
	}
}

func TestRefusedByReload(t *testing.T) {
	r := newRoom(t)
	r.strange = errors.New("no")
	if got := r.save(looser, r.page().GetFiles()[0].GetDigest()); got.GetRefused() == "" || r.read() != first {
		t.Errorf("%v", got)
	}
}

func TestOldVersionsGo(t *testing.T) {
	r := newRoom(t)
	for i := range 60 {
		r.save(fmt.Sprintf("%s# %d\n", first, i), r.page().GetFiles()[0].GetDigest())
	}
	all := r.page().GetVersions()
	if len(all) != 50 {
		t.Fatalf("%d versions", len(all))
	}
	got, err := r.Rules(t.Context(), me(), &wire.RulesRequest{Version: all[0].GetId()})
	if err != nil || got.GetVersionText() != first+"# 58\n" {
		t.Errorf("%v: %q", err, got.GetVersionText())
	}
}

func TestWhoMaySave(t *testing.T) {
	r := newRoom(t)
	read := r.page().GetFiles()[0].GetDigest()
	for name, who := range map[string]httpapi.Identity{
		"a script at the owner's socket": {Channel: httpapi.OwnerSocket, May: httpapi.OwnerMay},
		"a token":                        {Channel: httpapi.ByToken, May: httpapi.OwnerMay},
		"a viewer in the console":        {Channel: httpapi.ByConsole, Here: true, May: httpapi.MayView},
		"a page of the network":          {Channel: httpapi.ByConsole, May: httpapi.OwnerMay},
		"another tenant":                 {Tenant: "other", Channel: httpapi.ByConsole, Here: true, May: httpapi.OwnerMay},
	} {
		if _, err := r.SaveRules(t.Context(), who, &wire.SaveRulesRequest{Text: looser, Read: read}); !errors.Is(err, httpapi.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	at := httpapi.Identity{Name: "anna", Channel: httpapi.OwnerSocket, May: httpapi.OwnerMay}
	if _, err := r.SaveRules(httpapi.AtTerminal(t.Context()), at, &wire.SaveRulesRequest{Text: first + "# x\n", Read: read}); err != nil {
		t.Error(err)
	}
	r.fleet = "the fleet of firm.example"
	if _, err := r.SaveRules(t.Context(), me(), &wire.SaveRulesRequest{Text: looser, Read: read}); !errors.Is(err, httpapi.ErrInvalid) {
		t.Errorf("beside a fleet: %v", err)
	}
	for _, name := range []string{"../policy", "", strings.Repeat("1", 20) + "/..", strings.Repeat("9", 20)} {
		r.fleet = ""
		if _, err := r.RollBackRules(t.Context(), me(), &wire.RollBackRulesRequest{Version: name}); !errors.Is(err, httpapi.ErrNotFound) {
			t.Errorf("version %q: %v", name, err)
		}
	}
}

func (r *room) save(text, read string) *wire.SaveRulesResponse {
	r.t.Helper()
	got, err := r.SaveRules(r.t.Context(), me(), &wire.SaveRulesRequest{Text: text, Read: read})
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}
