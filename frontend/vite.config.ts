import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const service = process.env.KEXBENCH_URL ?? "http://127.0.0.1:8350";

export default defineConfig({
  plugins: [react()],
  // Scripts find each other relative to themselves, since a published site may be in any folder of a server.
  experimental: {
    renderBuiltUrl: (_, { hostType }) => (hostType === "html" ? undefined : { relative: true }),
  },
  resolve: { alias: { "@": fileURLToPath(new URL("src", import.meta.url)) } },
  server: { proxy: { "/api": service } },
  preview: { proxy: { "/api": service } },
  test: { include: ["src/**/*.test.ts"] },
});
