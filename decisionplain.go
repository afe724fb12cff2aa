package floodmark

// This file describes a decision, the largest and most frequent fact.

func (c *plain) actionDecided(f *ActionDecided) {
	c.open('{')
	if c.field("action", false) {
		c.action(&f.Action)
	}
	c.label("mark", &f.Mark, false)
	level(c, "trust", trustWords(), &f.Trust)
	if c.field("decision", false) {
		c.decision(&f.Decision)
	}
	if c.field("basis", f.Basis == nil) {
		if c.reading {
			f.Basis = new(Basis)
		}
		c.basis(f.Basis)
	}
	c.shut('}')
}

func (c *plain) action(a *Action) {
	c.open('{')
	text(c, "kind", &a.Kind)
	someText(c, "call", &a.Call)
	c.tool("tool", &a.Tool, a.Tool == ToolRef{})
	list(c, "effects", &a.Effects, (*plain).effect)
	list(c, "arguments", &a.Arguments, (*plain).argument)
	c.digest("argsDigest", &a.ArgsDigest, a.ArgsDigest.IsZero())
	list(c, "tools", &a.Tools, textValue[string])
	someNumber(c, "iteration", &a.Iteration)
	someText(c, "audience", &a.Audience)
	someText(c, "child", &a.Child)
	c.shut('}')
}

func (c *plain) effect(e *Effect) { levelValue(c, effectWords(), e) }

func (c *plain) argument(a *Argument) {
	c.open('{')
	text(c, "path", &a.Path)
	level(c, "role", roleWords(), &a.Role)
	level(c, "whence", whenceWords(), &a.Whence)
	level(c, "trust", trustWords(), &a.Trust)
	list(c, "spans", &a.Spans, (*plain).span)
	c.flag("pieced", &a.Pieced)
	someText(c, "shown", &a.Shown)
	c.shut('}')
}

func (c *plain) span(s *Span) {
	c.open('{')
	number(c, "node", &s.Node)
	number(c, "offset", &s.Offset)
	c.shut('}')
}

func (c *plain) decision(d *Decision) {
	c.open('{')
	level(c, "verdict", verdictWords(), &d.Verdict)
	if c.reading {
		d.Reach = Free // as it was for all decisions before there were boxes
	}
	if c.field("reach", d.Reach == Free) {
		levelValue(c, reachWords(), &d.Reach)
	}
	list(c, "hidden", &d.Hidden, textValue[string])
	list(c, "reasons", &d.Reasons, (*plain).reason)
	list(c, "blame", &d.Blame, numberValue[NodeID])
	if c.field("remedy", d.Remedy == Remedy{}) {
		c.open('{')
		someText(c, "agent", &d.Remedy.Agent)
		someText(c, "person", &d.Remedy.Person)
		c.shut('}')
	}
	list(c, "verifiers", &d.Verifiers, textValue[string])
	someText(c, "would", &d.Would)
	c.shut('}')
}

func (c *plain) reason(r *Reason) {
	c.open('{')
	text(c, "code", &r.Code)
	someText(c, "rule", &r.Rule)
	text(c, "text", &r.Text)
	level(c, "verdict", verdictWords(), &r.Verdict)
	c.shut('}')
}

