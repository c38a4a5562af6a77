//! The program `feeler`: exact contact and clearance between CAD solids.

use clap::Parser as _;
use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = feeler_cli::args::Cli::parse();
    feeler_cli::color::choose(cli.color);
    feeler_cli::interrupt::enable();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut err = std::io::stderr();
    let outcome = feeler_cli::run(&cli.command, &mut out, &mut err);
    // A closed pipe (`feeler … | head`) is not an error of this program.
    let _ = out.flush();
    match outcome {
        Ok(o) => o.into(),
        Err(e) => {
            let broken_pipe = e
                .downcast_ref::<std::io::Error>()
                .is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe);
            if broken_pipe {
                return ExitCode::SUCCESS;
            }
            let _ = writeln!(err, "feeler: {e:#}");
            ExitCode::from(2)
        }
    }
}
