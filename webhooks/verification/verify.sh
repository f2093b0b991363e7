# Signs body.json with $SECRET and posts it to your own receiver, as a delivery would arrive.
SIGNATURE=$(openssl dgst -sha256 -hmac "$SECRET" -hex < body.json | sed 's/^.* //')
curl "$RECEIVER" -H "Content-Type: application/json" -H "X-Svc-Event: workspace.created" \
  -H "X-Svc-Signature: sha256=$SIGNATURE" --data-binary @body.json
