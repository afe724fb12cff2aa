package shellscan

import (
	"strings"

	"github.com/floodmark/floodmark"
)

// tar packs, unpacks or lists, as one of its letters says.
func (s *scanner) tar(j *job) {
	unpacks := j.p.has("-x", "--extract", "--get")
	packs := j.p.has("-c", "--create", "-r", "--append", "-u", "--update", "-A", "--concatenate", "--delete")
	for i := range j.p.list {
		o := &j.p.list[i]
		switch {
		case o.opt == "-f" || o.opt == "--file":
			o.role = Reads
			if packs {
				o.role = Writes
			}
			if strings.Contains(o.w.text, ":") { // host:file is got with rsh
				s.doubt("an archive on another machine")
			}
		case o.opt == "" && unpacks:
			o.role = Writes
			if len(j.into) > 0 {
				o.w = j.into[0].join(literal("/")).join(o.w)
			}
		case o.opt == "" && packs:
			o.role = Reads
			if len(j.into) > 0 {
				o.w = j.into[len(j.into)-1].join(literal("/")).join(o.w)
			}
		case o.opt == "":
			o.role = Text
		}
	}
	if unpacks {
		to := literal(".")
		if len(j.into) > 0 {
			to = j.into[0]
		}
		s.touch(Effect{Kind: Write, Tree: true}, to, j.st)
	}
	if packs && len(j.into) > 0 {
		j.into = nil
	}
}

// packs adds what a packer leaves: the name with its ending, or without.
func (s *scanner) packs(j *job) {
	if j.p.has("-c", "--stdout", "--to-stdout", "-t", "--test", "-l", "--list") {
		for i := range j.p.list {
			j.p.list[i].role = Reads
		}
		return
	}
	for _, o := range j.p.list {
		if o.w.text == "-" || o.role == Text || o.opt != "" {
			continue
		}
		if !j.p.has("-k", "--keep") {
			j.effect(floodmark.Change)
			s.touch(Effect{Kind: Delete, Tree: j.p.has("-r")}, o.w, j.st)
		}
		s.touch(Effect{Kind: Write, Tree: j.p.has("-r")}, o.w.join(word{text: ".*", glob: true}), j.st)
		if i := strings.LastIndexByte(o.w.text, '.'); i > 0 {
			w := o.w
			w.text = w.text[:i]
			s.touch(Effect{Kind: Write}, w, j.st)
		}
	}
}

// unpacks adds that files appear under names nobody sees.
func (s *scanner) unpacks(j *job) {
	if !j.does(floodmark.Write) {
		return
	}
	to := literal(".")
	if len(j.into) > 0 {
		to = j.into[0]
	}
	s.touch(Effect{Kind: Write, Tree: true}, to, j.st)
	for i := range j.p.list {
		o := &j.p.list[i]
		if o.opt != "" || o.role != Reads {
			continue
		}
		if i > 0 && len(j.p.list) > 1 && j.name == "unzip" { // members that are taken out
			o.role = Writes
		}
	}
}
