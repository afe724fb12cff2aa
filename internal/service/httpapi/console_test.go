package httpapi_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// A measured console says how long the text is that it was sent.
type measured struct{ httpapi.Console }

func (measured) CheckRules(_ context.Context, _ httpapi.Identity, r *wire.CheckRulesRequest) (*wire.CheckRulesResponse, error) {
	return nil, fmt.Errorf("%w: %d characters", httpapi.ErrInvalid, len(r.GetText()))
}

func (measured) SaveRules(_ context.Context, _ httpapi.Identity, r *wire.SaveRulesRequest) (*wire.SaveRulesResponse, error) {
	return nil, fmt.Errorf("%w: %d characters", httpapi.ErrInvalid, len(r.GetText()))
}

func (measured) TryRules(_ context.Context, _ httpapi.Identity, r *wire.TryRulesRequest, _ func(*wire.TryRulesResponse) error) error {
	return fmt.Errorf("%w: %d characters", httpapi.ErrInvalid, len(r.GetText()))
}

// The text of a policy may be as long as a policy's file, however it is written as JSON. Other
// requests may not.
func TestPoliciesAreLong(t *testing.T) {
	c := serve(t, as(httpapi.Identity{May: httpapi.OwnerMay}, httpapi.NewConsoleHandler(measured{}, httpapi.Options{})))
	const policy = 1 << 20
	long := `{"text":"` + strings.Repeat(`\n`, policy) + `"}`
	framed := string(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(long)))) + long
	for path, header := range map[string]string{
		wire.ConsoleServiceCheckRulesProcedure: "application/json", wire.ConsoleServiceSaveRulesProcedure: "application/json",
		wire.ConsoleServiceTryRulesProcedure: "application/connect+json", wire.ConsoleServiceStoryOfProcedure: "application/json",
	} {
		body, want := long, fmt.Sprint(policy, " characters")
		if strings.Contains(header, "connect") {
			body = framed
		}
		if path == wire.ConsoleServiceStoryOfProcedure {
			want = "more than 65536 bytes"
		}
		if _, answer := post(t, c, "http://test"+path, body, "Content-Type", header); !strings.Contains(answer, want) {
			t.Errorf("%s: %.200s, want %s", path, answer, want)
		}
	}
}
