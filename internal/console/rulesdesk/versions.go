package rulesdesk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark/internal/console/past"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/store/wholefile"
	"github.com/floodmark/floodmark/wire"
)

// The versions that are kept. A person looks back a few weeks.
const (
	maxVersions     = 50
	versionSuffix   = ".json"
	versionDigits   = 20 // of the time in nanoseconds, with zeros before
	maxVersionBytes = 6*config.MaxPolicyBytes + 64<<10
)

// A version is a text of the policy that was replaced. Its file is never changed; fields are only
// added.
type version struct {
	At   time.Time `json:"at"` // when it was replaced
	By   string    `json:"by"` // who replaced it
	Text string    `json:"text"`
	// Missing says that there was no file: the shipped profile held.
	Missing bool `json:"missing,omitempty"`

	id string
}

func (v version) wire() *wire.RulesVersion {
	return &wire.RulesVersion{
		Id: v.id, At: timestamppb.New(v.At), By: past.Foreign(v.By), Digest: digest(v.data()), Bytes: int64(len(v.Text)), Missing: v.Missing,
	}
}

// data returns what the file held; nil if there was none.
func (v version) data() []byte {
	if v.Missing {
		return nil
	}
	return []byte(v.Text)
}

// keep stores a version that is about to be replaced, and removes the oldest ones.
func (d *Desk) keep(v version) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("keep the old policy: %w", err)
	}
	if err := os.MkdirAll(d.opts.Versions, 0o700); err != nil {
		return fmt.Errorf("keep the old policy: %w", err)
	}
	names, err := d.names()
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%0*d", versionDigits, v.At.UnixNano())
	if err := wholefile.Replace(filepath.Join(d.opts.Versions, name+versionSuffix), data, 0o600); err != nil {
		return fmt.Errorf("keep the old policy: %w", err)
	}
	for _, old := range names[min(maxVersions-1, len(names)):] {
		if err := os.Remove(filepath.Join(d.opts.Versions, old+versionSuffix)); err != nil {
			return fmt.Errorf("remove an old version of the policy: %w", err)
		}
	}
	return nil
}

// names returns the names of the versions, the newest first.
func (d *Desk) names() ([]string, error) {
	files, err := os.ReadDir(d.opts.Versions)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the old versions of the policy: %w", err)
	}
	var list []string
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), versionSuffix); ok && plainName(name) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	slices.Reverse(list)
	return list, nil
}

// versions returns the versions, the newest first. One that cannot be read is left out.
func (d *Desk) versions() ([]version, error) {
	names, err := d.names()
	if err != nil {
		return nil, err
	}
	var list []version
	for _, name := range names[:min(maxVersions, len(names))] {
		if v, err := d.version(name); err == nil {
			list = append(list, v)
		}
	}
	return list, nil
}

// version reads one version.
func (d *Desk) version(name string) (version, error) {
	none := fmt.Errorf("%w: there is no such version of the policy", httpapi.ErrNotFound)
	if !plainName(name) {
		return version{}, none
	}
	data, err := wholefile.Read(filepath.Join(d.opts.Versions, name+versionSuffix), maxVersionBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return version{}, none
	}
	if err != nil {
		return version{}, err
	}
	v := version{id: name}
	if err := json.Unmarshal(data, &v); err != nil {
		return version{}, fmt.Errorf("read version %s of the policy: %w", name, err)
	}
	return v, nil
}
