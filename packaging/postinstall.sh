#!/bin/sh
# Runs after the package's files are installed. It starts nothing and changes no agent, because
# each person decides about the agents in their own home.
# Arguments: deb passes «configure» and the previous version, if there was one. rpm passes the number
# of installed versions.
set -e
case "$1:$2" in
  configure: | 1:)
    echo "floodmark: installed. Each person protects their own agents: floodmark up"
    ;;
  configure:* | 2:)
    echo "floodmark: a running monitor keeps the old version until you restart it. Agents stay connected, and the new version reads the same journal."
    ;;
esac
