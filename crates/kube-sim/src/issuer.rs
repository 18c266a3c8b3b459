//! The key with which tokens of service accounts are signed, and how others learn it
//! ([discovery](https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/#service-account-issuer-discovery)).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use rcgen::{KeyPair, PublicKeyData as _, SigningKey as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio_rustls::rustls::crypto::ring::default_provider;

use crate::response::{SimBody, json_value};

/// Whom a token is for, unless it says so, and who makes it.
pub(crate) const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";

/// How tokens are signed.
const ALGORITHM: &str = "ES256";

/// The bytes of a number of the curve P-256, of which a signature has two, and so has a public key.
const NUMBER: usize = 32;

/// A key that is made anew for each cluster, and kept in memory only.
pub(crate) struct Issuer {
    key: KeyPair,
    id: String,
}

impl Issuer {
    pub(crate) fn new() -> Self {
        let key = KeyPair::generate().expect("the system has randomness");
        let id = encoded(&Sha256::digest(key.subject_public_key_info()));
        Self { key, id }
    }

    /// A token with these claims.
    pub(crate) fn token(&self, claims: &Value) -> String {
        let part = |value: &Value| encoded(value.to_string().as_bytes());
        let head = json!({"alg": ALGORITHM, "kid": self.id});
        let signed = format!("{}.{}", part(&head), part(claims));
        let signature = self.key.sign(signed.as_bytes()).ok();
        let signature = signature.and_then(|signature| fixed(&signature));
        let signature = signature.expect("a key of this curve signs with two numbers");
        format!("{signed}.{}", encoded(&signature))
    }

    /// The claims of a token that was made here.
    pub(crate) fn claims(&self, token: &str) -> Option<Value> {
        let (signed, signature) = token.rsplit_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        if !is_signed(self.key.der_bytes(), signed, &signature) {
            return None;
        }
        let (_, claims) = signed.split_once('.')?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()
    }

    /// The public key, as JSON.
    fn shown(&self) -> Value {
        let numbers = self.key.der_bytes().get(1..).unwrap_or(&[]);
        let (x, y) = numbers.split_at(NUMBER.min(numbers.len()));
        json!({
            "use": "sig", "kty": "EC", "kid": self.id, "crv": "P-256", "alg": ALGORITHM, "x": encoded(x), "y": encoded(y),
        })
    }
}

/// The answer to a path that says who issues tokens, or by which key they are known; `None` for other paths.
pub(crate) fn answer<'a>(
    issuer: impl FnOnce() -> &'a Issuer,
    headers: &HeaderMap,
    segments: &[&str],
) -> Option<Response<SimBody>> {
    let (value, content_type) = match segments {
        [".well-known", "openid-configuration"] => {
            let host = headers.get(HOST).and_then(|host| host.to_str().ok());
            let server = host.map_or(ISSUER.to_owned(), |host| format!("https://{host}"));
            let configuration = json!({
                "issuer": ISSUER, "jwks_uri": format!("{server}/openid/v1/jwks"), "response_types_supported": ["id_token"],
                "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": [ALGORITHM],
            });
            (configuration, "application/json")
        }
        ["openid", "v1", "jwks"] => (json!({"keys": [issuer().shown()]}), "application/jwk-set+json"),
        _ => return None,
    };
    let mut response = json_value(StatusCode::OK, &value);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600"));
    Some(response)
}

fn encoded(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Whether a signature of two numbers is that of a text by a public key.
fn is_signed(key: &[u8], text: &str, signature: &[u8]) -> bool {
    let Some(signature) = der(signature) else {
        return false;
    };
    let known = default_provider().signature_verification_algorithms.all;
    known.iter().any(|algorithm| {
        algorithm
            .verify_signature(key, text.as_bytes(), &signature)
            .is_ok()
    })
}

/// The two numbers of a signature in DER, one after the other, as JSON web tokens have them.
fn fixed(der: &[u8]) -> Option<[u8; 2 * NUMBER]> {
    let mut rest = der.get(2..)?;
    let mut fixed = [0; 2 * NUMBER];
    for place in fixed.chunks_mut(NUMBER) {
        let [2, length, after @ ..] = rest else {
            return None;
        };
        let (number, after) = after.split_at_checked(usize::from(*length))?;
        let number = without_zeros(number);
        place
            .get_mut(NUMBER.checked_sub(number.len())?..)?
            .copy_from_slice(number);
        rest = after;
    }
    Some(fixed)
}

/// The same the other way round.
fn der(fixed: &[u8]) -> Option<Vec<u8>> {
    if fixed.len() != 2 * NUMBER {
        return None;
    }
    let mut numbers = Vec::new();
    for number in fixed.chunks(NUMBER) {
        let number = without_zeros(number);
        // The first bit is the sign.
        let sign = number.first().is_none_or(|first| *first >= 0x80);
        let length = number.len() + usize::from(sign);
        numbers.extend([2, u8::try_from(length).ok()?]);
        numbers.extend(sign.then_some(0));
        numbers.extend_from_slice(number);
    }
    let mut der = vec![0x30, u8::try_from(numbers.len()).ok()?];
    der.append(&mut numbers);
    Some(der)
}

fn without_zeros(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    &number[zeros..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_of_an_rfc_is_known() {
        // RFC 7515, A.3.
        let decoded = |text: &str| URL_SAFE_NO_PAD.decode(text).expect("base64");
        let mut key = vec![4];
        key.extend(decoded("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"));
        key.extend(decoded("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"));
        let text = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
        let signature =
            decoded("DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q");
        assert!(is_signed(&key, text, &signature));
        assert!(!is_signed(&key, &text.replace("eyJpc3M", "eyJpc3N"), &signature));
        assert!(!is_signed(&key, text, &signature[1..]));
    }

    #[test]
    fn numbers_of_a_signature_are_written_both_ways() {
        let mut numbers = [0; 2 * NUMBER];
        numbers[NUMBER - 1] = 0x80;
        numbers[NUMBER + 3] = 1;
        let der = der(&numbers).expect("two numbers");
        assert_eq!(der[..7], [0x30, 2 + 2 + 2 + 29, 2, 2, 0, 0x80, 2]);
        assert_eq!(fixed(&der), Some(numbers));
    }

    #[test]
    fn only_what_an_issuer_has_made_is_its() {
        let (issuer, other) = (Issuer::new(), Issuer::new());
        for n in 0..20 {
            let token = issuer.token(&json!({"n": n}));
            assert_eq!(issuer.claims(&token), Some(json!({"n": n})));
            assert_eq!(other.claims(&token), None);
        }
        assert_eq!(issuer.claims("a.b.c"), None);
    }
}
