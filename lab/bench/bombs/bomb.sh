# One bomb. It ends after three seconds, and with it all that it started.
case $1 in
  fork)
    bomb() { bomb | bomb & }
    bomb 2>/dev/null
    sleep 3
    ;;
  cpu)
    for _ in 1 2 3 4 5 6 7 8; do (while :; do :; done) & done
    sleep 3
    ;;
  memory | descriptors) python3 bomb.py "$1" ;;
  tmp)
    timeout -s KILL 3 sh -c 'i=0; while :; do head -c 8388608 /dev/zero >"/tmp/bomb-$i"; i=$((i+1)); done'
    timeout -s KILL 1 sh -c 'i=0; while :; do : >"/tmp/small-$i"; i=$((i+1)); done'
    rm -f /tmp/bomb-* /tmp/small-*
    ;;
  project)
    timeout -s KILL 3 sh -c 'i=0; while :; do head -c 8388608 /dev/zero >"bomb-$i"; i=$((i+1)); done'
    rm -f bomb-*
    ;;
esac
echo over
