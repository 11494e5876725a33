#!/usr/bin/env bash
# Prints the processor time that calls of the API take of the program and of PostgreSQL, each call alone, one after the
# other (COUNT of each, 1000 by default). It needs the test server (eval "$(make pg)"), Linux, curl and Python. Processor time
# hardly depends on what else the machine does, but it does depend on the processor: compare lines of one run.
set -euo pipefail
cd "$(dirname "$0")/.."
count="${COUNT:-1000}"
server="${COURSEBRIDGE_TEST_POSTGRES:?start the test server first: eval \"\$(make pg)\"}"
psql="$(scripts/pg.sh bindir)/psql"
dir="$(mktemp -d)"
name="cost_$$"
database="${server/\/postgres\?//$name?}"
trap 'kill ${pid:-} ${receiver:-} 2>/dev/null; wait 2>/dev/null; "$psql" "$server" -qc "DROP DATABASE IF EXISTS $name WITH (FORCE)"; rm -rf "$dir"' EXIT
"$psql" "$server" -qc "CREATE DATABASE $name"
go build -o "$dir/coursebridge" ./cmd/coursebridge
export COURSEBRIDGE_DATABASE="$database"
run() { "$dir/coursebridge" "$@" --json; }
field() { sed -E "s/.*\"$1\":\"?([^,\"}]*).*/\1/"; }
"$dir/coursebridge" migrate >/dev/null
company="$(run company create --name Cost --admin ann@cost.example | tr -d ' \n' | field companyId)"
course="$(run course add --company "$company" --name Safety | tr -d ' \n' | field courseId)"
token="$(run token create --company "$company" --name cost --scope b2b_read --scope b2b_provision --scope b2b_assignment | tr -d ' \n' | field token)"
port=$((20000 + RANDOM % 10000))
"$dir/coursebridge" serve --listen "127.0.0.1:$port" --rate-limit 0 --log-level error --webhook-allow-private --webhook-allow-http 2>"$dir/log" &
pid=$!
base="http://127.0.0.1:$port"
for _ in $(seq 100); do curl -fs "$base/readyz" >/dev/null && break; sleep 0.2; done
postmaster="$(ps -o ppid= -p "$("$psql" "$server" -Atc "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'")" | tr -d ' ')"

# ticks PID... prints the processor time of processes and of their ended children, in hundredths of a second.
ticks() { for p in "$@"; do cat "/proc/$p/stat" 2>/dev/null || true; done | sed 's/.*) //' | awk '{ t += $12 + $13 + $14 + $15 } END { print t + 0 }'; }
database_ticks() { ticks "$postmaster" $(pgrep -P "$postmaster"); }

# measure NAME URL [BODY]: in URL and BODY, # stands for the number of the call.
measure() {
  for i in $(seq "$count"); do
    [ "$i" = 1 ] || printf 'next\n'
    printf 'url = "%s%s"\nheader = "Authorization: Bearer %s"\noutput = "/dev/null"\n' "$base" "${2//\#/$i}" "$token"
    if [ -n "${3:-}" ]; then printf 'header = "Content-Type: application/json"\ndata = "%s"\n' "${3//\#/$i}"; fi
  done >"$dir/calls"
  local p d
  p="$(ticks "$pid")"; d="$(database_ticks)"
  curl -fsS -K "$dir/calls"
  until [ "$("$psql" "$database" -Atc "SELECT count(*) FROM deliveries WHERE state = 'pending'")" = 0 ]; do sleep 2; done
  p=$(($(ticks "$pid") - p)); d=$(($(database_ticks) - d))
  printf '%-44s %8d %8d\n' "$1" $((p * 10000 / count)) $((d * 10000 / count))
}
printf '%-44s %8s %8s\n' "microseconds of processor time per call" program database
measure "provision an employee" /api/v1/employees/provision '{\"externalId\":\"e#\",\"email\":\"e#@cost.example\",\"name\":\"Person #\"}'
measure "assign a course" /api/v1/assignments "{\\\"employeeExternalId\\\":\\\"e#\\\",\\\"courseId\\\":$course,\\\"externalId\\\":\\\"a#\\\"}"
measure "read one employee" "/api/v1/employees/e#"
measure "list 50 employees" "/api/v1/employees?limit=50"
measure "list 50 assignments" "/api/v1/assignments?limit=50"
measure "sync: updatedSince, 50 assignments" "/api/v1/assignments?limit=50&updatedSince=2020-01-01T00:00:00Z"

python3 -c '
import http.server, sys
class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()
    def log_message(self, *args): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
' "$((port + 1))" &
receiver=$!
"$dir/coursebridge" webhook add --company "$company" --url "http://127.0.0.1:$((port + 1))/" --event employee.joined >/dev/null 2>&1
measure "provision an employee, with one webhook" /api/v1/employees/provision '{\"externalId\":\"w#\",\"email\":\"w#@cost.example\",\"name\":\"Person #\"}'
