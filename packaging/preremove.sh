#!/bin/sh
# Runs before the package's files are removed. It does nothing on an upgrade, which changes no agent.
# See docs/decisions/0006-agents-and-hooks.md.
#
# Argument: deb passes «remove» or «upgrade», rpm passes 0 or 1.
case "$1" in
  remove | 0) ;;
  *) exit 0 ;;
esac

# The person who runs this with sudo, doas or pkexec; otherwise root.
person=${SUDO_USER:-${DOAS_USER:-$(getent passwd "${PKEXEC_UID:-0}" | cut -d: -f1)}}
home=$(getent passwd "$person" | cut -d: -f6)

# disconnect restores the settings of that person's agents. It runs as that person, without root's
# environment.
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
  echo "floodmark: the agents of $person are still connected to a program that is gone. Most of them will stop working, and some will act unchecked." >&2
else
  echo "floodmark: the agents of $person could not be disconnected, so the package is not removed. Run «floodmark unprotect» as $person and try again. FLOODMARK_REMOVE_ANYWAY=1 removes the package anyway." >&2
  exit 1
fi
echo "floodmark: connected agents of other people on this machine lose their monitor. Most of them will stop working, and some will act unchecked. Each of these people should run «floodmark unprotect» while the package is still there."
echo "floodmark: journals and keys stay in each person's home (~/.local/share/floodmark, ~/.local/state/floodmark)."
exit 0
