package protect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A Path says how a client reaches a tool server.
type Path string

// The paths to a tool server. Only one of them leads through the gateway.
const (
	// Through means through the gateway.
	Through Path = "through"
	// Direct means that the client starts it itself; the gateway could.
	Direct Path = "direct"
	// Remote means that it is reached by an address. The gateway replaces only commands.
	Remote Path = "remote"
	// Unknown means that its entry has an unknown form.
	Unknown Path = "unknown"
)

// A Server is one tool server that a client's settings list.
type Server struct {
	// Name is its name in the settings. Called is the name under which the monitor knows it.
	Name, Called string
	// File is the settings file it is listed in.
	File string
	Path Path
	// Why explains to people why it is not reached through the gateway.
	Why string
	// Program is our program as the entry names it; empty unless it is called.
	Program string
	// Settled says that the entry needs no change.
	Settled bool
}

// A Client is a program that uses tool servers.
type Client struct {
	Agent
	// Files are the existing files in which it lists servers.
	Files   []string
	Servers []Server
	// Why is the error of the first file that cannot be read; empty if all can.
	Why string
}

// Servers looks at the tool servers of all clients on this machine, by name: those in the person's
// files, in the projects of the Machine, and in files that were changed earlier to use the gateway.
func (m Machine) Servers() []Client {
	var list []Client
	for _, k := range clients() {
		c := Client{Agent: k.Agent}
		rec, err := m.record(k.Name)
		if err == nil {
			err = m.lookServers(k, rec, &c)
		}
		if err != nil {
			c.Why = err.Error()
		}
		if len(c.Files) > 0 || c.Why != "" {
			list = append(list, c)
		}
	}
	return list
}

func (m Machine) lookServers(k kind, rec *record, c *Client) error {
	files, err := k.serverFiles(m, rec)
	if err != nil {
		return err
	}
	for _, one := range files {
		now, err := m.current(one)
		if err == nil && now.there {
			c.Files = append(c.Files, one.path)
			var servers []Server
			servers, err = one.listed(now)
			c.Servers = append(c.Servers, servers...)
		}
		if err != nil {
			return fileError(one.path, err)
		}
	}
	return nil
}

// listed returns the servers that a file lists.
func (f file) listed(now content) ([]Server, error) {
	_, data := cutMark(now.data)
	entries, err := f.servers.entries(data)
	if err != nil {
		return nil, err
	}
	var list []Server
	for _, e := range entries {
		s := Server{Name: e.key, Called: f.servers.called(e.key), File: f.path, Path: Direct, Why: "the client starts it itself"}
		call := f.servers.gateway(e.all())
		switch {
		case e.odd != "":
			s.Path, s.Why = Unknown, e.odd
		case call != nil && (call.dashes < 0 || call.dashes == len(e.all())-1):
			s.Path, s.Why, s.Program = Unknown, "it calls the gateway, and nothing behind two dashes", call.program
		case e.away:
			s.Path, s.Why = Remote, "it is reached by an address, and the gateway takes over commands only"
			if len(e.all()) > 0 {
				s.Why = "it has an address besides its command, and the client may take either"
			}
		case call != nil:
			s.Path, s.Why, s.Program = Through, "", call.program
			s.Settled = len(f.servers.wrapping(data, e)) == 0
		}
		list = append(list, s)
	}
	return list, nil
}

