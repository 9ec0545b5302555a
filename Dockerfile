# The emulator of the conversation service, see docs/emulator.md:
#   docker build -t conversation-emulator .
#   docker run --rm -p 4010:4010 -e CONVERSATION_CONTROL_SECRET=... conversation-emulator --json
FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY . .
RUN npm ci --no-audit --no-fund && mkdir packed && npm pack --pack-destination packed

FROM node:24-alpine
WORKDIR /app
COPY --from=build /build/packed/*.tgz package.tgz
# Pulumi and Redis are peers: the emulator needs neither.
RUN npm install --omit=dev --omit=peer --omit=optional --no-audit --no-fund ./package.tgz \
  && rm package.tgz && mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 4010
HEALTHCHECK --interval=5s --timeout=3s --start-period=5s CMD ["node", "-e", "fetch('http://127.0.0.1:4010/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "node_modules/pulumi-conversation/dist/cli/main.js", "emulator", "--host", "0.0.0.0", "--port", "4010"]
