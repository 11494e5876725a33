// Verifies that a webhook request is genuine. Try it:
//
//   SECRET=whsec_… SIGNATURE=sha256=… node verify.mjs < body.json
import { createHmac, timingSafeEqual } from "node:crypto";
import { buffer } from "node:stream/consumers";

// Takes the exact bytes of the body and the values of the headers
// x-service-signature and x-service-signature-previous, which is there while a
// secret is being rotated and may hold several signatures.
export function verify(secret, body, ...signatures) {
  const digest = createHmac("sha256", secret).update(body).digest("hex");
  const want = Buffer.from(`sha256=${digest}`);
  return signatures.join(",").split(",").some((signature) => {
    const got = Buffer.from(signature.trim());
    return got.length === want.length && timingSafeEqual(got, want);
  });
}

const { SECRET, SIGNATURE, SIGNATURE_PREVIOUS } = process.env;
const body = await buffer(process.stdin);
console.log(verify(SECRET, body, SIGNATURE, SIGNATURE_PREVIOUS) ? "genuine" : "not genuine");
