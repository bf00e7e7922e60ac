import { createHmac, timingSafeEqual } from "node:crypto";
import { revalidateTag } from "next/cache";

function isGenuine(headers: Headers, body: string) {
  const key = Buffer.from(process.env.CMS_HOOK_SECRET!.replace("whsec_", ""), "base64");
  const signed = `${headers.get("webhook-id")}.${headers.get("webhook-timestamp")}.${body}`;
  const wanted = Buffer.from("v1," + createHmac("sha256", key).update(signed).digest("base64"));
  const given = Buffer.from(headers.get("webhook-signature") ?? "");
  const isRecent = Math.abs(Date.now() / 1000 - Number(headers.get("webhook-timestamp"))) < 300;
  return isRecent && given.length === wanted.length && timingSafeEqual(given, wanted);
}

export async function POST(request: Request) {
  const body = await request.text();
  if (!isGenuine(request.headers, body)) return new Response("wrong signature", { status: 401 });
  revalidateTag("cms", { expire: 0 });
  return new Response("refreshed");
}
