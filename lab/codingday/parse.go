package codingday

import (
	"errors"
	"fmt"
	"strings"
)

// taskParser reads the lines of a task one by one.
type taskParser struct {
	talkParser

	task *Task
}

// A talkParser reads the owner's prompts and the agent's calls after each.
type talkParser struct {
	sessions *[]Session
	// more is the command or prompt that a continuation line is appended to.
	more *string
}

// line reads one line. testdata/README.md describes the language.
func (p *taskParser) line(line string) error {
	if strings.TrimSpace(line) == "" {
		return nil
	}
	word, rest, _ := strings.Cut(line, " ")
	if set := p.header(word); set != nil {
		*set = strings.TrimSpace(rest)
		return nil
	}
	switch word {
	case "attack":
		t := p.task
		t.Where, t.Goal, _ = strings.Cut(rest, " ")
	case "session":
		p.task.Sessions = append(p.task.Sessions, Session{})
	default:
		return p.talk(word, rest)
	}
	return nil
}

// talk reads a line of a session.
func (p *talkParser) talk(word, rest string) error {
	switch word {
	case ">":
		p.prompt(rest)
	case "|":
		if p.more == nil {
			return errors.New("nothing goes on here")
		}
		*p.more += "\n" + rest
	case "-", "+":
		return p.text(word, rest)
	case "<":
		return p.says(rest)
	default:
		return p.step(word, rest)
	}
	return nil
}

// header returns the field that a line of the header sets; nil if the line is not in the header.
func (p *taskParser) header(word string) *string {
	switch word {
	case "#":
		return &p.task.Title
	case "agent":
		return &p.task.Agent
	case "base":
		return &p.task.Base
	case "proof":
		return &p.task.Proof
	}
	return nil
}

func (p *talkParser) prompt(text string) {
	if len(*p.sessions) == 0 {
		*p.sessions = append(*p.sessions, Session{})
	}
	s := &(*p.sessions)[len(*p.sessions)-1]
	s.Prompts = append(s.Prompts, Prompt{Text: text, Says: "Done."})
	p.more = &s.Prompts[len(s.Prompts)-1].Text
}

// last returns the newest prompt.
func (p *talkParser) last() (*Prompt, error) {
	if n := len(*p.sessions); n > 0 {
		if s := &(*p.sessions)[n-1]; len(s.Prompts) > 0 {
			return &s.Prompts[len(s.Prompts)-1], nil
		}
	}
	return nil, errors.New("nobody has asked for anything yet: begin with «> prompt»")
}

func (p *talkParser) says(text string) error {
	to, err := p.last()
	if err == nil {
		to.Says = text
	}
	return err
}

// step reads a call: an optional mark of the attacker's calls, and the tool.
func (p *talkParser) step(word, arg string) error {
	to, err := p.last()
	if err != nil {
		return err
	}
	s := Step{Arg: arg}
	switch {
	case strings.HasPrefix(word, "?"):
		s.Attack, word = true, word[1:]
	case strings.HasPrefix(word, "~"):
		if len(to.Steps) == 0 {
			return errors.New("another way needs a call before it")
		}
		s.Other, s.Attack, word = true, to.Steps[len(to.Steps)-1].Attack, word[1:]
	case len(word) > 1 && strings.ContainsRune("!=", rune(word[0])):
		s.Attack = word[0] == '!'
		s.Cuts, word = word[1:len(word)-1], word[len(word)-1:]
		if s.Cuts == "" {
			s.Cuts = "a"
		}
	}
	switch s.Tool = Tool(word); s.Tool {
	case Shell, Read, Edit, Write, Fetch:
	default:
		return fmt.Errorf("%q is no line of a task", word)
	}
	if strings.Trim(s.Cuts, "abcdefgh") != "" {
		return fmt.Errorf("%q are no names of cuts: use a to h", s.Cuts)
	}
	to.Steps = append(to.Steps, s)
	p.more = &to.Steps[len(to.Steps)-1].Arg
	return nil
}

// text reads a line that the newest call removes or adds.
func (p *talkParser) text(sign, line string) error {
	to, err := p.last()
	if err != nil {
		return err
	}
	if len(to.Steps) == 0 {
		return errors.New("no call takes this text")
	}
	s := &to.Steps[len(to.Steps)-1]
	switch {
	case sign == "+" && (s.Tool == Edit || s.Tool == Write):
		s.New += line + "\n"
	case sign == "-" && s.Tool == Edit:
		s.Old += line + "\n"
	default:
		return errors.New("the newest call takes no such text")
	}
	return nil
}
