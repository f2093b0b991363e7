import { createHmac, timingSafeEqual } from "node:crypto";

// `body` is the raw Buffer, before any JSON parser has seen it; `signature` is undefined where there is none.
export function isGenuine(body, signature, secret) {
  const expected = Buffer.from("sha256=" + createHmac("sha256", secret).update(body).digest("hex"));
  const given = Buffer.from(signature ?? "");
  return given.length === expected.length && timingSafeEqual(given, expected);
}
