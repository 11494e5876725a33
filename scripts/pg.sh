#!/usr/bin/env bash
# Starts and stops private PostgreSQL servers for tests, benchmarks and developers. Each has a new cluster in a
# temporary directory and a free port of 127.0.0.1, and is removed completely when it is stopped.
#
#   pg.sh start [--durable] [--owner PID]   prints "DIRECTORY URL"; the server stops when the owner process ends
#   pg.sh stop DIRECTORY
#   pg.sh up | down                         the server of this working tree; its address is kept in bin/pg
#   pg.sh bindir                            prints the directory of the server's programs
set -euo pipefail
self=$(realpath "$0")
note=$(dirname "$(dirname "$self")")/bin/pg

die() {
  printf 'pg.sh: %s\n' "$*" >&2
  exit 1
}

# bindir prints the directory of initdb and pg_ctl, which Debian does not put on the PATH: the newest version found.
bindir() {
  local dir
  dir=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
  if [ ! -x "$dir/initdb" ]; then
    dir=$(dirname "$(realpath "$(command -v initdb)" 2>/dev/null)" 2>/dev/null) || return 1
  fi
  [ -x "$dir/initdb" ] && [ -x "$dir/postgres" ] && [ -x "$dir/pg_ctl" ] && printf '%s\n' "$dir"
}

# PostgreSQL refuses to run as root.
account() { if id postgres >/dev/null 2>&1; then echo postgres; else echo nobody; fi; }

as_server() {
  if [ "$(id -u)" -eq 0 ]; then
    setpriv --reuid "$(account)" --regid "$(id -g "$(account)")" --clear-groups -- "$@"
  else
    "$@"
  fi
}

settings() {
  cat <<'CONF'
listen_addresses = '127.0.0.1'
max_connections = 300
log_min_messages = warning
CONF
  [ "$durable" = yes ] && return
  # The data is deleted after the run, so the server need not wait for the disk. The unusual time zone exposes code that
  # depends on the server's time zone.
  cat <<'CONF'
fsync = off
synchronous_commit = off
full_page_writes = off
autovacuum = off
max_wal_size = '1GB'
timezone = 'Asia/Kathmandu'
CONF
}

# base prints the directory that the server's directory is made in. Every test has a database of its own, of some hundred
# files: to make and drop one took 0.3 s of processor time on a disk, most of it in the kernel, and 0.02 s in memory.
base() {
  if [ "$durable" = no ] && [ "$("$(dirname "$self")/memory.sh")" -ge 4 ]; then echo /dev/shm; else echo /tmp; fi
}

# init creates the cluster. Tests get a linguistic default collation: SQLite compares bytes, so a query that depends on
# the engine's collation fails on PostgreSQL instead of passing by luck. Clients in tests prove the password by MD5, which
# is enough for a random one: SCRAM took 14 ms of processor time for each connection under the race detector.
init() {
  local common=(--pgdata="$dir/data" --username=postgres --pwfile="$dir/password" --encoding=UTF8 --no-sync)
  local icu=(--locale=C.UTF-8 --locale-provider=icu --icu-locale=en-US)
  if [ "$durable" = no ]; then
    try_init "${common[@]}" "${icu[@]}" --auth=md5 && return
    try_init "${common[@]}" "${icu[@]}" --auth=scram-sha-256 && return
  fi
  try_init "${common[@]}" --locale=C.UTF-8 --auth=scram-sha-256 || {
    cat "$dir/initdb.log" >&2
    die "initdb failed"
  }
}

# try_init runs initdb, which removes what it has made if it fails.
try_init() { as_server "$bin/initdb" "$@" >"$dir/initdb.log" 2>&1; }

# launch tries random ports until the server can bind one: asking first whether a port is free would race with other
# copies. The ports are below the range that the kernel uses for outgoing connections.
launch() {
  local try
  for try in {1..30}; do
    port=$((20000 + RANDOM % 12000))
    if as_server "$bin/pg_ctl" --pgdata="$dir/data" --log="$dir/log.$try" --wait --timeout=60 --silent \
      --options="-p $port -k '$dir'" start >/dev/null 2>&1; then
      return
    fi
    grep -q 'Address already in use' "$dir/log.$try" 2>/dev/null && continue
    cat "$dir/log.$try" >&2 || true
    die "the server did not start"
  done
  die "no free port found"
}

# watch stops the server when its owner is gone: a process that was killed runs no trap.
watch() {
  # shellcheck disable=SC2016 # expands in the watcher
  setsid bash -c 'while kill -0 "$1" 2>/dev/null; do sleep 1; done; exec "$2" stop "$3"' \
    watch "$1" "$self" "$dir" </dev/null >/dev/null 2>&1 &
  echo $! >"$dir/watch.pid"
}

start() {
  durable=no
  local owner=""
  while [ $# -gt 0 ]; do
    case $1 in
      --durable) durable=yes ;;
      --owner) owner=$2 && shift ;;
      *) die "unknown option $1" ;;
    esac
    shift
  done
  bin=$(bindir) || die "PostgreSQL is not installed (Debian: apt-get install postgresql)"
  umask 077
  # TMPDIR is ignored: the server's account must be able to enter the directory, and a socket's path has at most 107
  # bytes.
  dir=$(mktemp -d "$(base)/coursebridge-pg.XXXXXX")
  trap 'stop "$dir"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  [ -n "$owner" ] && watch "$owner"
  od -An -tx1 -N16 /dev/urandom | tr -d ' \n' >"$dir/password"
  [ "$(id -u)" -eq 0 ] && chown -R "$(account)" "$dir"
  cd "$dir"
  init
  settings >>"$dir/data/postgresql.conf"
  launch
  trap - EXIT
  printf '%s postgres://postgres:%s@127.0.0.1:%s/postgres?sslmode=disable\n' "$dir" "$(cat "$dir/password")" "$port"
}

stop() {
  local dir=$1 watcher
  [ -d "$dir" ] || return 0
  watcher=$(cat "$dir/watch.pid" 2>/dev/null || true)
  if [ -n "$watcher" ] && [ "$watcher" != $$ ]; then
    kill -KILL -- "-$watcher" 2>/dev/null || true
  fi
  if [ -f "$dir/data/postmaster.pid" ]; then
    (cd "$dir" && as_server "$(bindir)/pg_ctl" --pgdata="$dir/data" --mode=immediate --wait --silent stop) \
      >/dev/null 2>&1 || true
  fi
  rm -rf "$dir"
}

up() {
  local dir url
  if ! { read -r dir url <"$note" && [ -f "$dir/data/postmaster.pid" ]; } 2>/dev/null; then
    mkdir -p "$(dirname "$note")"
    (umask 077 && "$self" start >"$note")
    read -r dir url <"$note"
  fi
  printf 'export COURSEBRIDGE_TEST_POSTGRES=%q\n' "$url"
}

down() {
  local dir _
  if read -r dir _ 2>/dev/null <"$note"; then stop "$dir"; fi
  rm -f "$note"
}

case ${1:-} in
  start) shift && start "$@" ;;
  stop) stop "${2:?directory}" ;;
  up | down | bindir) "$1" ;;
  *) die "usage: pg.sh start [--durable] [--owner PID] | stop DIRECTORY | up | down | bindir" ;;
esac
