package setup

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/wire"
)

// checkFolders checks the folders and which users may write to them.
func checkFolders(p config.Paths) []cli.Finding {
	service, err := config.LoadService(p.Service)
	if err != nil {
		service = config.Service{} // another check reports its errors
	}
	list := []cli.Finding{checkFolder("settings folder", filepath.Dir(p.Policy))}
	if !service.Journal.InDatabase() {
		list = append(list, checkFolder("journal folder", filepath.Dir(p.Journal)))
	}
	list = append(list, checkFolder("folder of signed heads", cmp.Or(service.Journal.Witness, p.Witness)), checkFolder("socket folder", filepath.Dir(p.HookSocket)))
	if err := p.CheckSockets(); err != nil {
		list = append(list, cli.Wrong("socket names", "use a shorter folder", "%s", err))
	}
	return append(list, checkStrangers(filepath.Dir(p.HookSocket), p)...)
}

func checkFolder(name, dir string) cli.Finding {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return cli.Note(name, "", "%s is not there yet", dir)
	case err != nil:
		return cli.Wrong(name, "check its permissions", "%s: %s", dir, cli.Reason(err))
	case !info.IsDir():
		return cli.Wrong(name, "move it away", "%s is not a folder", dir)
	case info.Mode().Perm()&0o022 != 0:
		return cli.Wrong(name, "chmod go-w "+cli.ShellWord(dir), "others may write to %s", dir)
	}
	if user, known := cli.OwnerOf(info); known && user != 0 && user != os.Getuid() && os.Getuid() != 0 {
		return cli.Note(name, "", "%s belongs to user %d", dir, user)
	}
	return cli.OK(name, "%s", dir)
}

// checkStrangers looks for foreign files in the folder of the sockets.
func checkStrangers(dir string, p config.Paths) []cli.Finding {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // reported by another check
	}
	var strangers []string
	for _, e := range entries {
		if name := filepath.Join(dir, e.Name()); name != p.HookSocket && name != p.OwnerSocket {
			strangers = append(strangers, e.Name())
		}
	}
	if len(strangers) == 0 {
		return nil
	}
	slices.Sort(strangers)
	return []cli.Finding{cli.Note("socket folder", "find out who put them there", "%s also contains %s", dir, strings.Join(strangers[:min(5, len(strangers))], ", "))}
}

// checkSettings checks service.yaml.
func checkSettings(p config.Paths) []cli.Finding {
	s, err := config.LoadService(p.Service)
	if err != nil {
		return []cli.Finding{cli.Wrong("settings", "mend the file, or move it away to run with nothing but defaults", "%s", err)}
	}
	where := "one file on this machine"
	if s.Journal.InDatabase() {
		where = "PostgreSQL"
	}
	doors := "nothing listens on the network"
	if len(s.Listen) > 0 {
		doors = cli.Count(len(s.Listen), "address", "addresses") + " on the network"
	}
	return []cli.Finding{cli.OK("settings", "the journal is %s; %s", where, doors)}
}

// checkPolicy loads the policy as the monitor would.
func checkPolicy(p config.Paths) []cli.Finding {
	rules, err := config.LoadRules(p.Policy)
	if problems, isProblems := errors.AsType[floodmark.Problems](err); isProblems && len(problems) > 0 {
		first := problems[0]
		return []cli.Finding{cli.Wrong("policy", "«floodmark policy check "+cli.ShellWord(p.Policy)+"» shows each place", "%s:%d:%d: %s", first.File, first.Line, first.Column, first.Text)}
	}
	if err != nil {
		return []cli.Finding{cli.Wrong("policy", "check the file and its permissions", "%s", err)}
	}
	from := rules.File
	if from == "" {
		from = "the shipped profile, because there is no " + p.Policy
	}
	if !rules.Policy.Settings("").Enforce {
		return []cli.Finding{cli.Note("policy", "choose another profile to enforce decisions", "%s decides and enforces nothing", from)}
	}
	if len(rules.Warnings) > 0 {
		return []cli.Finding{cli.Note("policy", "«floodmark policy check "+cli.ShellWord(p.Policy)+"» shows them", "%s, with %s", from, cli.Count(len(rules.Warnings), "warning", "warnings"))}
	}
	return []cli.Finding{cli.OK("policy", "%s", from)}
}

// checkKeys checks whether other users could read the keys, without reading any of them.
func checkKeys(p config.Paths) []cli.Finding {
	var list []cli.Finding
	for _, file := range []string{filepath.Join(p.Keys, "index.key"), filepath.Join(p.Keys, "journal.key"), p.Journal, p.Tokens} {
		info, err := os.Lstat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			list = append(list, cli.Note("secrets", "", "%s: %s", file, cli.Reason(err)))
		case !info.Mode().IsRegular():
			list = append(list, cli.Wrong("secrets", "find out who put it there", "%s is not a plain file", file))
		case info.Mode().Perm()&0o077 != 0:
			list = append(list, cli.Wrong("secrets", "chmod 600 "+cli.ShellWord(file), "others can read %s", file))
		}
	}
	if len(list) == 0 {
		return []cli.Finding{cli.OK("secrets", "no other user can read keys, journal and tokens")}
	}
	return list
}

