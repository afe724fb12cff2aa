package catalog

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/text/hostnames"
)

// An ownPlace lists the only arguments of a call that just files something of the owner's own, such
// as an event without guests or a task. Such a call writes, even if the tool can do more.
type ownPlace struct {
	only    []string // paths of values, or «path=value»
	account []string // paths of values that name the account, which must be the owner's
}

func (r *reader) ownPlace(n *yaml.Node, p *Profile) *ownPlace {
	fs, o := r.fields(n, "ownPlace", "only", "account"), &ownPlace{}
	for name, to := range map[string]*[]string{"only": &o.only, "account": &o.account} {
		if l, ok := fs[name]; ok {
			*to = valuesOf(r.texts(l.value, name))
		}
	}
	if len(o.only) == 0 || !p.own {
		r.fail(n, "conflict", "write own: true with the tool, and only: with all arguments", "this is no place of the owner's own")
	}
	return o
}

// holds reports whether a call has only listed arguments, in text without address, link or markup.
func (o *ownPlace) holds(leaves []hook.Leaf) bool {
	return o != nil && len(leaves) > 0 && !slices.ContainsFunc(leaves, func(l hook.Leaf) bool {
		if l.Kind == hook.Null || l.Kind == hook.String && l.Value == "" || slices.Contains(o.account, l.Path) || slices.Contains(o.only, l.Path+"="+l.Value) {
			return false
		}
		low := strings.ToLower(l.Value)
		acts := func(s string) bool { return strings.Contains(low, s) }
		return !slices.Contains(o.only, l.Path) || hostnames.Any(l.Value) || slices.ContainsFunc([]string{"@", "<", ">", "://", "www.", "](", "mailto:", "tel:", "\r"}, acts)
	})
}

// Settle returns the effects of a call once the origins of its arguments are known: in a place of
// the owner's own, only the owner's words or configuration may name the account.
func (u *Use) Settle(effects []floodmark.Effect, args []floodmark.Argument) []floodmark.Effect {
	other := func(a floodmark.Argument) bool {
		own := a.Whence == floodmark.Stated || a.Whence == floodmark.Seen && a.Trust >= floodmark.Local || a.Shown == ""
		return slices.Contains(u.Profile.place.account, a.Path) && !own
	}
	if u.Otherwise == nil || !slices.ContainsFunc(args, other) {
		return effects
	}
	u.Effects = slices.Concat(u.Effects, u.Otherwise)
	return slices.Concat(effects, u.Otherwise)
}
