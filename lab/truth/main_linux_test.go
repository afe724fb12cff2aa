package truth

import (
	"flag"
	"os"
	"runtime"
	"testing"
)

// The size of a run. The defaults are for the gate.
var (
	share     = flag.Int("share", 8, "watch one line of a corpus in so many")
	minutes   = flag.Float64("minutes", 0.2, "how long generated lines are watched")
	seed      = flag.Uint64("seed", 1, "chooses the lines")
	workers   = flag.Int("workers", runtime.NumCPU(), "how many lines are watched at once")
	evidence  = flag.String("evidence", "", "write what was seen to this `FILE`")
	rowsTried = flag.Int("disable", 12, "take so many constructs from the scanner, one after the other")
	must      = flag.Bool("must", false, "fail where lines cannot be watched")
	try       = flag.String("try", "", "watch this `LINE` only, and tell what it did")
)

func TestMain(m *testing.M) {
	if root := os.Getenv(workerVariable); root != "" {
		os.Exit(work(root))
	}
	if name := os.Getenv(judgeVariable); name != "" {
		os.Exit(judgeFile(name, os.Getenv(constructVariable)))
	}
	flag.Parse()
	os.Exit(m.Run())
}

// TestTry watches the one line of -try and logs what it does.
func TestTry(t *testing.T) {
	if *try == "" {
		t.Skip("no line to try")
	}
	all, err := startBench(t, 1).watch([]sample{{Line: *try}})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("exit %d, timed out %t, ran %t\n%s", all[0].Exit, all[0].TimedOut, all[0].Ran, all[0].Output)
	for _, e := range all[0].Effects {
		t.Log(e)
	}
}
