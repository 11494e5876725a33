"""Verifies that a webhook request is genuine. Try it:

    SECRET=whsec_… SIGNATURE=sha256=… python3 verify.py < body.json
"""
import hashlib
import hmac
import os
import sys


def verify(secret: str, body: bytes, *signatures: str) -> bool:
    """Takes the exact bytes of the body and the values of the headers
    X-Service-Signature and X-Service-Signature-Previous, which is there
    while a secret is being rotated and may hold several signatures."""
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    want = f"sha256={digest}".encode()
    given = (s.strip() for s in ",".join(signatures).split(","))
    return any(hmac.compare_digest(s.encode(), want) for s in given)


if __name__ == "__main__":
    genuine = verify(
        os.environ["SECRET"],
        sys.stdin.buffer.read(),
        os.environ.get("SIGNATURE", ""),
        os.environ.get("SIGNATURE_PREVIOUS", ""),
    )
    print("genuine" if genuine else "not genuine")
