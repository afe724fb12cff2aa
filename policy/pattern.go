package policy

import (
	"path"
	"strings"

	"github.com/floodmark/floodmark/catalog"
)

// A pathPattern is a path whose segments may hold * and ?, and ** for any
// number of segments.
type pathPattern struct {
	home bool
	segs catalog.Segments
}

func parsePath(s string) (pathPattern, bool) {
	var p pathPattern
	rest, atHome := strings.CutPrefix(s, "~/")
	if p.home = atHome; !atHome {
		var rooted bool
		if rest, rooted = strings.CutPrefix(s, "/"); !rooted {
			return pathPattern{}, false
		}
	}
	p.segs = strings.Split(strings.TrimSuffix(rest, "/"), "/")
	for _, seg := range p.segs {
		if seg == "" || seg == ".." || seg == "." {
			return pathPattern{}, false
		}
	}
	return p, true
}

// tooWide is true for /** and ~/**: no first segment is fixed.
func (p pathPattern) tooWide() bool { return strings.ContainsAny(p.segs[0], "*?") }

// matches compares case-sensitively: a pattern here can raise trust.
func (p pathPattern) matches(segs, home []string) bool {
	if !p.home {
		return p.segs.Match(segs)
	}
	if len(segs) > 0 && segs[0] == "~" {
		return p.segs.Match(segs[1:])
	}
	for _, h := range home {
		base := splitPath(h)
		if len(base) > 0 && len(segs) > len(base) && strings.Join(segs[:len(base)], "/") == strings.Join(base, "/") {
			return p.segs.Match(segs[len(base):])
		}
	}
	return false
}

// splitPath cuts a path into its names, after removing detours.
func splitPath(s string) []string {
	s = strings.Trim(path.Clean(s), "/")
	if s == "" || s == "." {
		return nil
	}
	return strings.Split(s, "/")
}

// A hostPattern is a host, or «*.» and a domain for everything below it.
type hostPattern struct {
	domain string
	below  bool
}

func parseHost(s string) (hostPattern, bool) {
	h := hostPattern{domain: strings.ToLower(s)}
	if rest, ok := strings.CutPrefix(h.domain, "*."); ok {
		h.domain, h.below = rest, true
	}
	labels := strings.Split(h.domain, ".")
	for _, l := range labels {
		if l == "" || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return hostPattern{}, false
		}
	}
	// «*.com» would be half the world. A single name such as a machine in the
	// owner's own network is fine.
	return h, !h.below || len(labels) > 1
}

func (h hostPattern) matches(host string) bool {
	if h.below {
		return strings.HasSuffix(host, "."+h.domain)
	}
	return host == h.domain
}

// open returns the place where strangers write that the pattern covers.
func (h hostPattern) open() (string, bool) {
	for _, s := range openHosts() {
		under := h.domain == s || strings.HasSuffix(h.domain, "."+s)
		if under || h.below && strings.HasSuffix(s, "."+h.domain) {
			return s, true
		}
	}
	return "", false
}

// OpenHost reports whether anybody can publish on a host, so that a link which it
// gives may be anybody's. Of others nobody knows.
func OpenHost(host string) bool {
	_, open := hostPattern{domain: host}.open()
	return open
}

// openHosts are hosts on which anybody can publish, with all that is below
// them. A policy cannot trust them as a whole: whoever wants to reach the
// agent writes there. The list is not complete and cannot be; it holds the
// places people would think of listing.
func openHosts() []string {
	return []string{
		// code and packages
		"github.com", "githubusercontent.com", "github.io", "gitlab.com", "gitlab.io", "bitbucket.org", "bitbucket.io",
		"codeberg.org", "sourceforge.net", "sr.ht", "gitee.com", "npmjs.com", "npmjs.org", "pypi.org", "crates.io", "rubygems.org",
		"hub.docker.com", "huggingface.co", "kaggle.com", "replit.com", "replit.app", "glitch.me", "codepen.io", "jsfiddle.net",
		"unpkg.com", "jsdelivr.net", "codesandbox.io", "stackblitz.com",
		// pastes and files
		"pastebin.com", "paste.ee", "hastebin.com", "rentry.co", "dpaste.com", "ghostbin.com", "0x0.st", "transfer.sh",
		"file.io", "dropbox.com", "dropboxusercontent.com", "drive.google.com", "docs.google.com", "sites.google.com",
		"googleusercontent.com", "onedrive.live.com", "1drv.ms", "box.com", "mega.nz", "wetransfer.com", "sharepoint.com",
		"scribd.com", "slideshare.net", "issuu.com", "imgur.com", "flickr.com",
		// forums and questions
		"reddit.com", "redd.it", "stackoverflow.com", "stackexchange.com", "superuser.com", "serverfault.com", "askubuntu.com",
		"quora.com", "ycombinator.com", "lobste.rs", "discord.com", "discordapp.com", "slack.com", "t.me", "telegram.me",
		"telegram.org", "groups.google.com", "discourse.group", "4chan.org",
		// wikis and blogs
		"wikipedia.org", "wikimedia.org", "wiktionary.org", "fandom.com", "wikia.com", "medium.com", "substack.com",
		"wordpress.com", "blogspot.com", "blogger.com", "tumblr.com", "dev.to", "hashnode.dev", "ghost.io", "livejournal.com",
		"notion.site", "notion.so", "gitbook.io", "readthedocs.io", "telegra.ph", "write.as", "hackmd.io", "coda.io",
		"airtable.com", "trello.com", "atlassian.net", "figma.com", "miro.com",
		// social
		"twitter.com", "x.com", "facebook.com", "instagram.com", "linkedin.com", "youtube.com", "youtu.be", "tiktok.com",
		"pinterest.com", "mastodon.social", "bsky.app", "threads.net", "vk.com", "weibo.com", "twitch.tv", "yelp.com",
		"tripadvisor.com", "amazon.com", "ebay.com", "etsy.com", "craigslist.org", "meetup.com", "eventbrite.com", "change.org",
		// hosting on which anybody can open a site
		"netlify.app", "vercel.app", "pages.dev", "workers.dev", "herokuapp.com", "onrender.com", "fly.dev", "web.app",
		"firebaseapp.com", "appspot.com", "run.app", "azurewebsites.net", "cloudfront.net", "amazonaws.com", "blob.core.windows.net",
		"storage.googleapis.com", "surge.sh", "neocities.org", "weebly.com", "wixsite.com", "squarespace.com", "webflow.io",
		"carrd.co", "ngrok.io", "ngrok.app", "ngrok-free.app", "trycloudflare.com", "loca.lt", "webhook.site", "requestbin.com",
		"pipedream.net", "beeceptor.com",
		// links that lead anywhere
		"bit.ly", "t.co", "tinyurl.com", "goo.gl", "is.gd", "ow.ly", "buff.ly", "rebrand.ly", "archive.org", "archive.is",
		"translate.goog",
	}
}
