package boxgit

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
)

// maxContent is how many bytes of objects are read for one command.
const maxContent = 4 << 30

// errForged says that an object is not what its name says.
var errForged = errors.New("it is not the object of its name")

// verify reads an object and checks its content against its name. It returns how many of the room
// bytes are left.
func verify(from, id string, room int64) (int64, error) {
	f, err := os.Open(from)
	if err != nil {
		return room, err
	}
	defer f.Close()
	raw := bufio.NewReader(f)
	z, err := zlib.NewReader(raw)
	if err != nil {
		return room, errForged
	}
	h := sha1.New()
	content := bufio.NewReader(io.TeeReader(io.LimitReader(z, room+1), h))
	header, err := content.ReadBytes(0)
	if err != nil {
		return room, errForged
	}
	kind, size, _ := strings.Cut(string(bytes.TrimSuffix(header, []byte{0})), " ")
	want, err := strconv.ParseInt(size, 10, 64)
	if err != nil || want < 0 || strconv.FormatInt(want, 10) != size || !known(kind) {
		return room, errForged
	}
	n, err := io.Copy(io.Discard, content)
	room -= n
	if room < 0 {
		return 0, errors.New("the command wrote too much into the repository")
	}
	if _, more := raw.ReadByte(); err != nil || n != want || !errors.Is(more, io.EOF) || hex.EncodeToString(h.Sum(nil)) != id {
		return room, errForged
	}
	return room, nil
}

func known(kind string) bool {
	return kind == "blob" || kind == "tree" || kind == "commit" || kind == "tag"
}

// Blob returns git's name of a file's content.
func Blob(content []byte) string {
	h := sha1.New()
	_, _ = io.WriteString(h, "blob "+strconv.Itoa(len(content))+"\x00")
	_, _ = h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}
