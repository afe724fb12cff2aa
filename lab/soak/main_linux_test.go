package soak

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// The size of a run. The defaults are for the gate.
var (
	kills   = flag.Int("kills", 24, "how often the monitor is killed in all")
	each    = flag.Int("each", 1, "how often at each named point")
	cuts    = flag.Int("cuts", 2, "how often the power is cut")
	tickets = flag.Int("tickets", 100, "how many questions are open at once")
	// A fleet's drills need servers that .ci/fleet installs.
	fleetRounds = flag.Int("fleet", 0, "how many rounds of drills a fleet goes through")
	fleetDrills = flag.String("drills", "", "only these drills of a round, with commas between them")
	fleetOlder  = flag.String("older", "", "the `COMMIT` whose program the fleet begins as, to be upgraded under load")
	fleetWithin = flag.Duration("within", 0, "begin no drill after this time")
	fleetPace   = flag.Duration("pace", 200*time.Millisecond, "between two events of one agent, on average")
	wakes       = flag.Int("wakes", 16, "how many questions wait at one node and are answered at another")
	wakeWatch   = flag.Duration("watch", 2*time.Second, "how long it is counted how often those who wait look")
	fleetCalm   = flag.Duration("calm", 2*time.Second, "between what happens in a drill")

	// Laptops that join a fleet need PostgreSQL.
	laptops   = flag.Int("laptops", 0, "how many laptops join a fleet")
	laptopsIn = flag.Duration("laptops-pause", 2*time.Second, "between what happens to them")

	seed     = flag.Uint64("seed", 1, "chooses what happens when")
	evidence = flag.String("evidence", "", "write what was measured into this `FOLDER`")
)

// loadVariable is the environment variable that makes this program run [runLoad].
const loadVariable = "FLOODMARK_SOAK_LOAD"

func TestMain(m *testing.M) {
	if from := os.Getenv(loadVariable); from != "" {
		runLoad(from)
		return
	}
	if dsn := os.Getenv(checkVariable); dsn != "" {
		runCheck(dsn)
		return
	}
	if socket := os.Getenv(relayVariable); socket != "" {
		runRelay(socket)
		return
	}
	if socket := os.Getenv(converseVariable); socket != "" {
		runConversation(socket)
		return
	}
	if name := os.Getenv(mcpVariable); name != "" {
		runMCPServer(name)
		return
	}
	flag.Parse()
	code := m.Run()
	if made, err := programs(); err == nil {
		_ = os.RemoveAll(made)
	}
	os.Exit(code)
}

// programs builds the monitor with its points for faults, and the hook program, both only once.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "fmsoak")
	if err != nil {
		return "", err
	}
	for name, args := range map[string][]string{
		"floodmark":      {"-tags", "faults", "./cmd/floodmark"},
		"floodmark-hook": {"./cmd/floodmark-hook"},
	} {
		cmd := exec.Command("go", append([]string{"-C", "../..", "build", "-o", filepath.Join(dir, name)}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
	}
	return dir, nil
})

// program returns the path of a program that programs built.
func program(t *testing.T, name string) string {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

// long skips a test with -short, because the test takes seconds and runs the real program, which
// the race detector does not see.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the real program for a while")
	}
}

// patience returns a time shortly before the go command ends the test. Until then a test waits as
// long as the machine needs, and there is time left to say what it waited for in vain.
func patience(t *testing.T) time.Time {
	t.Helper()
	end, ok := t.Deadline()
	if !ok {
		return time.Now().Add(24 * time.Hour)
	}
	return end.Add(-10 * time.Second)
}

// folder makes a folder with a short path on a disk, because a socket's path must be short and the
// journal refuses a store in memory.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fm") //nolint:usetesting // said above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
