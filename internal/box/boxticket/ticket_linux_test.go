package boxticket

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/box"
)

func noon() time.Time { return time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC) }

func order() Order {
	return Order{
		Spec:    box.Spec{Project: "/home/o/p", Home: "/home/o", Hidden: []string{".env"}},
		Session: "s1", Call: "c1", Command: []string{"bash", "-c", "make test"}, Expires: noon().Add(time.Minute),
	}
}

// A counter is a desk in a folder of its own.
type counter struct {
	*Desk
	t *testing.T
}

func newCounter(t *testing.T) counter {
	t.Helper()
	d, err := NewDesk(filepath.Join(t.TempDir(), "tickets"), os.Getuid(), "monitor", rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return counter{d, t}
}

func (c counter) mint(o Order) string {
	c.t.Helper()
	name, err := c.Mint(o, noon())
	if err != nil {
		c.t.Fatal(err)
	}
	return name
}

func (c counter) file(name string) string { return filepath.Join(c.path, name) }

func (c counter) do(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// edit replaces text in a file.
func (c counter) edit(name, old, by string) {
	c.t.Helper()
	data, err := os.ReadFile(c.file(name))
	if err != nil || !bytes.Contains(data, []byte(old)) {
		c.t.Fatalf("%q has no %q: %v", data, old, err)
	}
	c.do(os.WriteFile(c.file(name), bytes.ReplaceAll(data, []byte(old), []byte(by)), 0o600))
}

func (c counter) redeem(name string) (*Redeemed, error) {
	return Redeem(c.path, c.uid, name, order().Command, noon())
}

func TestTicketIsTakenOnce(t *testing.T) {
	c := newCounter(t)
	name := c.mint(order())
	if state, _, err := c.Read(name); state != Unredeemed || err != nil {
		t.Errorf("before: %v, %v", state, err)
	}
	copied, err := os.ReadFile(c.file(name + waiting))
	c.do(err)
	var won atomic.Int32
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			r, err := c.redeem(name)
			if err != nil {
				if !strings.Contains(err.Error(), "used before") {
					t.Error(err)
				}
				return
			}
			won.Add(1)
			if r.Spec.Project != "/home/o/p" || r.Spec.Folder != c.file(name+ownSpace) {
				t.Errorf("%+v", r.Spec)
			}
			r.Close()
		})
	}
	all.Wait()
	if won.Load() != 1 {
		t.Errorf("taken %d times", won.Load())
	}
	c.do(os.WriteFile(c.file(name+waiting), copied, 0o600))
	if _, err := c.redeem(name); err == nil {
		t.Error("a copy was taken again")
	}
	if state, _, _ := c.Read(name); state != Lost {
		t.Errorf("a copy put back hides that the ticket was taken: %v", state)
	}
	if left, err := os.ReadFile(c.file(name + taken)); err != nil || len(left) > 0 {
		t.Errorf("the key is still there: %q, %v", left, err)
	}
}

// tampered returns changes to a ticket after which it is refused.
func tampered() map[string]struct {
	do   func(c counter, name string)
	want string
} {
	type row = struct {
		do   func(c counter, name string)
		want string
	}
	return map[string]row{
		"gone":        {func(c counter, name string) { c.do(os.Remove(c.file(name + waiting))) }, "no such ticket"},
		"swapped":     {func(c counter, name string) { c.do(os.Rename(c.file(c.mint(order())+waiting), c.file(name+waiting))) }, "another one"},
		"expired":     {func(c counter, name string) { c.edit(name+waiting, "T12:01:00Z", "T12:00:00Z") }, "expired"},
		"eternal":     {func(c counter, name string) { c.edit(name+waiting, "T12:01:00Z", "T12:10:01Z") }, "too long"},
		"truncated":   {func(c counter, name string) { c.do(os.Truncate(c.file(name+waiting), 200)) }, "cannot be read"},
		"empty":       {func(c counter, name string) { c.do(os.Truncate(c.file(name+waiting), 0)) }, "cannot be read"},
		"more":        {func(c counter, name string) { c.edit(name+waiting, `"call"`, `"x":1,"call"`) }, "unknown field"},
		"behind":      {func(c counter, name string) { c.edit(name+waiting, `"keep":{}}}`, `"keep":{}}}{}`) }, "follows its end"},
		"no session":  {func(c counter, name string) { c.edit(name+waiting, `"s1"`, `""`) }, "names no call"},
		"no key":      {func(c counter, name string) { c.edit(name+waiting, `"key":"`, `"key":"00`) }, "no key"},
		"other rules": {func(c counter, name string) { c.edit(name+waiting, "/home/o/p", "p") }, "no whole path"},
		"command":     {func(c counter, name string) { c.edit(name+waiting, digest(order().Command), digest([]string{"sh"})) }, "another command"},
		"linked": {func(c counter, name string) {
			c.do(os.Rename(c.file(name+waiting), c.file("elsewhere")))
			c.do(os.Symlink("elsewhere", c.file(name+waiting)))
		}, "refused"},
		"second name": {func(c counter, name string) { c.do(os.Link(c.file(name+waiting), c.file("x"))) }, "second name"},
		"group reads": {func(c counter, name string) { c.do(os.Chmod(c.file(name+waiting), 0o640)) }, "others may use it"},
		"set-user":    {func(c counter, name string) { c.do(os.Chmod(c.file(name+waiting), 0o600|os.ModeSetuid)) }, "others may use it"},
		"folder": {func(c counter, name string) {
			c.do(os.Remove(c.file(name + waiting)))
			c.do(os.Mkdir(c.file(name+waiting), 0o700))
		}, "refused"},
		"pipe": {func(c counter, name string) {
			c.do(os.Remove(c.file(name + waiting)))
			c.do(syscall.Mkfifo(c.file(name+waiting), 0o600))
		}, "no plain file"},
		"too long":       {func(c counter, name string) { c.do(os.Truncate(c.file(name+waiting), maxTicket+1)) }, "too long"},
		"folder shown":   {func(c counter, name string) { c.do(os.Chmod(c.path, 0o710)) }, "others may use it"},
		"folder missing": {func(c counter, name string) { c.do(os.RemoveAll(c.path)) }, "no such file"},
		"folder linked": {func(c counter, name string) {
			c.do(os.Rename(c.path, c.path+"2"))
			c.do(os.Symlink(c.path+"2", c.path))
		}, "open the folder"},
		"parent open": {func(c counter, name string) { c.do(os.Chmod(filepath.Dir(c.path), 0o777)) }, "other users may write"},
	}
}

