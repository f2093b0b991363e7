# body.json is the body as it arrived, $SIGNATURE the X-Svc-Signature header, unset where there is none.
EXPECTED="sha256=$(openssl dgst -sha256 -hmac "$SECRET" -hex < body.json | sed 's/^.* //')"
test "${SIGNATURE:-}" = "$EXPECTED" && echo genuine || echo forged

# Posts body.json, signed, to your own receiver, as a delivery would arrive.
curl "$RECEIVER" -H "Content-Type: application/json" -H "X-Svc-Event: workspace.created" \
  -H "X-Svc-Signature: $EXPECTED" --data-binary @body.json