// checkOwnerSocket asks the monitor for its status.
func checkOwnerSocket(ctx context.Context, d *cli.Desk, b cli.Build, needed bool) []cli.Finding {
	ctx, cancel := context.WithTimeout(ctx, cli.AnswerTime)
	defer cancel()
	s, err := d.Status(ctx, &wire.StatusRequest{})
	if err != nil && cli.Absent(err) && !needed {
		return []cli.Finding{cli.Note("owner.sock", "", "no monitor runs, and none is needed: no agent is protected")}
	}
	if err != nil {
		var f *cli.Failure
		errors.As(d.Unanswered(err), &f) // the error always is a failure
		return []cli.Finding{cli.Wrong("owner.sock", f.Hint, "%s", f.Text)}
	}
	list := []cli.Finding{cli.OK("owner.sock", "the monitor answers, since %s", cli.Stamp(s.GetStarted()))}
	if s.GetVersion() != b.Line() {
		list = append(list, cli.Note("version", "restart the monitor after an update", "the monitor is %s, this program %s", s.GetVersion(), b.Line()))
	}
	for _, one := range s.GetPolicy().GetProblems() {
		if one.GetSeverity() != string(floodmark.Warning) {
			list = append(list, cli.Wrong("policy in force", "«floodmark status» shows what is wrong", "the file was refused; older rules are in force"))
			break
		}
	}
	if n := s.GetIncidents(); n > 0 {
		list = append(list, cli.Note("incidents", "«floodmark status» lists them", "%s since the monitor started", cli.Count(int(n), "incident", "incidents")))
	}
	return list
}

// checkHookSocket sends a request with an unknown version. The refusal proves that a monitor reads
// requests, and nothing is recorded.
func checkHookSocket(ctx context.Context, p config.Paths, where cli.Place, needed bool) []cli.Finding {
	conn, err := (&net.Dialer{Timeout: cli.AnswerTime}).DialContext(ctx, "unix", p.HookSocket)
	if err != nil && cli.Absent(err) && !needed {
		return nil // reported by another check
	}
	if err != nil {
		return []cli.Finding{cli.Wrong("hook.sock", "start the monitor: "+cli.Starts(where), "nothing answers on %s: agents with hooks are refused everything", p.HookSocket)}
	}
	defer conn.Close()
	body := []byte(`{"v":0}`)
	_ = conn.SetDeadline(time.Now().Add(cli.AnswerTime)) // without one the read below still ends with the monitor
	if _, err := conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)); err != nil {
		return []cli.Finding{cli.Wrong("hook.sock", "restart the monitor", "it does not take a question: %s", cli.Reason(err))}
	}
	answer, err := hookframe.ReadResponse(conn)
	switch {
	case err != nil:
		return []cli.Finding{cli.Wrong("hook.sock", "restart the monitor", "it does not answer: %s", err)}
	case answer.Exit != hookframe.Refused:
		return []cli.Finding{cli.Wrong("hook.sock", "find out which program listens on "+p.HookSocket, "something that is no question was not refused")}
	}
	return []cli.Finding{cli.OK("hook.sock", "it answers at %s, and refuses what it cannot read", p.HookSocket)}
}

// clockSlack is how far two readings of the same clock may differ.
const clockSlack = 2 * time.Minute

// checkClock checks whether the clock is behind the newest journal entry.
func checkClock(ctx context.Context, d *cli.Desk, now time.Time) []cli.Finding {
	const todo = "set the clock: approvals would end at the wrong time"
	if now.Year() < 2025 {
		return []cli.Finding{cli.Wrong("clock", todo, "it shows %s", now.Format(time.DateOnly))}
	}
	ctx, cancel := context.WithTimeout(ctx, cli.AnswerTime)
	defer cancel()
	a, err := d.Sessions(ctx, &wire.SessionsRequest{Limit: 1})
	if err != nil || len(a.GetSessions()) == 0 {
		return []cli.Finding{cli.OK("clock", "%s", now.Format(time.DateTime))}
	}
	if last := a.GetSessions()[0].GetWritten().AsTime(); last.After(now.Add(clockSlack)) {
		return []cli.Finding{cli.Wrong("clock", todo, "the newest entry of the journal was written %s from now", cli.Span(last.Sub(now)))}
	}
	return []cli.Finding{cli.OK("clock", "%s", now.Format(time.DateTime))}
}

// The limits below which the disk is short of space. A journal grows by about a kilobyte for each
// decision.
const (
	littleRoom = 1 << 30
	noRoom     = 100 << 20
)

// checkRoom checks how much space is free on the journal's disk.
func checkRoom(p config.Paths) []cli.Finding {
	dir := filepath.Dir(p.Journal)
	for dir != filepath.Dir(dir) { // the first folder upwards that exists
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	free, err := cli.Room(dir)
	if err != nil {
		return []cli.Finding{cli.Note("disk", "", "the system does not say how much room there is at %s", dir)}
	}
	text := fmt.Sprintf("%.1f GB of room at %s", float64(free)/1e9, dir)
	switch {
	case free < noRoom:
		return []cli.Finding{cli.Wrong("disk", "make room: without it nothing can be recorded, so everything is refused", "%s", text)}
	case free < littleRoom:
		return []cli.Finding{cli.Note("disk", "make room soon", "%s", text)}
	}
	return []cli.Finding{cli.OK("disk", "%s", text)}
}
