package nodes_test

import (
	"testing"

	"github.com/floodmark/floodmark/internal/fleet/nodes"
)

// A gate is a setting like those in service.yaml.
type gate struct {
	Enabled *bool
	Mode    string
	Quota   struct{ Events, Bytes int }
	secret  string
}

// Each setting that people can change changes the digest.
func TestDigestsTellSettingsApart(t *testing.T) {
	off, few, bytes := false, gate{}, gate{}
	few.Quota.Events, bytes.Quota.Bytes = 7, 7
	seen := map[string]int{}
	for i, s := range []any{
		nil, "", "a", 7,
		[]string{"a", "b"},
		[]string{"ab"},
		[]string{"a;1:b"},
		[]byte("x"),
		map[string]gate{},
		map[string]gate{"acme": {}},
		map[string]gate{"acme": few},
		map[string]gate{"acme": bytes},
		gate{},
		gate{Enabled: &off},
		&gate{}, (*gate)(nil),
		gate{Mode: "deny"},
		gate{Mode: "allow"},
	} {
		d := nodes.Digest([]byte("k"), "policy", s)
		if before, there := seen[d]; there {
			t.Errorf("%d and %d have the same digest", before, i)
		}
		seen[d] = i
		if d == nodes.Digest([]byte("other"), "policy", s) || d == nodes.Digest([]byte("k"), "catalog", s) || len(d) != 32 {
			t.Errorf("%d: the digest %s does not depend on key and name", i, d)
		}
	}
	if nodes.Digest(nil, "x", gate{secret: "a"}) != nodes.Digest(nil, "x", gate{secret: "b"}) {
		t.Error("a secret is in the digest")
	}
}

// A program that knows more settings has the same digest if they are not set.
func TestANewSettingChangesNoDigest(t *testing.T) {
	type before struct{ A string }
	type after struct {
		New map[string]int
		A   string
		On  bool
	}
	if nodes.Digest(nil, "x", before{"a"}) != nodes.Digest(nil, "x", after{A: "a"}) {
		t.Error("a setting that is not set counts")
	}
	if nodes.Digest(nil, "x", before{"a"}) == nodes.Digest(nil, "x", after{A: "a", On: true}) {
		t.Error("a setting that is set does not count")
	}
}
