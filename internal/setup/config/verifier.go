package config

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark/internal/ask/webhook"
	"github.com/floodmark/floodmark/internal/outward"
	"github.com/floodmark/floodmark/verify"
)

// A Verifier is the section «verifier»: external gates that must agree before a call proceeds. Its
// keys are those of seed 3 (docs/reference/seeds.md). An agent's own section only tightens.
type Verifier struct {
	// Enabled is true unless set to false.
	Enabled *bool         `yaml:"enabled"`
	Scope   VerifierScope `yaml:"scope"`
	// FailMode is deny or allow: what happens if a gate does not answer. The default is deny.
	FailMode string            `yaml:"failMode"`
	Webhook  *Webhook          `yaml:"webhook"`
	Telegram *VerifierTelegram `yaml:"telegram"`
}

// A VerifierScope says which tools the gates concern. Only one of its lists may be given.
type VerifierScope struct {
	Include []string `yaml:"include"`
	Exclude []string `yaml:"exclude"`
}

// A Webhook says how to ask another system whether a call may proceed.
type Webhook struct {
	URL     string            `yaml:"url"`
	Timeout Seconds           `yaml:"timeout"`
	Headers map[string]Secret `yaml:"headers"`
	// Secret signs requests.
	Secret Secret `yaml:"secret"`
	// CA is a file with the authorities that may sign the webhook's certificate; empty: those the
	// machine trusts.
	CA string `yaml:"ca"`
}

// A VerifierTelegram is a gate at which a bot asks a person.
type VerifierTelegram struct {
	Enabled  *bool   `yaml:"enabled"`
	BotToken Secret  `yaml:"botToken"`
	ChatID   ChatID  `yaml:"chatId"`
	Timeout  Seconds `yaml:"timeout"`
	// AllowedUserIDs are the users who may answer. Answers of other users are ignored.
	AllowedUserIDs []int64 `yaml:"allowedUserIds"`
	// Server is the address of a Bot API server; empty: Telegram's.
	Server string `yaml:"server"`
}

// Seconds is a duration written as 30, as in seed 3, or as 30s.
type Seconds time.Duration

// UnmarshalYAML reads it.
func (s *Seconds) UnmarshalYAML(n *yaml.Node) error {
	d, err := time.ParseDuration(n.Value)
	if whole, failed := strconv.Atoi(n.Value); failed == nil && whole >= 0 && whole <= int(maxGateTime/time.Second) {
		d, err = time.Duration(whole)*time.Second, nil
	}
	if err != nil || d < minGateTime || d > maxGateTime {
		return fmt.Errorf("line %d: %q is no number of seconds between 1 and %d (write 30, or 30s)", n.Line, n.Value, int(maxGateTime.Seconds()))
	}
	*s = Seconds(d)
	return nil
}

// The names of the gates in the policy and in the journal, and their default and limiting times.
const (
	WebhookGate  = "webhook"
	TelegramGate = "telegram"

	webhookTime  = 30 * time.Second
	telegramTime = 120 * time.Second
	minGateTime  = time.Second
	maxGateTime  = 10 * time.Minute
	maxScope     = 256
	maxHeaders   = 32
)

// on reports whether a switch is on. A switch is on unless it is set to false.
func on(enabled *bool) bool { return enabled == nil || *enabled }

// AgentGate returns the name of a gate that only one agent has.
func AgentGate(gate, agent string) string { return gate + " of " + agent }

// Gates returns the gates of the settings, for the rules.
func (s Service) Gates() verify.Gates {
	list := verify.Gates{}
	if s.Verifier.isOn() {
		for _, name := range s.Verifier.asked() {
			list = append(list, s.Verifier.gate(name, "", s.Verifier))
		}
	}
	for _, agent := range s.agentNames() {
		v := s.Agents[agent].Verifier
		if !v.isOn() {
			continue
		}
		for _, name := range s.Verifier.asked() { // the gates for all, with this agent's settings
			if !s.Verifier.isOn() && len(v.asked()) > 0 {
				break // the section for all is off, and this agent has gates of its own
			}
			list = append(list, s.Verifier.gate(name, agent, v.over(s.Verifier)))
		}
		for _, name := range v.asked() {
			g := v.gate(name, agent, v.over(s.Verifier))
			g.Name = AgentGate(name, agent)
			list = append(list, g)
		}
	}
	return list
}

