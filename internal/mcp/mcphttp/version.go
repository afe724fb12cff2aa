package mcphttp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Several servers with state behind one address need a session, so we speak only the versions with
// sessions. A client of a version without them sends its version with every request; it gets the
// list of supported versions, as the specification wants, and then sends initialize.

// versions returns the supported versions, which have sessions, the newest first.
func versions() []string { return []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} }

// asked returns the version of a request: from its header, or from the _meta of a message. It
// returns "" if there is none.
func asked(r *http.Request, m mail) string {
	if m.version != "" {
		return m.version
	}
	return r.Header.Get(versionHeader)
}

// versionIn returns the version in the _meta of parameters, as clients without sessions write it.
// For an unreadable version it returns "?".
func versionIn(params json.RawMessage) string {
	if !bytes.Contains(params, []byte(mcp.MetaKeyProtocolVersion)) {
		return ""
	}
	var said struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(params, &said) != nil || said.Meta[mcp.MetaKeyProtocolVersion] == nil {
		return ""
	}
	version := ""
	if json.Unmarshal(said.Meta[mcp.MetaKeyProtocolVersion], &version) != nil || version == "" {
		return "?"
	}
	return version[:min(len(version), maxVersion)]
}

// maxVersion bounds how much of a version is repeated in an error, in bytes.
const maxVersion = 64

// speaks reports whether a request is of a supported version. If it is not, speaks answers the
// request with an error.
func (h *Handler) speaks(w http.ResponseWriter, r *http.Request, m mail) bool {
	version := asked(r, m)
	if m.version == "" && (version == "" || slices.Contains(versions(), version)) {
		return true
	}
	data, err := json.Marshal(mcp.UnsupportedProtocolVersionData{Supported: versions(), Requested: version[:min(len(version), maxVersion)]})
	if err != nil {
		data = nil // cannot happen: strings always encode
	}
	h.refuseWith(w, m.first, http.StatusBadRequest, &jsonrpc.Error{Code: mcp.CodeUnsupportedProtocolVersion, Message: "unsupported protocol version", Data: data})
	return false
}
