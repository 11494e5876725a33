#!/usr/bin/env bash
# Sees to the programs that the whole test suite needs beside Go. What is there is left alone and needs no network;
# what is missing is installed where that is possible: as root, on a Debian.
set -euo pipefail
cd "$(dirname "$0")"

missing() {
  ./pg.sh bindir >/dev/null 2>&1 || echo postgresql
  command -v chromium chromium-browser google-chrome >/dev/null || echo chromium
  command -v soffice libreoffice >/dev/null || echo libreoffice-calc-nogui
}

apt() {
  DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" </dev/null
}

install() {
  # Debian's package would set up and start a cluster of its own, which nobody here asked for.
  local quiet=/etc/postgresql-common/createcluster.d/coursebridge-test.conf made=""
  if [ ! -e /etc/postgresql-common ]; then
    mkdir -p "$(dirname "$quiet")"
    echo 'create_main_cluster = false' >"$quiet"
    made=yes
  fi
  # The lists may be absent or too old to be right, and another program may hold their lock for a while.
  for _ in 1 2 3; do
    apt install --no-install-recommends "$@" && break
    apt update || sleep 5
  done
  [ -z "$made" ] || rm -f "$quiet"
}

mapfile -t packages < <(missing)
[ ${#packages[@]} -eq 0 ] && exit 0
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
  # A second copy of this run waits here, and then finds the work done.
  exec 9>"/var/lock/coursebridge-packages"
  flock 9
  mapfile -t packages < <(missing)
  if [ ${#packages[@]} -gt 0 ]; then
    echo "installing ${packages[*]}"
    log=$(mktemp)
    install "${packages[@]}" >"$log" 2>&1 || true
    mapfile -t packages < <(missing)
    [ ${#packages[@]} -eq 0 ] || tail -n 20 "$log" >&2
    rm -f "$log"
  fi
fi
[ ${#packages[@]} -eq 0 ] && exit 0
printf 'The tests need what these Debian packages bring: %s\nInstall them, or run the part that needs only Go: make test-short\n' \
  "${packages[*]}" >&2
exit 1
