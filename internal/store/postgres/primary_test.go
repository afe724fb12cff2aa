package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

// A server that hangs is left after 3 s, or when the DSN says so.
func TestTimeToConnect(t *testing.T) {
	for dsn, want := range map[string]time.Duration{
		"host=a.example user=anna":                    connectTimeout,
		"host=a.example user=anna connect_timeout=1":  time.Second,
		"host=a.example user=anna connect_timeout=60": time.Minute,
	} {
		config, err := pgx.ParseConfig(dsn)
		if err != nil {
			t.Fatal(err)
		}
		prepare(config, &primary{})
		if config.ConnectTimeout != want {
			t.Errorf("%s: %s, want %s", dsn, config.ConnectTimeout, want)
		}
	}
}

func TestServersTakeTurns(t *testing.T) {
	const dsn = "host=a.example,b.example,c.example port=1,2,3 user=anna sslmode=prefer"
	var p primary
	for turn, want := range []string{"abc", "bca", "cab", "abc"} {
		config, err := pgx.ParseConfig(dsn)
		if err != nil {
			t.Fatal(err)
		}
		p.arrange(config)
		got := []string{fmt.Sprint(config.Host, config.Port, config.TLSConfig != nil)}
		for _, f := range config.Fallbacks {
			got = append(got, fmt.Sprint(f.Host, f.Port, f.TLSConfig != nil))
		}
		var all []string
		for _, name := range want {
			port := name - 'a' + 1
			all = append(all, fmt.Sprintf("%c.example%d true", name, port), fmt.Sprintf("%c.example%d false", name, port))
		}
		if diff := cmp.Diff(all, got); diff != "" {
			t.Errorf("turn %d: %s", turn, diff)
		}
		p.distrust()
	}
}
