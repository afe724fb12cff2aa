// Package boxticket passes the rules of a box from the monitor to the program that makes the box,
// and the outcome back to the monitor.
//
// A ticket is a file. It allows one command of one call to run in one box, once and within a short
// time. (It has nothing to do with the tickets of package approval, which wait for a person.) The
// monitor writes it when it has decided; floodmark-box takes it by renaming it, which only one
// process can do, and writes an outcome beside it. Neither needs a socket, because some agents'
// sandboxes deny every connect.
//
// The folder of tickets belongs to one user, and no other user may read it. A file in it is only
// accepted if the permissions of the file, the folder and all folders above show that no other user
// can have put it there. Another process of the same user can write there. But a ticket gives it no
// rights that it does not have already, and it cannot forge an outcome: outcomes are sealed with a
// key that only the monitor and the process that took the ticket have.
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
	maxTicket  = 1<<20 + 1<<14    // bytes of a ticket: a spec and the other fields
	maxOutcome = 8 << 20          // bytes
	maxChanges = 20_000           // changed paths that an outcome lists
	maxHosts   = 64               // hosts that an outcome lists
	maxText    = 1 << 12          // bytes of a reason or a path
	maxOpen    = 64               // tickets that may wait at once
	maxEnded   = 1024             // outcomes that are kept
	maxEntries = 8192             // names in the folder before it is refused
	keepEnded  = time.Hour        // how long outcomes and unused tickets are kept
	keepShared = 24 * time.Hour   // how long a shared folder is kept after the last box that uses it was ordered
)

// Folder returns the folder for the tickets of a user. It is in /tmp, because in the sandboxes of
// agents only /tmp and the project are writable.
func Folder(uid int) string {
	return filepath.Join("/tmp", "floodmark-"+strconv.Itoa(uid))
}
