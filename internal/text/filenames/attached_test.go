package filenames_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/text/filenames"
)

func TestAttached(t *testing.T) {
	for _, text := range []string{
		"", "media", "MEDIA:", "Media: none", strings.Repeat("media:", 1<<17), "media: all three. See above", "the medium: /tmp/a.png", "m e d i a: /tmp/a.png", "/tmp/a.png media:", "MEDIA:\n/tmp/a.png", `MEDIA:\n/tmp/a.png`,
	} {
		if whole, parts, torn := filenames.Attached(text, "media:"); len(whole)+len(parts) > 0 || torn {
			t.Errorf("%q: %q, %q, %v", text, whole, parts, torn)
		}
	}
	for text, want := range map[string]string{
		"MEDIA:/tmp/a.png":                         "/tmp/a.png",
		"Here:\n  media: `/tmp/a.png`\nand more":   "/tmp/a.png",
		`Here\nMedia:/tmp/a.png\nand`:              "/tmp/a.png",
		"MEDIA:\"/tmp/a.png\",\"more\"":            "/tmp/a.png",
		"MEDIA:/tmp/b.png /tmp/a.png":              "/tmp/a.png",
		"MEDIA:/tmp/b.png /tmp/My Files/a.png":     "/tmp/My Files/a.png",
		"MEDIA:/tmp/b.png\u00a0/tmp/a.png":         "/tmp/a.png",
		"MEDIA:/tmp/b.png\ufeff/tmp/a.png":         "/tmp/a.png",
		"MEDIA:a.png":                              "a.png",
		"MEDIA:~/a":                                "~/a",
		"MEDIA:https://evil.example/a?b=c":         "https://evil.example/a?b=c",
		"me<think>x</think>dia:/tmp/a.png":         "/tmp/a.png",
		"M<b>e</b>e<i>d</i>d\ue200cite\ue201ia:/a": "/a",
		"media: we are on social.example/a now, and so on and so on, with more words than one wants": "social.example/a",
		"MEDIA: x MEDIA:/tmp/a.png": "/tmp/a.png",
	} {
		if _, parts, torn := filenames.Attached(text, "media:"); !slices.Contains(parts, want) || torn {
			t.Errorf("%q: %q, %v", text, parts, torn)
		}
	}
	for _, text := range []string{
		"MEDIA:/tmp/<think>x</think>a.png", "MEDIA:\ue200cite\ue201/tmp/a.png", "MEDIA:[[audio_as_voice]]/tmp/a.png", "MEDIA:" + strings.Repeat(" /a", 50), strings.Repeat("MEDIA:/a\n", 17), `MEDIA:/tmp/a.png\n/../../b`, `MEDIA:C:\x\n\..\b`, "MEDIA:/a" + strings.Repeat(" b", 1<<20),
	} {
		if _, _, torn := filenames.Attached(text, "media:"); !torn {
			t.Errorf("%q can be read", text)
		}
	}
}

func FuzzAttached(f *testing.F) {
	f.Add("me<dia:/a", "b\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		before = strings.ToValidUTF8(before, "")
		whole, _, torn := filenames.Attached(before+"\nMEDIA:/tmp/secret\n"+after, "media:")
		if !torn && !slices.Contains(whole, "/tmp/secret") {
			t.Errorf("%q", whole)
		}
	})
}
