package soak

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/setup/config"
)

// An outcome is what must happen with a damaged store.
type outcome int

const (
	refusedStart outcome = iota // the monitor does not start
	noticedStart                // it starts, and records at once that the store was changed
	verifyTells                 // «journal verify» says what is wrong; what is damaged is not used, and a start that needs it is refused
)

// A damage is something that can happen to a store.
type damage struct {
	// kill says that the monitor is killed before; otherwise it is stopped.
	kill bool
	// do damages the store at paths. It may use another store with the same content.
	do   func(t *testing.T, p config.Paths) error
	want outcome
	says string // what the monitor or the check says about it
}

// pageSize is that of SQLite.
const pageSize = 4096

func damages() map[string]damage {
	return map[string]damage{
		"a page of zeros":               {do: overwrite(make([]byte, pageSize)), want: verifyTells, says: `malformed|broken|is not|cannot be read|missing|not there|ends`},
		"a page of noise":               {do: overwrite(bytes.Repeat([]byte("\xa5\x5a\x0f"), pageSize)), want: verifyTells, says: `malformed|broken|is not|cannot be read|missing|not there|ends`},
		"a flipped bit":                 {do: flipBit, want: verifyTells, says: `was changed|broken`},
		"the first page gone":           {do: changeFile(func(b []byte) []byte { return append(make([]byte, pageSize), b[pageSize:]...) }), want: refusedStart, says: `not a database|broken|is not`},
		"half of the store gone":        {do: changeFile(func(b []byte) []byte { return b[:len(b)/2/pageSize*pageSize] }), want: refusedStart, says: `malformed|broken`},
		"another file in its place":     {do: changeFile(func([]byte) []byte { return []byte(strings.Repeat("these are notes\n", 4096)) }), want: refusedStart, says: `not a database|broken`},
		"the log cut in half":           {kill: true, do: cutLog, want: noticedStart, says: `signed`},
		"the log deleted":               {kill: true, do: remove("-wal", "-shm"), want: noticedStart, says: `signed`},
		"the store deleted":             {do: remove("", "-wal", "-shm"), want: noticedStart, says: `signed`},
		"the store emptied":             {do: changeFile(func([]byte) []byte { return nil }), want: noticedStart, says: `signed`},
		"an older store put back":       {do: func(_ *testing.T, p config.Paths) error { return copyFile(p.Journal+".old", p.Journal) }, want: noticedStart, says: `signed`},
		"another monitor's store":       {do: foreignStore, want: noticedStart, says: `signed`},
		"a folder in the store's place": {do: folderInstead, want: refusedStart, says: `directory`},
		"no key to the index":           {do: func(_ *testing.T, p config.Paths) error { return os.Truncate(filepath.Join(p.Keys, "index.key"), 3) }, want: refusedStart, says: `index\.key.*backup`},
	}
}

// TestDamage damages the store in every way we know. Either the monitor does not start, or it
// reports at once that something is wrong, or the check of the journal does. No session ever
// becomes shorter unnoticed.
func TestDamage(t *testing.T) {
	long(t)
	t.Setenv(logVariable, "0") // so that all data of a short run is in the log
	s := newSoak(t)
	for name, d := range damages() {
		t.Run(name, func(t *testing.T) {
			s.t = t
			s.newStore()
			paths := config.DirPaths(s.dir)
			s.fill(t, 200*time.Millisecond, false)
			if err := copyFile(paths.Journal, paths.Journal+".old"); err != nil {
				t.Fatal(err)
			}
			s.fill(t, 400*time.Millisecond, d.kill)
			if err := d.do(t, paths); err != nil {
				t.Fatal(err)
			}
			s.judge(t, d)
		})
	}
}

