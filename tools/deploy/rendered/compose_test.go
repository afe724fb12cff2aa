package rendered

import (
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
)

// The file is read as «docker compose config» reads it, with the schema of the
// specification. No engine runs it here.
func TestCompose(t *testing.T) {
	o, err := cli.NewProjectOptions([]string{fleetFolder + "compose.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := o.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"node-a", "node-b"} {
		s, ok := p.Services[name]
		if !ok {
			t.Fatalf("there is no %s", name)
		}
		if !s.ReadOnly || len(s.CapDrop) == 0 || len(s.Ports) != 1 || s.Ports[0].HostIP != "127.0.0.1" {
			t.Errorf("%s may do more than it needs: %+v", name, s)
		}
	}
}
