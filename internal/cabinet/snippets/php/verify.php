<?php
// Verifies that a webhook request is genuine. Try it:
//
//   SECRET=whsec_… SIGNATURE=sha256=… php verify.php < body.json
declare(strict_types=1);

// Takes the exact bytes of the body and the values of the headers
// X-Service-Signature and X-Service-Signature-Previous, which is there while a
// secret is being rotated and may hold several signatures. In a request the body is php://input.
function verify(string $secret, string $body, string ...$signatures): bool
{
    $want = 'sha256=' . hash_hmac('sha256', $body, $secret);
    foreach (explode(',', implode(',', $signatures)) as $signature) {
        if (hash_equals($want, trim($signature))) {
            return true;
        }
    }
    return false;
}

$genuine = verify(
    (string) getenv('SECRET'),
    (string) file_get_contents('php://stdin'),
    (string) getenv('SIGNATURE'),
    (string) getenv('SIGNATURE_PREVIOUS'),
);
echo $genuine ? "genuine\n" : "not genuine\n";
