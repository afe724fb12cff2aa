package config

import (
	"strings"
	"testing"
)

func TestShardsOfTheJournal(t *testing.T) {
	const two = `journal: {shards: [{store: "postgres://b/x", from: 1000, to: 4095}, {store: "postgres://a/x", from: 0, to: 999}]}`
	s, err := ParseService("service.yaml", []byte(two))
	if err != nil {
		t.Fatal(err)
	}
	if list := s.Journal.Databases(); !s.Journal.InDatabase() || len(list) != 2 || list[0].Store != "postgres://a/x" || list[1].To != 4095 {
		t.Errorf("%v", list)
	}
	if s, err := ParseService("service.yaml", []byte(`journal: {store: "postgres://a/x"}`)); err != nil || len(s.Journal.Databases()) != 1 || s.Journal.Databases()[0].To != 4095 {
		t.Errorf("%v, %v", s.Journal, err)
	}
	if s, err := ParseService("service.yaml", nil); err != nil || s.Journal.InDatabase() || len(s.Journal.Databases()) != 0 {
		t.Errorf("%v, %v", s.Journal, err)
	}
	for text, want := range map[string]string{
		`{store: "postgres://a/x", shards: [{store: "postgres://b/x", from: 0, to: 4095}]}`:                    "write one of the two",
		`{shards: [{store: "postgres://b/x", from: 0, to: 4094}]}`:                                             "end at 4094",
		`{shards: [{store: "postgres://b/x", from: 0, to: 9}, {store: "postgres://a/x", from: 9, to: 4095}]}`:  "number 2 must begin at 10",
		`{shards: [{store: "postgres://b/x", from: 0, to: 9}, {store: "postgres://b/x", from: 10, to: 4095}]}`: "twice",
		`{shards: [{store: "mysql://b/x", from: 0, to: 4095}]}`:                                                "want store: postgres://",
		`{shards: [{store: "postgres://b/x", from: 0, to: 4095, with: 1}]}`:                                    "no key with",
		`{shards: [` + strings.Repeat(`{store: "postgres://b/x", from: 0, to: 4095},`, 65) + `]}`:              "at most 64",
		`{shards: [{store: "postgres://b/x", from: -1, to: 4095}]}`:                                            "number 1 must begin at 0",
	} {
		if _, err := ParseService("service.yaml", []byte("journal: "+text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %q", text, err, want)
		}
	}
}
