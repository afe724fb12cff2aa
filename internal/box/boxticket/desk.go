package boxticket

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/floodmark/floodmark/internal/box"
)

// A Desk is the monitor's side: it writes tickets and reads their outcomes. Each desk has a secret
// of its own that is never on the disk, so it cannot read the outcomes of an earlier desk's
// tickets: they are [Lost].
type Desk struct {
	path   string
	uid    int
	random io.Reader
	secret []byte
	// mark begins the names of this monitor's tickets. A user may have several monitors.
	mark []byte

	mint sync.Mutex // held while tickets are counted and one is written
}

// NewDesk returns a desk for the tickets of a user in a folder. Nothing is written before the first
// ticket. monitor is a name that distinguishes its tickets from those of the user's other monitors.
// It must be the same after a restart.
func NewDesk(path string, uid int, monitor string, random io.Reader) (*Desk, error) {
	mark := sha256.Sum256([]byte(monitor))
	d := &Desk{path: path, uid: uid, random: random, secret: make([]byte, sha256.Size), mark: mark[:markBytes]}
	if _, err := io.ReadFull(random, d.secret); err != nil {
		return nil, err
	}
	return d, nil
}

// Mint writes a ticket and returns its name. If the spec has no folder, it gets one beside the
// ticket, which the box can write to wherever it can take the ticket.
func (d *Desk) Mint(o Order, now time.Time) (name string, err error) {
	raw := make([]byte, nameBytes)
	if _, err := io.ReadFull(d.random, raw); err != nil {
		return "", err
	}
	name = hex.EncodeToString(append(slices.Clip(d.mark), raw...))
	if o.Spec.Folder == "" {
		o.Spec.Folder = filepath.Join(d.path, name+ownSpace)
	}
	if o.Shared != "" && !o.Spec.ReadOnly {
		shared := filepath.Join(d.path, d.sharedName(o.Shared))
		o.Spec.Temp, o.Spec.Cache = filepath.Join(shared, "tmp"), filepath.Join(shared, "cache")
	}
	if err := d.apart(&o.Spec); err != nil {
		return "", err
	}
	spec, err := json.Marshal(o.Spec)
	if err != nil {
		return "", err
	}
	t := ticket{
		Name: name, Session: o.Session, Call: o.Call, Command: digest(o.Command),
		Expires: o.Expires.UTC(), Key: hex.EncodeToString(d.key(name)), Spec: spec,
	}
	data, err := json.Marshal(t)
	if err != nil {
		return "", err
	}
	// Check that the box will accept the ticket.
	if len(data) > maxTicket {
		return "", errors.New("the rules of the box are too long for a ticket")
	}
	back, _, err := readTicket(data, name)
	if err != nil {
		return "", err
	}
	if err := back.check(o.Command, now); err != nil {
		return "", err
	}
	return name, d.write(name, data, o.Shared, now)
}

// write puts a ticket into the folder, and creates the folder that its box shares with others, if
// any.
func (d *Desk) write(name string, data []byte, shared string, now time.Time) error {
	d.mint.Lock()
	defer d.mint.Unlock()
	f, err := makeFolder(d.path, d.uid)
	if err != nil {
		return err
	}
	defer f.close()
	open, err := sweep(f, now)
	if err != nil {
		return err
	}
	if open >= maxOpen {
		return fmt.Errorf("%d tickets for boxes wait already", open)
	}
	if shared != "" {
		if err := f.keep(d.sharedName(shared), now); err != nil {
			return err
		}
	}
	return f.put(name+waiting, data)
}

// sharedName returns the name of the folder, among the tickets, that the boxes of a session share.
func (d *Desk) sharedName(session string) string {
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(append(slices.Clip(d.mark), sum[:nameBytes]...)) + sharedSpace
}

// apart refuses a spec whose box could reach the tickets, because a folder that it shows or writes
// contains them. Links in the paths need no check here, because the box refuses them.
func (d *Desk) apart(s *box.Spec) error {
	for _, p := range []string{s.Project, s.Temp, s.Cache} {
		if p != "" && (p == "/" || d.path == p || strings.HasPrefix(d.path, p+"/")) {
			return fmt.Errorf("the tickets in %s could be reached from the box, which shows %s", d.path, p)
		}
	}
	return nil
}

// key returns the key that seals the outcome of a ticket.
func (d *Desk) key(name string) []byte {
	h := hmac.New(sha256.New, d.secret)
	_, _ = io.WriteString(h, "outcome of "+name)
	return h.Sum(nil)
}

// A State is the state of a ticket.
type State int

// The states of a ticket, as [Desk.Read] finds them.
const (
	// Lost means that the command may have run, and that its effects are not known: the box was
	// killed, or its outcome is not authentic. If there is an outcome, its Changes are all that the
	// command changed in the project.
	Lost State = iota
	// Unredeemed means that no box took the ticket, or that nothing is left of the ticket. If the
	// call has a result nevertheless, the command ran without a box.
	Unredeemed
	Running // the command is running in its box
	Refused // nothing ran; the outcome says why
	Ran     // the command ran to its end; see the outcome
)

