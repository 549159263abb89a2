//! Keeps frames within the size that the other side accepts: a larger one would break the
//! link for all its users. An answer is shortened, with a note that says so; a list is cut.

use crate::wire::{Capability, Frame, Response};

/// The number of bytes reserved for the note about what was left out.
const NOTE: usize = 256;

/// Returns the frame as a text that fits; the error says why there is none.
pub(crate) fn fit(frame: Frame, max: usize) -> Result<String, String> {
    let text = frame.text();
    if text.len() <= max {
        return Ok(text);
    }
    let shorter = match frame {
        Frame::TaskResponse(response) => Frame::TaskResponse(shortened(response, text.len(), max)),
        Frame::ToolResponse(response) => Frame::ToolResponse(shortened(response, text.len(), max)),
        Frame::CapabilityResponse(mut response) => {
            response.capabilities = listed(response.capabilities, max.saturating_sub(NOTE));
            Frame::CapabilityResponse(response)
        }
        Frame::Hello(_)
        | Frame::PeerHello(_)
        | Frame::TaskRequest(_)
        | Frame::ToolRequest(_)
        | Frame::TaskAccepted(_)
        | Frame::TaskProgress(_)
        | Frame::RequestCancel(_)
        | Frame::CapabilityQuery(_)
        | Frame::CapacityUpdate(_)
        | Frame::Error(_)
        | Frame::Other => return Err(too_large(text.len(), max)),
    };
    let text = shorter.text();
    if text.len() <= max { Ok(text) } else { Err(too_large(text.len(), max)) }
}

fn too_large(len: usize, max: usize) -> String {
    format!("it has {len} bytes, and one frame may have {max}")
}

/// Returns as many capabilities as fit into so many bytes.
pub(crate) fn listed(capabilities: Vec<Capability>, max: usize) -> Vec<Capability> {
    let mut left = max;
    let fits = |capability: &Capability| {
        let bytes = serde_json::to_string(capability).map_or(usize::MAX, |text| text.len() + 1);
        left = left.checked_sub(bytes)?;
        Some(())
    };
    let count = capabilities.iter().map_while(fits).count();
    if count < capabilities.len() {
        tracing::warn!(count, of = capabilities.len(), "not everything that is shared fits into one frame");
    }
    capabilities.into_iter().take(count).collect()
}

/// Returns an answer whose text is cut to fit.
fn shortened(response: Response, len: usize, max: usize) -> Response {
    let over = len.saturating_sub(max).saturating_add(NOTE);
    let cut = |text: String| {
        let kept = prefix(&text, text.chars().map(escaped).sum::<usize>().saturating_sub(over));
        format!("{kept}\n[shortened: {} of {} bytes; more do not fit into one frame]", kept.len(), text.len())
    };
    Response { result: response.result.map(cut), error: response.error.map(cut), ..response }
}

/// Returns the beginning of a text that takes at most this much room in a frame.
fn prefix(text: &str, room: usize) -> &str {
    let mut left = room;
    let fits = |c: char| {
        left = left.checked_sub(escaped(c))?;
        Some(c.len_utf8())
    };
    let end = text.chars().map_while(fits).sum();
    text.get(..end).unwrap_or_default()
}

/// Returns the number of bytes of a character in JSON.
fn escaped(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        c if c < ' ' => 6,
        c => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Status;

    fn answer(text: &str) -> Frame {
        Frame::ToolResponse(Response { result: Some(text.to_owned()), ..Response::new("r", Status::Completed) })
    }

    #[test]
    fn an_answer_fits_whatever_it_holds_and_says_what_is_missing() {
        for text in ["x".repeat(5000), "\n".repeat(5000), "\u{1}\"ü".repeat(2000), "🦀".repeat(3000)] {
            let fitted = fit(answer(&text), 2000).unwrap();
            assert!(fitted.len() <= 2000 && fitted.len() > 1500, "{}", fitted.len());
            let Frame::ToolResponse(response) = Frame::read(&fitted).unwrap() else { panic!() };
            let result = response.result.unwrap();
            assert!(result.contains(&format!("of {} bytes", text.len())), "{result}");
        }
        assert_eq!(fit(answer("short"), 2000).unwrap(), answer("short").text(), "what fits is not touched");
    }

    #[test]
    fn a_request_that_does_not_fit_is_refused_in_words() {
        let long = Frame::Hello(crate::wire::Hello { ensemble: Some("x".repeat(3000)), ..Default::default() });
        assert!(fit(long, 2000).unwrap_err().contains("one frame may have 2000"));
    }
}