func (v *Verifier) isOn() bool { return v != nil && on(v.Enabled) }

func (t *VerifierTelegram) asks() bool { return t != nil && on(t.Enabled) }

// asked returns the names of the gates in a section.
func (v *Verifier) asked() []string {
	var list []string
	if v != nil && v.Webhook != nil {
		list = append(list, WebhookGate)
	}
	if v != nil && v.Telegram.asks() {
		list = append(list, TelegramGate)
	}
	return list
}

// over returns an agent's section completed from the section for all: with the settings that it
// leaves out, and those that it may not loosen.
func (v *Verifier) over(all *Verifier) *Verifier {
	out := *v
	if all == nil {
		return &out
	}
	if len(out.Scope.Include) == 0 && len(out.Scope.Exclude) == 0 {
		out.Scope = all.Scope
	}
	if out.FailMode == "" || all.isOn() && all.FailMode != verify.FailAllow.String() {
		out.FailMode = all.FailMode // if a gate's silence refuses calls for all, an agent's own gate cannot allow them
	}
	return &out
}

// gate returns one gate of a section. Its scope and fail mode are those of the section by.
func (v *Verifier) gate(name, agent string, by *Verifier) verify.Gate {
	g := verify.Gate{Name: name, Agent: agent, Scope: verify.Scope(by.Scope), Timeout: v.time(name)}
	if by.FailMode == verify.FailAllow.String() {
		g.FailMode = verify.FailAllow
	}
	return g
}

// time returns how long a gate may take.
func (v *Verifier) time(gate string) time.Duration {
	if gate == TelegramGate {
		if v.Telegram != nil && v.Telegram.Timeout > 0 {
			return time.Duration(v.Telegram.Timeout)
		}
		return telegramTime
	}
	if v.Webhook != nil && v.Webhook.Timeout > 0 {
		return time.Duration(v.Webhook.Timeout)
	}
	return webhookTime
}

// checkVerifiers returns the first error in the verifier sections, with its line.
func (s Service) checkVerifiers(root *yaml.Node) error {
	if s.Verifier != nil {
		if err := s.Verifier.check(root, "verifier"); err != nil {
			return err
		}
		if s.Verifier.isOn() && len(s.Verifier.asked()) == 0 {
			return at(root, errors.New("no verifier is named (write webhook: or telegram: below it, or enabled: false)"), "verifier")
		}
	}
	for _, name := range s.agentNames() {
		v := s.Agents[name].Verifier
		if v == nil {
			continue
		}
		if !v.isOn() && s.Verifier.isOn() {
			return at(root, errors.New("an agent cannot be taken out: what is said of one agent only tightens (leave it out)"), "agents", name, "verifier", "enabled")
		}
		if v.isOn() && len(v.asked()) == 0 && len(s.Verifier.asked()) == 0 {
			return at(root, errors.New("no verifier is named (write webhook: or telegram: here or in «verifier:» for all)"), "agents", name, "verifier")
		}
		if err := v.check(root, "agents", name, "verifier"); err != nil {
			return err
		}
	}
	return nil
}

func (v *Verifier) check(root *yaml.Node, path ...string) error {
	wrong := func(err error, more ...string) error {
		return at(root, err, append(slices.Clip(path), more...)...)
	}
	switch {
	case len(v.Scope.Include) > 0 && len(v.Scope.Exclude) > 0:
		return wrong(errors.New("include and exclude are both given (keep one of them)"), "scope", "exclude")
	case len(v.Scope.Include) > maxScope || len(v.Scope.Exclude) > maxScope:
		return wrong(fmt.Errorf("more than %d tools", maxScope), "scope")
	case v.FailMode != "" && v.FailMode != "deny" && v.FailMode != "allow":
		return wrong(fmt.Errorf("%.40q is not known (write deny or allow)", v.FailMode), "failMode")
	}
	for key, names := range map[string][]string{"include": v.Scope.Include, "exclude": v.Scope.Exclude} {
		for _, name := range names {
			if strings.TrimSpace(name) == "" || strings.Count(name, "/") > 1 {
				return wrong(fmt.Errorf("%.40q names no tool (write exec, or server/tool)", name), "scope", key)
			}
		}
		if names != nil && len(names) == 0 {
			return wrong(errors.New("the list is empty (name a tool, or leave it out: then every tool is verified)"), "scope", key)
		}
	}
	if v.Webhook != nil {
		if err := v.Webhook.check(); err != nil {
			return wrong(err.error, append([]string{"webhook"}, err.path...)...)
		}
	}
	if t := v.Telegram; t.asks() {
		switch {
		case t.BotToken.IsZero():
			return wrong(errors.New("there is none (write botToken: ${TELEGRAM_BOT_TOKEN})"), "telegram", "botToken")
		case t.ChatID == 0:
			return wrong(errors.New("there is none (write the number of the chat the bot asks in)"), "telegram", "chatId")
		case len(t.AllowedUserIDs) == 0:
			return wrong(errors.New("name who may answer: without it every member of the chat could"), "telegram", "allowedUserIds")
		}
		if err := t.Bot().check(); err != nil {
			return wrong(err, "telegram")
		}
	}
	return nil
}

