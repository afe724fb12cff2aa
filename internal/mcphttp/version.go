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
// sessions. A client of a version without them sends its version with every request; it is told the
// supported ones, as the specification has it, and then sends initialize.

// versions are those with sessions, the newest first.
func versions() []string { return []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} }

// asked returns the version of a request: from its header, or from the _meta of a message. Empty:
// it does not say.
func asked(r *http.Request, m mail) string {
	if m.version != "" {
		return m.version
	}
	return r.Header.Get(versionHeader)
}

// versionIn returns the version in the _meta of parameters, as clients without sessions write it.
// An unreadable one is not empty either.
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

// speaks reports whether a request is of a version that we speak. If it is not, speaks has answered
// it.
func (h *Handler) speaks(w http.ResponseWriter, r *http.Request, m mail) bool {
	version := asked(r, m)
	if m.version == "" && (version == "" || slices.Contains(versions(), version)) {
		return true
	}
	data, err := json.Marshal(mcp.UnsupportedProtocolVersionData{Supported: versions(), Requested: version[:min(len(version), maxVersion)]})
	if err != nil {
		data = nil // texts are always JSON
	}
	h.refuseWith(w, m.first, http.StatusBadRequest, &jsonrpc.Error{Code: mcp.CodeUnsupportedProtocolVersion, Message: "unsupported protocol version", Data: data})
	return false
}
