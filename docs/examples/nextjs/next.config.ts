import type { NextConfig } from "next";

// The admin page shows previews in a frame. Next.js reads this when it builds.
const config: NextConfig = {
  async headers() {
    const value = `frame-ancestors ${process.env.CMS_ORIGIN}`;
    return [{ source: "/preview/:path*", headers: [{ key: "Content-Security-Policy", value }] }];
  },
};

export default config;
