package rulesdesk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/store/wholefile"
	"github.com/floodmark/floodmark/internal/text/meaning"
	"github.com/floodmark/floodmark/wire"
)

// lockTime is how long saving waits for another process that changes the policy.
const lockTime = 5 * time.Second

// changed is why a text is not saved over one that its author has not seen.
const changed = "the file was changed meanwhile; read it again, and put your change into it"

// SaveRules implements [httpapi.RulesPage].
func (d *Desk) SaveRules(ctx context.Context, who httpapi.Identity, r *wire.SaveRulesRequest) (*wire.SaveRulesResponse, error) {
	got, err := d.save(ctx, who, meaning.RulesSaved, []byte(r.GetText()), r.GetRead())
	if err != nil {
		return nil, err
	}
	return &wire.SaveRulesResponse{Refused: got.refused, Problems: problems(got.problems), File: got.file, Loaded: got.loaded}, nil
}

// RollBackRules implements [httpapi.RulesPage].
func (d *Desk) RollBackRules(ctx context.Context, who httpapi.Identity, r *wire.RollBackRulesRequest) (*wire.RollBackRulesResponse, error) {
	if err := d.mayWrite(ctx, who); err != nil {
		return nil, err
	}
	v, err := d.version(r.GetVersion())
	if err != nil {
		return nil, err
	}
	got, err := d.save(ctx, who, meaning.RulesBack, v.data(), r.GetRead())
	if err != nil {
		return nil, err
	}
	return &wire.RollBackRulesResponse{Refused: got.refused, Problems: problems(got.problems), File: got.file, Loaded: got.loaded}, nil
}

// A saved is the outcome of saving.
type saved struct {
	refused  string
	problems floodmark.Problems
	file     *wire.RulesFile
	loaded   bool
}

// mayWrite refuses callers that are no person at this machine, and policies that come from
// elsewhere.
func (d *Desk) mayWrite(ctx context.Context, who httpapi.Identity) error {
	if !httpapi.Present(ctx, who) || !who.May.Has(httpapi.MayPolicy) {
		return fmt.Errorf("%w: a person at this machine must say this; a script edits the file and calls «floodmark policy reload»", httpapi.ErrInvalid)
	}
	if locked := d.locked(who); locked != "" {
		return fmt.Errorf("%w: %s", httpapi.ErrInvalid, locked)
	}
	return nil
}

// save replaces the policy by a text without errors, if the file still has the digest that the
// caller read, and puts it in force. A nil text removes the file.
func (d *Desk) save(ctx context.Context, who httpapi.Identity, kind string, text []byte, read string) (got saved, err error) {
	if err := errors.Join(d.mayWrite(ctx, who), bounded(string(text))); err != nil {
		return got, err
	}
	if text != nil {
		got.problems, err = d.check(who, string(text))
	}
	if err != nil {
		return got, err
	}
	d.saving.Lock()
	defer d.saving.Unlock()
	if got.problems.Failed() {
		got.refused = "the text has errors; the rules in force stay"
		got.file, err = d.file(who)
		return got, err
	}
	at, err := target(d.opts.File)
	if err != nil {
		return got, unusable(err)
	}
	c := change{desk: d, who: who, kind: kind, at: at, text: text}
	err = c.write(ctx, read)
	if errors.Is(err, errChanged) {
		got.refused = changed
	} else if err != nil {
		return got, err
	} else {
		c.load(ctx, &got)
	}
	got.file, err = d.file(who)
	return got, err
}

// errChanged says that the file has another digest than the one that was read.
var errChanged = errors.New(changed)

// maxName bounds the name of a person in a record.
const maxName = 200

// A change is a policy being replaced.
type change struct {
	desk *Desk
	who  httpapi.Identity
	kind string // of the record
	at   string // the file
	text []byte // nil if the file is removed
	was  []byte // the old text; nil if there was no file
}

// write records who saves, keeps the old version and replaces the file, if that still has the digest
// that the caller read. What is recorded and not done is recorded, too.
func (c *change) write(ctx context.Context, read string) error {
	recorded, unrecorded := false, error(nil)
	err := wholefile.Change(ctx, c.at, "the policy", lockTime, func() (_ []byte, err error) {
		if c.was, err = config.ReadPolicy(c.at); err != nil {
			return nil, err
		}
		if digest(c.was) != read || c.was == nil && c.text == nil {
			return nil, errChanged
		}
		if unrecorded = c.record(ctx, c.kind); unrecorded != nil {
			return nil, unrecorded
		}
		recorded = true
		if c.desk.opts.Saving != nil {
			c.desk.opts.Saving(string(c.text))
		}
		old := version{At: c.desk.opts.Now().UTC(), By: c.who.Name, Text: string(c.was), Missing: c.was == nil}
		return c.text, c.desk.keep(old)
	})
	if err != nil && recorded {
		err = errors.Join(err, c.record(ctx, "policy-not-saved"))
	}
	if err == nil || unrecorded != nil || errors.Is(err, errChanged) {
		return err
	}
	if errors.Is(err, wholefile.ErrLocked) {
		err = fmt.Errorf("another program is changing the policy (%w); try again", err)
	}
	return unusable(err)
}

// unusable returns an error about the file of the policy for the owner, who has to mend that.
func unusable(err error) error { return fmt.Errorf("%w: %w", httpapi.ErrInvalid, err) }

func (c *change) record(ctx context.Context, kind string) error {
	what := "no file, so that the shipped profile holds"
	if c.text != nil {
		what = fmt.Sprintf("digest %s of the text", floodmark.DigestOf(string(c.text)).Short())
	}
	said := fmt.Sprintf("%s, by %s (%s)", what, floodmark.OneLine(c.who.Name, maxName), c.who.Channel)
	return c.desk.opts.Note(ctx, c.who.Tenant, floodmark.IncidentSeen{Kind: kind, Text: said})
}

// load puts the new file in force. If the rules refuse it after all, the old text is written back,
// so that the file does not differ from what is in force. A caller that leaves meanwhile does not stop it.
func (c *change) load(ctx context.Context, got *saved) {
	ctx = context.WithoutCancel(ctx)
	now := c.desk.opts.Reload(ctx, c.who.Tenant)
	got.loaded = !now.Refused
	if !now.Refused {
		return
	}
	got.refused, got.problems = "the rules cannot be used; the old ones stay", now.Problems
	if err := c.takeBack(ctx); err != nil {
		got.refused += ", but the file could not be written back: " + err.Error()
		return
	}
	c.desk.opts.Reload(ctx, c.who.Tenant)
}

// takeBack gives the file its old text again, unless another process has changed it since. It does not
// wait for the record: the old rules are in force already.
func (c *change) takeBack(ctx context.Context) (err error) {
	wait, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	free, err := wholefile.Lock(wait, c.at+".lock")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, free()) }()
	now, err := config.ReadPolicy(c.at)
	if err != nil {
		return err
	}
	if digest(now) != digest(c.text) {
		return errChanged
	}
	if c.was == nil {
		err = wholefile.Remove(c.at)
	} else {
		err = wholefile.Replace(c.at, c.was, 0o600)
	}
	if err != nil {
		return err
	}
	return c.record(ctx, "policy-not-saved")
}

// target returns the file that a path means. A link is followed, because owners keep their policy
// in a repository.
func target(path string) (string, error) {
	at, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			return "", fmt.Errorf("the policy %s is a link to a file that is gone", path)
		}
		return path, nil
	}
	return at, err
}

// plainName reports whether a name of a version has the form that we give it, so that it names no
// other file.
func plainName(name string) bool {
	return len(name) == versionDigits && strings.Trim(name, "0123456789") == ""
}
