package protection

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// The limits on recorded data. The published data has 39,053 texts of 39 MB, 19,280 traces of 21
// MB, and takes 4.3 MB on disk. Each limit allows for ten times as much.
const (
	MaxFileBytes   = 64 << 20  // one file as it is on disk
	MaxUnpacked    = 512 << 20 // one file unpacked
	MaxTexts       = 1 << 20
	MaxTraces      = 1 << 18
	MaxTraceBytes  = 16 << 20 // one line of traces.jsonl.gz
	MaxCallsInRun  = 4096     // calls of one trace
	manifestName   = "SHA256SUMS"
	poolName       = "pool.json.gz"
	tracesName     = "traces.jsonl.gz"
	cardsName      = "cards.json"
	exclusionsName = "exclusions.json"
)

// ErrTooLarge means that a file exceeds a limit.
var ErrTooLarge = errors.New("larger than allowed")

// Load reads the recorded data in folder dir. Every file must have its checksum in SHA256SUMS,
// because figures from other data could not be compared.
func Load(dir string) (*Data, error) {
	files, err := readFolder(dir)
	if err != nil {
		return nil, err
	}
	type pooled struct {
		texts []string
		err   error
	}
	pools := make(chan pooled, 1)
	go func() { // reading the two large files takes about the same time
		texts, err := parsePool(files[poolName])
		pools <- pooled{texts, err}
	}()
	records, err := parseTraces(files[tracesName])
	pool := <-pools
	if pool.err != nil {
		return nil, fmt.Errorf("read %s: %w", poolName, pool.err)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", tracesName, err)
	}
	cards, err := parseCards(files[cardsName])
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", cardsName, err)
	}
	getOnly, err := parseExclusions(files[exclusionsName])
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", exclusionsName, err)
	}
	data := &Data{Cards: cards, getOnly: getOnly}
	if err := data.resolve(records, pool.texts); err != nil {
		return nil, fmt.Errorf("read %s: %w", tracesName, err)
	}
	return data, nil
}

// readFolder returns the compressed content of every file that is needed.
func readFolder(dir string) (map[string][]byte, error) {
	sums, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, name := range []string{poolName, tracesName, cardsName, exclusionsName} {
		data, err := readFile(dir, name)
		if err != nil {
			return nil, err
		}
		got := sha256.Sum256(data)
		if want := sums[name]; want != hex.EncodeToString(got[:]) {
			return nil, fmt.Errorf("read %s: checksum is not the one in %s", name, manifestName)
		}
		files[name] = data
	}
	return files, nil
}

func readManifest(dir string) (map[string]string, error) {
	data, err := readFile(dir, manifestName)
	if err != nil {
		return nil, err
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(data)) {
		sum, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if ok {
			sums[name] = sum
		}
	}
	return sums, nil
}

func readFile(dir, name string) ([]byte, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, errors.Unwrap(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > MaxFileBytes {
		return nil, fmt.Errorf("read %s: %w: at most %d bytes", name, ErrTooLarge, MaxFileBytes)
	}
	return data, nil
}

// unpack returns a reader of the unpacked data, which fails with ErrTooLarge after the limit.
func unpack(packed []byte, limit int64) (io.Reader, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return &limited{from: z, left: limit}, nil
}

type limited struct {
	from io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, fmt.Errorf("%w once unpacked", ErrTooLarge)
	}
	return n, err
}

// parsePool reads the array of texts that traces refer to by index.
func parsePool(packed []byte) ([]string, error) {
	r, err := unpack(packed, MaxUnpacked)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bufio.NewReaderSize(r, 1<<20))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('[') {
		return nil, errors.Join(errors.New("not an array of texts"), err)
	}
	var texts []string
	for dec.More() {
		if len(texts) == MaxTexts {
			return nil, fmt.Errorf("%w: at most %d texts", ErrTooLarge, MaxTexts)
		}
		var s string
		if err := dec.Decode(&s); err != nil {
			return nil, fmt.Errorf("text %d: %w", len(texts), err)
		}
		texts = append(texts, s)
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	return texts, nil
}

// parseTraces reads one record per line.
func parseTraces(packed []byte) ([]record, error) {
	r, err := unpack(packed, MaxUnpacked)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 1<<20), MaxTraceBytes)
	var records []record
	for lines.Scan() {
		if len(records) == MaxTraces {
			return nil, fmt.Errorf("%w: at most %d traces", ErrTooLarge, MaxTraces)
		}
		var rec record
		if err := json.Unmarshal(lines.Bytes(), &rec); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(records)+1, err)
		}
		records = append(records, rec)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", len(records)+1, err)
	}
	return records, nil
}

// parseExclusions returns the attacks whose goal is reached by reading a page. Coincident runs are
// marked in the traces themselves.
func parseExclusions(data []byte) (map[string]bool, error) {
	var x struct {
		GetOnly []string `json:"get_only_injection_tasks"`
	}
	if err := json.Unmarshal(data, &x); err != nil {
		return nil, err
	}
	set := map[string]bool{}
	for _, name := range x.GetOnly {
		set[name] = true
	}
	return set, nil
}
