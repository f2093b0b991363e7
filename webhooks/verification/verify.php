<?php
// $body is file_get_contents("php://input"), $signature the X-Svc-Signature header, null where there is none.
function is_genuine(string $body, ?string $signature, string $secret): bool
{
    return hash_equals("sha256=" . hash_hmac("sha256", $body, $secret), $signature ?? "");
}