func TestTicketsThatAreRefused(t *testing.T) {
	for what, row := range tampered() {
		t.Run(what, func(t *testing.T) {
			c := newCounter(t)
			name := c.mint(order())
			row.do(c, name)
			if _, err := c.redeem(name); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, want %q", err, row.want)
			}
			if strings.HasPrefix(what, "folder ") || what == "parent open" || what == "gone" {
				return
			}
			if _, err := c.redeem(name); err == nil || !strings.Contains(err.Error(), "used before") {
				t.Errorf("a ticket that was refused is used up: %v", err)
			}
		})
	}
}

func TestTicketIsBound(t *testing.T) {
	c := newCounter(t)
	for want, call := range map[string]func(name string) error{
		"another command": func(name string) error {
			_, err := Redeem(c.path, c.uid, name, []string{"bash", "-c make test"}, noon())
			return err
		},
		"expired": func(name string) error {
			_, err := Redeem(c.path, c.uid, name, order().Command, noon().Add(time.Minute))
			return err
		},
	} {
		name := c.mint(order())
		if err := call(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		state, o, err := c.Read(name)
		if state != Refused || err != nil || !strings.Contains(o.Why, want) || o.Session != "s1" || o.Call != "c1" {
			t.Errorf("%v, %+v, %v", state, o, err)
		}
	}
	if _, err := Redeem(c.path, c.uid+1, c.mint(order()), order().Command, noon()); err == nil || !strings.Contains(err.Error(), "another user") {
		t.Errorf("a ticket of another user: %v", err)
	}
	for _, name := range []string{"", "../x", strings.Repeat("A", 40), strings.Repeat("a", 39), strings.Repeat("a", 32), strings.Repeat("a", 42), "/etc/passwd"} {
		if _, err := c.redeem(name); err == nil || !strings.Contains(err.Error(), "not the name") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestTicketsThatAreNotWritten(t *testing.T) {
	for want, change := range map[string]func(c counter, o *Order){
		"could be reached": func(c counter, o *Order) { o.Spec.Project = filepath.Dir(c.path) },
		"which shows":      func(c counter, o *Order) { o.Spec.Temp = c.path },
		"names no call":    func(_ counter, o *Order) { o.Call = "" },
		"another command":  func(_ counter, o *Order) { o.Command = nil },
		"expired":          func(_ counter, o *Order) { o.Expires = time.Time{} },
		"too long":         func(_ counter, o *Order) { o.Expires = noon().Add(MaxLife + 1) },
		"no whole path":    func(_ counter, o *Order) { o.Spec.Home = "" },
		"are too long":     func(_ counter, o *Order) { o.Spec.Author = strings.Repeat("a", 1<<20) },
		"belongs to another user": func(c counter, _ *Order) {
			c.do(os.Mkdir(c.path, 0o700))
			c.do(os.Chmod(c.path, 0o770))
		},
	} {
		c, o := newCounter(t), order()
		change(c, &o)
		if _, err := c.Mint(o, noon()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func FuzzReadTicket(f *testing.F) {
	name := strings.Repeat("0a", markBytes+nameBytes)
	f.Add(fmt.Appendf(nil, `{"name":%q,"session":"s","call":"c","command":"","expires":"2026-01-02T12:00:00Z","key":%q,"spec":{"project":"/p","home":"/h","folder":"/f","keep":{}}}`, name, strings.Repeat("00", 32)))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, spec, err := readTicket(data, name)
		if err == nil && (got.Name != name || spec.Project == "" || spec.Folder == "" || len(got.Key) != 64) {
			t.Errorf("%+v, %+v", got, spec)
		}
	})
}

// While one box moves files into a project, another one of the same project waits.
func TestLock(t *testing.T) {
	c := newCounter(t)
	var list []*Redeemed
	for range 2 {
		r, err := Redeem(c.path, os.Getuid(), c.mint(order()), order().Command, noon())
		c.do(err)
		defer r.Close()
		list = append(list, r)
	}
	first, err := list[0].Lock("/home/o/p")
	c.do(err)
	names, err := filepath.Glob(c.file("lock-*"))
	if err != nil || len(names) != 1 || !list[1].folder.locked(filepath.Base(names[0])) {
		t.Fatalf("%q is not locked: %v", names, err)
	}
	c.do(first.Close())
	second, err := list[1].Lock("/home/o/p")
	c.do(err)
	c.do(second.Close())
	c.do(os.Chmod(names[0], 0o666))
	if _, err := list[0].Lock("/home/o/p"); err == nil {
		t.Error("a lock that others may use is taken")
	}
}
