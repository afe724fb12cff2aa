// Again runs «go test» and gives a test that failed a second chance: alone, three
// times, and it must pass each time. The gate tells who it was, because such a test
// or what it tests waits for something by chance. Proofs have one chance only.
//
//	again FLAGS… -- PACKAGES… [-- ARGUMENTS OF THE TESTS…]
//
// Flags are written -name=value. What was excused is added to the file that
// FLOODMARK_EXCUSED names, a line each.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

const (
	times = 3 // that an excused test must pass alone
	most  = 2 // tests that are excused in one run; more failed for a reason
)

func main() {
	r, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "again:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	passed := r.passes(ctx)
	stop()
	if !passed {
		os.Exit(1)
	}
}

// A run is one call of «go test».
type run struct{ flags, packages, arguments []string }

func parse(args []string) (run, error) {
	var parts [3][]string
	part := 0
	for _, a := range args {
		if a == "--" && part < 2 {
			part++
			continue
		}
		parts[part] = append(parts[part], a)
	}
	r := run{parts[0], parts[1], parts[2]}
	if len(r.packages) == 0 {
		return r, errors.New("no packages (again FLAGS… -- PACKAGES…)")
	}
	for _, f := range r.flags {
		if !strings.HasPrefix(f, "-") {
			return r, fmt.Errorf("%q is no flag of the form -name=value", f)
		}
	}
	return r, nil
}

// passes runs the tests, and those that failed again.
func (r run) passes(ctx context.Context) bool {
	var out bytes.Buffer
	if gotest(ctx, io.MultiWriter(os.Stdout, &out), r.flags, r.packages, r.arguments) == nil {
		return true
	}
	list, why := failures(out.String())
	if why != "" {
		fmt.Println("not tried again:", why)
		return false
	}
	for _, f := range list {
		if !r.again(ctx, f) {
			return false
		}
	}
	return true
}

// again runs one test alone.
func (r run) again(ctx context.Context, f failure) bool {
	flags := slices.DeleteFunc(slices.Clone(r.flags), func(a string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
		return name == "run" || name == "skip" || name == "count" || name == "v"
	})
	flags = append(flags, "-v", "-count="+strconv.Itoa(times), "-run="+f.pattern())
	var out bytes.Buffer
	err := gotest(ctx, &out, flags, []string{f.pkg}, r.arguments)
	passed := 0
	for line := range strings.Lines(out.String()) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "--- PASS: "); ok && strings.HasPrefix(name, f.test+" ") {
			passed++
		}
	}
	if err != nil || passed != times {
		fmt.Printf("%s\nFAILED AGAIN: %s of %s passed alone %d of %d times\n", out.String(), f.test, f.pkg, passed, times)
		return false
	}
	line := fmt.Sprintf("FAILED ONCE: %s of %s, and passed alone %d times. It, or what it tests, waits for something by chance: mend it.\n", f.test, f.pkg, times)
	fmt.Print(line)
	return excuse(line)
}

// excuse keeps a line for the end of the gate.
func excuse(line string) bool {
	name := os.Getenv("FLOODMARK_EXCUSED")
	if name == "" {
		return true
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(line)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		fmt.Println("again: an excuse cannot be kept:", err)
	}
	return err == nil
}

func gotest(ctx context.Context, out io.Writer, flags, packages, arguments []string) error {
	c := exec.CommandContext(ctx, "go", slices.Concat([]string{"test"}, flags, packages, arguments)...)
	c.Stdout, c.Stderr = out, out
	return c.Run()
}
