package box_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/box/boxticket"
)

// granted tries a box that may reach two hosts, of which one name means the loopback, in a network
// of the test. Only the first host is reached.
func (p *programs) granted(t *testing.T) {
	for _, name := range []string{"unshare", "python3"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("there is no %s here", name)
		}
	}
	street, err := filepath.Abs("testdata/street.py")
	if err != nil {
		t.Fatal(err)
	}
	through, err := os.ReadFile("testdata/through.py")
	if err != nil {
		t.Fatal(err)
	}
	s := room(t)
	s.Hosts = []string{"hole.example:443", "inner.example:443"}
	put(t, filepath.Join(s.Project, "through.py"), string(through))
	tries := []struct{ target, said string }{
		{"hole.example:443", "200"},
		{"inner.example:443", "502"},
		{"hole.example:22", "403"},
		{"other.example:443", "403"},
		{"hole.example.:443", "403"},
		{"HOLE.example:443", "403"},
		{"8.8.4.4:443", "403"},
		{"127.0.0.1:443", "403"},
		{"localhost:443", "403"},
		{"169.254.169.254:80", "403"},
		{"hole:443", "403"},
		{"a@hole.example:443", "403"},
		{"hole.example:443@other.example:443", "403"},
	}
	run := ""
	for _, c := range tries {
		run += "echo '" + c.target + "' $(python3 through.py '" + c.target + "' 'leak to " + c.target + "' 2>&1)\n"
	}
	c, ticket := p.boxed(t, s, "bash", "-c", run+"python3 -c 'import socket; socket.create_connection((\"8.8.4.4\", 443), 2)'")
	c.Args = append(strings.Fields("unshare --user --map-current-user --keep-caps --mount --net python3 "+street+" "+filepath.Join(t.TempDir(), "resolv.conf")), c.Args...)
	if c.Path, err = exec.LookPath("unshare"); err != nil {
		t.Fatal(err)
	}
	said, exit := result(c)
	for _, c := range tries {
		if !strings.Contains(said, "\n"+c.target+" HTTP/1.1 "+c.said+" ") && !strings.HasPrefix(said, c.target+" HTTP/1.1 "+c.said+" ") {
			t.Errorf("%s: no %s", c.target, c.said)
		}
	}
	if exit != 1 || !strings.Contains(said, "heard leak to hole.example:443") || !strings.Contains(said, "\noutside: ['leak to hole.example:443']\n") {
		t.Errorf("exit %d: %s", exit, said)
	}
	state, o, err := p.desk.Read(ticket)
	if err != nil || state != boxticket.Ran || strings.Join(o.Hosts[:2], " ") != "hole.example:22 other.example:443" {
		t.Errorf("%v %+v %v", state, o, err)
	}
}

// whole tries commands that fail because they cannot reach a host, so that nothing of them is kept.
func (p *programs) whole(t *testing.T) {
	const wants = "echo new > sub/README; getent hosts api.example; "
	for name, c := range map[string]struct {
		line  string
		whole bool
		kept  bool
	}{
		"it fails for want of a host":      {wants + "exit 3", true, false},
		"a signal ends it":                 {wants + "kill -TERM $$", true, false},
		"it may fail otherwise":            {wants + "exit 3", false, true},
		"it fails and wants no host":       {"echo new > sub/README; exit 3", true, true},
		"it wants a host and does without": {wants + "exit 0", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := room(t)
			s.Whole = c.whole
			cmd, ticket := p.boxed(t, s, "bash", "-c", c.line)
			said, _ := result(cmd)
			data, err := os.ReadFile(filepath.Join(s.Project, "sub", "README"))
			if err != nil || (string(data) == "new\n") != c.kept {
				t.Errorf("%q %v", data, err)
			}
			_, o, err := p.desk.Read(ticket)
			if err != nil || strings.Contains(c.line, "api.example") != (strings.Join(o.Hosts, " ") == "api.example") {
				t.Errorf("%+v %v", o, err)
			}
			if strings.Contains(said, "was not kept") == c.kept || (o.Unmoved == "") != c.kept {
				t.Errorf("%s %+v", said, o)
			}
		})
	}
}