func (c *plain) basis(b *Basis) {
	c.open('{')
	someNumber(c, "before", &b.Before)
	someText(c, "agent", &b.Agent)
	c.digest("others", &b.Others, b.Others.IsZero())
	c.flag("unreadable", &b.Unreadable)
	c.flag("undescribed", &b.Undescribed)
	c.flag("hinted", &b.Hinted)
	c.flag("selfProtected", &b.SelfProtected)
	c.flag("instructs", &b.Instructs)
	c.flag("inside", &b.Inside)
	list(c, "placed", &b.Placed, (*plain).effect)
	c.flag("network", &b.Network)
	c.flag("own", &b.Own)
	c.flag("secretPath", &b.SecretPath)
	c.flag("interactive", &b.Interactive)
	c.flag("bound", &b.Bound)
	c.flag("tidies", &b.Tidies)
	c.flag("pushed", &b.Pushed)
	c.flag("strange", &b.Strange)
	c.flag("wipes", &b.Wipes)
	someText(c, "plants", &b.Plants)
	c.flag("boxable", &b.Boxable)
	list(c, "hosts", &b.Hosts, textValue[string])
	someText(c, "hostsBy", &b.HostsBy)
	c.flag("mirror", &b.Mirror)
	c.flag("tried", &b.Tried)
	c.label("returns", &b.Returns, b.Returns == Label{})
	someText(c, "location", &b.Location)
	list(c, "moved", &b.Moved, textValue[string])
	list(c, "loads", &b.Loads, (*plain).load)
	list(c, "kinds", &b.Kinds, textValue[ValueKind])
	list(c, "cut", &b.Cut, numberValue[int])
	list(c, "long", &b.Long, numberValue[int])
	list(c, "needs", &b.Needs, (*plain).need)
	list(c, "destinations", &b.Destinations, numberValue[int])
	list(c, "paths", &b.Paths, numberValue[int])
	list(c, "urls", &b.URLs, (*plain).address)
	someNumber(c, "tells", &b.Tells)
	c.flag("secretInArgs", &b.SecretInArgs)
	c.flag("freeContent", &b.FreeContent)
	c.flag("activeContent", &b.ActiveContent)
	c.flag("privateContent", &b.PrivateContent)
	c.flag("noText", &b.NoText)
	list(c, "carried", &b.Carried, (*plain).carried)
	list(c, "grounds", &b.Grounds, (*plain).ground)
	c.flag("licensed", &b.Licensed)
	list(c, "gates", &b.Gates, textValue[string])
	if c.field("check", b.Check == nil) {
		if c.reading {
			b.Check = new(Check)
		}
		c.check(b.Check)
	}
	c.shut('}')
}

func (c *plain) check(k *Check) {
	c.open('{')
	text(c, "name", &k.Name)
	list(c, "arguments", &k.Arguments, numberValue[int])
	c.digest("others", &k.Others, false)
	c.shut('}')
}

func (c *plain) load(l *Load) {
	c.open('{')
	if c.field("artifact", false) {
		c.artifact(&l.Artifact)
	}
	c.label("label", &l.Label, false)
	list(c, "sources", &l.Sources, (*plain).source)
	c.shut('}')
}

func (c *plain) carried(s *Carried) {
	c.open('{')
	text(c, "rule", &s.Rule)
	c.flag("seen", &s.Seen)
	someNumber(c, "node", &s.Node)
	someNumber(c, "start", &s.Start)
	someNumber(c, "end", &s.End)
	c.shut('}')
}

func (c *plain) need(n *Need) {
	c.open('{')
	number(c, "argument", &n.Argument)
	level(c, "trust", trustWords(), &n.Trust)
	c.shut('}')
}

func (c *plain) ground(g *Ground) {
	c.open('{')
	number(c, "argument", &g.Argument)
	text(c, "by", &g.By)
	c.shut('}')
}

func (c *plain) address(a *Address) {
	c.open('{')
	number(c, "argument", &a.Argument)
	someText(c, "host", &a.Host)
	c.flag("fromHost", &a.FromHost)
	c.flag("named", &a.Named)
	c.shut('}')
}

// tool, label and digest are fields of those types.

func (c *plain) tool(name string, t *ToolRef, omit bool) {
	if !c.field(name, omit) {
		return
	}
	c.open('{')
	someText(c, "agent", &t.Agent)
	someText(c, "server", &t.Server)
	text(c, "name", &t.Name)
	c.shut('}')
}

func (c *plain) label(name string, l *Label, omit bool) {
	if !c.field(name, omit) {
		return
	}
	c.open('{')
	level(c, "trust", trustWords(), &l.Trust)
	level(c, "secrecy", secrecyWords(), &l.Secrecy)
	c.shut('}')
}

func (c *plain) digest(name string, d *Digest, omit bool) {
	if c.field(name, omit) {
		c.digestValue(d)
	}
}
