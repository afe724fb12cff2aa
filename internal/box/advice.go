package box

import (
	"os"
	"strings"
)

// Advice returns what to do on a machine where no box can be made, given the line that
// floodmark-box printed.
func Advice(said string) string { return advise(said, setting) }

// setting returns a setting of the kernel; empty if the kernel does not have it.
func setting(name string) string {
	data, _ := os.ReadFile("/proc/sys/" + name)
	return strings.TrimSpace(string(data))
}

func advise(said string, setting func(string) string) string {
	switch {
	case strings.Contains(said, "control group"):
		return "run it as an ordinary user, or give root a control group for processes (mount cgroup2, enable pids)"
	case strings.Contains(said, "only Linux has"):
		return "boxes need Linux; here commands that would be boxed are asked about"
	case strings.HasSuffix(setting("kernel/osrelease"), "-Microsoft"):
		return "WSL 1 has no namespaces: use WSL 2 (in Windows: wsl --set-version NAME 2)"
	case setting("user/max_user_namespaces") == "0":
		return "allow user namespaces: sysctl user.max_user_namespaces=10000"
	case setting("kernel/unprivileged_userns_clone") == "0":
		return "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1"
	case setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
		return "let AppArmor give floodmark-box user namespaces (a profile with «userns,»), or sysctl kernel.apparmor_restrict_unprivileged_userns=0"
	case strings.Contains(said, "does not let you make a box"):
		return "a container or another sandbox around this shell forbids namespaces: run it outside of it, or allow them there"
	}
	return "until then commands that would be boxed are asked about"
}