// Read returns the state of a ticket, with the outcome if there is one.
func (d *Desk) Read(name string) (State, *Outcome, error) {
	if err := checkName(name); err != nil {
		return Lost, nil, err
	}
	f, err := openFolder(d.path, d.uid)
	if err != nil {
		return Lost, nil, err
	}
	defer f.close()
	if !f.exists(name + taken) { // this file is removed last
		return Unredeemed, nil, nil
	}
	running := f.locked(name + taken) // tested before reading the outcome, because the box writes the outcome before it unlocks
	data, err := f.get(name+outcome, maxOutcome)
	switch {
	case errors.Is(err, fs.ErrNotExist) && running:
		return Running, nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return Lost, nil, nil
	case err != nil:
		return Lost, nil, fmt.Errorf("read what the box did: %w", err)
	}
	o, err := readOutcome(data, name, d.key(name))
	switch {
	case err != nil:
		return Lost, nil, err
	case o.Stage == StageRefused:
		return Refused, o, nil
	case o.Stage == StageEnded:
		return Ran, o, nil
	case running:
		return Running, o, nil
	}
	return Lost, o, nil
}

// End marks the call of a ticket as over. A box that has not taken the ticket by then cannot take
// it any more. A box that has not begun to move its writes into the project cannot begin. If a box
// has begun, End waits until it has ended.
func (d *Desk) End(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	f, err := openFolder(d.path, d.uid)
	if err != nil {
		return err
	}
	defer f.close()
	first, err := f.claim(name + over)
	switch {
	case err != nil:
		return err
	case first:
		return f.remove(name + waiting) // it cannot be taken any more
	}
	return f.wait(name + taken)
}

// A Left is a ticket that the monitor wrote before it restarted. If it still waits, Session and
// Call are set. If its box runs, they are unknown.
type Left struct{ Name, Session, Call string }

// TakeOver is called after a restart of the monitor. It marks the calls of all boxes that were
// started before as over, so that their writes are not kept. It returns the tickets of boxes that
// still run, and the tickets that still wait.
func (d *Desk) TakeOver() (list []Left, err error) {
	f, err := openFolder(d.path, d.uid)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.close()
	files, err := f.list()
	if err != nil {
		return nil, err
	}
	for _, info := range files {
		name, ending, _ := strings.Cut(info.Name(), ".")
		if checkName(name) != nil || !strings.HasPrefix(name, hex.EncodeToString(d.mark)) {
			continue
		}
		switch "." + ending {
		case taken:
			if _, err = f.claim(name + over); f.locked(name + taken) {
				list = append(list, Left{Name: name})
			}
		case waiting:
			var t ticket
			if data, unread := f.get(name+waiting, maxTicket); unread == nil && decode(data, &t) == nil {
				list = append(list, Left{name, t.Session, t.Call})
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Forget removes the files of a ticket that the monitor has read. It removes nothing if the box
// still runs.
func (d *Desk) Forget(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	f, err := openFolder(d.path, d.uid)
	if err != nil {
		return err
	}
	defer f.close()
	return forget(f, name)
}

func forget(f *folder, name string) error {
	g := &forgetting{f: f, name: name}
	defer g.release()
	for _, step := range g.steps() {
		if err := step(); err != nil {
			if errors.Is(err, errRuns) {
				return nil
			}
			return err
		}
	}
	return nil
}

// errRuns means that the box of a ticket still runs.
var errRuns = errors.New("its box runs")

// A forgetting is the removal of a ticket that a box may be about to take. First it removes the
// waiting ticket, so that it cannot be taken any more. Then it locks the taken one. A box locks it,
// too, so the box either runs already, and nothing is removed, or it can never start. The mark that
// the call is over is removed last.
type forgetting struct {
	f    *folder
	name string
	lock io.Closer
}

func (g *forgetting) steps() []func() error {
	return []func() error{
		func() error { return g.f.remove(g.name + waiting) },
		g.hold,
		g.rest,
		func() error { return g.f.remove(g.name + taken) },
		func() error { return g.f.remove(g.name + over) },
	}
}

func (g *forgetting) hold() error {
	lock, used := g.f.hold(g.name + taken)
	if used {
		return errRuns
	}
	g.lock = lock
	return nil
}

func (g *forgetting) rest() error {
	for _, ending := range []string{waiting + ".half", outcome, outcome + ".half"} {
		if err := g.f.remove(g.name + ending); err != nil {
			return err
		}
	}
	if !g.f.exists(g.name + ownSpace) {
		return nil
	}
	return g.f.removeTree(g.name + ownSpace)
}

func (g *forgetting) release() {
	if g.lock != nil {
		_ = g.lock.Close()
	}
}

// sweep removes old tickets, and the oldest ended ones if there are too many, and returns how many
// tickets still wait. It does not touch other files.
func sweep(f *folder, now time.Time) (open int, err error) {
	list, err := f.list()
	if err != nil {
		return 0, err
	}
	newest := map[string]time.Time{}
	waits := map[string]bool{}
	for _, info := range list {
		name, ending, _ := strings.Cut(info.Name(), ".")
		if checkName(name) != nil {
			continue
		}
		if "."+ending == sharedSpace {
			if now.Sub(info.ModTime()) > keepShared {
				err = errors.Join(err, f.removeTree(info.Name()))
			}
			continue
		}
		waits[name] = waits[name] || "."+ending == waiting
		if t := info.ModTime(); t.After(newest[name]) {
			newest[name] = t
		}
	}
	if err != nil {
		return 0, err
	}
	names := slices.SortedFunc(maps.Keys(newest), func(a, b string) int {
		return cmp.Or(newest[a].Compare(newest[b]), cmp.Compare(a, b))
	})
	for i, name := range names {
		if now.Sub(newest[name]) > keepEnded || !waits[name] && len(names)-i > maxEnded {
			// If a ticket cannot be removed completely, it cannot be taken any more, and the next
			// sweep tries again. It does not block other tickets.
			_ = forget(f, name)
		} else if waits[name] && now.Sub(newest[name]) <= MaxLife {
			open++
		}
	}
	return open, nil
}
