#!/usr/bin/env bash
# Installs the programs that the whole test suite needs in addition to Go, as root on Debian. Programs that are already
# installed are not touched, and if all are, no network is needed.
set -euo pipefail
cd "$(dirname "$0")"

# missing prints the Debian packages whose programs were not found.
missing() {
  ./pg.sh bindir >/dev/null 2>&1 || echo postgresql
  PATH=$PATH:/usr/sbin command -v pgbouncer >/dev/null || echo pgbouncer
  PATH=$PATH:/usr/sbin command -v haproxy >/dev/null || echo haproxy
  PATH=$PATH:/usr/sbin command -v nginx >/dev/null || echo nginx-light
  command -v caddy >/dev/null || echo caddy
  command -v npm >/dev/null || echo npm
  command -v promtool >/dev/null || echo prometheus
  command -v systemd-analyze >/dev/null || echo systemd
  command -v chromium chromium-browser google-chrome >/dev/null || echo chromium
  [ -z "${COURSEBRIDGE_TORTURE:-}" ] || command -v patroni etcd >/dev/null || printf '%s\n' patroni etcd-server
  command -v soffice libreoffice >/dev/null || echo libreoffice-calc-nogui
}

# optional prints the packages that the tests can do without: the race detector needs a C compiler, and test.sh reports it
# if it has to run without one. Chromium without its window takes less time, where the distribution has it apart.
optional() {
  command -v "$(go env CC)" >/dev/null || printf '%s\n' gcc libc6-dev
  command -v chromium-headless-shell >/dev/null || ! apt-cache show chromium-headless-shell >/dev/null 2>&1 || echo chromium-headless-shell
}

apt() {
  DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" </dev/null
}

install() {
  # Debian's PostgreSQL package would create and start a cluster, and those of servers would start services. The tests
  # use none of them.
  local quiet=/etc/postgresql-common/createcluster.d/coursebridge-test.conf made="" policy=/usr/sbin/policy-rc.d forbidden=""
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    forbidden=yes
  fi
  if [ ! -e /etc/postgresql-common ]; then
    mkdir -p "$(dirname "$quiet")"
    echo 'create_main_cluster = false' >"$quiet"
    made=yes
  fi
  # The package lists may be missing or outdated, and another program may hold the lock for a while.
  for _ in 1 2 3; do
    apt install --no-install-recommends "$@" && break
    apt update || sleep 5
  done
  [ -z "$made" ] || rm -f "$quiet"
  [ -z "$forbidden" ] || rm -f "$policy"
}

mapfile -t packages < <(missing && optional)
[ ${#packages[@]} -eq 0 ] && exit 0
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
  # A second copy of this script waits here until the first has installed everything.
  exec 9>"/var/lock/coursebridge-packages"
  flock 9
  mapfile -t packages < <(missing && optional)
  if [ ${#packages[@]} -gt 0 ]; then
    echo "installing ${packages[*]}"
    log=$(mktemp)
    install "${packages[@]}" >"$log" 2>&1 || true
    mapfile -t packages < <(missing)
    [ ${#packages[@]} -eq 0 ] || tail -n 20 "$log" >&2
    rm -f "$log"
  fi
fi
mapfile -t packages < <(missing)
[ ${#packages[@]} -eq 0 ] && exit 0
printf 'The tests need these Debian packages: %s\nInstall them, or run the tests that need only Go: make test-short\n' \
  "${packages[*]}" >&2
exit 1
