//! Executes blocks of an OP-Stack chain on op-revm, the execution core of Base's client, with the block executor built around it.
//! Reads one case a line (JSON) from standard input and writes one answer a line. `case.rs` has both forms.

mod call;
mod case;
mod chain;
mod run;

use std::io::{self, BufRead, Write};

fn main() -> io::Result<()> {
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let answer = match serde_json::from_str(&line?) {
            Ok(case) => serde_json::to_string(&run::run(&case)),
            Err(error) => Ok(serde_json::json!({ "error": error.to_string() }).to_string()),
        };
        writeln!(output, "{}", answer?)?;
        output.flush()?;
    }
    Ok(())
}
