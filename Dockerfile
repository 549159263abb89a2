# Consort in an image: `docker build -t consort .`. The web UI and the binary are built in stages of their own; the last
# one has the binary, its licences and nothing else of ours.
FROM node:22-bookworm-slim AS web
WORKDIR /src/web
COPY web/package.json web/package-lock.json web/.npmrc ./
RUN npm ci
COPY clients/typescript/src ../clients/typescript/src
COPY web ./
RUN npm run build

FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
COPY --from=web /src/web/dist web/dist
RUN cargo build --release --locked --package consort-cli --bin consort \
    && mkdir -p /image/data /image/etc/consort

# Debian and not an empty image, so that MCP servers and their Python or Node can be added on top of it.
FROM debian:bookworm-slim
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /src/target/release/consort /usr/local/bin/
COPY LICENSE-MIT LICENSE-APACHE /usr/local/share/doc/consort/
# A new volume takes the owner of the folder it is mounted on.
COPY --from=build --chown=65532:65532 /image/data /data
USER 65532:65532
WORKDIR /data
VOLUME ["/data"]
EXPOSE 7329
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["consort", "health"]
# SIGTERM lets what is under way end, within `drain_timeout`.
STOPSIGNAL SIGTERM
ENTRYPOINT ["consort"]
CMD ["serve", "--config", "/etc/consort/consort.toml", "--host", "0.0.0.0", "--data", "/data"]
