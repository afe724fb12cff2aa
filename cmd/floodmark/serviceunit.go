package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A unit is the monitor as a service manager sees it.
type unit struct {
	program      string
	place        place
	home, config string
	files        []unitFile
	start, stop  [][]string
}

// A unitFile is one file of it.
type unitFile struct{ path, text string }

// How a file lies there.
const (
	fileAbsent  = "absent"
	fileSame    = "same"
	fileOlder   = "older"   // as another version wrote it
	fileChanged = "changed" // somebody wrote in it
)

func fileStates() map[string]string {
	return map[string]string{
		fileAbsent: "not there yet", fileSame: "there already", fileOlder: "there, as another version wrote it", fileChanged: "there, and changed by somebody",
	}
}

// sealPattern finds the line that says what the file was when it was written.
const sealPattern = `sha256 [0-9a-f]{64}`

// seal puts the hash of the text into it, so that a change can be told.
func seal(text string) string {
	blank := regexp.MustCompile(sealPattern).ReplaceAllString(text, "sha256 "+strings.Repeat("0", 64))
	sum := sha256.Sum256([]byte(blank))
	return strings.Replace(blank, strings.Repeat("0", 64), hex.EncodeToString(sum[:]), 1)
}

// state compares the file with what we would write.
func (f unitFile) state() string {
	data, err := os.ReadFile(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fileAbsent
	case err != nil:
		return fileChanged // what cannot be read is not ours to replace
	case string(data) == f.text:
		return fileSame
	case regexp.MustCompile(sealPattern).Match(data) && seal(string(data)) == string(data):
		return fileOlder
	}
	return fileChanged
}

const sealLine = "Written by «floodmark service install»; sha256 0000000000000000000000000000000000000000000000000000000000000000"

// words is the command line the manager starts.
func (u *unit) words(command ...string) []string {
	words := append([]string{u.program}, command...)
	if u.place.dir != "" {
		words = append(words, "--dir", u.place.dir)
	}
	if u.place.system {
		words = append(words, "--system")
	}
	return words
}

// systemd is the unit for systemd. What is allowed to a user's own unit differs:
// it has no namespaces of its own everywhere, so it asks for none.
func (u *unit) systemd() *unit {
	path := filepath.Join("/etc/systemd/system", "floodmark.service")
	ctl := []string{"systemctl"}
	lines := []string{
		"# " + sealLine,
		"[Unit]",
		"Description=Floodmark, a reference monitor for AI agents",
		"",
		"[Service]",
		"Type=notify",
		"ExecStart=" + systemdLine(u.words("serve")),
		"ExecReload=" + systemdLine(u.words("policy", "reload")),
		"Restart=on-failure",
		"RestartSec=1s",
		"TimeoutStopSec=30s",
		"UMask=0077",
		"LimitNOFILE=65536",
		"NoNewPrivileges=yes",
		"LockPersonality=yes",
		"MemoryDenyWriteExecute=yes",
		"RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6",
		"RestrictNamespaces=yes",
		"RestrictRealtime=yes",
		"RestrictSUIDSGID=yes",
		"SystemCallArchitectures=native",
		"SystemCallFilter=@system-service",
	}
	target := "default.target"
	if u.place.system {
		lines = append(lines, systemUnitLines(u.place)...)
		target = "multi-user.target"
		u.start = append(u.start, []string{"systemd-sysusers", sysusersPath})
		u.files = append(u.files, unitFile{sysusersPath, seal("# " + sealLine + "\nu floodmark - \"Floodmark monitor\" /var/lib/floodmark\n")})
	} else {
		folder := u.config
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(u.home, ".config")
		}
		path = filepath.Join(folder, "systemd", "user", "floodmark.service")
		ctl = append(ctl, "--user")
	}
	lines = append(lines, "", "[Install]", "WantedBy="+target, "")
	u.files = append(u.files, unitFile{path, seal(strings.Join(lines, "\n"))})
	with := func(words ...string) []string { return append(append([]string{}, ctl...), words...) }
	u.start = append(u.start, with("daemon-reload"), with("enable", "--now", "floodmark.service"))
	u.stop = [][]string{with("disable", "--now", "floodmark.service")}
	return u
}

const sysusersPath = "/etc/sysusers.d/floodmark.conf"

// systemUnitLines shut the machine's own monitor in. It must see the processes
// of others to know who asks, so /proc stays open.
func systemUnitLines(p place) []string {
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
	if p.dir != "" {
		return append(lines, "ReadWritePaths="+systemdLine([]string{p.dir}))
	}
	return append(lines,
		"ConfigurationDirectory=floodmark",
		"StateDirectory=floodmark floodmark-witness",
		"StateDirectoryMode=0700",
		"RuntimeDirectory=floodmark",
		"RuntimeDirectoryMode=0755",
	)
}

// systemdLine writes words as systemd reads them.
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

// launchdLabel is what launchd calls it.
const launchdLabel = "floodmark.monitor"

// launchd is the property list for launchd.
func (u *unit) launchd() *unit {
	path, domain := filepath.Join(u.home, "Library", "LaunchAgents", launchdLabel+".plist"), "gui/"+userNumber()
	logs := filepath.Join(u.home, "Library", "Logs", "floodmark.log")
	user := ""
	if u.place.system {
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
	u.files = []unitFile{{path, seal(text)}}
	u.start = [][]string{{"launchctl", "bootstrap", domain, path}}
	u.stop = [][]string{{"launchctl", "bootout", domain + "/" + launchdLabel}}
	return u
}

// userNumber is the number of whoever asks.
func userNumber() string { return strconv.Itoa(os.Getuid()) }

// xmlText escapes text for XML.
func xmlText(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a builder takes everything
	return b.String()
}
