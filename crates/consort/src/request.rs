//! The input of one run, besides its ensemble.

use std::collections::BTreeMap;
use std::path::PathBuf;

use consort_core::attachments::AttachmentSource;
use consort_core::draft;
use consort_core::model_options::ModelOptions;
use consort_core::spec::CaptureMode;
use serde_json::Value;

/// A request for one run: `()` for the defaults, pairs for inputs, or the methods
/// below for everything else.
///
/// ```
/// use consort::{CaptureMode, Request};
///
/// let plain = Request::from([("topic", "tea")]);
/// let tagged = Request::default().input("topic", "tea").tag("team", "kitchen").capture(CaptureMode::Full);
/// assert_ne!(plain, tagged);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request(pub(crate) draft::Request);

impl Request {
    /// Sets the value of a template variable: any JSON value, printed as compact JSON unless it is a string.
    #[must_use]
    pub fn input(mut self, name: &str, value: impl Into<Value>) -> Request {
        self.0.inputs.insert(name.to_owned(), value.into());
        self
    }

    /// Labels the run.
    #[must_use]
    pub fn tag(mut self, name: &str, value: &str) -> Request {
        self.0.tags.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Sets the model options of this run, for tasks that set none.
    #[must_use]
    pub fn model_options(mut self, options: ModelOptions) -> Request {
        self.0.model_options = options;
        self
    }

    /// Shows a file to every task without its own; it is read when the run begins, and stored with it.
    #[must_use]
    pub fn attach_file(mut self, path: impl Into<PathBuf>) -> Request {
        self.0.attachments.push(AttachmentSource::File(path.into()));
        self
    }

    /// Shows an attachment, by its id, to every task without its own.
    #[must_use]
    pub fn attach(mut self, id: &str) -> Request {
        self.0.attachments.push(AttachmentSource::Id(id.to_owned()));
        self
    }

    /// Sets the level of detail of the run's trace, for
    /// [`EnsembleBuilder::trace_dir`](crate::EnsembleBuilder::trace_dir).
    #[must_use]
    pub fn capture(mut self, mode: CaptureMode) -> Request {
        self.0.options.capture_mode = Some(mode);
        self
    }
}

impl From<()> for Request {
    fn from((): ()) -> Request {
        Request::default()
    }
}

impl<K: Into<String>, V: Into<Value>, const N: usize> From<[(K, V); N]> for Request {
    fn from(inputs: [(K, V); N]) -> Request {
        inputs.into_iter().map(|(name, value)| (name.into(), value)).collect::<BTreeMap<_, _>>().into()
    }
}

impl<V: Into<Value>> From<BTreeMap<String, V>> for Request {
    fn from(inputs: BTreeMap<String, V>) -> Request {
        let inputs = inputs.into_iter().map(|(name, value)| (name, value.into())).collect();
        Request(draft::Request { inputs, ..draft::Request::default() })
    }
}
