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

// A Desk is the monitor's side: it writes tickets and reads their outcomes. An earlier desk's
// tickets are [Lost] to this one, because each has a secret of its own, which is nowhere on disk.
type Desk struct {
	path   string
	uid    int
	random io.Reader
	secret []byte
	// mark begins the names of this monitor's tickets: a user may have several.
	mark []byte

	mint sync.Mutex // one at a time counts and writes
}

// NewDesk returns a desk for the tickets of a user in a folder. Nothing is
// written before the first ticket. The monitor's name tells its tickets from those
// of others, and is the same when it starts again.
func NewDesk(path string, uid int, monitor string, random io.Reader) (*Desk, error) {
	mark := sha256.Sum256([]byte(monitor))
	d := &Desk{path: path, uid: uid, random: random, secret: make([]byte, sha256.Size), mark: mark[:markBytes]}
	if _, err := io.ReadFull(random, d.secret); err != nil {
		return nil, err
	}
	return d, nil
}

// Mint writes a ticket and returns its name. A spec without a folder gets one
// beside the ticket, which is writable wherever the ticket can be taken.
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
	// It must be one that the box will take.
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

// write puts a ticket into the folder, and keeps what its box shares with others.
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

// sharedName returns the name of the folder that the boxes of a session share among the tickets.
func (d *Desk) sharedName(session string) string {
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(append(slices.Clip(d.mark), sum[:nameBytes]...)) + sharedSpace
}

// apart refuses a box that could reach tickets: they lie neither in what it shows
// nor in what it writes. Links on the way to either are resolved by the box, which
// refuses them.
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
	// Lost says that the command may have run, and its effects are unknown, except that it changed
	// nothing but the outcome's Changes if there is an outcome: the box was killed, or its outcome
	// is not to be believed.
	Lost State = iota
	// Unredeemed says that no box took the ticket, or that nothing is left of it. If the call has a
	// result all the same, the command ran without a box.
	Unredeemed
	Running // in its box
	Refused // nothing ran; the outcome says why
	Ran     // to its end, as the outcome says
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
	if !f.exists(name + taken) { // it stays longer than all else
		return Unredeemed, nil, nil
	}
	running := f.locked(name + taken) // before the outcome, which is written first
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

// End says that the call of a ticket is over. A box that has not taken the ticket by then never
// does, and one that has not begun to move its writes into the project does not begin; End waits
// for one that has.
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
		return f.remove(name + waiting) // a process that has not taken it never will
	}
	return f.wait(name + taken)
}

// A Left is a ticket that the monitor wrote before it restarted. It still waits, or its box runs:
// which call it belongs to is then unknown.
type Left struct{ Name, Session, Call string }

// TakeOver says that calls are over whose boxes ran when the monitor restarted: their writes are
// not kept. It returns the tickets of those that still run, and those that wait.
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

// Forget removes the rest of a ticket that the monitor has read. It leaves a box that still runs
// alone.
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

// errRuns says that the box of a ticket still runs.
var errRuns = errors.New("its box runs")

// A forgetting is the removal of a ticket that a box may be about to take. First the ticket becomes
// untakable. A taken one is locked, so that its box, which locks it too, either runs and is left
// alone or never does. The note that its call is over is removed last.
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

// sweep removes tickets that are old, then the oldest of too many, and returns how many still wait.
// It leaves other files alone.
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
			// A ticket that cannot be removed, or only in part, stays taken, and is retried. It
			// blocks no other ticket.
			_ = forget(f, name)
		} else if waits[name] && now.Sub(newest[name]) <= MaxLife {
			open++
		}
	}
	return open, nil
}
