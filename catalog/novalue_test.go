package catalog

import "testing"

// Many programs take a value only if there is one: what looks like an option behind
// it is one, and brings code of its own.
func TestAnOptionIsNoValue(t *testing.T) {
	c := shipped(t)
	for _, line := range []string{
		"make test -j -f/tmp/Makefile", "make test -j -C/tmp", "make -s test -j --eval=x", "ctest -j -S/tmp/x.cmake", "make test -j --file=/tmp/x", "make test -j -f /tmp/x",
		"mvn test -s /tmp/x.xml", "hugo -s /tmp/x", "hugo -s x", "dotnet test -s x", "make test -j4 -f/tmp/x", "pytest -n -p x", "pytest -k -p/x", "go test -run -exec ./x .",
		"jest -t --config=x", "mocha -g -r/tmp/x.js", "mocha -g --require=/tmp/x.js", "eslint --ext -c/tmp/x", "eslint --ext --rulesdir=/tmp/x .", "node --test --test-name-pattern --import=/tmp/x", "npx jest -t -c/tmp/x",
		"cargo test -p --config=x", "cargo test --features --config=x", "pytest -m -p", "golangci-lint run --timeout --config=/tmp/x",
		"python3 -m unittest -k -s/tmp/x", "gotestsum --format --raw-command", "eslint --max-warnings --config=/tmp/x",
	} {
		if u := shell(t, c, line); u.Bound || u.Check != "" {
			t.Errorf("%q: bound, check %q", line, u.Check)
		}
	}
	for line, want := range map[string]string{"make test -j 4": "make test", "make test -j4": "make test", "go test -run TestX .": "go test", "pytest -k x": "pytest"} {
		if got := shell(t, c, line).Check; got != want {
			t.Errorf("%q: check %q, want %q", line, got, want)
		}
	}
}
