package catalog

import "strings"

// outward reports whether a line that is not understood looks as if it reached
// somebody: it names an address that is not this machine's, or what programs in
// other languages reach the network with. What does not look so may do it all
// the same; it is arbitrary code anyway.
func outward(line string) bool {
	low := strings.ToLower(line)
	for rest := low; ; {
		_, after, found := strings.Cut(rest, "://")
		if !found {
			break
		}
		if !ownMachine(after) {
			return true
		}
		rest = after
	}
	for _, word := range [...]string{
		"/dev/tcp/", "/dev/udp/", "socket.", "socket(", "urllib", "http.client", "httplib", "requests.", "aiohttp", "httpx", "smtplib", "ftplib", "telnetlib",
		"paramiko", "fetch(", "net.connect", "tls.connect", "https.request", "https.get", "http.request", "http.get", "dns.resolve", "dns.lookup", "net::http",
		"tcpsocket", "io::socket", "lwp::", "http::tiny", "fsockopen", "curl_exec", "net/http", "net.dial",
	} {
		if strings.Contains(low, word) {
			return !onlyOwnMachine(low)
		}
	}
	return false
}

// ownMachine reports whether an address begins with a name of this machine.
func ownMachine(address string) bool {
	for _, name := range [...]string{"localhost", "127.0.0.1", "[::1]", "0.0.0.0"} {
		if rest, ok := strings.CutPrefix(address, name); ok && (rest == "" || strings.ContainsRune(":/\"' )?#`\n", rune(rest[0]))) {
			return true
		}
	}
	return false
}

// onlyOwnMachine reports a text that names this machine, as tests of a server do.
func onlyOwnMachine(low string) bool {
	return strings.Contains(low, "localhost") || strings.Contains(low, "127.0.0.1")
}