// ProtectServers plans to lead the tool servers of clients through the gateway. It plans for the
// named clients, or for all on this machine if none is named.
func (m Machine) ProtectServers(_ context.Context, names ...string) (*Plan, error) {
	p := &Plan{machine: m, step: func(string) {}}
	if m.System {
		return nil, errors.New("tool servers are led through the gateway for each person, not for the whole machine")
	}
	if !filepath.IsAbs(m.Program) {
		return nil, errors.New("the place of floodmark is not known: there is no floodmark on PATH")
	}
	list, err := chosenClients(names)
	if err != nil {
		return nil, err
	}
	for _, k := range list {
		if err := p.wrap(k, len(names) > 0); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func chosenClients(names []string) (list []kind, err error) {
	if len(names) == 0 {
		return clients(), nil
	}
	for _, name := range names {
		k, err := clientOf(name)
		if err != nil {
			return nil, err
		}
		list = append(list, k)
	}
	return list, nil
}

// wrap plans the changes to the files of one client.
func (p *Plan) wrap(k kind, named bool) error {
	rec, err := p.machine.record(k.Name)
	if err != nil {
		return err
	}
	files, err := k.serverFiles(p.machine, rec)
	if err != nil {
		return fmt.Errorf("%s: %w", k.Title, err)
	}
	if len(rec.Files) == 0 {
		rec.OnlyServers = true
	}
	already, there := len(p.Changes), 0
	var paths []string
	for _, one := range files {
		paths = append(paths, one.path)
		now, err := p.machine.current(one)
		if err != nil {
			return fileError(one.path, err)
		}
		if !now.there {
			continue // it lists no servers
		}
		there++
		fresh, err := p.put(rec, k, one, one.wrapped)
		if err != nil {
			return err
		}
		if was := rec.of(one.path); was != nil && !fresh.same(now) {
			was.Servers = true
		}
		if err := p.uncovered(k, one, fresh); err != nil {
			return err
		}
	}
	if there == 0 && named {
		return fmt.Errorf("%s names no tool servers on this machine: there is no file %s", k.Title, strings.Join(paths, ", "))
	}
	if there > 0 {
		p.Agents = append(p.Agents, Found{Agent: k.Agent})
	}
	if len(p.Changes) > already {
		p.records = append(p.records, rec)
	}
	return nil
}

// uncovered notes the servers of a file that will not be reached through the gateway even after the
// change.
func (p *Plan) uncovered(k kind, one file, fresh content) error {
	servers, err := one.listed(fresh)
	if err != nil {
		return fileError(one.path, err)
	}
	for _, s := range servers {
		if s.Path != Through {
			p.Uncovered = append(p.Uncovered, Uncovered{k.Agent, s})
		}
	}
	return nil
}

// An Uncovered is a tool server that is not reached through the gateway.
type Uncovered struct {
	Agent
	Server
}

// UnprotectServers plans to take the gateway out of the clients' settings again. It plans for the
// named clients, or for all if none is named. Hooks stay.
func (m Machine) UnprotectServers(_ context.Context, names ...string) (*Plan, error) {
	p := &Plan{machine: m, back: true, step: func(string) {}}
	list, err := chosenClients(names)
	if err != nil || m.System {
		return p, err
	}
	for _, k := range list {
		if err := p.unwrap(k); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Plan) unwrap(k kind) error {
	rec, err := p.machine.record(k.Name)
	if err != nil {
		return err
	}
	files, err := k.serverFiles(p.machine, rec)
	if err != nil {
		return nil //nolint:nilerr // its folder is unknown on this machine, so nothing of ours is there
	}
	seen := len(p.Changes)
	for _, one := range files {
		if err := p.direct(rec, k, one); err != nil {
			return err
		}
	}
	if len(p.Changes) > seen || len(rec.left) > 0 {
		p.Agents, p.records = append(p.Agents, Found{Agent: k.Agent}), append(p.records, rec)
	}
	return nil
}

// direct plans how to change one file so that the client starts its servers itself again.
func (p *Plan) direct(rec *record, k kind, one file) error {
	was := rec.of(one.path)
	if was == nil && p.unread(one) {
		return nil
	}
	c, now, err := p.read(k, one)
	if err != nil {
		return err
	}
	hooks := one.sort != serversPart && rec.hooked()
	asLeft := was != nil && (was.asLeft(now) || was.original().same(now))
	var fresh content
	if asLeft && !hooks {
		fresh = was.original()
	} else if fresh, err = one.unwrapped(now, was.before()); err != nil {
		return fileError(one.path, err)
	}
	if was != nil && !asLeft && !fresh.same(now) {
		c.Note = "it was edited since it was protected: only what is ours is taken out"
	}
	switch {
	case was == nil:
	case !hooks:
		rec.left = append(rec.left, one.path)
	case !fresh.same(now):
		// Hooks of ours stay in it, so its original is still needed.
		if !asLeft {
			original, err := one.unhooked(fresh, was.before())
			if err != nil {
				return fileError(one.path, err)
			}
			was.There, was.Data = original.there, original.data
		}
		was.Servers, was.Left = false, []string{digest(now), digest(fresh)}
	}
	if fresh.same(now) {
		return nil
	}
	if err := mayWrite(c.target, c.mode, now.there); err != nil {
		return fileError(one.path, err)
	}
	c.After, c.Gone = fresh.data, !fresh.there
	p.Changes = append(p.Changes, c)
	return nil
}

// unread reports whether a file cannot be read and is not known to contain anything of ours. It
// notes that in the plan, and the other files are restored all the same.
func (p *Plan) unread(one file) bool {
	if one.sort != serversPart {
		return false
	}
	now, err := p.machine.current(one)
	if err == nil {
		_, data := cutMark(now.data)
		_, err = one.servers.entries(data)
	}
	if err == nil || bytes.Contains(now.data, []byte(gatewayName)) {
		return false
	}
	p.Notes = append(p.Notes, fileError(one.path, err).Error()+"; nothing of ours was found in it, and it stays as it is")
	return true
}

// settle writes the records that are still needed after servers were given back, and removes the
// others.
func (p *Plan) settle() error {
	var empty []*record
	for _, r := range p.records {
		r.Files = slices.DeleteFunc(r.Files, func(f kept) bool { return slices.Contains(r.left, f.Path) })
		if len(r.Files) == 0 {
			empty = append(empty, r)
		}
	}
	p.records = slices.DeleteFunc(p.records, func(r *record) bool { return len(r.Files) == 0 })
	if err := p.keepLast(); err != nil {
		return err
	}
	p.records = empty
	return p.forget()
}
