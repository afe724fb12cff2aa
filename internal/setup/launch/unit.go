// Package launch starts and stops the monitor: with a unit of this machine's service manager, or as
// a process in the background if there is none.
package launch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A Unit is the monitor as described to a service manager.
type Unit struct {
	// Program is the full path of the program. Dir is the folder that holds all its files, if not
	// the usual folders. System says that the monitor has a user account of its own.
	Program, Dir string
	System       bool
	// Home and Config are the person's folders; Config is empty if no variable names it.
	Home, Config string
	// Files are written before Start is run, and removed after Stop is run.
	Files       []File
	Start, Stop [][]string
}

// A File is one file of a unit.
type File struct{ Path, Text string }

// A State compares a file on disk with what we would write.
type State string

// The states of a file.
const (
	Absent  State = "absent"
	Same    State = "same"
	Older   State = "older"   // as another version wrote it
	Changed State = "changed" // edited by hand
)

// Words describe a state to people.
func (s State) Words() string {
	return map[State]string{
		Absent: "not there yet", Same: "there already", Older: "there, as another version wrote it", Changed: "there, and edited",
	}[s]
}

// sealPattern finds the hash of a file's text as it was written.
const sealPattern = `sha256 [0-9a-f]{64}`

// seal puts the hash of the text into the text, so that a later edit can be detected.
func seal(text string) string {
	blank := regexp.MustCompile(sealPattern).ReplaceAllString(text, "sha256 "+strings.Repeat("0", 64))
	sum := sha256.Sum256([]byte(blank))
	return strings.Replace(blank, strings.Repeat("0", 64), hex.EncodeToString(sum[:]), 1)
}

// State compares the file with what we would write.
func (f File) State() State {
	data, err := os.ReadFile(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Absent
	case err != nil:
		return Changed // what cannot be read is not ours to replace
	case string(data) == f.Text:
		return Same
	case regexp.MustCompile(sealPattern).Match(data) && seal(string(data)) == string(data):
		return Older
	}
	return Changed
}

const sealLine = "Written by «floodmark dev service install»; sha256 0000000000000000000000000000000000000000000000000000000000000000"

// words returns the command line that the manager starts.
func (u *Unit) words(command ...string) []string {
	words := append([]string{u.Program}, command...)
	if u.Dir != "" {
		words = append(words, "--dir", u.Dir)
	}
	if u.System {
		words = append(words, "--system")
	}
	return words
}

// Systemd fills in the unit for systemd. A user's own unit leaves out what systemd cannot grant to
// users everywhere: it has no namespaces of its own.
func (u *Unit) Systemd() *Unit {
	path := filepath.Join("/etc/systemd/system", "floodmark.service")
	ctl := []string{"systemctl"}
	lines := strings.Split("# "+sealLine+"\n"+fmt.Sprintf(systemdText, systemdLine(u.words("serve")), systemdLine(u.words("policy", "reload"))), "\n")
	target := "default.target"
	if u.System {
		lines = append(lines, systemUnitLines(u.Dir)...)
		target = "multi-user.target"
		u.Start = append(u.Start, []string{"systemd-sysusers", sysusersPath})
		u.Files = append(u.Files, File{sysusersPath, seal("# " + sealLine + "\nu floodmark - \"Floodmark monitor\" /var/lib/floodmark\n")})
	} else {
		folder := u.Config
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(u.Home, ".config")
		}
		path = filepath.Join(folder, "systemd", "user", "floodmark.service")
		ctl = append(ctl, "--user")
	}
	lines = append(lines, "", "[Install]", "WantedBy="+target, "")
	u.Files = append(u.Files, File{path, seal(strings.Join(lines, "\n"))})
	with := func(words ...string) []string { return append(append([]string{}, ctl...), words...) }
	u.Start = append(u.Start, with("daemon-reload"), with("enable", "--now", "floodmark.service"))
	u.Stop = [][]string{with("disable", "--now", "floodmark.service")}
	return u
}

// systemdText is the common part of the system's and a user's unit. The commands that start the
// monitor and that reload its rules are filled in.
const systemdText = `[Unit]
Description=Floodmark, a reference monitor for AI agents

[Service]
Type=notify
ExecStart=%s
ExecReload=%s
Restart=on-failure
RestartSec=1s
TimeoutStopSec=30s
UMask=0077
LimitNOFILE=65536
NoNewPrivileges=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service`

const sysusersPath = "/etc/sysusers.d/floodmark.conf"

// systemUnitLines returns the lines that sandbox the system's monitor. /proc stays open, because
// the monitor looks up which process of which user asks.
func systemUnitLines(dir string) []string {
	lines := []string{
		"User=floodmark",
		"Group=floodmark",
		"ProtectSystem=strict",
		"ProtectHome=yes",
		"PrivateTmp=yes",
		"PrivateDevices=yes",
		"ProtectClock=yes",
		"ProtectControlGroups=yes",
		"ProtectHostname=yes",
		"ProtectKernelLogs=yes",
		"ProtectKernelModules=yes",
		"ProtectKernelTunables=yes",
		"CapabilityBoundingSet=",
		"RemoveIPC=yes",
	}
	if dir != "" {
		return append(lines, "ReadWritePaths="+systemdLine([]string{dir}))
	}
	return append(lines,
		"ConfigurationDirectory=floodmark",
		"StateDirectory=floodmark floodmark-witness",
		"StateDirectoryMode=0700",
		"RuntimeDirectory=floodmark",
		"RuntimeDirectoryMode=0755",
	)
}

// systemdLine quotes words for systemd.
func systemdLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		w = strings.NewReplacer("%", "%%", "$", "$$", `\`, `\\`, `"`, `\"`).Replace(w)
		if strings.ContainsAny(w, " \t'\";") {
			w = `"` + w + `"`
		}
		quoted[i] = w
	}
	return strings.Join(quoted, " ")
}

// launchdLabel is the name of the monitor in launchd.
const launchdLabel = "floodmark.monitor"

// Launchd fills in the property list for launchd.
func (u *Unit) Launchd() *Unit {
	path, domain := filepath.Join(u.Home, "Library", "LaunchAgents", launchdLabel+".plist"), "gui/"+userNumber()
	logs := filepath.Join(u.Home, "Library", "Logs", "floodmark.log")
	user := ""
	if u.System {
		path, domain, logs = filepath.Join("/Library/LaunchDaemons", launchdLabel+".plist"), "system", "/var/log/floodmark.log"
		user = "  <key>UserName</key><string>floodmark</string>\n"
	}
	var args strings.Builder
	for _, w := range u.words("serve") {
		args.WriteString("    <string>" + xmlText(w) + "</string>\n")
	}
	text := `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ` + sealLine + ` -->
<plist version="1.0">
<dict>
  <key>Label</key><string>` + launchdLabel + `</string>
  <key>ProgramArguments</key>
  <array>
` + args.String() + `  </array>
` + user + `  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ProcessType</key><string>Interactive</string>
  <key>Umask</key><integer>63</integer>
  <key>StandardErrorPath</key><string>` + xmlText(logs) + `</string>
</dict>
</plist>
`
	u.Files = []File{{path, seal(text)}}
	u.Start = [][]string{{"launchctl", "bootstrap", domain, path}}
	u.Stop = [][]string{{"launchctl", "bootout", domain + "/" + launchdLabel}}
	return u
}

// userNumber returns the number of the current user.
func userNumber() string { return strconv.Itoa(os.Getuid()) }

// xmlText escapes text for XML.
func xmlText(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a builder takes everything
	return b.String()
}
