"use client";
import { useRouter } from "next/navigation";
import { useEffect } from "react";

/** Reads the draft again after each save in the admin page. */
export function Follow({ origin }: { origin: string }) {
  const router = useRouter();
  useEffect(() => {
    const onMessage = (event: MessageEvent) => {
      if (event.origin === origin && event.data?.type === "cms-preview-saved") router.refresh();
    };
    addEventListener("message", onMessage);
    if (parent !== window) parent.postMessage("cms-preview-ready", origin);
    return () => removeEventListener("message", onMessage);
  }, [origin, router]);
  return null;
}
