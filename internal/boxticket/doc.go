// Package boxticket carries the rules of a box from the monitor to the program that makes it, and
// the outcome back to the monitor.
//
// A ticket is a file. It lets one command of one call run in one box, once and soon. (It is not a
// ticket of package approval, which waits for a person.) The monitor writes it when it has decided;
// floodmark-box takes it by renaming it, which only one process can do, and writes an outcome
// beside it. Neither needs a socket, because some agents' sandboxes deny every connect.
//
// The folder of tickets belongs to one user, and no other user may read it. A file in it is refused
// unless it, its folder and all folders above are such that no other user can have put it there.
// Another process of the same user can write there; a ticket gives it no right that it does not
// have already, and it cannot make an outcome: those are sealed with a key that only the monitor
// and the process that took the ticket have had.
package boxticket

import (
	"path/filepath"
	"strconv"
	"time"
)

// Limits of tickets and outcomes.
const (
	MaxLife    = 10 * time.Minute // how long a ticket may be valid
	maxID      = 512              // bytes of the name of a session or a call
	maxTicket  = 1<<20 + 1<<14    // bytes: a spec and the rest
	maxOutcome = 8 << 20          // bytes
	maxChanges = 20_000           // changed paths that an outcome lists
	maxHosts   = 64               // hosts that an outcome lists
	maxText    = 1 << 12          // bytes of a reason or a path
	maxOpen    = 64               // tickets that may wait at once
	maxEnded   = 1024             // outcomes that are kept
	maxEntries = 8192             // names in the folder before it is refused
	keepEnded  = time.Hour        // how long outcomes and unused tickets are kept
	keepShared = 24 * time.Hour   // how long what boxes share is kept after the last of them began
)

// Folder is where the tickets of a user lie. It is in /tmp because the sandboxes
// of agents leave that and the project writable, and nothing else.
func Folder(uid int) string {
	return filepath.Join("/tmp", "floodmark-"+strconv.Itoa(uid))
}