// fill lets the agents work for a while, waits until all of it is signed, and ends the monitor.
func (s *soak) fill(t *testing.T, work time.Duration, kill bool) {
	t.Helper()
	r := serve(t, s.dir, "")
	before := s.ledger.counted()
	fmt.Fprintf(s.agents, "go g%03d %s\n", s.store, r.paths.HookSocket)
	time.Sleep(work)
	r.until("a hundred answers", func() bool { return s.ledger.counted().acked >= before.acked+100 })
	fmt.Fprintln(s.agents, "pause")
	<-s.idle
	if !s.check(r, true) {
		t.Fatalf("the monitor ended while it was looked at:\n%s", r.out)
	}
	if kill {
		time.Sleep(3 * time.Second) // ten times as long as signing waits
		r.kill()
		return
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
}

// judge starts the monitor again and checks that the damage is not ignored.
func (s *soak) judge(t *testing.T, d damage) {
	t.Helper()
	says := regexp.MustCompile(d.says)
	r := launch(t, s.dir, "")
	if !r.ready() {
		if d.want == noticedStart || !says.MatchString(r.out.String()) || !strings.Contains(r.out.String(), "start again") || r.cmd.ProcessState.ExitCode() <= 0 {
			t.Errorf("it did not start (%s):\n%s", r.cmd.ProcessState, r.out)
		}
		t.Logf("refused: %s", plain(r.out.String()))
		return
	}
	if d.want == refusedStart {
		t.Errorf("it started:\n%s", r.out)
	}
	if noticed := strings.Contains(r.out.String(), "store-changed"); noticed != (d.want == noticedStart) && d.want == noticedStart {
		t.Errorf("nobody says that the store was changed:\n%s", r.out)
	}
	out, code := runCommand(t, "journal", "verify", "--dir", s.dir)
	if code == 0 || !says.MatchString(out) {
		o, end := r.owner()
		defer end()
		t.Errorf("journal verify: %d, and by our own count %v\n%s", code, s.ledger.check(t.Context(), o, true), out)
	}
	t.Logf("reported: %s", plain(out))
}

// overwrite overwrites a page in the middle of the facts.
func overwrite(with []byte) func(*testing.T, config.Paths) error {
	return func(_ *testing.T, p config.Paths) error {
		at, err := factAt(p.Journal)
		if err != nil {
			return err
		}
		f, err := os.OpenFile(p.Journal, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteAt(with[:pageSize], at/pageSize*pageSize)
		return errors.Join(err, f.Close())
	}
}

// factAt returns the offset of a decision's body, somewhere in the middle of the store.
func factAt(file string) (int64, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	mark := []byte(`"verdict":"allow"`)
	from := len(data) / 2
	i := bytes.Index(data[from:], mark)
	if i < 0 {
		from, i = 0, bytes.Index(data, mark)
	}
	if i < 0 {
		return 0, errors.New("there is no decision in the store")
	}
	return int64(from + i), nil
}

// flipBit turns an «allow» into an «allov».
func flipBit(_ *testing.T, p config.Paths) error {
	at, err := factAt(p.Journal)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(p.Journal)
	if err != nil {
		return err
	}
	data[at+int64(len(`"verdict":"allo`))] ^= 1
	return os.WriteFile(p.Journal, data, 0o600)
}

func changeFile(how func([]byte) []byte) func(*testing.T, config.Paths) error {
	return func(_ *testing.T, p config.Paths) error {
		data, err := os.ReadFile(p.Journal)
		if err != nil {
			return err
		}
		return os.WriteFile(p.Journal, how(data), 0o600)
	}
}

func cutLog(_ *testing.T, p config.Paths) error {
	info, err := os.Stat(p.Journal + "-wal")
	if err != nil {
		return err
	}
	return os.Truncate(p.Journal+"-wal", info.Size()/2)
}

func remove(suffixes ...string) func(*testing.T, config.Paths) error {
	return func(_ *testing.T, p config.Paths) error {
		for _, suffix := range suffixes {
			if err := os.Remove(p.Journal + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
		return nil
	}
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}

// foreignStore replaces the store by that of another monitor.
func foreignStore(t *testing.T, p config.Paths) error {
	dir := folder(t)
	if err := serve(t, dir, "").stop(); err != nil {
		return err
	}
	return copyFile(config.DirPaths(dir).Journal, p.Journal)
}

func folderInstead(_ *testing.T, p config.Paths) error {
	return errors.Join(os.Remove(p.Journal), os.Mkdir(p.Journal, 0o700))
}

// TestReadOnly starts the monitor on a file system that cannot be written to.
func TestReadOnly(t *testing.T) {
	long(t)
	d := newDisk(t, 64)
	dir := filepath.Join(d.place, "f")
	if err := serve(t, dir, "").stop(); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "mount", "-o", "remount,ro", d.place).CombinedOutput(); err != nil {
		t.Skipf("NOT RUN: remount: %v: %s", err, out)
	}
	unstarted(t, dir, "read-only file system", "mend this and start again")
}

// TestDiskFull fills the disk under load. Nothing is lost, and when there is space again, the
// monitor continues by itself. Sometimes a flush fails because of the full disk, and it is unknown
// what is on disk. Then the journal stops writing, says so, and loses nothing either.
func TestDiskFull(t *testing.T) {
	long(t)
	for range 3 {
		if diskFull(t) {
			return
		}
		t.Log("a flush found no room: started again")
	}
	t.Error("it never went on by itself")
}

// diskFull reports whether the monitor continued by itself.
func diskFull(t *testing.T) (wentOn bool) {
	t.Helper()
	d := newDisk(t, 32)
	s := newSoak(t)
	s.newStoreIn(filepath.Join(d.place, "f"))
	ballast := filepath.Join(d.place, "ballast")
	s.fill(t, 200*time.Millisecond, false)
	r := serve(t, s.dir, "")
	fill(t, ballast)
	before := s.ledger.counted()
	fmt.Fprintf(s.agents, "go g%03d %s\n", s.store, r.paths.HookSocket)
	r.until("a full disk to refuse something", func() bool { return s.ledger.counted().refused > before.refused })
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	full := s.ledger.counted()
	wentOn = true
	r.until("it to go on with room again", func() bool {
		wentOn = !strings.Contains(r.out.String(), "journal-stopped")
		return !wentOn || s.ledger.counted().acked >= full.acked+100
	})
	fmt.Fprintln(s.agents, "pause")
	<-s.idle
	if !wentOn {
		r.kill()
		r = serve(t, s.dir, "")
	}
	if !s.check(r, true) {
		t.Fatalf("the monitor ended while it was looked at:\n%s", r.out)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	return wentOn
}

// TestTwoMonitors starts a second monitor on the data of the first.
func TestTwoMonitors(t *testing.T) {
	long(t)
	dir := folder(t)
	r := serve(t, dir, "")
	unstarted(t, dir, fmt.Sprintf("in use by process %d; stop it first", r.cmd.Process.Pid), "the monitor did not start")
	if a := askClient(t, time.Minute, r.paths.HookSocket, plainCall); !a.allowed {
		t.Errorf("the first one answers no longer: %+v", a)
	}
}

// TestALossIsNoticed proves that the checks of the other tests can fail.
func TestALossIsNoticed(t *testing.T) {
	long(t)
	s := newSoak(t)
	s.newStore()
	s.fill(t, 300*time.Millisecond, false)
	r := serve(t, s.dir, "")
	o, end := r.owner()
	defer end()
	var name string
	for n, a := range s.ledger.sessions {
		if len(a.acked) > 3 && a.mark != floodmark.Clean() {
			name = n
		}
	}
	for what, tamper := range map[string]func(a *account){
		"a fact that was acknowledged and is not there": func(a *account) { a.acked = append(a.acked, "seen nothing") },
		"the order is another":                          func(a *account) { a.acked[1], a.acked[2] = a.acked[2], a.acked[1] },
		"the mark rose":                                 func(a *account) { a.mark = floodmark.Label{} },
		"the session is shorter":                        func(a *account) { a.last.Seq++ },
		"another last entry":                            func(a *account) { a.last.Hash[0] ^= 1 },
	} {
		a := *s.ledger.sessions[name]
		a.acked = append([]string(nil), a.acked...)
		tamper(&a)
		l := &ledger{sessions: map[string]*account{name: &a}}
		if err := l.check(t.Context(), o, true); !errors.Is(err, errLost) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
