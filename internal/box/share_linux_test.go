package box

import (
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// A folder that one box has taken is not given to another, neither while the outer process has it
// nor while only the first process inside does.
func TestOneBoxHasWhatIsShared(t *testing.T) {
	one := &Spec{Temp: t.TempDir(), Cache: t.TempDir()}
	other := &Spec{Temp: one.Temp, Cache: one.Cache}
	both := []string{one.Temp, one.Cache}
	locks, busy := one.takeShared()
	if len(locks) != len(both) || len(busy) > 0 {
		t.Fatalf("%d locks, %q busy", len(locks), busy)
	}
	if _, busy := other.takeShared(); !slices.Equal(busy, both) {
		t.Errorf("only %q busy beside the outer process", busy)
	}
	if err := one.hold(); err != nil { // as the inner process does
		t.Fatal(err)
	}
	for _, f := range locks {
		_ = f.Close()
	}
	if _, busy := other.takeShared(); !slices.Equal(busy, both) {
		t.Errorf("only %q busy beside the inner process", busy)
	}
	other.busy = both
	if err := other.hold(); err != nil {
		t.Errorf("it holds what it has not: %v", err)
	}
}

// A folder that another box is just taking cannot be held.
func TestWhatAnotherTakesIsNotHeld(t *testing.T) {
	s := &Spec{Temp: t.TempDir()}
	f, err := os.Open(s.Temp)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if s.hold() == nil {
		t.Error("two have it")
	}
}
