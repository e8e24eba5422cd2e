//! Printing to a reader that may go away.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};

/// Prints a line. Ends the program if that is impossible: quietly if the reader
/// has seen enough (`pliant scenes | head -1`), with exit code 2 otherwise.
pub fn line(text: Arguments<'_>) {
    let mut out = std::io::stdout().lock();
    if let Err(e) = writeln!(out, "{text}").and_then(|()| out.flush()) {
        if e.kind() == ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        // Standard error may be gone, too.
        let _ = writeln!(std::io::stderr(), "error: cannot print: {e}");
        std::process::exit(2);
    }
}
