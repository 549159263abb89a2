//! The answers to the requests of the protocol.

use std::sync::Arc;

use consort_core::catalog::EffectClass;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CreateTaskResult, CustomRequest, CustomResult,
    ErrorCode, GetTaskParams, GetTaskResult, Implementation, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool, ToolAnnotations, UpdateTaskParams,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use serde_json::json;

use super::calls::OpenCall;
use super::tasks::begun;
use super::work::{Begun, failed};
use crate::access::Pass;
use crate::offers::{Offer, offers};
use crate::openai::Edge;
use consort_inbound::problem::{Code, Problem};

/// The methods of the protocol whose parameters are checked here.
const KNOWN: [&str; 4] = ["tools/call", "tasks/get", "tasks/update", "tasks/cancel"];

/// The server as one request sees it.
#[derive(Clone)]
pub(super) struct Handler {
    pub(super) edge: Arc<Edge>,
    pub(super) pass: Pass,
    /// The idempotency key of the request.
    pub(super) key: Option<String>,
    /// The call that it is, where another request can cancel it.
    pub(super) open: Option<Arc<OpenCall>>,
}

impl Handler {
    pub(super) fn new(edge: Edge, pass: Pass, (key, open): (Option<String>, Option<Arc<OpenCall>>)) -> Handler {
        Handler { edge: Arc::new(edge), pass, key, open }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tasks().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("consort", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let offers = offers(&self.edge.site).await;
        let allowed = offers.iter().filter(|offer| self.pass.check(offer.scope()).is_ok());
        Ok(ListToolsResult::with_all_items(allowed.map(tool).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let offers = offers(&self.edge.site).await;
        let names = || offers.iter().map(Offer::name).collect::<Vec<_>>().join(", ");
        let unknown = || format!("there is no tool '{}'. Available: [{}]", request.name, names());
        let found = offers.iter().find(|offer| offer.name() == request.name);
        let offer = found.ok_or_else(|| ErrorData::invalid_params(unknown(), None))?;
        if let Some(id) = &request.request_state {
            return self.went_on(offer, (id, &request.input_responses.unwrap_or_default()), &context).await;
        }
        match self.begin(offer, request.arguments.unwrap_or_default()).await {
            Ok(Begun::Answer(result)) => Ok(result.into()),
            Ok(Begun::Work(work)) => match self.work(&work.id).await {
                Ok(run) if declares_tasks(&context) => Ok(CreateTaskResult::new(begun(&run, &work.id)).into()),
                // A message that waits for its turn is no task yet.
                Ok(_) | Err(_) => self.waited(offer, work, &context).await,
            },
            // A model that called it can mend what is wrong with the arguments.
            Err(problem) if problem.status().is_client_error() => Ok(failed(problem.message()).into()),
            Err(problem) => Err(told(&problem)),
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.task(&request.task_id).await?))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.decide(&request.task_id, &request.input_responses).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.work(&request.task_id).await?;
        self.cancel(&request.task_id).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // What cannot be read as one of the protocol's own requests comes here.
        let method = &request.method;
        if KNOWN.contains(&method.as_str()) {
            let message = format!("the params of {method} are not as the protocol has them");
            return Err(ErrorData::invalid_params(message, None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method {method}"), None))
    }
}

/// Returns an offer as a tool.
fn tool(offer: &Offer) -> Tool {
    let annotations = ToolAnnotations::from_raw(
        None,
        Some(offer.effect == EffectClass::Read),
        Some(offer.effect == EffectClass::Once),
        Some(offer.effect != EffectClass::Once),
        Some(true),
    );
    let description = offer.description().to_owned();
    let mut tool = Tool::new(offer.name().to_owned(), description, Arc::new(offer.schema.clone()));
    tool.output_schema = offer.output_schema.clone().map(Arc::new);
    tool.annotations = Some(annotations);
    tool
}

fn declares_tasks(context: &RequestContext<RoleServer>) -> bool {
    context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks())
}

/// Returns a failure as an error of the protocol.
pub(super) fn told(problem: &Problem) -> ErrorData {
    let data = Some(json!({ "error": problem.code() }));
    let message = problem.message().to_owned();
    if problem.code() == Code::Forbidden {
        return ErrorData::invalid_request(message, data);
    }
    match problem.status().is_client_error() {
        true => ErrorData::invalid_params(message, data),
        false => ErrorData::internal_error(message, data),
    }
}
