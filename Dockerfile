# Builds the package, packs it, and installs the tarball with the dependencies of the lockfile, but for the L1 of devnets. No install script runs.
# BASE_IMAGE: any Debian image with Node 24 or newer; by digest, so that a tag that moves changes nothing. The digest is of the index of all platforms.
ARG BASE_IMAGE=node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6

FROM ${BASE_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
COPY toolchain/package.json toolchain/
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN node scripts/build.ts && npm pack --ignore-scripts --pack-destination /

FROM ${BASE_IMAGE} AS install
# release, maxperf: what is published. debug: the TypeScript sources run as they are, so that stacks name their lines.
ARG PROFILE=release
WORKDIR /app
COPY --from=build /basalt-*.tgz /src/package-lock.json /src/.npmrc ./
COPY --from=build /src/toolchain/package.json toolchain/
RUN tar -xzf basalt-*.tgz --strip-components=1 --no-same-owner \
 && npm ci --omit=dev --ignore-scripts --workspaces=false --no-audit --no-fund \
 && rm -rf basalt-*.tgz toolchain .npmrc package-lock.json node_modules/@basalt node_modules/@foundry-rs
COPY --from=build /src/src /sources
RUN case "$PROFILE" in release|maxperf) ;; debug) cp -r /sources src ;; *) echo "PROFILE is release, maxperf or debug" >&2; exit 1 ;; esac

FROM ${BASE_IMAGE}
ENV NODE_ENV=production
COPY --from=install /app /app
# Named volumes take over the owner of the folder they are mounted on.
RUN install -d -o node -g node -m 0700 /data /jwt
WORKDIR /data
USER node
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "/app/bin/basalt.js"]
CMD ["help"]
