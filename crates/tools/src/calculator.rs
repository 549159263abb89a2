//! `calculator {input}`: arithmetic and units, typed as an expression or
//! asked as `What is …?`. It knows no clock, no files, no dice and no exchange rates,
//! so the same input has the same answer everywhere.

use std::sync::Arc;
use std::time::{Duration, Instant};

use consort_core::catalog::ToolInfo;
use fend_core::{Context, Interrupt};
use futures::future::BoxFuture;
use tokio::sync::oneshot;

use super::{Answer, Invocation, Tool};

/// The time limit of one calculation; nothing a person would ask takes longer.
const TIME_MAX: Duration = Duration::from_secs(1);
/// The time limit of a short calculation on the thread of the caller, whose other work waits for it.
const AT_ONCE_MAX: Duration = Duration::from_millis(1);
/// The maximum size of the input in bytes; also bounds the time of parsing, which cannot be interrupted.
const INPUT_MAX: usize = 1_000;
/// The maximum size of a result in bytes; longer numbers are of no use.
const RESULT_MAX: usize = 2_000;
/// The stack size of a calculation, which recurses once
/// per operator. Only the part that is used takes memory.
const STACK_BYTES: usize = 64 * 1024 * 1024;
/// The maximum size in bytes of an expression that needs no stack of its own: every thread has room for so many
/// operators, and a thread costs more than such a calculation.
const SHORT_MAX: usize = 32;
/// The maximum number of characters of an expression or a reason quoted in an error.
const QUOTE_MAX: usize = 120;

/// Beginnings of a question that mean the same without it.
const OPENINGS: [&str; 4] = ["what is", "what's", "how much is", "calculate"];

/// Operators that are words: a bracket after one of them is not a function's argument.
const BETWEEN: [&str; 9] = ["of", "mod", "to", "in", "as", "per", "and", "or", "xor"];

/// Signs that would define functions, assign, shift without limit or read
/// dates: the ways to keep a calculation busy where it cannot be interrupted.
const REFUSED: [char; 11] = ['\\', 'λ', ':', '=', '<', '>', '@', ';', '"', '{', '}'];

/// The calculator tool.
#[derive(Clone, Debug)]
pub struct Calculator(Arc<ToolInfo>);

impl Default for Calculator {
    fn default() -> Calculator {
        let about = "Calculates. Takes an arithmetic expression, with units if wanted, and answers with the \
                     result: `42 * 17`, `15% of 80`, `sqrt(2)`, `5 km in miles`.";
        Calculator(Arc::new(ToolInfo::new("calculator", about)))
    }
}

impl Tool for Calculator {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.0
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            let Some(input) = invocation.args.get("input").and_then(|input| input.as_str()) else {
                return Answer::Failed("`input` must be a text, such as `42 * 17`".to_owned());
            };
            match calculate(input).await {
                Ok(text) => Answer::Done { text, data: None },
                Err(why) => Answer::Failed(why),
            }
        })
    }
}

async fn calculate(input: &str) -> Result<String, String> {
    let expression = expression(input)?;
    let result = match at_once(&expression) {
        Some(result) => result,
        None => on_a_thread(expression.clone()).await?,
    };
    result.map_err(|why| format!("cannot calculate `{}`: {why}", short(&expression)))
}

/// Calculates what takes no time worth mentioning, which most sums are: to hand one to another thread costs more.
fn at_once(expression: &str) -> Option<Result<String, String>> {
    if expression.len() > SHORT_MAX {
        return None;
    }
    let limit = Limit { deadline: Instant::now() + AT_ONCE_MAX, reply: None };
    let result = evaluate(expression, &limit);
    (!limit.should_interrupt()).then_some(result)
}

