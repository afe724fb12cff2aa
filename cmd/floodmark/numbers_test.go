package main

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/wire"
)

// Counts are printed as numbers, at every depth. Names that look like numbers, and times in
// nanoseconds, stay strings. Both can be read back.
func TestCountsAreNumbers(t *testing.T) {
	for want, m := range map[string]proto.Message{
		`"pending":2`:                     &wire.StatusResponse{Pending: 2},
		`"incidents":0`:                   &wire.StatusResponse{},
		`"facts":7`:                       &wire.SessionsResponse{Sessions: []*wire.Session{{Id: "1"}, {Id: "2", Facts: 7}}},
		`"id":"2"`:                        &wire.SessionsResponse{Sessions: []*wire.Session{{Id: "2", Stopped: 3}}},
		`"stopped":3`:                     &wire.ShowResponse{Session: &wire.Session{Stopped: 3}},
		`"at":"1767323045000001"`:         &wire.ShowResponse{Tombstone: &wire.Tombstone{Seq: 4, At: 1767323045000001}},
		`"seq":4`:                         &wire.ShowResponse{Tombstone: &wire.Tombstone{Seq: 4}},
		`"opened":"1970-01-01T00:00:01Z"`: &wire.ShowResponse{Session: &wire.Session{Opened: &timestamppb.Timestamp{Seconds: 1}}},
		`"project":"{\"facts\":\"7\"}"`:   &wire.Session{Project: `{"facts":"7"}`},
	} {
		data, err := cli.MessageJSON(m)
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s, %v: want %s", data, err, want)
			continue
		}
		back := m.ProtoReflect().New().Interface()
		if err := protojson.Unmarshal(data, back); err != nil || !proto.Equal(back, m) {
			t.Errorf("%s is read as %v, %v", data, back, err)
		}
	}
}
