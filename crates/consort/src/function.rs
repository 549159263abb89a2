//! Tools from functions: the schema of the arguments is made from the argument type, and the function's result goes
//! back to the model as text.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::{CancelClass, EffectClass, Permission, ToolInfo};
use consort_core::schema::Schema;
use consort_tools::{Answer, Invocation, Tool};
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The implementation of a tool: it performs one call.
pub(crate) type Performs = Arc<dyn Fn(Invocation) -> BoxFuture<'static, Answer> + Send + Sync>;

/// Creates a tool from an async function and its argument type.
///
/// By default it is a tool that only reads and may run in parallel with others; [`FunctionTool::effect`] and the
/// methods beside it change that. The message of an error goes to the model, which can try something else.
///
/// ```
/// use consort::{EffectClass, tool};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Order {
///     /// The item to order.
///     item: String,
///     amount: u32,
/// }
///
/// let order = tool("order", "Orders an item for the kitchen", |order: Order| async move {
///     match order.amount {
///         0 => Err("nothing to order"),
///         amount => Ok(format!("{amount} {} ordered", order.item)),
///     }
/// });
/// let order = order.effect(EffectClass::Once);
/// ```
pub fn tool<A, W, T, E>(name: &str, description: &str, work: impl Fn(A) -> W + Send + Sync + 'static) -> FunctionTool
where
    A: JsonSchema + DeserializeOwned,
    W: Future<Output = Result<T, E>> + Send + 'static,
    T: Serialize,
    E: Display,
{
    // Models send an object even where there is nothing to say.
    let schema = match schema_of::<A>() {
        nothing if nothing.get("type") == Some(&json!("null")) => json!({ "type": "object", "properties": {} }),
        schema => schema,
    };
    let info = ToolInfo { schema: Schema::new(schema), ..ToolInfo::new(name, description) };
    FunctionTool::new(info, performs(move |_key, args| work(args)))
}

/// Several tools from one value, which they share.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// use consort::{FunctionTool, ToolSet, tool};
///
/// #[derive(Default)]
/// struct Counter(AtomicU32);
///
/// impl ToolSet for Counter {
///     fn tools(self: Arc<Self>) -> Vec<FunctionTool> {
///         let reading = self.clone();
///         let next = move |(): ()| {
///             let count = self.0.fetch_add(1, Ordering::Relaxed);
///             async move { Ok::<_, String>(count) }
///         };
///         let read = move |(): ()| {
///             let count = reading.0.load(Ordering::Relaxed);
///             async move { Ok::<_, String>(count) }
///         };
///         vec![tool("next", "Counts one up", next), tool("read", "Says the count", read)]
///     }
/// }
///
/// let names: Vec<String> = Arc::new(Counter::default()).tools().iter().map(|tool| tool.name().to_owned()).collect();
/// assert_eq!(names, ["next", "read"]);
/// ```
pub trait ToolSet: Send + Sync + 'static {
    /// Returns the tools, in the order they are shown to models.
    fn tools(self: Arc<Self>) -> Vec<FunctionTool>;
}

/// A tool made by [`tool`].
#[derive(Clone)]
pub struct FunctionTool {
    info: Arc<ToolInfo>,
    tags: Vec<String>,
    performs: Performs,
}

impl FunctionTool {
    pub(crate) fn new(info: ToolInfo, performs: Performs) -> FunctionTool {
        FunctionTool { info: Arc::new(info), tags: Vec::new(), performs }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.info.name
    }

    /// Sets the effect of calling it twice; `Read` by default.
    #[must_use]
    pub fn effect(self, effect: EffectClass) -> FunctionTool {
        self.with(|info| info.effect = effect)
    }

    /// Sets the permission class of its calls; `Safe` by default.
    #[must_use]
    pub fn permission(self, permission: Permission) -> FunctionTool {
        self.with(|info| info.permission = permission)
    }

    /// Holds the lock of this name while it runs: one call at a time, in all runs.
    #[must_use]
    pub fn lock(self, name: &str) -> FunctionTool {
        self.with(|info| info.lock = Some(name.to_owned()))
    }

    /// Runs alone among the calls of one reply.
    #[must_use]
    pub fn one_at_a_time(self) -> FunctionTool {
        self.with(|info| info.parallel_safe = false)
    }

    /// Limits the time of a call; 30 seconds by default.
    #[must_use]
    pub fn timeout(self, limit: Duration) -> FunctionTool {
        self.with(|info| info.timeout_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX))
    }

    /// Sets the effect of a stop on a call under way; `Drop` by default.
    #[must_use]
    pub fn on_cancel(self, cancel: CancelClass) -> FunctionTool {
        self.with(|info| info.cancel = cancel)
    }

    /// Adds a tag: `<provider>:#tag` stands for the tools of a [`DynamicToolProvider`](crate::DynamicToolProvider) with
    /// this tag.
    #[must_use]
    pub fn tag(mut self, tag: &str) -> FunctionTool {
        self.tags.push(tag.to_owned());
        self
    }

    fn with(mut self, change: impl FnOnce(&mut ToolInfo)) -> FunctionTool {
        change(Arc::make_mut(&mut self.info));
        self
    }
}

impl Tool for FunctionTool {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        (self.performs)(invocation)
    }

    fn tags(&self) -> &[String] {
        &self.tags
    }
}

/// Turns a function into the implementation of a tool: the arguments are parsed and the result is written as text. The
/// function also gets the key of the call.
pub(crate) fn performs<A, W, T, E>(work: impl Fn(String, A) -> W + Send + Sync + 'static) -> Performs
where
    A: DeserializeOwned,
    W: Future<Output = Result<T, E>> + Send + 'static,
    T: Serialize,
    E: Display,
{
    Arc::new(move |Invocation { args, key, .. }| match read(args) {
        Ok(args) => {
            let result = work(key, args);
            Box::pin(async move { answer(result.await) })
        }
        Err(reason) => Box::pin(std::future::ready(Answer::Failed(reason))),
    })
}

pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    schemars::SchemaGenerator::default().into_root_schema_for::<T>().to_value()
}

/// Parses the arguments; an empty object also stands for no arguments.
fn read<A: DeserializeOwned>(args: Value) -> Result<A, String> {
    let empty = args.as_object().is_some_and(Map::is_empty);
    serde_json::from_value(args).or_else(|error| {
        let nothing = if empty { serde_json::from_value(Value::Null).ok() } else { None };
        nothing.ok_or_else(|| format!("the arguments do not fit: {error}"))
    })
}

fn answer<T: Serialize, E: Display>(result: Result<T, E>) -> Answer {
    match result.map(serde_json::to_value) {
        Ok(Ok(Value::String(text))) => Answer::Done { text, data: None },
        Ok(Ok(data)) => Answer::Done { text: data.to_string(), data: Some(data) },
        Ok(Err(error)) => Answer::Failed(format!("the result cannot be written: {error}")),
        Err(reason) => Answer::Failed(reason.to_string()),
    }
}