/// Calculates on a thread that may be blocked.
async fn on_a_thread(expression: String) -> Result<Result<String, String>, String> {
    let (reply, result) = oneshot::channel();
    let is_short = expression.len() <= SHORT_MAX;
    // It ends at the deadline or when the receiver of the result is dropped.
    let work = move || {
        let mut limit = Limit { deadline: Instant::now() + TIME_MAX, reply: Some(reply) };
        let result = evaluate(&expression, &limit);
        let _nobody_waits = limit.reply.take().map(|reply| reply.send(result));
    };
    if is_short {
        tokio::task::spawn_blocking(work);
    } else {
        // A separate thread, for its stack, which ends with the calculation.
        let thread = std::thread::Builder::new().name("calculator".to_owned()).stack_size(STACK_BYTES);
        thread.spawn(work).map_err(|error| format!("no thread to calculate in: {error}"))?;
    }
    Ok(result.await.unwrap_or_else(|_broken| Err("the calculation broke off".to_owned())))
}

/// The condition under which a calculation has to stop.
struct Limit {
    deadline: Instant,
    /// The sender of the result, whose receiver may be gone; absent where the caller calculates itself.
    reply: Option<oneshot::Sender<Result<String, String>>>,
}

impl Interrupt for Limit {
    fn should_interrupt(&self) -> bool {
        self.reply.as_ref().is_some_and(oneshot::Sender::is_closed) || Instant::now() >= self.deadline
    }
}

/// Calculates bracket by bracket, the innermost first, and a function together
/// with its bracket: the library's parser takes exponential time where brackets
/// nest, and reads `sin(x)^2` as the sine of a square.
fn evaluate(expression: &str, limit: &Limit) -> Result<String, String> {
    let mut context = Context::new();
    let mut outer = Vec::new();
    let mut text = String::new();
    let mut groups = 0;
    for sign in expression.chars() {
        match sign {
            '(' => outer.push(std::mem::take(&mut text)),
            ')' => {
                let before: String = outer.pop().ok_or("a `(` is missing")?;
                let (before, function) = function(&before);
                step(&format!("group{groups} = {text}"), &mut context, limit)?;
                step(&format!("group{groups} = {function} (group{groups})"), &mut context, limit)?;
                text = format!("{before}(group{groups})");
                groups += 1;
            }
            other => text.push(other),
        }
    }
    if !outer.is_empty() {
        return Err("a `)` is missing".to_owned());
    }
    let result = step(&format!("@noapprox {text}"), &mut context, limit)?;
    if result.len() > RESULT_MAX { Err(format!("the result has {} characters", result.len())) } else { Ok(result) }
}

/// Splits off the name of the function whose bracket follows. Names have two
/// letters at least, which tells them from `1e5` and most units.
fn function(before: &str) -> (&str, &str) {
    let word = before.rsplit(|sign: char| !sign.is_ascii_alphanumeric()).next().unwrap_or_default();
    let name = word.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let named = name.chars().take(2).filter(char::is_ascii_alphabetic).count() == 2;
    let name = if named && !BETWEEN.contains(&name) { name } else { "" };
    (before.strip_suffix(name).unwrap_or(before), name)
}

fn step(text: &str, context: &mut Context, limit: &Limit) -> Result<String, String> {
    let result = fend_core::evaluate_with_interrupt(text, context, limit);
    if limit.should_interrupt() {
        return Err("it takes too long".to_owned());
    }
    let result = result.map_err(|why| short(&why))?;
    match result.get_main_result() {
        "" => Err("it has no result".to_owned()),
        text => Ok(text.to_owned()),
    }
}

/// Returns the expression in a typed input or a question.
fn expression(input: &str) -> Result<String, String> {
    if input.len() > INPUT_MAX {
        return Err(format!("the input is longer than {INPUT_MAX} bytes"));
    }
    let typed = input.trim().trim_end_matches(['?', '=', '.', ' ']);
    let rest = OPENINGS.iter().find_map(|opening| without(typed, opening)).unwrap_or(typed);
    if rest.is_empty() {
        return Err("there is nothing to calculate".to_owned());
    }
    if let Some(sign) = rest.chars().find(|sign| REFUSED.contains(sign)) {
        return Err(format!("cannot calculate `{}`: `{sign}` is not arithmetic", short(rest)));
    }
    if rest.split(|sign: char| !sign.is_alphanumeric()).any(has_dice) {
        return Err(format!("cannot calculate `{}`: there are no dice here", short(rest)));
    }
    Ok(rest.to_owned())
}

