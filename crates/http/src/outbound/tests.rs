//! Tests a corpus of addresses that must not be fetched, and real sockets on
//! this machine behind names whose addresses change and pages that redirect.

use std::collections::HashMap;
use std::sync::Mutex;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::*;

/// Names with the addresses of each lookup; the last ones stay. Every other name resolves to 10.0.0.7.
#[derive(Default)]
struct Script(Mutex<HashMap<String, Vec<Vec<IpAddr>>>>);

impl Script {
    fn leads(self, name: &str, lookups: &[&[&str]]) -> Script {
        let parse = |addresses: &&[&str]| addresses.iter().map(|address| address.parse().unwrap()).collect();
        self.0.lock().unwrap().insert(name.to_owned(), lookups.iter().map(parse).rev().collect());
        self
    }
}

impl Names for Script {
    fn addresses(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let mut names = self.0.lock().unwrap();
        let found = match names.get_mut(name) {
            Some(lookups) if lookups.len() > 1 => lookups.pop().unwrap(),
            Some(lookups) => lookups[0].clone(),
            None => vec!["10.0.0.7".parse().unwrap()],
        };
        Box::pin(async move { Ok(found) })
    }
}

struct Site {
    port: u16,
    server: JoinHandle<()>,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Site {
    /// Returns a site whose `/` says hello and whose other pages redirect there, or elsewhere.
    async fn new(redirects: &'static [(&'static str, &'static str)]) -> Site {
        let mut router = Router::new().route("/", get(|| async { "hello" }));
        for (from, to) in redirects {
            router = router.route(from, get(move || async move { (StatusCode::FOUND, [(header::LOCATION, *to)]) }));
        }
        let packed = || async { ([(header::CONTENT_ENCODING, "gzip")], "\u{1f}") };
        let router = router.route("/packed", get(packed));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        Site { port, server: tokio::spawn(async move { axum::serve(listener, router).await.unwrap() }) }
    }
}

fn outbound(reach: Reach, names: Script) -> Outbound {
    Outbound::new(OutboundOptions { reach, ..OutboundOptions::default() }, Arc::new(names)).unwrap()
}

/// Returns public addresses, and the one the test's site listens on.
fn near() -> Reach {
    Reach::PublicAnd(vec!["127.0.0.1".parse().unwrap()])
}

async fn text(response: Result<Response, OutboundError>) -> String {
    response.unwrap().text().await.unwrap()
}

#[tokio::test]
async fn every_address_of_the_corpus_is_refused_with_its_reason() {
    let outbound = outbound(Reach::Public, Script::default());
    let corpus = include_str!("refused_addresses.txt");
    let rows: Vec<_> = corpus.lines().filter(|line| !line.starts_with('#')).collect();
    for row in &rows {
        let (url, part) = row.split_once('\t').unwrap();
        let answer = outbound.get(url).await;
        let Err(OutboundError::Refused(refused)) = answer else { panic!("{url}: {answer:?}") };
        assert!(refused.contains(part), "{url}: {refused}");
    }
    assert!(rows.len() > 200, "{}", rows.len());
}

#[tokio::test]
async fn private_addresses_are_fetched_only_when_they_are_allowed() {
    let site = Site::new(&[]).await;
    let url = format!("http://127.0.0.1:{}/", site.port);
    assert_eq!(text(outbound(Reach::Everything, Script::default()).get(&url).await).await, "hello");
    assert_eq!(text(outbound(near(), Script::default()).get(&url).await).await, "hello");
    let refused = outbound(Reach::Public, Script::default()).get(&url).await;
    assert!(matches!(refused, Err(OutboundError::Refused(_))), "{refused:?}");
}

#[tokio::test]
async fn a_name_is_looked_up_once_and_the_connection_goes_where_it_was_checked() {
    let site = Site::new(&[]).await;
    // With a second lookup, the connection would have gone to a closed port.
    let names = Script::default().leads("site.example", &[&["127.0.0.1"], &["127.0.0.9"]]);
    let outbound = outbound(near(), names);
    let url = format!("http://site.example:{}/", site.port);
    assert_eq!(text(outbound.get(&url).await).await, "hello");
    let rebound = outbound.get(&url).await;
    let why = "`site.example` leads to a loopback address (127.0.0.9), which is not fetched";
    assert_eq!(rebound.err(), Some(OutboundError::Refused(why.to_owned())));
}

#[tokio::test]
async fn a_name_that_changes_its_mind_during_a_redirect_is_refused() {
    let site = Site::new(&[("/moved", "/")]).await;
    let names = Script::default().leads("site.example", &[&["127.0.0.1"], &["169.254.169.254"]]);
    let answer = outbound(near(), names).get(&format!("http://site.example:{}/moved", site.port)).await;
    let Err(OutboundError::Refused(why)) = answer else { panic!("{answer:?}") };
    assert!(why.contains("169.254.169.254"), "{why}");
}

#[tokio::test]
async fn one_private_address_among_public_ones_spoils_the_name() {
    for lookup in [["93.184.216.34", "10.0.0.1"], ["::ffff:10.0.0.1", "93.184.216.34"]] {
        let names = Script::default().leads("mixed.example", &[&lookup]);
        let answer = outbound(Reach::Public, names).get("http://mixed.example/").await;
        assert!(matches!(&answer, Err(OutboundError::Refused(why)) if why.contains("private")), "{answer:?}");
    }
}

#[tokio::test]
async fn redirects_are_followed_within_the_site_and_named_when_they_leave_it() {
    let away = &[
        ("/moved", "/twice"),
        ("/twice", "//www.site.example/three"),
        ("/metadata", "http://169.254.169.254/latest"),
        ("/decimal", "http://2130706433/"),
        ("/mapped", "http://[::ffff:127.0.0.1]/"),
        ("/other", "https://other.example/page"),
        ("/file", "file:///etc/passwd"),
        ("/loop", "/loop"),
        ("/ssh", "http://site.example:22/"),
        ("/named", "http://me:secret@site.example/"),
    ];
    let site = Site::new(away).await;
    let names = Script::default().leads("site.example", &[&["127.0.0.1"]]);
    let outbound = outbound(near(), names);
    let fetch = |path: &str| {
        let outbound = outbound.clone();
        let url = format!("http://site.example:{}{path}", site.port);
        async move { outbound.get(&url).await.map(|response| response.url().to_string()).map_err(|error| error.to_string()) }
    };
    for (path, part) in [
        ("/metadata", "redirects to http://169.254.169.254/latest, and that is another site"),
        ("/decimal", "redirects to http://127.0.0.1/, and that is another site"),
        ("/mapped", "redirects to http://[::ffff:7f00:1]/"),
        ("/other", "redirects to https://other.example/page"),
        ("/file", "redirects to file:///etc/passwd"),
        ("/loop", "redirects more than 5 times"),
        ("/ssh", "names port 22"),
        ("/named", "name or password"),
        // Its second hop leads to the same name with `www`, which is another machine here.
        ("/moved", "leads to a private address (10.0.0.7)"),
        ("/packed", "is compressed (`gzip`)"),
    ] {
        let answer = fetch(path).await;
        assert!(answer.as_ref().is_err_and(|why| why.contains(part)), "{path}: {answer:?}");
    }
    assert_eq!(fetch("/").await, Ok(format!("http://site.example:{}/", site.port)));
}

#[tokio::test(start_paused = true)]
async fn a_name_nobody_answers_for_fails_in_time() {
    struct Silent;
    impl Names for Silent {
        fn addresses(&self, _name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
            Box::pin(std::future::pending())
        }
    }
    let outbound = Outbound::new(OutboundOptions::default(), Arc::new(Silent)).unwrap();
    let answer = outbound.get("http://slow.example/").await;
    assert!(matches!(answer, Err(OutboundError::Failed(_))), "{answer:?}");
}
