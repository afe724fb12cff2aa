#!/bin/sh
# After the package's files are there. Nothing is started and no agent is
# touched: that is each person's own choice, in their own home.
# deb: «configure» and the version before, if there was one. rpm: how many
# versions there are now.
set -e
case "$1:$2" in
  configure: | 1:)
    echo "floodmark: installed. Each person protects their own agents: floodmark up"
    ;;
  configure:* | 2:)
    echo "floodmark: a monitor that runs goes on as the old version until it is restarted; agents stay connected, the journal is read as it is."
    ;;
esac
