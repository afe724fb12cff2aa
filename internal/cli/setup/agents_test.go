package setup

import (
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/integrations"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/setup/protect"
	"github.com/floodmark/floodmark/internal/setup/prove"
)

// What is covered was measured with one version, so there is a warning for other versions.
func TestAgentWarnings(t *testing.T) {
	cover := integrations.Cover{Measured: "1.10.0", Run: true}
	for name, c := range map[string]struct {
		found protect.Found
		run   bool
		want  []string
	}{
		"the measured one":    {protect.Found{Program: "/bin/a", Version: "1.10.0", Protected: "1.10.0"}, true, nil},
		"newer":               {protect.Found{Program: "/bin/a", Version: "1.11.0"}, true, []string{"newer than 1.10.0"}},
		"older":               {protect.Found{Program: "/bin/a", Version: "1.9.9"}, true, []string{"older than 1.10.0"}},
		"unknown":             {protect.Found{Program: "/bin/a"}, true, []string{"could not be told"}},
		"only its settings":   {protect.Found{}, true, nil},
		"updated since":       {protect.Found{Program: "/bin/a", Version: "1.10.0", Protected: "1.8.0"}, true, []string{"was 1.8.0 when it was protected"}},
		"by its documents":    {protect.Found{Program: "/bin/a", Version: "1.10.0"}, false, []string{"not run by us"}},
		"newer and documents": {protect.Found{Program: "/bin/a", Version: "2.0"}, false, []string{"newer than", "not run by us"}},
	} {
		cover.Run = c.run
		got := warnings(c.found, cover)
		if len(got) != len(c.want) {
			t.Errorf("%s: %q", name, got)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%s: %q, want %q", name, got[i], want)
			}
		}
	}
}

// Every agent that can be protected, and no other, has a page of what is covered, and something is
// covered.
func TestEveryAgentSaysWhatIsCovered(t *testing.T) {
	covers, err := integrations.Covers()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range protect.Agents() {
		c, is := covers[a.Name]
		if !is || c.Title != a.Title || c.Measured == "" || len(c.Covered) == 0 {
			t.Errorf("%s: %+v", a.Name, c)
		}
		delete(covers, a.Name)
	}
	for name := range covers {
		t.Errorf("%s cannot be protected", name)
	}
}

// The warning says the real reason why a proof is not for the installed agent. For example, it does
// not say that the agent was updated if it was not.
func TestWhyAProofDoesNotCount(t *testing.T) {
	then := time.Unix(100, 0)
	for want, c := range map[string]struct {
		proof *prove.Proof
		since time.Time
	}{
		"it was never proved here; ":                     {nil, then},
		"it was protected again since it was proved; ":   {&prove.Proof{Version: "1", Grade: prove.HostVerified, At: then}, then.Add(1)},
		"its version was not known when it was proved; ": {&prove.Proof{Grade: prove.HostVerified, At: then}, then},
		"it was updated since it was proved; ":           {&prove.Proof{Version: "1", Grade: prove.HostVerified, At: then}, then},
		"its last proof failed; ":                        {&prove.Proof{Version: "2", Grade: prove.Failed, At: then}, then},
	} {
		f := protect.Found{Version: "2", State: protect.Protected}
		if got := unproved(f, c.since, c.proof, nil, cli.Place{}); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
