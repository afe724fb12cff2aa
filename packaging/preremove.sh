#!/bin/sh
# Before the package's files go, and only if they go for good: an upgrade
# touches no agent. See docs/decisions/0006-agents-and-hooks.md.
#
# deb: «remove» against «upgrade». rpm: 0 against 1.
case "$1" in
  remove | 0) ;;
  *) exit 0 ;;
esac

# The person who asked for this: behind sudo, doas or pkexec, or root itself.
person=${SUDO_USER:-${DOAS_USER:-$(getent passwd "${PKEXEC_UID:-0}" | cut -d: -f1)}}
home=$(getent passwd "$person" | cut -d: -f6)

# disconnect gives the agents of that person their settings back, as that
# person, with nothing of root's environment.
disconnect() {
  [ -d "$home" ] || return 0 # no home, no agents
  if [ "$person" = root ]; then
    env -i HOME="$home" PATH=/usr/local/bin:/usr/bin:/bin /usr/bin/floodmark unprotect --yes
  else
    runuser -u "$person" -- env -i HOME="$home" PATH=/usr/local/bin:/usr/bin:/bin /usr/bin/floodmark unprotect --yes
  fi
}

if disconnect </dev/null; then
  echo "floodmark: nothing of ours is left in the settings of the agents of $person."
elif [ -n "$FLOODMARK_REMOVE_ANYWAY" ]; then
  echo "floodmark: the agents of $person stay connected to a program that is gone: most will do nothing, some will do anything." >&2
else
  echo "floodmark: the agents of $person could not be disconnected, so the package stays. Run «floodmark unprotect» as $person, then remove it again; FLOODMARK_REMOVE_ANYWAY=1 removes it all the same." >&2
  exit 1
fi
echo "floodmark: agents of other people here that are connected lose their monitor: most will do nothing, some will do anything. Each of these people should run «floodmark unprotect» while the package is still there."
echo "floodmark: journals and keys stay in each person's home (~/.local/share/floodmark, ~/.local/state/floodmark)."
exit 0
