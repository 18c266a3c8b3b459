# kubectl-informer in an image without anything else: the static binary, and the certificates of public authorities.
#
#   docker build --tag kubectl-informer .
#   docker run --rm kubectl-informer demo
#
# In a pod it finds the server and the credentials of its service account.
FROM rust:1-alpine AS build
RUN apk add --no-cache build-base ca-certificates
WORKDIR /source
COPY . .
RUN cargo build --release --locked --package kubectl-informer --bin kubectl-informer

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /source/target/release/kubectl-informer /kubectl-informer
USER 65532:65532
ENTRYPOINT ["/kubectl-informer"]
