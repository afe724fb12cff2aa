package box

import (
	"os"
	"testing"
)

// A box is ended when any disk that it writes to has become full, also one that only
// its /tmp lies on.
func TestDiskIsGuarded(t *testing.T) {
	s := &Spec{Folder: t.TempDir(), Temp: t.TempDir() + "/tmp"}
	if _, err := s.guardDisk(func() {}); err == nil {
		t.Error("a folder that is not there is not looked at")
	}
	if err := os.Mkdir(s.Temp, 0o700); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	stop, err := s.guardDisk(func() { close(ended) })
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(s.Temp); err != nil { // of which nothing can be known any more
		t.Fatal(err)
	}
	<-ended
	if !stop() {
		t.Error("it is not said why the box was ended")
	}
}
