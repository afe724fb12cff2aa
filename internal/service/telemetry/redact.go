package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/monitor"
)

// maxLogText bounds one text of the log. Errors of databases can be long.
const maxLogText = 400

// plainKeys returns the attributes whose text is shown, after parts that look like content or a
// secret were removed. The text of any other attribute is replaced by its length, so a new
// attribute is not shown until it is listed here.
func plainKeys() []string {
	return []string{"address", "agent", "digest", "engine", "error", "file", "folder", "kind", "method", "mode", "name", "point", "session", "user", "verdict", "version"}
}

// Redact returns a handler that removes content, secrets and codes from log records. Numbers, times
// and booleans are unchanged.
func Redact(next slog.Handler) slog.Handler { return &redacting{next: next} }

// Unheard logs, with the reason in our own words, if an auditor gave no opinion in an observation.
// With failMode allow the monitor itself does not report it.
func Unheard(log *slog.Logger, o monitor.Observation) {
	if o.Warning != nil && o.Verdict == floodmark.Audit {
		log.Warn("the auditor gave no opinion", "session", o.Session.String(), "agent", o.Agent, "error", audit.None(o.Warning).Reason)
	}
}

type redacting struct{ next slog.Handler }

// Enabled implements [slog.Handler].
func (r *redacting) Enabled(ctx context.Context, l slog.Level) bool { return r.next.Enabled(ctx, l) }

// Handle implements [slog.Handler].
func (r *redacting) Handle(ctx context.Context, rec slog.Record) error {
	out := slog.NewRecord(rec.Time, rec.Level, scrub(rec.Message), rec.PC)
	rec.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(redact(a))
		return true
	})
	return r.next.Handle(ctx, out)
}

// WithAttrs implements [slog.Handler].
func (r *redacting) WithAttrs(list []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(list))
	for i, a := range list {
		clean[i] = redact(a)
	}
	return &redacting{next: r.next.WithAttrs(clean)}
}

// WithGroup implements [slog.Handler].
func (r *redacting) WithGroup(name string) slog.Handler {
	return &redacting{next: r.next.WithGroup(name)}
}

func redact(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindBool, slog.KindDuration, slog.KindFloat64, slog.KindInt64, slog.KindUint64, slog.KindTime:
		return slog.Attr{Key: a.Key, Value: v}
	case slog.KindGroup:
		var list []any
		for _, inner := range v.Group() {
			list = append(list, redact(inner))
		}
		return slog.Group(a.Key, list...)
	case slog.KindString:
		return slog.String(a.Key, text(a.Key, v.String()))
	case slog.KindAny, slog.KindLogValuer:
	}
	if err, ok := v.Any().(error); ok {
		return slog.String(a.Key, errorText(err))
	}
	return slog.String(a.Key, fmt.Sprintf("[%T]", v.Any()))
}

func text(key, value string) string {
	switch {
	case key == "digest" && len(value) <= 64 && hexDigits.MatchString(value):
		return value
	case key == "session" || key == "agent":
		return plainName(value)
	case slices.Contains(plainKeys(), key):
		return scrub(value)
	}
	return fmt.Sprintf("[%d bytes]", len(value))
}

// errorText returns the text of an error for the log. The cause of a refusal may quote an agent, so
// only the refusal's reason and class are shown. Of problems in the policy, only the position and
// code of the first are shown.
func errorText(err error) string {
	if r, ok := errors.AsType[*monitor.Refusal](err); ok {
		return r.Reason + " (" + classOf(err) + ")"
	}
	for _, c := range errorClasses() {
		if c.names && errors.Is(err, c.err) {
			return c.err.Error()
		}
	}
	if p, ok := errors.AsType[floodmark.Problems](err); ok && len(p) > 0 {
		return scrub(fmt.Sprintf("%d problems, the first at %s:%d:%d (%s)", len(p), p[0].File, p[0].Line, p[0].Column, p[0].Code))
	}
	return scrub(err.Error())
}

// The patterns of what is removed from texts. Quoted text is removed because it may be foreign.
var (
	hexDigits = regexp.MustCompile(`^[0-9a-f]+$`)
	quoted    = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"?|`[^`]*`?")
	address   = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s]*`)
	mail      = regexp.MustCompile(`[^\s<>@]+@[^\s<>@]+`)
	bearer    = regexp.MustCompile(`(?i)\b(bearer|basic|password|passwd|pwd|token|secret|api[_-]?key|code)([\s:=]+)\S+`)
	nameOf    = regexp.MustCompile(`\b(session|tenant|sub-agent|question|tool|server) [^\s:,]+`)
	keyBlock  = regexp.MustCompile(`(?s)-----BEGIN.*`)
	token     = regexp.MustCompile(`[A-Za-z0-9+_=-]{20,}`)
	// The prefixes are those of secretBeginnings.
	secretWord = regexp.MustCompile(`\b(?:[spr]k[-_]|gh[pousr]_|github_pat_|glpat-|xox|A[KS]IA|eyJ|npm_|AIza)\S*`)
	code       = regexp.MustCompile(`\b[0-9a-fA-F]{8}\b`)
)

// scrub removes everything that may be content, a secret or a code. It prefers to remove too much.
func scrub(s string) string {
	s = keyBlock.ReplaceAllString(s, "[key]")
	s = quoted.ReplaceAllString(s, `"…"`)
	s = address.ReplaceAllString(s, "[address]")
	s = mail.ReplaceAllString(s, "[mail]")
	s = bearer.ReplaceAllString(s, "$1$2[secret]")
	s = nameOf.ReplaceAllString(s, "$1 […]")
	s = token.ReplaceAllStringFunc(s, func(t string) string {
		if looksSecret(t) || strings.ContainsAny(t, "0123456789") {
			return "[token]"
		}
		return t
	})
	s = secretWord.ReplaceAllString(s, "[secret]")
	s = code.ReplaceAllString(s, "[code]")
	if len(s) > maxLogText {
		s = strings.ToValidUTF8(s[:maxLogText], "") + "…"
	}
	return s
}