// A misplaced is an error with its path below a section.
type misplaced struct {
	error
	path []string
}

func (w *Webhook) check() *misplaced {
	if _, err := webhook.CheckURL(w.URL); err != nil {
		return &misplaced{err, []string{"url"}}
	}
	if len(w.Headers) > maxHeaders {
		return &misplaced{fmt.Errorf("more than %d", maxHeaders), []string{"headers"}}
	}
	for name := range w.Headers {
		if err := webhook.CheckHeader(name); err != nil {
			return &misplaced{err, []string{"headers", name}}
		}
	}
	return nil
}

// at adds to an error the place in the file: the line of the last key of the path that exists.
func at(root *yaml.Node, err error, path ...string) error {
	line, n := 0, root
	for _, key := range path {
		if n = below(n, key, &line); n == nil {
			break
		}
	}
	where := strings.Join(path, ".")
	if line == 0 {
		return fmt.Errorf("%s: %w", where, err)
	}
	return fmt.Errorf("line %d: %s: %w", line, where, err)
}

// below returns the value of a key and notes the key's line.
func below(n *yaml.Node, key string, line *int) *yaml.Node {
	if n != nil && n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			*line = n.Content[i].Line
			return n.Content[i+1]
		}
	}
	return nil
}

// maxCertificates bounds a file of certificates.
const maxCertificates = 1 << 20

// Options returns what the webhook is built from, with its secrets revealed.
func (w *Webhook) Options(name string) (webhook.Options, error) {
	o := webhook.Options{Name: name, URL: w.URL, Timeout: time.Duration(w.Timeout), Headers: map[string]string{}}
	var err error
	if o.Secret, err = w.Secret.Reveal(); err != nil {
		return webhook.Options{}, fmt.Errorf("the webhook's secret: %w", err)
	}
	for key, value := range w.Headers {
		if o.Headers[key], err = value.Reveal(); err != nil {
			return webhook.Options{}, fmt.Errorf("the webhook's header %s: %w", key, err)
		}
	}
	if w.CA == "" {
		return o, nil
	}
	data, err := readFile(w.CA, maxCertificates)
	if err != nil {
		return webhook.Options{}, fmt.Errorf("read who may sign the webhook's certificate: %w", err)
	}
	if o.Roots, err = outward.Pool(data); err != nil {
		return webhook.Options{}, fmt.Errorf("the webhook's ca: %s: %w", w.CA, err)
	}
	return o, nil
}

// Webhooks returns the webhooks that some call has to pass, each with the name of its gate. A
// section that is off is left out, so that its secrets may be missing, unless an agent's section
// that is on uses its gates.
func (s Service) Webhooks() (names []string, hooks []*Webhook) {
	for name, v := range s.inUse(WebhookGate) {
		names, hooks = append(names, name), append(hooks, v.Webhook)
	}
	return names, hooks
}

// inUse yields the gates of a kind that are in use, with the section that describes each.
func (s Service) inUse(kind string) iter.Seq2[string, *Verifier] {
	return func(yield func(string, *Verifier) bool) {
		done := map[string]bool{}
		for _, g := range s.Gates() {
			v := s.Verifier
			if g.Name == AgentGate(kind, g.Agent) {
				v = s.Agents[g.Agent].Verifier
			} else if g.Name != kind {
				continue
			}
			if !done[g.Name] && !yield(g.Name, v) {
				return
			}
			done[g.Name] = true
		}
	}
}
