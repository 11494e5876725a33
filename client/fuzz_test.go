package client_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/client"
)

// Nothing that was made without the secret is accepted.
func FuzzVerify(f *testing.F) {
	now := time.Unix(1_700_000_000, 0)
	f.Add("msg_1", "1700000000", "v1,AAAA", []byte("{}"))
	f.Add("", "9223372036854775807", "v1, v1,", []byte{})
	f.Add("a.b", "-9223372036854775808", "v1a,AAAA v1,????", []byte("x"))
	f.Fuzz(func(t *testing.T, id, timestamp, signature string, body []byte) {
		header := http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {timestamp}, "Webhook-Signature": {signature}}
		if client.Verify(header, body, now, "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=") == nil {
			t.Errorf("accepted: id %q, time %q, signature %q, body %q", id, timestamp, signature, body)
		}
	})
}
