package boxticket

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/floodmark/floodmark/internal/box"
)

// The endings of the files that belong to one ticket.
const (
	waiting  = ".ticket"
	taken    = ".taken"
	outcome  = ".outcome"
	over     = ".over" // created once: by a box before it moves its writes, or by the monitor when the call is over
	ownSpace = ".box"

	sharedSpace = ".shared" // not of a ticket, but of all boxes of a session
)

// A Redeemed is a ticket that this process took.
type Redeemed struct {
	Spec *box.Spec

	folder *folder
	lock   io.Closer
	key    []byte
	begun  Outcome
}

// Redeem takes a ticket for a command. A ticket can be taken only once, even if it is then refused.
// Call Close after the last outcome was reported.
func Redeem(path string, uid int, name string, command []string, now time.Time) (*Redeemed, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	f, err := openFolder(path, uid)
	if err != nil {
		return nil, err
	}
	data, lock, err := f.take(name+waiting, name+taken, maxTicket)
	if err != nil {
		f.close()
		if !errors.Is(err, errTaken) {
			err = fmt.Errorf("the ticket is refused: %w", err)
		}
		return nil, err
	}
	r := &Redeemed{folder: f, lock: lock}
	t, spec, err := readTicket(data, name)
	if err != nil {
		r.Close()
		return nil, err
	}
	r.Spec = spec
	r.key, _ = hex.DecodeString(t.Key) // readTicket has checked it
	r.begun = Outcome{Name: name, Session: t.Session, Call: t.Call, Redeemed: now}
	if err := t.check(command, now); err != nil {
		err = errors.Join(err, r.Report(Outcome{Stage: StageRefused, Why: err.Error()}))
		r.Close()
		return nil, err
	}
	return r, nil
}

// Keep returns nil if the command's writes may be moved into the project. Once the call is over
// they may not, because the monitor would not see the changes.
func (r *Redeemed) Keep() error {
	first, err := r.folder.claim(r.begun.Name + over)
	if err == nil && !first {
		err = errors.New("the call was over before the command ended")
	}
	return err
}

// Report writes the box's outcome, replacing an earlier one.
func (r *Redeemed) Report(o Outcome) error {
	o.Name, o.Session, o.Call, o.Redeemed = r.begun.Name, r.begun.Session, r.begun.Call, r.begun.Redeemed
	data, err := o.seal(r.key)
	if err != nil {
		return err
	}
	if err := r.folder.put(o.Name+outcome, data); err != nil {
		return fmt.Errorf("write what the box did: %w", err)
	}
	return nil
}

// Beside reports whether the box's folder is beside its ticket, where other processes of the user
// can write, too.
func (r *Redeemed) Beside() bool { return filepath.Base(r.Spec.Folder) == r.begun.Name+ownSpace }

// lockFiles is the number of lock files for projects.
const lockFiles = 64

// Lock waits until no other box moves files into a project, and keeps others from doing so until
// the result is closed. The lock files are in the folder of tickets, which no box can reach.
func (r *Redeemed) Lock(project string) (io.Closer, error) { return r.folder.lockProject(project) }

// Space returns the folder of a box that has its folder beside its ticket.
func (d *Desk) Space(name string) string { return filepath.Join(d.path, name+ownSpace) }

// Lock is like [Redeemed.Lock], for the monitor when it undoes a box's changes.
func (d *Desk) Lock(project string) (io.Closer, error) {
	f, err := makeFolder(d.path, d.uid)
	if err != nil {
		return nil, err
	}
	defer f.close()
	return f.lockProject(project)
}

func (f *folder) lockProject(project string) (io.Closer, error) {
	sum := sha256.Sum256([]byte(project))
	lock, err := f.lock(fmt.Sprintf("lock-%d", sum[0]%lockFiles))
	if err != nil {
		return nil, fmt.Errorf("wait for other boxes of the project: %w", err)
	}
	return lock, nil
}

// Close unlocks the ticket. No outcome may be reported after it.
func (r *Redeemed) Close() {
	_ = r.lock.Close()
	r.folder.close()
}
