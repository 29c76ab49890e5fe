# Functions of the scripts in this folder, which source it. They set root, the project's folder, and work, a folder for
# files that are removed at the end; `trap ended EXIT` ends what they started.
# shellcheck shell=bash

export PYTHONDONTWRITEBYTECODE=1 # a script that imports another one leaves nothing in the tree
servers=                         # ids of the processes to end

# ended: ends the servers, waits for their end, and removes the work folder.
ended() {
  local pid
  for pid in $servers; do kill "$pid" 2>/dev/null || true; done
  for pid in $servers; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$work"
}

# start COMMAND FLAGS …: starts a server of dealflow, and sets url to its address, and server to its process.
start() {
  local started command=$1
  shift
  started=$(mktemp -u "$work/startedXXXX")
  mkfifo "$started"
  "$root/bin/dealflow" "$command" --listen 127.0.0.1:0 "$@" 2>"$started" &
  server=$!
  servers="$servers $server"
  exec 3<"$started"
  url=
  while [ -z "$url" ] && read -r line <&3; do
    case $line in *" at http"*) url=${line#* at }; url=${url%%[,;]*} ;; esac
  done
  cat <&3 >/dev/null &
}
serve() { start serve "$@"; }
explore() { start ui "$@"; }

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# serve_s3: starts an S3 server with the bucket lake, and sets the variables of the AWS tools.
serve_s3() {
  local port
  port=$(free_port)
  mkdir -p "$work/buckets/lake" "$work/meta"
  export AWS_ACCESS_KEY_ID=interop AWS_SECRET_ACCESS_KEY=interop-secret AWS_REGION=us-east-1 AWS_ENDPOINT_URL_S3=http://127.0.0.1:$port
  ROOT_ACCESS_KEY=$AWS_ACCESS_KEY_ID ROOT_SECRET_KEY=$AWS_SECRET_ACCESS_KEY \
    "$root/bin/versitygw" --port "127.0.0.1:$port" posix --sidecar "$work/meta" "$work/buckets" >"$work/s3.log" 2>&1 &
  servers="$servers $!"
  until python3 -c "import socket; socket.create_connection(('127.0.0.1', $port))" 2>/dev/null; do kill -0 "$!"; done
}

# need_maven: gets Java and Maven from Debian, if they are absent and this user may.
need_maven() {
  command -v mvn >/dev/null && return
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends default-jre-headless maven; } >"$work/apt.log" 2>&1 || cat "$work/apt.log" >&2
  fi
  command -v mvn >/dev/null || {
    echo "interop: there is no mvn; install it (Debian: apt-get install --no-install-recommends default-jre-headless maven) and try again" >&2
    exit 1
  }
}

# maven ARTIFACT FOLDER: copies an artifact of Maven, GROUP:NAME:VERSION[:TYPE[:CLASSIFIER]], to a folder.
maven() {
  mvn --quiet --batch-mode org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy "-Dartifact=$1" "-DoutputDirectory=$2" >&2
}
