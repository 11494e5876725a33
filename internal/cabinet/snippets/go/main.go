// Verifies that a webhook request is genuine. Try it:
//
//	SECRET=whsec_… SIGNATURE=sha256=… go run main.go < body.json
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
)

// verify takes the exact bytes of the body and the values of the headers
// X-Service-Signature and X-Service-Signature-Previous, which is there while
// a secret is being rotated and may hold several signatures.
func verify(secret string, body []byte, signatures ...string) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	want := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	for _, signature := range strings.Split(strings.Join(signatures, ","), ",") {
		if hmac.Equal([]byte(strings.TrimSpace(signature)), []byte(want)) {
			return true
		}
	}
	return false
}

func main() {
	body, err := io.ReadAll(os.Stdin)
	if err == nil && verify(os.Getenv("SECRET"), body, os.Getenv("SIGNATURE"), os.Getenv("SIGNATURE_PREVIOUS")) {
		fmt.Println("genuine")
	} else {
		fmt.Println("not genuine")
	}
}