/// Returns `text` without a word at its beginning; `None` when it begins otherwise.
fn without<'a>(text: &'a str, opening: &str) -> Option<&'a str> {
    let head = text.get(..opening.len()).filter(|head| head.eq_ignore_ascii_case(opening))?;
    let rest = text.get(head.len()..)?;
    (rest.is_empty() || rest.starts_with([' ', ',', ':', '\t', '\n']))
        .then(|| rest.trim_start_matches([' ', ',', ':', '\t', '\n']))
}

/// Returns whether a word is `2d6` or the like: the notation of a distribution, which can be huge.
fn has_dice(word: &str) -> bool {
    let followed = word.chars().zip(word.chars().skip(1));
    !word.starts_with("0x") && followed.into_iter().any(|pair| pair.0 == 'd' && pair.1.is_ascii_digit())
}

fn short(text: &str) -> String {
    match text.char_indices().nth(QUOTE_MAX) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Far longer than a machine needs that has other things to do: work without an end takes longer still.
    const LONG: Duration = Duration::from_secs(120);

    async fn answer(args: Value) -> Answer {
        let invocation = Invocation::test(args);
        Calculator::default().call(invocation).await
    }

    async fn result(input: &str) -> String {
        let answer = answer(json!({ "input": input })).await;
        let Answer::Done { text, data: None } = answer else { panic!("{input}: {answer:?}") };
        text
    }

    async fn refusal(input: &str) -> String {
        let answer = answer(json!({ "input": input })).await;
        let Answer::Failed(why) = answer else { panic!("{}: {answer:?}", short(input)) };
        why
    }

    #[tokio::test]
    async fn whatever_is_short_fits_on_the_stack_of_any_thread() {
        for deep in ["-", "2^", "1+", "(", "sqrt ", "not ", "1 of ", "2^-", "1 to ", "km/"] {
            let times = (SHORT_MAX - 1) / deep.len();
            let input =
                format!("{}1{}", deep.repeat(times), if deep == "(" { ")".repeat(times) } else { String::new() });
            let short: String = input.chars().take(SHORT_MAX).collect();
            // Right or wrong, it is answered.
            let _answered = answer(json!({ "input": short })).await;
        }
        assert_eq!(result(&format!("{}1", "-".repeat(30))).await, "1");
    }

    #[tokio::test]
    async fn expressions_are_calculated() {
        for (input, expected) in [
            ("42 * 17", "714"),
            ("42*17=", "714"),
            ("0.1 + 0.2", "0.3"),
            ("1/3", "0.3333333333"),
            ("(3+4)^2", "49"),
            ("2 ** 10", "1024"),
            ("2 − 5", "-3"),
            ("6 × 7 ÷ 2", "21"),
            ("1,000 + 1", "1001"),
            ("-2^2", "-4"),
            ("7 mod 3", "1"),
            ("15% of 80", "12"),
            ("sqrt(16) + 1", "5"),
            ("sin(pi/2)", "1"),
            ("5!", "120"),
            ("3! * 2", "12"),
            ("2^64", "18446744073709551616"),
            ("0xd6 to decimal", "214"),
            ("20 °C in °F", "68 °F"),
            ("5 feet 10 inches to cm", "177.8 cm"),
            ("3 km + 200 m", "3.2 km"),
            ("sin(pi/2)^2 + log10(1000)", "4"),
            ("2sqrt(16)^2", "32"),
            ("2(3 + 4)(1 + 1)", "28"),
            ("1e2(3)", "300"),
            ("15% of(40 mod(41))", "6"),
            ("(2^10000) mod 7", "2"),
        ] {
            assert_eq!(result(input).await, expected, "{input}");
        }
    }

    #[tokio::test]
    async fn questions_are_calculated_too() {
        for (input, expected) in [
            ("What is 42 * 17?", "714"),
            ("what's 15% of 80", "12"),
            ("calculate (3+4)^2", "49"),
            ("How much is 5 km in miles?", "3.1068559612 miles"),
            ("Calculate: 12 / 5", "2.4"),
            ("What is 5!?", "120"),
        ] {
            assert_eq!(result(input).await, expected, "{input}");
        }
    }

    #[tokio::test]
    async fn what_cannot_be_calculated_is_refused_in_words_that_name_it() {
        for (input, part) in [
            ("", "nothing to calculate"),
            ("What is?", "nothing to calculate"),
            ("while", "`while`"),
            ("hello world", "`hello world`"),
            ("1/0", "division by zero"),
            ("2 +", "`2 +`"),
            ("()", "`()`"),
            ("(1 + 2", "a `)` is missing"),
            ("1 + 2)", "a `(` is missing"),
            ("12 kg + 3 km", "incompatible"),
            ("5 USD in EUR", "exchange rates are not available"),
            ("today", "`today`"),
            ("roll d6", "no dice"),
            ("1000000d1000000", "no dice"),
            ("a = 5; a * 2", "not arithmetic"),
            ("(\\x. x x)(\\x. x x)", "not arithmetic"),
            ("(x: x x)(x: x x)", "not arithmetic"),
            ("1 << 2^60", "not arithmetic"),
            ("2^100000", "30103 characters"),
        ] {
            let why = refusal(input).await;
            assert!(why.contains(part), "{input}: {why}");
        }
        assert!(matches!(answer(json!({ "input": 5 })).await, Answer::Failed(_)));
    }

    #[tokio::test]
    async fn endless_calculations_end_after_a_second() {
        for input in ["9^9^9^9", "1e999999999999", "9!!!!!!!!!! + 1", "1.0000001^1e12"] {
            let begun = Instant::now();
            assert!(refusal(input).await.contains("takes too long"), "{input}");
            assert!(begun.elapsed() < LONG, "{input}");
        }
    }

    #[tokio::test]
    async fn input_built_to_exhaust_the_parser_or_the_stack_is_answered_in_time() {
        for (open, close) in
            [("(", ")"), ("1+1+1+(", ")"), ("5-3(", ")"), ("-", ""), ("sqrt ", ""), ("2^", ""), ("1-", ""), ("a ", "")]
        {
            let begun = Instant::now();
            let count = (INPUT_MAX - 1) / (open.len() + close.len());
            let input = format!("{}1{}", open.repeat(count), close.repeat(count));
            let _any = answer(json!({ "input": input })).await;
            assert!(begun.elapsed() < LONG, "{open}");
        }
        assert!(refusal(&"(".repeat(1_000_000)).await.contains("longer than"));
        assert_eq!(result(&format!("{}1{}", "(".repeat(99), ")".repeat(99))).await, "1");
    }

    #[tokio::test]
    async fn a_calculation_nobody_waits_for_stops_early() {
        let (reply, result) = oneshot::channel();
        let limit = Limit { deadline: Instant::now() + Duration::from_secs(3600), reply: Some(reply) };
        drop(result);
        assert_eq!(evaluate("9^9^9^9", &limit), Err("it takes too long".to_owned()));
    }

    #[test]
    fn made_up_expressions_are_calculated_or_refused_in_words() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let examples = ["(1 + 2) * 3^2", "sqrt(2) / 7%", "5 km to miles", "What is 42 * 17?", "sin(pi) + 0x1f"];
        consort_fuzz::text(&examples, |input| match runtime.block_on(answer(json!({ "input": input }))) {
            Answer::Done { text, .. } | Answer::Failed(text) => assert!(!text.trim().is_empty(), "{input:?}"),
            Answer::Unknown(why) | Answer::Late { why, .. } => panic!("{input:?}: {why}"),
        });
    }
}
