#!/bin/sh
# Computes the signatures of a delivery with openssl alone, as an integrator would.
# Arguments: secret, delivery id, unix seconds, file with the body. Prints X-Service-Signature, then webhook-signature.
set -eu
secret=$1 id=$2 timestamp=$3 body=$4

hex=$(openssl dgst -sha256 -hmac "$secret" -hex <"$body" | sed 's/^.* //')
echo "sha256=$hex"

key=$(printf %s "${secret#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
signature=$({ printf '%s.%s.' "$id" "$timestamp"; cat "$body"; } |
	openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)
echo "v1,$signature"
