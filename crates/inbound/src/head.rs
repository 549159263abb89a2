//! Checks on the head of a request, before anything else: limited sizes, an address
//! that can be decoded, and no ambiguity about host, origin and key.

use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, StatusCode, Uri};

use crate::problem::{Code, Problem};

/// The maximum number of bytes of an address.
const ADDRESS_MAX: usize = 16 * 1024;
/// The maximum number of bytes of all headers together.
const HEADERS_MAX: usize = 64 * 1024;
/// Headers that may be sent only once: a proxy could read a second one differently.
const ONCE: [HeaderName; 4] = [HOST, ORIGIN, AUTHORIZATION, CONTENT_TYPE];

/// Checks the address and the headers of a request.
pub fn check(request: &Request) -> Result<(), Problem> {
    check_address(request.uri())?;
    check_headers(request.headers())?;
    let host = request.headers().get(HOST).map(|host| host.as_bytes());
    let named = request.uri().authority().map(|authority| authority.as_str().as_bytes());
    if named.is_some() && named != host {
        return Err(Problem::bad_request("the address and the Host header name different servers"));
    }
    Ok(())
}

fn check_address(uri: &Uri) -> Result<(), Problem> {
    let address = uri.path_and_query().map_or("", |whole| whole.as_str());
    if address.len() > ADDRESS_MAX {
        let message = format!("the address is longer than {ADDRESS_MAX} bytes");
        return Err(Problem::at(StatusCode::URI_TOO_LONG, Code::BadRequest, message));
    }
    // Most addresses have nothing to decode.
    if !address.contains('%') {
        return Ok(());
    }
    match decoded(address).map(String::from_utf8) {
        Some(Ok(_readable)) => Ok(()),
        Some(Err(_)) => Err(Problem::bad_request("the address is not UTF-8 once its %XX are decoded")),
        None => Err(Problem::bad_request("a % in the address must be followed by two hexadecimal digits")),
    }
}

/// Decodes the `%XX` of an address; `None` where a `%` is not followed by two digits.
fn decoded(address: &str) -> Option<Vec<u8>> {
    let mut parts = address.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2).filter(|(digits, _)| !digits.starts_with('+'))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend(rest.bytes());
    }
    Some(bytes)
}

fn check_headers(headers: &HeaderMap) -> Result<(), Problem> {
    let size: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if size > HEADERS_MAX {
        let message = format!("the headers are longer than {HEADERS_MAX} bytes together");
        return Err(Problem::at(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, Code::BadRequest, message));
    }
    match ONCE.iter().find(|name| headers.get_all(*name).iter().nth(1).is_some()) {
        Some(name) => Err(Problem::bad_request(format!("the header {name} was sent more than once"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn checked(address: &str, headers: &[(&str, &str)]) -> Result<(), (u16, String)> {
        let request =
            headers.iter().fold(Request::builder().uri(address), |so_far, (name, value)| so_far.header(*name, *value));
        let checked = check(&request.body(Body::empty()).unwrap());
        checked.map_err(|problem| (problem.status().as_u16(), problem.message().to_owned()))
    }

    #[test]
    fn an_address_is_readable_and_not_too_long() {
        assert_eq!(checked("/api/runs/caf%C3%A9?tag=100%25&x=a+b", &[]), Ok(()));
        for odd in ["/api/runs/%zz", "/api/runs?tag=%", "/api/runs?tag=%4", "/api/runs/%+1", "/%\u{e9}"] {
            let (status, message) = checked(odd, &[]).unwrap_err();
            assert!(status == 400 && message.contains("two hexadecimal digits"), "{odd}: {message}");
        }
        let (status, message) = checked("/api/runs?tag=%ff", &[]).unwrap_err();
        assert!(status == 400 && message.contains("UTF-8"), "{message}");
        assert_eq!(checked(&format!("/?{}", "a".repeat(ADDRESS_MAX)), &[]).unwrap_err().0, 414);
    }

    #[test]
    fn headers_that_say_who_is_meant_say_it_once_and_all_are_within_a_limit() {
        assert_eq!(checked("/", &[("host", "localhost"), ("accept", "a/b"), ("accept", "c/d")]), Ok(()));
        for name in ["host", "origin", "authorization", "content-type"] {
            let (status, message) = checked("/", &[(name, "localhost"), (name, "evil.example")]).unwrap_err();
            assert_eq!((status, message), (400, format!("the header {name} was sent more than once")));
        }
        assert_eq!(checked("/", &[("x", &"a".repeat(HEADERS_MAX))]).unwrap_err().0, 431);
    }

    #[test]
    fn an_address_with_a_server_names_the_one_in_the_host_header() {
        assert_eq!(checked("http://localhost:1/api/runs", &[("host", "localhost:1")]), Ok(()));
        for headers in [&[("host", "localhost")][..], &[]] {
            assert_eq!(checked("http://evil.example/api/runs", headers).unwrap_err().0, 400);
        }
    }
}
