//! Vectors of passages: requested from a model when a document is added, or later when the
//! model could not be reached, and stored with the document, so that each is paid for once.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use consort_core::id::Millis;
use consort_log as log;
use consort_models::{BATCH_MAX, Embedder, Vector};
use tokio::time::Instant;

use super::index::{Source, UnembeddedPassages};
use super::stored::{self, DocumentEvent};
use super::{CollectionEvent, Collections, Error};

/// The maximum time that adding a document waits for its
/// vectors; the rest of a long document gets them later.
const ADDING_MAX: Duration = Duration::from_secs(60);
/// The time limit of one batch.
const BATCH_TIME: Duration = Duration::from_secs(20);
/// The maximum time that a search waits for the vector of its query.
const QUERY_MAX: Duration = Duration::from_secs(5);
/// The maximum number of batches of missing vectors that a search requests.
const CATCHING_UP_MAX: usize = 2;
/// The maximum number of bytes of a query that count.
const QUERY_BYTES: usize = 8 * 1024;

impl Collections {
    /// Requests the vectors that a collection lacks; returns whether it has all of them.
    pub(super) async fn embed_all(&self, name: &str, now: Millis) -> Result<bool, Error> {
        let Some(embedder) = &self.embedder else { return Ok(false) };
        let _alone = self.embedding.lock().await;
        let until = Instant::now() + ADDING_MAX;
        loop {
            match self.embed_some(embedder, name, now).await? {
                VectorsOutcome::Batch if Instant::now() < until => {}
                VectorsOutcome::Batch | VectorsOutcome::None => return Ok(false),
                VectorsOutcome::All => return Ok(true),
            }
        }
    }

    /// Returns the vector of a query, or none if the model does not answer: then the
    /// search uses words only. A model that answers is asked for missing vectors, too.
    pub(super) async fn meaning(&self, query: &str, names: &[&str], now: Millis) -> Result<Option<Vector>, Error> {
        let Some(embedder) = &self.embedder else { return Ok(None) };
        let query = query.get(..query.floor_char_boundary(QUERY_BYTES)).unwrap_or(query);
        let vector = match embedder.embed(&[query], QUERY_MAX).await {
            Ok(vectors) => vectors.into_iter().next(),
            Err(failure) => {
                tracing::warn!(%failure, "searching by words alone: the model for vectors failed");
                return Ok(None);
            }
        };
        // A concurrent task that adds documents requests the missing vectors.
        let Ok(_alone) = self.embedding.try_lock() else { return Ok(vector) };
        let mut left = CATCHING_UP_MAX;
        for name in names {
            while left > 0 && matches!(self.embed_some(embedder, name, now).await?, VectorsOutcome::Batch) {
                left -= 1;
            }
        }
        Ok(vector)
    }

    /// Requests one batch of vectors and stores it; the caller excludes concurrent requests.
    async fn embed_some(&self, embedder: &Embedder, name: &str, now: Millis) -> Result<VectorsOutcome, Error> {
        self.catch_up(&self.find(name).await?, now).await?;
        let collection = name.to_owned();
        let bare = self.with_index(move |index| index.bare(&collection, BATCH_MAX)).await?;
        let Some(bare) = bare else { return Ok(VectorsOutcome::All) };
        let texts: Vec<&str> = bare.passages.iter().map(String::as_str).collect();
        let vectors = match embedder.embed(&texts, BATCH_TIME).await {
            Ok(vectors) => vectors.iter().map(write).collect(),
            Err(failure) => {
                tracing::warn!(collection = name, document = bare.document, %failure, "a document has no vectors yet");
                return Ok(VectorsOutcome::None);
            }
        };
        self.store_vectors(name, bare, (embedder.model().to_owned(), vectors), now).await?;
        Ok(VectorsOutcome::Batch)
    }

    /// Stores vectors where the document's text is.
    async fn store_vectors(
        &self,
        name: &str,
        UnembeddedPassages { document, from, source, records, .. }: UnembeddedPassages,
        (model, vectors): (String, Vec<String>),
        now: Millis,
    ) -> Result<(), Error> {
        let stream = match source {
            Source::Record(_) => {
                return self.append(name, &CollectionEvent::Embedded { document, from, model, vectors }, now).await;
            }
            Source::Stream(stream) => stream,
        };
        let event = DocumentEvent::Embedded { from, model, vectors };
        match self.log.append(stored::append_document((name, &stream), records, &event, now)?).await {
            // A process died before it named the vectors there: they are the same, and are named now.
            Ok(()) | Err(log::Error::Fenced) => {}
            Err(error) => return Err(error.into()),
        }
        self.append(name, &CollectionEvent::Vectors { document, stream, record: records }, now).await
    }
}

/// The result of a request for vectors.
enum VectorsOutcome {
    /// Some vectors were stored; more may be missing.
    Batch,
    /// No vectors are missing.
    All,
    /// Some vectors are missing, and none were received.
    None,
}

/// Returns the stored form of a vector.
fn write(vector: &Vector) -> String {
    STANDARD.encode(vector.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>())
}

