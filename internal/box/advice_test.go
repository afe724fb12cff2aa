package box

import (
	"strings"
	"testing"
)

func TestAdvice(t *testing.T) {
	for _, c := range []struct{ said, name, value, want string }{
		{"as root a box needs a control group of its own", "", "", "ordinary user"},
		{"this machine does not let you make a box: x", "", "", "container"},
		{"this machine does not let you make a box: x", "user/max_user_namespaces", "0", "max_user_namespaces"},
		{"this machine does not let you make a box: x", "kernel/unprivileged_userns_clone", "0", "unprivileged_userns_clone"},
		{"this machine does not let you make a box: x", "kernel/apparmor_restrict_unprivileged_userns", "1", "AppArmor"},
		{"this machine does not let you make a box: x", "kernel/osrelease", "4.4.0-19041-Microsoft", "WSL 2"},
		{"this machine does not let you make a box: x", "kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2", "container"},
		{"boxes are made of what only Linux has", "", "", "need Linux"},
		{"something else", "", "", "asked about"},
	} {
		got := advise(c.said, func(name string) string {
			if name == c.name {
				return c.value
			}
			return ""
		})
		if !strings.Contains(got, c.want) {
			t.Errorf("%s, %s=%s: %s", c.said, c.name, c.value, got)
		}
	}
}