pub(super) fn read(text: &str) -> Option<Vector> {
    let bytes = STANDARD.decode(text).ok()?;
    let (numbers, rest) = bytes.as_chunks::<4>();
    rest.is_empty().then(|| numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, Mutex};

    use axum::http::StatusCode;
    use axum::{Json, Router, routing};
    use consort_http::client;
    use consort_log::MemoryLog;
    use consort_models::Options;
    use serde_json::{Value, json};

    use super::*;
    use crate::collections::{Added, Hit};

    /// A server that knows two directions, food and cars, and records its requests.
    #[derive(Clone, Default)]
    struct Fake {
        down: Arc<AtomicBool>,
        batches: Arc<Mutex<Vec<usize>>>,
    }

    impl Fake {
        async fn start(&self) -> String {
            let fake = self.clone();
            let answer = move |Json(asked): Json<Value>| std::future::ready(fake.answer(&asked));
            let router = Router::new().route("/v1/embeddings", routing::post(answer));
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            tokio::spawn(async move { axum::serve(listener, router).await });
            format!("http://{address}/v1")
        }

        fn answer(&self, asked: &Value) -> (StatusCode, Json<Value>) {
            if self.down.load(Ordering::SeqCst) {
                return (StatusCode::SERVICE_UNAVAILABLE, Json(json!({ "error": "no" })));
            }
            assert_eq!(asked["model"], "small");
            let texts = asked["input"].as_array().unwrap();
            self.batches.lock().unwrap().push(texts.len());
            let has = |text: &Value, words: &[&str]| words.iter().any(|word| text.as_str().unwrap().contains(word));
            let vector = |text: &Value| match (has(text, &["boil", "dinner"]), has(text, &["oil change", "engine"])) {
                (true, _) => json!([1.0, 0.1]),
                (false, true) => json!([0.1, 1.0]),
                (false, false) => json!([-1.0, -1.0]),
            };
            let item = |(index, text): (usize, &Value)| json!({ "index": index, "embedding": vector(text) });
            (StatusCode::OK, Json(json!({ "data": texts.iter().enumerate().map(item).collect::<Vec<_>>() })))
        }
    }

    async fn collections(log: &Arc<MemoryLog>, url: &str) -> Collections {
        let embedder = Embedder::new(&Options::new(url, "small"), client().unwrap()).unwrap();
        Collections::new(log.clone()).with_embedder(Some(embedder))
    }

    fn titles(hits: &[Hit]) -> Vec<&str> {
        hits.iter().map(|hit| hit.title.as_str()).collect()
    }

    #[tokio::test]
    async fn what_means_the_same_is_found_and_what_has_the_words_too_comes_first() {
        let fake = Fake::default();
        let log = Arc::new(MemoryLog::default());
        let url = fake.start().await;
        let collections = collections(&log, &url).await;
        collections.create("notes", 0).await.unwrap();
        for (title, text) in [("Potatoes", "Wash and boil."), ("Car", "An oil change."), ("Soup", "A dinner to boil.")]
        {
            assert!(collections.add("notes", title, text, 1).await.unwrap().embedded);
        }
        let found = collections.search("dinner", &[], 9, 2).await.unwrap();
        assert_eq!(titles(&found), ["Soup", "Potatoes", "Car"]);
        assert!(found[0].score > found[1].score);
        fake.down.store(true, Ordering::SeqCst);
        assert_eq!(titles(&collections.search("dinner", &[], 9, 2).await.unwrap()), ["Soup"], "words must do");
        let other = Collections::new(log.clone());
        assert_eq!(titles(&other.search("dinner", &[], 9, 2).await.unwrap()), ["Soup"], "without a model, too");
        assert_eq!(other.list().await.unwrap()[0].documents, 3, "vectors are no documents");
    }

    #[tokio::test]
    async fn documents_without_vectors_get_them_later_and_once() {
        let fake = Fake::default();
        let log = Arc::new(MemoryLog::default());
        let url = fake.start().await;
        fake.down.store(true, Ordering::SeqCst);
        let first = collections(&log, &url).await;
        first.create("notes", 0).await.unwrap();
        let long = vec!["boil ".repeat(200); BATCH_MAX + 10].join("\n\n");
        let added = first.add("notes", "Long", &long, 1).await.unwrap();
        assert_eq!(added, Added { document: 1, embedded: false });
        assert_eq!(titles(&first.search("boil", &[], 1, 2).await.unwrap()), ["Long"]);

        fake.down.store(false, Ordering::SeqCst);
        let second = collections(&log, &url).await;
        assert_eq!(titles(&second.search("dinner", &[], 1, 3).await.unwrap()), ["Long"]);
        let batches = fake.batches.lock().unwrap().clone();
        assert_eq!(batches, [1, BATCH_MAX, 10], "the query, then what was missing, in batches");
        assert!(second.add("notes", "Car", "An engine.", 4).await.unwrap().embedded);

        let third = collections(&log, &url).await;
        assert_eq!(titles(&third.search("dinner", &[], 1, 5).await.unwrap()), ["Long"]);
        assert_eq!(fake.batches.lock().unwrap()[3..], [1, 1], "vectors are stored: only the query is new");
    }
}
